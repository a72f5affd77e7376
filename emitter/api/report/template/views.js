/* The views: verdict, strip, graph, memory and table. */
const SVG = "http://www.w3.org/2000/svg";
function drawn(tag, attributes = {}, text) {
    const e = document.createElementNS(SVG, tag);
    for (const k in attributes) set(e, k, attributes[k]);
    if (text != null) e.textContent = text;
    return e;
}

/* A row of buttons, one of them pressed; arrow keys move. */
function choice(id, words, key, then) {
    const box = $(id), button = w => `<button role="radio" aria-checked="${state[key] === w}" `
        + `tabindex="${state[key] === w ? 0 : -1}">${w}</button>`;
    box.innerHTML = words.map(button).join(" ");
    [...box.children].forEach((b, i) => {
        b.onclick = () => {
            state[key] = words[i];
            choice(id, words, key, then);
            box.children[i].focus();
            then();
        };
        b.onkeydown = e => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
            if (!step) return;
            e.preventDefault();
            e.stopPropagation();
            box.children[(i + step + words.length) % words.length].click();
        };
    });
}

function tip(e, words) {
    const t = $("tip");
    t.style.display = words ? "block" : "none";
    if (!words) return;
    t.textContent = words;
    t.style.left = Math.max(0, Math.min(innerWidth - 250, e.clientX + 14)) + "px";
    t.style.top = e.clientY + 14 + "px";
}

/* ---- Verdict ---- */
const code = totals.code, stack = totals.stack ?? totals.estimated_stack;

function meter(parts, of) {
    const used = percent(sum(parts, p => p[0]) / of) + " used";
    const part = ([n, color]) => `<i style="width:${Math.min(100, 100 * n / of)}%;background:var(--${color})"></i>`;
    return `<span class="meter" role="img" aria-label="${used}">${parts.map(part).join("")}</span>`;
}
const ofLimit = (n, most) => most == null ? bytes(n)
    : `<span class="${n > most ? "no" : ""}">${bytes(n)} of ${bytes(most)}</span>`;

function memoryMeters(board) {
    const ports = totals.inputs + totals.outputs + totals.state, used = [[totals.arena, "k0"], [ports, "k1"]];
    const least = totals.arena === totals.least_arena ? "the least arena for this order"
        : `an arena for this order needs ${bytes(totals.least_arena)} or more`;
    const training = totals.params ? `, training ${bytes(totals.params + totals.targets)}` : "";
    return `<b>RAM</b>${meter([...used, [stack || 0, "k3"]], board.ram || totals.ram)}${ofLimit(totals.ram, board.ram)}
<span class="note rest">arena ${bytes(totals.arena)} (${least}), inputs and outputs
${bytes(totals.inputs + totals.outputs)}${totals.state ? ", state " + bytes(totals.state) : ""}${training},
${stack == null ? "stack not counted" : `stack ${totals.stack == null ? "at most about " : ""}${bytes(stack)}`}${
        totals.ram > board.ram ? `; ${bytes(totals.ram - board.ram)} too many: <code>--ram</code> plans for fewer` : ""}</span>
<b>Flash</b>${meter([[totals.weights, "k2"], [code || 0, "k4"]], board.flash || totals.flash)}
${ofLimit(totals.flash, board.flash)}
<span class="note rest">constants ${bytes(totals.weights)},
${code == null ? "code not counted" : "code " + bytes(code)} in
${many(functions.length, "function")} for ${many(layers.length, "layer")}</span>`;
}

function loadMeter() {
    const run = (totals.cycles ?? allWork) / state.mhz / 1000, share = run / state.every;
    return `<b>Load</b>${meter([[run, share > 1 ? "bad" : "k0"]], state.every)}
<span class="${share > 1 ? "no" : ""}">${percent(share)} busy</span>
<span class="note rest"><label>with a run every <input id="every" class="number" type="number" min="0.001" step="any"
value="${state.every}"> ms</label></span>`;
}

