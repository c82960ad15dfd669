// Numbers as dots, from left to right.

// dots draws points [x, y] of a part of both axes, and a line through others.
export function dots(c, tall, points, [from, to], [least, most], line = []) {
  const dpr = devicePixelRatio, size = (line.length ? 3 : 2) * dpr, style = getComputedStyle(document.documentElement);
  if (!c.clientWidth) { requestAnimationFrame(() => { if (c.isConnected && c.clientWidth) dots(c, tall, points, [from, to], [least, most], line); }); return; }
  c.width = Math.round(c.clientWidth * dpr);
  c.height = tall * dpr;
  const g = c.getContext("2d");
  const at = ([x, y]) => [((x - from) / Math.max(1, to - from)) * c.width,
    (1 - (y - least) / Math.max(1e-300, most - least)) * (c.height - 4 * dpr) + 2 * dpr];
  g.fillStyle = style.getPropertyValue("--bar");
  for (const p of points) {
    const [x, y] = at(p);
    g.fillRect(x - size / 2, y - size / 2, size, size);
  }
  g.strokeStyle = style.getPropertyValue("--path");
  g.lineWidth = 1.5 * dpr;
  g.beginPath();
  for (const p of line) g.lineTo(...at(p));
  g.stroke();
}
