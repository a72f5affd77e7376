/* One selection for all views, which is in the address; keys; the beginning. The frame of a notebook has no address of
   its own, and refuses one. */
function select(i, isShown = true) {
    const l = layers[i];
    state.layer = l ? i : -1;
    try { history.replaceState(null, "", l ? "#layer=" + i : "#"); } catch {}
    if (l && (l.graph || "") !== state.graph) {
        state.graph = l.graph || "";
        $("graph-of").value = state.graph;
        drawGraph();
    }
    one();
    mark();
    const v = l && graph.vertices.find(v => v.layer === l || (v.layers && v.layers.includes(l)));
    if (v && isShown) reveal(v);
    const row = $("rows").querySelector(`tr[data-layer="${i}"]`), box = row && row.closest(".wide");
    if (row && (row.offsetTop < box.scrollTop + 30 || row.offsetTop > box.scrollTop + box.clientHeight - 30))
        box.scrollTop = row.offsetTop - box.clientHeight / 2;
}

function markGraph(l, near) {
    for (const v of graph ? graph.vertices : []) {
        const isOn = Boolean(l) && (v.layer === l || (v.layers || []).includes(l));
        v.g.classList.toggle("chosen", isOn);
        v.g.classList.toggle("near", Boolean(v.layer) && near.has(v.layer.id));
        v.g.classList.toggle("off", Boolean(v.layer) && !matches(v.layer));
        set(v.g, "tabindex", isOn || v.fold || (!l && v.layer && v.layer.id === hottest) ? 0 : -1);
    }
    const own = i => graph.all[i].layer || (graph.all[i].layers || []).find(x => x === l);
    for (const e of graph ? graph.edges : [])
        set(e.drawn, "class", "edge" + (!l ? "" : own(e.to) === l ? " in" : own(e.from) === l ? " out" : ""));
}

function markMemory(l) {
    const svg = $("memory").svg, isMain = l && !l.graph;
    if (!svg) return;
    set(svg.band, "x", isMain ? svg.xs[l.id] : 0);
    set(svg.band, "width", isMain ? svg.xs[l.id + 1] - svg.xs[l.id] : 0);
    const roles = isMain ? buffersOf(l) : new Map();
    svg.buffers.forEach((rect, i) => set(rect, "class", ["buf",
        buffers[i].kind === "scratch" ? "scratch" : "", roles.get(buffers[i]) || ""].join(" ").trim()));
}

function mark() {
    const l = layers[state.layer];
    markGraph(l, new Set(l ? [...l.reads, ...l.readers] : []));
    markMemory(l);
    for (const row of $("rows").querySelectorAll("tr[data-layer]"))
        set(row, "aria-selected", +row.dataset.layer === state.layer);
    for (const b of $("strip").children) {
        set(b, "aria-pressed", +b.dataset.layer === state.layer);
        b.tabIndex = +b.dataset.layer === (l && !l.graph ? state.layer : hottest) ? 0 : -1;
    }
}

function dark(isOn) { document.documentElement.dataset.theme = isOn ? "dark" : "light"; }

/* The first view: later changes of the clock redraw only what shows time. */
function all() { verdict(); strip(); table(); one(); }