function timeWords() {
    const work = `${count(totals.multiply_adds)} multiply-adds`, about = isCounted ? "" : "about ";
    if (workOf === "multiply_adds")
        return `<div class="big">${work}</div><p class="note">${esc(report.target)} has no cycle model</p>`;
    const counted = totals.instructions == null ? "" : `, ${count(totals.instructions)} instructions`;
    if (workOf === "instructions")
        return `<div class="big">${about}${count(totals.instructions)} instructions</div><p class="note">${work}</p>`;
    const run = totals.cycles / state.mhz / 1000;
    const model = "memory without wait states; cycles: " + esc(report.cycle_model || "");
    return `<div class="big">${measured.cycles == null ? "about " : ""}${three(run)} ms a run</div>
<p class="note">at <label><span class="hidden">Clock in MHz</span><input id="mhz" class="number" type="number"
min="0.001" step="any" value="${state.mhz}"></label> MHz: ${count(totals.cycles)} cycles${counted}, ${work};
at most ${three(1000 / run)} runs a second</p>
<p class="note">${measured.cycles != null ? "measured by " + esc(measured.runner)
    : isCounted ? "instructions counted on the compiled code; cycles estimated, " + model : "estimated, " + model}</p>`;
}

function provedWords() {
    const s = report.shrink, left = (n, of) => percent(1 - n / of);
    if (!s) return "";
    return `<p class="proved"><b class="ok">&#10003; Proved dead and removed, with the same outputs:</b>
${count(s.of_channels - s.channels)} of ${count(s.of_channels)} channels,
${left(s.multiply_adds, s.of_multiply_adds)} of the multiply-adds, ${left(s.kernels, s.of_kernels)} of the kernels'
bytes</p>`;
}

function fitWords(board) {
    if (!board) return "";
    const isWhole = code != null && stack != null, name = board.name === "--fit" ? "the limits" : board.name;
    return `<div class="big ${fits(board) ? "ok" : "no"}">${fits(board) ? "&#10003; Fits" : "&#10007; Does not fit"}
${esc(name)}${isWhole ? "" : `, without ${code == null && stack == null ? "code and stack" : code == null ? "code"
    : "stack"}`}</div><p class="note">${totals.code == null
        ? "<code>--cc</code> measures code and stack" : "code measured by " + esc(report.compiler)}</p>`;
}

function boardButton(b, i) {
    const mark = fits(b) ? "&#10003;" : "&#10007;", isOn = i === state.board;
    const limits = [b.flash, b.ram].map(n => n == null ? "any" : bytes(n)).join(" flash, ") + " RAM";
    return `<button role="radio" aria-checked="${isOn}" data-board="${i}" title="${esc(b.chip || "")} ${limits}">
<span class="${isOn ? "" : fits(b) ? "ok" : "no"}">${mark}</span> ${esc(b.name)}</button>`;
}

function verdict() {
    const board = choices[state.board];
    $("verdict").innerHTML = `<div>${fitWords(board)}${timeWords()}</div>
<div class="meters">${memoryMeters(board || {})}${workOf === "cycles" ? loadMeter() : ""}</div>${provedWords()}
<div class="boards" role="radiogroup" aria-label="Board">${choices.map(boardButton).join("")}</div>`;
    for (const b of $("verdict").querySelectorAll("[data-board]"))
        b.onclick = () => {
            state.board = +b.dataset.board;
            state.mhz = choices[state.board].mhz || state.mhz;
            all();
            $("verdict").querySelector(`[data-board="${state.board}"]`).focus();
        };
    const numbers = { every: verdict, mhz: all };
    for (const id in numbers)
        if ($(id)) $(id).onchange = e => {
            state[id] = Math.max(.001, +e.target.value || 1);
            numbers[id]();
        };
}

/* ---- Strip ---- */
const STRIP = { time: [l => l.work, "Where the time goes"], flash: [l => l.weights, "Where the constants are"],
    MACs: [l => l.multiply_adds, "Where the multiply-adds are"] };

function stripButton(l, share) {
    const head = `${l.id} ${l.head.split(" ")[0]}`, width = share * $("strip").clientWidth;
    const words = width > 7.5 * head.length + 12 ? `${esc(head)}<br>${percent(share)}` : width > 24 ? l.id : "";
    return `<button data-layer="${l.id}" class="${share < .02 ? "thin" : ""}" tabindex="-1" aria-pressed="false"
style="flex:${share} 1 0;--c:var(--k${l.kind})" aria-label="layer ${l.id} ${esc(l.name)}: ${percent(share)}"
>${words}</button>`;
}

