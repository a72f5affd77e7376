/* What a compilation gave: views in tabs, and files to save. */
const SHOWN = 200000;
const decode = bytes => new TextDecoder().decode(bytes);
const isText = name => /\.(c|h|hpp|sh|txt|csv|json)$/.test(name);

function save(name, blob) {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(blob);
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 60000);
}
const saveFile = (name, bytes) => save(name, new Blob([bytes]));

function views() {
    const r = state.results, all = [];
    if (r.report) all.push({ id: "report", name: "Report", show: showReport });
    for (const [name, bytes] of r.files) if (isText(name)) all.push({ id: name, name, show: () => showText(bytes) });
    if (r.quantization) all.push({ id: "quantization", name: "Quantization", show: showQuantization });
    if (r.said.length) all.push({ id: "messages", name: `Messages (${r.said.length})`, show: showMessages });
    all.push({ id: "compare", name: "Targets and options", show: showComparison });
    return all;
}

function frame(title, html) {
    $("panel").innerHTML = `<iframe title="${title}" sandbox="allow-scripts"></iframe>`;
    $("panel").firstChild.srcdoc = html;
}
/* The frame has the page's theme; it cannot reach the page. */
const LISTEN = `<script>addEventListener("message", e => dark(e.data === "dark"));dark(THEME)</` + "script></body>";
function showReport() {
    const isDark = document.documentElement.dataset.theme === "dark";
    frame("Report", state.results.report.replace("</body>", () => LISTEN.replace("THEME", isDark)));
}
function showQuantization() { frame("Quantization", decode(state.results.quantization)); }
function showText(bytes) {
    const rest = bytes.length - SHOWN;
    $("panel").innerHTML = `<pre tabindex="0">${esc(decode(bytes.subarray(0, SHOWN)))}${rest > 0
        ? `\n\n${count(rest)} more characters are in the file` : ""}</pre>`;
}
function showMessages() {
    $("panel").innerHTML = `<pre class="said">${esc(state.results.said.join("\n"))}</pre>`;
}

function showTabs() {
    const all = views(), chosen = all.find(v => v.id === state.tab) || all[0];
    state.tab = chosen.id;
    $("tabs").innerHTML = all.map(v => `<button role="tab" aria-selected="${v === chosen}" aria-controls="panel"
tabindex="${v === chosen ? 0 : -1}" data-tab="${esc(v.id)}">${esc(v.name)}</button>`).join("");
    set($("panel"), "aria-label", chosen.name);
    chosen.show();
}

function showSaves() {
    const button = (i, [name, bytes_]) => `<button data-save="${i}">Save ${esc(name)} <span class="note">${
        bytes(bytes_.length)}</span></button>`;
    $("saves").innerHTML = state.results.files.map((f, i) => button(i, f)).join("")
        + "<button data-save=\"all\">Save all as a zip</button>";
}

function showResults() {
    const r = state.results;
    $("results").hidden = false;
    $("promise").hidden = true;
    $("refused").innerHTML = r.refused ? `<pre tabindex="0">${esc(r.said.join("\n"))}</pre>` : "";
    for (const id of ["take", "tabs", "panel"]) $(id).hidden = r.refused;
    $("line").textContent = r.lines.join("\n");
    if (r.refused) return;
    showSaves();
    showTabs();
}

/* ---- Other targets and options ---------------------------------------------------------------------------------- */

const CORES = ["cortex-m0plus", "cortex-m4", "cortex-m7", "cortex-m55", "rv32imc", "xtensa"];
const COLUMNS = [["RAM", t => t.ram, bytes], ["flash", t => t.flash, bytes], ["cycles", t => t.cycles, count],
    ["instructions", t => t.instructions, count]];

/* Fills r.rows: { for, optimize: [], totals, boards }. Rows of a target that do not differ are one. */
async function compare(r) {
    const chosen = $("for").value, all = [...new Set([chosen, ...CORES.map(c => "target " + c)])];
    const list = ["balanced", "speed", "size"].flatMap(optimize => all.map(name => [name, optimize]));
    r.rows = [];
    r.left = list.length;
    for (const [name, optimize] of list) {
        const words = optionsOf("report", "report", ["for", "optimize"]), [kind, value] = name.split(" ");
        const got = await lw(["report", r.model, "--" + kind, value, "--optimize", optimize, ...words, "--quiet", "-o",
            "r.json"], r.all);
        if (state.results !== r) return;
        const json = got.files.find(f => f[0] === "r.json"), report = json && JSON.parse(decode(json[1]));
        const same = report && r.rows.find(x => x.for === name && x.report
            && JSON.stringify(x.report.totals) === JSON.stringify(report.totals));
        if (same) same.optimize.push(optimize);
        else r.rows.push({ for: name, optimize: [optimize], report, why: got.said.trim().split("\n")[0] });
        r.rows.sort((a, b) => all.indexOf(a.for) - all.indexOf(b.for));
        r.left--;
        if (state.tab === "compare") drawComparison(r);
    }
}

const isNow = row => row.for === $("for").value && row.optimize.includes($("optimize").value);

function difference(ratio) {
    const by = Math.round(100 * (ratio - 1));
    return ratio >= 3 ? `${three(ratio)} times` : by ? `${by > 0 ? "+" : "\u2212"}${Math.abs(by)} %` : "";
}

function cells(row, now, least) {
    return COLUMNS.map(([, of, words], i) => {
        const n = of(row.report.totals), own = now && of(now.report.totals);
        const by = own && n != null ? difference(n / own) : "";
        return `<td class="${n === least[i] ? "best" : ""}">${n == null ? "" : words(n)}${by
            && `<span class="note">${by}</span>`}</td>`;
    }).join("");
}

function boardsOf(row) {
    const { totals, boards, target } = row.report, own = boards.filter(b => b.target === target);
    return own.length ? `${own.filter(b => b.flash >= totals.flash && b.ram >= totals.ram).length} of ${own.length}` : "";
}

function drawComparison(r) {
    const known = r.rows.filter(x => x.report), now = known.find(isNow), focus = document.activeElement.dataset.row;
    const least = COLUMNS.map(([, of]) => Math.min(...known.map(x => of(x.report.totals) ?? Infinity)));
    const name = row => row.for.replace(/^\w+ /, "");
    $("panel").innerHTML = `<p class="note">${r.left ? `${r.left} more to compile. ` : ""}Differences are from the
chosen row; the least of each column is green. A name chooses its row.</p><div class="wide" tabindex="0" role="region"
aria-label="Targets and options"><table><thead><tr><th class="t">for</th><th class="t">optimize</th>${
        COLUMNS.map(c => `<th>${c[0]}</th>`).join("")}<th>boards that fit</th></tr></thead><tbody>${r.rows.map((row, i) =>
        `<tr class="${isNow(row) ? "now" : ""}"><td class="t"><button data-row="${i}">${esc(name(row))}</button></td>
<td class="t">${row.optimize.join(", ")}</td>${row.report ? cells(row, now, least) + `<td>${boardsOf(row)}</td>`
        : `<td class="t bad" colspan="${COLUMNS.length + 1}">${esc(row.why)}</td>`}</tr>`).join("")}</tbody></table></div>`;
    if (focus) { const b = $("panel").querySelector(`[data-row="${focus}"]`); if (b) b.focus(); }
}

function showComparison() {
    const r = state.results;
    if (!r.rows) compare(r).catch(stopped);
    drawComparison(r);
}
