"use strict";
/* Elements and words for figures, also of the playground. */
const $ = id => document.getElementById(id);
const set = (element, key, value) => element.setAttribute(key, value);
const esc = s => String(s).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const cut = (s, n) => s.length > n ? s.slice(0, n - 1) + "\u2026" : s;
const sum = (list, of) => list.reduce((all, x) => all + (of(x) || 0), 0);
const three = x => x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x >= 1 ? x.toFixed(2) : x.toFixed(3);

/* Three digits and a unit. */
function figure(n, unit, names) {
    let power = 0;
    while (power < 3 && Math.round(n) >= unit) { n /= unit; power++; }
    return (power && n < 99.95 ? n.toFixed(1) : Math.round(n)) + names[power];
}
const bytes = n => figure(n, 1024, [" B", " KiB", " MiB", " GiB"]);
const count = n => figure(n, 1000, ["", " k", " M", " G"]);
const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const percent = x => x >= .0005 ? (100 * x).toFixed(1) + " %" : "0";