function strip() {
    const [value, title] = STRIP[state.strip], whole = sum(main, value) || 1, share = l => value(l) / whole;
    const list = main.filter(value);
    if (state.order === "heaviest") list.sort((a, b) => value(b) - value(a));
    if (state.order === "by kind") list.sort((a, b) => a.kind - b.kind || value(b) - value(a));
    $("strip-head").textContent = title;
    $("strip").innerHTML = list.map(l => stripButton(l, share(l))).join("");
    const kinds = KINDS.map((name, k) => ({ name, k, own: main.filter(l => l.kind === k) })).filter(x => x.own.length)
        .map(x => ({ ...x, share: sum(x.own, share) })).sort((a, b) => b.share - a.share);
    $("kinds").innerHTML = kinds.map(x => `<li><i style="--c:var(--k${x.k})"></i>${x.name}: ${x.own.length}
layer${x.own.length > 1 ? "s" : ""}, ${percent(x.share)}</li>`).join("");
    mark();
}

/* ---- Graph ---- */
let graph, root, view = { x: 0, y: 0, k: 1 };
const graphLayers = () => layers.filter(l => (l.graph || "") === state.graph);

function layerNode(g, v) {
    const l = v.layer, { width, height } = NODE;
    v.bar = drawn("rect", { x: 1, y: height - 6, height: 5, rx: 2, fill: `var(--k${l.kind})` });
    v.share = drawn("text", { class: "share", x: width - 7, y: 17, "text-anchor": "end" });
    g.append(v.bar, drawn("rect", { width: 5, height, rx: 2, fill: `var(--k${l.kind})` }),
        drawn("text", { class: "head", x: 12, y: 17, "font-weight": 600 }, cut(l.head, 17)), v.share,
        drawn("text", { x: 12, y: 33, class: "dim small" }, cut(l.id + " " + l.short, 16)),
        drawn("text", { x: width - 7, y: 33, class: "dim small", "text-anchor": "end" }, cut(l.shapeText, 12)));
    set(g, "aria-label", `layer ${l.id}, ${l.operators}, ${percent(l.share)} of the time`);
    g.onclick = () => select(l.id);
    g.onfocus = () => state.layer !== l.id && select(l.id, false);
}

function plainNode(g, head, below, label) {
    g.append(drawn("text", { class: "head", x: 12, y: 18, "font-weight": 600 }, cut(head, 24)),
        drawn("text", { x: 12, y: 34, class: "dim small" }, below));
    set(g, "aria-label", label);
}

function drawNode(v) {
    const kind = v.layer ? v.layer.free ? " free" : "" : v.fold ? " fold" : " port";
    const g = v.g = drawn("g", { class: "node" + kind, tabindex: -1, role: "button",
        transform: `translate(${v.x - NODE.width / 2} ${v.y - NODE.height / 2})` });
    g.append(drawn("rect", { class: "box", width: NODE.width, height: NODE.height, rx: 6 }));
    if (v.layer) layerNode(g, v);
    else if (v.fold) {
        const ids = v.layers.map(l => l.id), share = percent(sum(v.layers, l => l.share));
        plainNode(g, `\u00d7${v.fold.count - 1} the block above`,
            `layers ${ids[0]} to ${ids[ids.length - 1]}, ${share}`, "equal blocks; press to unfold");
        g.onclick = () => { state.fold = false; drawGraph(); };
    } else {
        const p = report.inputs.find(p => p.file_name === v.port);
        plainNode(g, v.port, p ? `input ${p.type} ${p.shape.join("x")}` : "input", "input " + v.port);
    }
    root.append(g);
}

function drawGraph() {
    const svg = $("net"), width = svg.getBoundingClientRect().width, list = graphLayers(), isPhone = width < 560;
    graph = layout(list, isPhone ? .3 : list.length > 20 ? 1.15 : 1.7, state.fold);
    svg.style.touchAction = isPhone ? "pan-y" : "none";
    const most = isPhone ? 1e4 : Math.max(440, innerHeight * .8), scale = Math.min(1, (width - 24) / graph.width);
    svg.style.height = Math.max(160, Math.min(most, graph.height * scale + 44)) + "px";
    svg.innerHTML = `<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
orient="auto"><path d="M0 0L8 4L0 8Z" fill="context-stroke"/></marker></defs>`;
    svg.append(root = drawn("g"));
    for (const e of graph.edges)
        root.append(e.drawn = drawn("path", { class: "edge", d: e.line, "marker-end": "url(#head)" }));
    graph.vertices.forEach(drawNode);
    const repeats = repeatsOf(list);
    $("fold").hidden = !repeats.length;
    set($("fold"), "aria-pressed", state.fold);
    $("graph-note").textContent = `${many(list.length, "layer")}; dashed: a view, without code`;
    bars();
    fitGraph();
    mark();
}