function listenToStrip() {
    const box = $("strip"), layerAt = e => layers[(e.target.closest("[data-layer]") || { dataset: {} }).dataset.layer];
    box.onclick = e => {
        const l = layerAt(e);
        if (!l) return;
        select(l.id);
        e.target.closest("button").focus();
    };
    box.onmousemove = e => {
        const l = layerAt(e);
        tip(e, l && `${l.id} ${l.short}\n${l.operators}\n${timeText(l)}, ${percent(l.share)}; ${bytes(l.weights)} of `
            + "constants");
    };
    box.onmouseleave = () => tip();
    box.onkeydown = e => {
        const side = { ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling" }[e.key];
        const next = side && document.activeElement[side];
        if (!next) return;
        e.preventDefault();
        next.click();
    };
}

function listenToTable() {
    $("rows").onclick = e => {
        const head = e.target.closest("[data-sort]"), row = e.target.closest("tr[data-layer]");
        if (head) {
            const key = head.dataset.sort;
            state.down = state.sort === key ? !state.down : key !== "id" && !isWords({ key });
            state.sort = key;
            table();
            $("rows").querySelector(`[data-sort=${key}]`).focus();
        } else if (row) select(+row.dataset.layer);
    };
}

function listenToFind() {
    $("find").oninput = e => { state.find = e.target.value.trim().toLowerCase(); table(); };
    $("find").onkeydown = e => {
        const found = layers.filter(matches), next = found.find(l => l.id > state.layer) || found[0];
        if (e.key === "Enter" && next) select(next.id);
        if (e.key !== "Escape") return;
        e.target.value = state.find = "";
        table();
        e.target.blur();
    };
}

const tab = t => () => { state.tab = t; one(); };
const step = by => () => { if (layers[state.layer + by]) select(state.layer + by); };
const KEYS = { "/": () => $("find").focus(), j: step(1), k: step(-1), h: () => select(hottest), "+": () => zoom(1.3),
    "-": () => zoom(1 / 1.3), 0: () => fitGraph(), c: tab("C"), f: tab("formula"), s: tab("schedule"), w: tab("why"),
    d: () => $("theme").click(), "?": () => $("keys").showModal(), Escape: () => select(-1) };

function listen() {
    $("theme").onclick = () => dark(document.documentElement.dataset.theme !== "dark");
    $("help").onclick = KEYS["?"];
    $("larger").onclick = KEYS["+"];
    $("smaller").onclick = KEYS["-"];
    $("whole").onclick = fitGraph;
    $("fold").onclick = () => { state.fold = !state.fold; drawGraph(); };
    $("graph-of").onchange = e => { state.graph = e.target.value; drawGraph(); };
    $("one").onclick = e => {
        const go = e.target.closest("[data-go]"), shown = e.target.closest("[data-tab]");
        if (go) select(+go.dataset.go);
        if (shown) tab(shown.dataset.tab)();
    };
    $("grip").onclick = () => {
        const isUp = $("side").classList.toggle("up");
        $("grip").innerHTML = isUp ? "&#9660; close" : "&#9650; details";
        set($("grip"), "aria-expanded", isUp);
    };
    document.onkeydown = e => {
        if (/INPUT|SELECT/.test(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey || $("keys").open) return;
        if (!KEYS[e.key]) return;
        e.preventDefault();
        KEYS[e.key]();
    };
    onhashchange = fromAddress;
    let late;
    addEventListener("resize", () => { clearTimeout(late); late = setTimeout(() => { drawGraph(); memory(); }, 120); });
    addEventListener("beforeprint", () => {
        dark(false);
        $("net").style.height = Math.min(900, graph.height * .8) + "px";
        fitGraph();
    });
}

function fromAddress() {
    const found = /layer=(\d+)/.exec(location.hash);
    if (found && layers[+found[1]] && +found[1] !== state.layer) select(+found[1]);
}

function begin() {
    document.documentElement.classList.remove("plain");
    dark(matchMedia("(prefers-color-scheme: dark)").matches);
    $("what").textContent = `compiled by Loopwright for ${report.target}; SHA-256 ${report.sha256.slice(0, 8)}`;
    choice("strip-of", Object.keys(STRIP), "strip", strip);
    choice("strip-order", ["run order", "heaviest", "by kind"], "order", strip);
    choice("bars-of", Object.keys(BARS), "bars", bars);
    choice("memory-width", ["layer", "time"], "width", memory);
    $("graph-choice").hidden = !report.graphs.length;
    $("graph-of").innerHTML = ["<option value=\"\">the model</option>", ...report.graphs.map(g =>
        `<option value="${esc(g.name)}">${esc(g.what)}</option>`)].join("");
    state.fold = main.length > 60 && repeatsOf(main).length > 0;
    drawGraph();
    memory();
    all();
    beside();
    memories();
    parts();
    listen();
    listenToGraph();
    listenToStrip();
    listenToTable();
    listenToFind();
    fromAddress();
}
begin();
