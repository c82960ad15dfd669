// Numbers in words.

/** @type {[string, number][]} */
const units = [["s", 1e9], ["ms", 1e6], ["us", 1e3]];

// time is a number of ns with three digits.
export function time(ns) {
  if (!ns) return "0";
  for (const [unit, of] of units) {
    if (Math.abs(ns) >= of) return (Math.abs(ns) < 1000 * of ? (ns / of).toPrecision(3) : (ns / of).toFixed(0)) + unit;
  }
  return Math.round(ns) + "ns";
}

// percent is a share.
export function percent(x) {
  return (100 * x).toFixed(x < 0.1 ? 1 : 0) + "\u00a0%";
}

// count is a number of things.
export function count(n) {
  return n.toLocaleString("en");
}