const BARS = { time: [l => l.share, l => percent(l.share)], memory: [l => l.bytes, l => bytes(l.bytes)],
    flash: [l => l.weights, l => bytes(l.weights)] };
function bars() {
    const [value, words] = BARS[state.bars], most = Math.max(...layers.map(value)) || 1;
    for (const v of graph.vertices.filter(v => v.layer)) {
        set(v.bar, "width", (NODE.width - 2) * value(v.layer) / most);
        v.share.textContent = v.layer.free ? "view" : words(v.layer);
    }
}

function moveGraph() {
    set(root, "transform", `translate(${view.x} ${view.y}) scale(${view.k})`);
    set(root, "class", view.k < .62 ? "far" : "");
}
function fitGraph() {
    const { width, height } = $("net").getBoundingClientRect();
    const k = Math.min((width - 20) / graph.width, (height - 32) / graph.height, 1.15);
    view.k = Math.max(k, .2);
    view.x = Math.max(12, (width - graph.width * view.k) / 2);
    view.y = Math.max(16, (height - graph.height * view.k) / 2);
    moveGraph();
}
function zoom(factor, x, y) {
    const box = $("net").getBoundingClientRect(), k = Math.min(3, Math.max(.1, view.k * factor));
    x = x ?? box.width / 2;
    y = y ?? box.height / 2;
    view.x = x - (x - view.x) * k / view.k;
    view.y = y - (y - view.y) * k / view.k;
    view.k = k;
    moveGraph();
}
function reveal(v) {
    const { width, height } = $("net").getBoundingClientRect(), x = v.x * view.k + view.x, y = v.y * view.k + view.y;
    const within = (at, half, most) => at < half ? half - at : at > most - half ? most - half - at : 0;
    view.x += within(x, NODE.width / 2 * view.k + 8, width);
    view.y += within(y, NODE.height / 2 * view.k + 8, height);
    moveGraph();
}

/* Dragging moves, two fingers zoom, and so does the wheel after a click. */
function listenToGraph() {
    const svg = $("net"), pointers = new Map();
    let isActive = false, moved = 0;
    svg.onpointerdown = e => { pointers.set(e.pointerId, e); moved = 0; isActive = true; };
    svg.onpointermove = e => {
        const old = pointers.get(e.pointerId), box = svg.getBoundingClientRect();
        if (!old) return;
        if (pointers.size === 1) {
            moved += Math.abs(e.clientX - old.clientX) + Math.abs(e.clientY - old.clientY);
            if (moved > 4) {
                svg.setPointerCapture(e.pointerId);
                svg.classList.add("drag");
                view.x += e.clientX - old.clientX;
                view.y += e.clientY - old.clientY;
                moveGraph();
            }
        } else {
            const other = [...pointers.values()].find(p => p.pointerId !== e.pointerId);
            const apart = p => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY);
            zoom(apart(e) / (apart(old) || 1), (e.clientX + other.clientX) / 2 - box.left,
                (e.clientY + other.clientY) / 2 - box.top);
        }
        pointers.set(e.pointerId, e);
    };
    svg.onpointerup = svg.onpointercancel = e => { pointers.delete(e.pointerId); svg.classList.remove("drag"); };
    svg.addEventListener("click", e => { if (moved > 6) e.stopPropagation(); }, true);
    svg.onmouseleave = () => isActive = false;
    svg.addEventListener("wheel", e => {
        if (!isActive && !e.ctrlKey) return;
        const box = svg.getBoundingClientRect();
        e.preventDefault();
        zoom(Math.exp(-e.deltaY * .0016), e.clientX - box.left, e.clientY - box.top);
    }, { passive: false });
    svg.onkeydown = e => {
        const l = layers[state.layer], v = graph.vertices.find(v => v.layer === l);
        if (!/^Arrow/.test(e.key) || !v) return;
        const beside = side => graph.vertices.filter(u => u.layer && Math.abs(u.y - v.y) < 2 && (u.x - v.x) * side > 0)
            .sort((a, b) => (a.x - b.x) * side).map(u => u.layer.id)[0];
        const to = { ArrowDown: l.readers[0], ArrowUp: l.reads.find(r => typeof r === "number"),
            ArrowLeft: beside(-1), ArrowRight: beside(1) }[e.key];
        const next = graph.vertices.find(u => u.layer && u.layer.id === to);
        e.preventDefault();
        if (!next) return;
        select(to);
        next.g.focus();
    };
}

