// Prints an SDDF file as "qinst dump" does, knowing no record beforehand.
import { readFileSync } from 'node:fs'
import { decode, decodeMulti } from '@msgpack/msgpack'

const options = { useBigInt64: true }
const word = s => s === '' || /[\s="\\[\]]/.test(s) ? JSON.stringify(s) : s
const looksTyped = s => /^[-+.0-9]/.test(s) || ['true', 'false', 'nil', 'NaN', 'Inf'].includes(s)
const float = x => Number.isInteger(x) && Math.abs(x) < 1e21 ? (Object.is(x, -0) ? '-0.0' : x + '.0')
  : Math.abs(x) === Infinity ? (x > 0 ? '+Inf' : '-Inf') : String(x)

function value(v, type) {
  if (v === null) return 'nil'
  if (type?.startsWith('[][]')) return v[0].join('x') + value(v[1], '[]' + type.replaceAll('[]', ''))
  if (type?.startsWith('[]')) return '[' + v.map(x => value(x, type.slice(2))).join(' ') + ']'
  if (type === 'bytes') return '0x' + Buffer.from(v).toString('hex')
  if (type === 'f32' || type === 'f64') return float(v)
  if (typeof v !== 'string' || type === 'raw') return String(v)
  return type === undefined && looksTyped(v) ? JSON.stringify(v) : word(v)
}

const out = []
const line = (indent, what, name, pairs) =>
  out.push(indent + what + (name ? ' ' + word(name) : '') + pairs.map(([k, v, type]) => ` ${word(k)}=${value(v, type)}`).join(''))
const attributes = map => Object.entries(map ?? {})

function describe(tag, name, attrs, fields, layout) {
  const { doc, ...others } = attrs
  line('', 'descriptor', name, [['tag', tag], ['doc', doc, 'str'], ...attributes(others)])
  for (const [n, type, unit, doc, more] of fields)
    line('', 'field', name, [['name', n, 'str'], ['type', type, 'str'], ['unit', unit, 'str'], ['doc', doc, 'str'], ...attributes(more)])
  if (!layout) return
  line('', 'layout', name, [['delta', layout[0], 'str']])
  for (const [kind, n, words, doc, bits, tail] of layout[1]) {
    line('', 'variant', name, [['name', n, 'str'], ['kind', kind], ['words', words], ['doc', doc, 'str'], ['tail', tail ?? '', 'str']])
    for (const [n, word, bit, width, unit, doc, type] of bits)
      line('', 'bits', name, [['name', n, 'str'], ['word', word], ['bit', bit], ['width', width], ['unit', unit, 'str'], ['doc', doc, 'str'], ['type', type ?? '', 'str']])
  }
}

function bits(v, width, type, view) {
  if (type === 'int') return BigInt.asIntN(width, v)
  if (type !== 'float') return v
  view.setBigUint64(0, v)
  return width === 32 ? view.getFloat32(4) : view.getFloat64(0)
}

function entries(name, [delta, variants], bytes, time) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), scratch = new DataView(new ArrayBuffer(8))
  const word = i => view.getBigUint64(i, true)
  for (let off = 0; off < bytes.length;) {
    const kind = Number(word(off) >> 24n & 0xffn)
    const [, variant, words, , fields, tail] = variants.find(v => v[0] === kind || v[0] < 0)
    let pairs = [], size = 0
    if (delta) time += word(off) >> 32n
    for (const [n, w, bit, width, , , type] of fields) {
      const v = word(off + 8 * w) >> BigInt(bit) & ((1n << BigInt(width)) - 1n)
      if (n === delta) time = v
      else pairs.push([n, bits(v, width, type, scratch), type === 'float' ? 'f64' : undefined])
      if (n === tail) size = Number(v)
    }
    line('', 'entry', name, [...(delta ? [[delta, time]] : []), ['kind', variant, 'str'], ...pairs])
    off += 8 * words
    if (tail) packet(decode(bytes.subarray(off, off + size), options), '  ')
    off += size + 7 & ~7
  }
}

const records = new Map()
function packet([kind, ...p], indent = '') {
  if (kind === 0) line(indent, 'header', '', [['format', p[0]], ['version', p[1]], ['producer', p[2], 'str'], ...attributes(p[3])])
  if (kind === 1) line(indent, 'attribute', p[0], [['value', p[1]]])
  if (kind === 2) records.set(Number(p[0]), p), describe(...p)
  if (kind === 4) line(indent, 'command', p[0], attributes(p[1]))
  if (kind !== 3) return
  const [, name, , fields, layout] = records.get(Number(p[0])), values = p.slice(1)
  line(indent, 'data', name, fields.map(([n, type], i) => type === 'packed' ? [n, JSON.stringify(values[i].length + ' bytes'), 'raw'] : [n, values[i], type]))
  if (layout) entries(name, layout, values[fields.findIndex(f => f[1] === 'packed')], BigInt(values[fields.findIndex(f => f[0] === layout[0])] ?? 0))
}

for (const p of decodeMulti(readFileSync(process.argv[2]), options))
  if (Array.isArray(p)) packet(p) // checksums stand between them
process.stdout.write(out.join('\n') + '\n')
