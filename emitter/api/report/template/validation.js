/* SPDX-License-Identifier: MIT */
/* ---- The errors of --validate: outputs, then layers; a part of the page only with this option ---- */
const ERRORS = ["largest", "rmse", "mae", "l2_relative", "cosine"];
const cells = (row, i) => "<tr>" + row.map((x, k) => `<t${i ? "d" : "h"} class="${k ? "" : "t"}">${esc(x)}`).join("");
const rowOf = r => [r.name + (r.sizes ? ", " + r.sizes : ""), r.beyond_tolerance, r.differ, r.elements,
    ...ERRORS.map(k => r[k] == null ? "none" : +r[k].toPrecision(k === "cosine" ? 6 : 3))];
$("memories").insertAdjacentHTML("beforebegin", `<section class="live"><h2>Compared with the interpreter</h2><div class="wide" tabindex="0"><table>${[
    ["output or layer", "beyond tolerance", "differ", "of", "largest", "RMSE", "MAE", "L2 relative", "cosine"],
    ...report.validation.rows.map(rowOf)].map(cells).join("")}</table></div></section>`);