/* ---- Memory: above, live bytes; below, where each buffer is ---- */
function memoryScale() {
    const width = Math.max(340, $("memory").clientWidth), left = 58, right = width - 8, least = allWork * .002;
    const part = l => state.width === "layer" ? 1 : Math.max(l.work, least), whole = sum(main, part) || 1, xs = [left];
    for (const l of main) xs.push(xs[xs.length - 1] + (right - left) * part(l) / whole);
    const top = 12, liveHeight = 56, below = top + liveHeight + 18, height = Math.min(300, Math.max(170, width * .3));
    const bottom = below + height, size = totals.arena || 1;
    return { width, left, right, top, bottom, xs, live: n => top + liveHeight * (1 - n / size),
        y: n => bottom - height * n / size };
}

function drawScale(svg, s) {
    const line = (n, y) => svg.append(drawn("path", { d: `M${s.left} ${y}H${s.right}`, stroke: "var(--line)" }),
        drawn("text", { class: "dim", x: s.left - 5, y: y + 4, "text-anchor": "end" }, bytes(Math.round(n))));
    for (const part of [0, 1]) line(part * totals.arena, s.live(part * totals.arena));
    for (const part of [0, .25, .5, .75, 1]) line(part * totals.arena, s.y(part * totals.arena));
    const step = Math.ceil(main.length / (s.width / 26));
    if (state.width === "layer") main.forEach((l, i) => i % step || svg.append(drawn("text", { class: "dim",
        x: (s.xs[i] + s.xs[i + 1]) / 2, y: s.bottom + 16, "text-anchor": "middle" }, i)));
}

function drawBuffer(svg, s, b) {
    const x = s.xs[b.from], width = s.xs[b.to + 1] - x, y = s.y(b.at + b.bytes), height = Math.max(1.5, s.y(b.at) - y);
    const isScratch = b.kind === "scratch", owner = b.layer == null ? null : layers[b.layer];
    const rect = drawn("rect", { class: "buf" + (isScratch ? " scratch" : ""), x: x + .5, y, height, rx: 1.5,
        width: Math.max(1, width - 1) });
    rect.words = `${isScratch || !owner ? b.name : `result of ${owner.id} ${owner.short}`}\n${bytes(b.bytes)} at `
        + `+${b.at}, layers ${b.from} to ${b.to}`
        + (b.in_place_of == null ? "" : `\nin place of ${buffers[b.in_place_of].name}`);
    rect.onclick = () => owner && select(owner.id);
    svg.append(rect);
    if (width > 34 && height > 13 && !isScratch)
        svg.append(drawn("text", { x: x + 4, y: y + 12, "pointer-events": "none" },
            cut(owner ? owner.id + (width > 150 ? " " + owner.short : "") : b.name, Math.floor(width / 7))));
    return rect;
}

function memory() {
    const box = $("memory"), s = memoryScale();
    if (!buffers.length) {
        box.innerHTML = "<p class=\"note\">&nbsp;The arena is empty.</p>";
        return;
    }
    const svg = drawn("svg", { viewBox: `0 0 ${s.width} ${s.bottom + 26}`, role: "group",
        "aria-label": "Memory of the arena over the layers" });
    drawScale(svg, s);
    svg.band = drawn("rect", { y: s.top - 6, height: s.bottom - s.top + 12, fill: "var(--chosen)", opacity: .75,
        width: 0 });
    const steps = main.map((l, i) => `V${s.live(l.bytes)}H${s.xs[i + 1]}`).join("");
    svg.append(svg.band, drawn("path", { d: `M${s.left} ${s.live(0)}${steps}V${s.live(0)}Z`, fill: "var(--k0)",
        "fill-opacity": .3, stroke: "var(--k0)" }));
    const best = main.findIndex(l => l.bytes === peak);
    const middle = (s.xs[best] + s.xs[best + 1]) / 2;
    svg.append(drawn("circle", { cx: middle, cy: s.live(peak), r: 3.5, fill: "var(--k0)" }));
    svg.buffers = buffers.map(b => drawBuffer(svg, s, b));
    svg.onmousemove = e => tip(e, e.target.words);
    svg.onmouseleave = () => tip();
    svg.onclick = e => {
        const at = svg.getBoundingClientRect(), x = (e.clientX - at.left) * s.width / at.width;
        const i = s.xs.findIndex((from, k) => x >= from && x < s.xs[k + 1]);
        if (!e.target.words && i >= 0 && i < main.length) select(i);
    };
    svg.xs = s.xs;
    box.replaceChildren(svg);
    box.svg = svg;
    const arena = peak === totals.arena ? "" : `, arena ${bytes(totals.arena)}`;
    $("memory-note").textContent =
        `peak ${bytes(peak)} in layer ${best}${arena}; above: live bytes; below: results, dashed scratch`;
    mark();
}

