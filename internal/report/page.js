"use strict";
const lines = document.querySelectorAll("#lines tbody tr"), find = document.getElementById("find"), buttons = document.querySelectorAll("nav button");
let kind = "";
function show() { for (const r of lines) r.hidden = kind && r.dataset.kind !== kind || !r.cells[0].title.toLowerCase().includes(find.value.toLowerCase()); }
if (find) find.oninput = show; // else the page has no table of lines
for (const b of buttons) b.onclick = () => { for (const o of buttons) o.classList.toggle("on", o === b); kind = b.dataset.kind; show(); };
for (const head of document.querySelectorAll("th")) head.onclick = () => {
	const body = head.closest("table").tBodies[0], i = head.cellIndex, value = r => r.cells[i].dataset.v;
	body.append(...[...body.rows].sort((a, b) => value(a) === undefined ? a.cells[i].textContent.localeCompare(b.cells[i].textContent) : value(b) - value(a)));
};
const bars = document.querySelectorAll("#busy .bar");
for (const r of lines) r.onclick = () => {
	for (const o of lines) o.classList.toggle("on", o === r);
	const at = r.dataset.at.split(" ").map(Number);
	bars.forEach((b, i) => {
		const self = i ? at[2 * i - 2] || 0 : 0, below = i ? at[2 * i - 1] || 0 : 0, [x, y, z] = b.children;
		x.style.width = self + "%"; y.style.width = below + "%"; z.style.width = Math.max(0, b.dataset.w - self - below) + "%";
	});
	document.getElementById("whose").textContent = "The part of " + r.cells[0].textContent + ": its own (first), on its behalf (second), others' (last).";
};
const boxes = document.querySelectorAll("#flame div");
for (const box of boxes) box.onclick = () => {
	const l = +box.dataset.l, w = +box.dataset.w, d = +box.dataset.d;
	for (const o of boxes) {
		const ol = +o.dataset.l, ow = +o.dataset.w, above = +o.dataset.d < d && ol <= l + 1e-9 && ol + ow >= l + w - 1e-9;
		o.hidden = !above && (+o.dataset.d < d || ol < l - 1e-9 || ol + ow > l + w + 1e-9);
		o.style.left = above ? "0" : (ol - l) / w * 100 + "%";
		o.style.width = above ? "100%" : ow / w * 100 + "%";
	}
};