/* ---- Table ---- */
/* Columns of the report without a form of their own, if a layer has a value; then all: key, head, text, class, title. */
const UNITS = { count, bytes, words: x => x };
const given = (unit, css) => report.columns.filter(c => c.unit === unit
    && !/^(name|operators|place|instructions)$/.test(c.key) && layers.some(l => l[c.key])).map(c => [c.key, c.title,
    l => l[c.key] ? UNITS[unit](l[c.key]) : "", css]);
const COLUMNS = [
    ["id", "#"],
    ["name", "layer", l => l.short, "t", l => l.file_name || l.name],
    ["operators", "operators", l => l.operators.replace(/packed_/g, ""), "t more", l => l.operators],
    ["shapeText", "result", undefined, "t more"],
    ["work", workOf === "cycles" ? "ms" : workName,
        l => !l.work ? "" : workOf === "cycles" ? three(milliseconds(l)) : count(l.work)],
    ["share", "time", l => l.work ? percent(l.share) : "", "share"],
    ...given("count", "more"),
    ["perMac", workOf === "cycles" ? "cycles/MAC" : "work/MAC", l => l.multiply_adds ? l.perMac.toFixed(2) : "",
        "more"],
    ...given("bytes", ""),
    ["bytes", "live RAM", l => bytes(l.bytes)],
    ["place", "place", l => l.place.replace("arena ", ""), "t more"],
    ...given("words", "t more"),
].map(([key, head, text = l => l[key], css = "", title]) => ({ key, head, text, css, title }));
const isWords = c => typeof (layers[0] || {})[c.key] === "string";

function headCell(c) {
    const isSorted = state.sort === c.key, order = state.down ? "descending" : "ascending";
    const arrow = !isSorted ? "" : state.down ? " \u25be" : " \u25b4";
    return `<th scope="col" class="${c.css.replace("share", "")}" aria-sort="${isSorted ? order : "none"}"
><button data-sort="${c.key}">${c.head}${arrow}</button></th>`;
}

function bodyRow(l) {
    const most = (layers[hottest] || {}).share || 1;
    const style = c => c.css === "share" ? ` style="--p:${100 * l.share / most}%;--c:var(--k${l.kind})"` : "";
    const title = c => c.title ? ` title="${esc(c.title(l))}"` : "";
    return `<tr data-layer="${l.id}">${COLUMNS.map(c => `<td class="${c.css}"${style(c)}${title(c)}>`
        + `${esc(c.text(l))}</td>`).join("")}</tr>`;
}

function table() {
    const column = COLUMNS.find(c => c.key === state.sort), side = state.down ? -1 : 1;
    const compare = (a, b) => isWords(column) ? a[state.sort].localeCompare(b[state.sort])
        : (a[state.sort] || 0) - (b[state.sort] || 0);
    const list = layers.filter(matches).sort((a, b) => compare(a, b) * side || a.id - b.id);
    $("rows").innerHTML = `<caption class="hidden">Layers; a button in each head sorts</caption>
<thead><tr>${COLUMNS.map(headCell).join("")}</tr></thead><tbody>${list.map(bodyRow).join("")}</tbody>`;
    $("count").textContent = list.length === layers.length ? many(layers.length, "layer")
        : `${list.length} of ${many(layers.length, "layer")}`;
    mark();
}

/* ---- Beside another report ---- */
const TOTALS = [["ram", "RAM", bytes], ["arena", "arena", bytes], ["flash", "flash", bytes],
    ["weights", "constants", bytes], ["code", "code", bytes], ["multiply_adds", "multiply-adds", count],
    ["instructions", "instructions", count], ["cycles", "cycles", count]];

function pairRow(name, a, b, words) {
    const text = x => x == null ? "" : words(x), known = a != null && b != null;
    const change = !known || a === b || !b ? "" : (a > b ? "+" : "\u2212") + percent(Math.abs(a / b - 1));
    return `<tr><td class="t" title="${esc(name)}">${esc(name)}</td><td>${text(a)}</td><td>${text(b)}</td>
<td class="${!known || a === b ? "" : a < b ? "ok" : "no"}">${change}</td></tr>`;
}

function beside() {
    const other = report.against;
    if (!other) return;
    const head = what => `<thead><tr><th class="t">${what}</th>${["this", "other", "change"].map(x =>
        `<th>${x}</th>`).join("")}</tr></thead>`;
    const byName = list => new Map(list.map(l => [l.file_name || l.name, l]));
    const theirs = byName(other.layers), mine = byName(layers);
    const names = [...new Set([...mine.keys(), ...theirs.keys()])], work = l => l ? l.free ? 0 : l[workOf] : null;
    const apart = n => Math.abs((work(mine.get(n)) || 0) - (work(theirs.get(n)) || 0));
    const rows = names.filter(apart).sort((a, b) => apart(b) - apart(a));
    $("beside").hidden = false;
    $("beside-head").textContent = ["Beside " + other.model, other.target, other.options].filter(Boolean).join(", ");
    $("pair").innerHTML = `<div><table>${head("totals")}<tbody>${TOTALS.map(([key, name, words]) =>
        pairRow(name, totals[key], other.totals[key], words)).join("")}</tbody></table></div>
<div tabindex="0"><table>${head(`layer, ${workName}`)}<tbody>${rows.map(n =>
        pairRow(n, work(mine.get(n)), work(theirs.get(n)), count)).join("")
        || "<tr><td class=\"t\">no layer differs</td></tr>"}</tbody></table></div>`;
}

/* ---- Memories, and what is outside of the fastest ---- */
function memories() {
    const list = rows => `<div class="wide"><table>${rows.map((row, i) => "<tr>" + row.map((x, k) =>
        `<t${i ? "d" : "h"} class="${k ? "" : "t"}">${esc(x)}`).join("")).join("")}</table></div>`;
    const all = sum(report.memories, m => m.cost) || 1;
    const use = m => [m.name + (m.rom ? ", constants" : ""), bytes(m.used), bytes(m.capacity)];
    const uses = [...report.memories.map(m => [...use(m), bytes(m.read), bytes(m.written), percent(m.cost / all)]),
        ...report.unit_memories.map(use)];
    if (uses[0]) $("memories").innerHTML = `<h2>Memories</h2>${list([["memory", "used", "of", "read", "written",
        "cost"], ...uses])}` + (report.outside[0] ? list([["outside of " + report.outside[0].into, "in", "bytes", "missing",
            "saves"], ...report.outside.map(o => [o.name, o.memory, bytes(o.bytes), bytes(o.missing), count(o.saved)])])
            : "");
}

/* ---- What else there is: constants, removed operators, shrinking ---- */
function parts() {
    const list = (head, rows) => rows.length ? `<details><summary>${head}</summary><div class="wide"><table><tbody>${
        rows.join("")}</tbody></table></div></details>` : "";
    const cell = (x, i) => `<td class="${i ? "" : "t"}">${esc(x)}</td>`;
    const cells = (...all) => `<tr>${all.map(cell).join("")}</tr>`;
    const constants = [...report.constants].sort((a, b) => b.bytes - a.bytes);
    $("parts").innerHTML = list(`${many(constants.length, "constant")}, ${bytes(totals.weights)}`, constants.map(c =>
        cells(c.name, bytes(c.bytes), c.layers.length ? "layer " + c.layers.join(", ") : "")))
        + list(`${many(report.removed.length, "operator")} of the model without code`, report.removed.map(r =>
            cells(r.name, r.operator, r.why)))
        + list(`${many(report.shrunk.length, "layer")} with fewer channels`, report.shrunk.map(s => cells(s.name,
            `${s.channels} of ${s.of_channels} channels`,
            `${count(s.multiply_adds)} of ${count(s.of_multiply_adds)} MACs`)))
        + list("Combined layers", report.combined.map(c => cells(c)))
        + list(`${report.annotations.length} recorded annotations`, report.annotations.map(a =>
            cells(a.node, a.annotation, a.attributes)));
}
