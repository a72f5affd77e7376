/* The report, and what follows from it for all views. */
const report = JSON.parse($("data").textContent);
const { layers, totals, buffers, functions } = report;
/* The layers of NAME_run; the others are in branches, loops and training. */
const main = layers.filter(l => !l.graph);

const boards = report.boards || [];
const smaller = (a, b) => a.flash - b.flash || a.ram - b.ram;

/* The boards of the report's target; in front, the limits of --fit, unless they are those of --board. */
const choices = boards.filter(b => b.target === report.target || b.name === report.board).sort(smaller);
const own = boards.find(b => b.name === report.board) || {};
if (report.fit && (report.fit.flash !== own.flash || report.fit.ram !== own.ram))
    choices.unshift({ name: "--fit", flash: report.fit.flash, ram: report.fit.ram, mhz: report.mhz });
const fits = b => (b.flash == null || totals.flash <= b.flash) && (b.ram == null || totals.ram <= b.ram);
function firstChoice() {
    if (report.fit) return Math.max(0, choices.findIndex(b => b.name === "--fit" || b.name === report.board));
    return Math.max(choices.findIndex(fits), choices.length ? 0 : -1);
}

const state = { layer: -1, every: 100, board: firstChoice(), order: "run order", strip: "time", bars: "time",
    width: "layer", tab: "C", sort: "id", down: false, find: "", graph: "", fold: false };
state.mhz = report.mhz || (choices[state.board] || {}).mhz || 100;

/* Work is what a share of the time is a share of: the best figure that the report has. */
const workOf = totals.cycles != null ? "cycles" : totals.instructions != null ? "instructions" : "multiply_adds";
const workName = { cycles: "cycles", instructions: "instructions", multiply_adds: "multiply-adds" }[workOf];
/* Instructions may be counted on compiled code or by a runner; cycles are measured by a runner only. */
const measured = report.measured || {};
const isCounted = report.stepped || measured.instructions != null;
const allWork = sum(main, l => l.free ? 0 : l[workOf]) || 1;
const milliseconds = l => l.cycles / state.mhz / 1000;
const timeText = l => workOf === "cycles" ? three(milliseconds(l)) + " ms" : count(l.work) + " " + workName;

const KINDS = ["products", "depthwise", "sums and pools", "element by element", "softmax and others", "moves, views"];
function kindOf(operators) {
    if (/depthwise/.test(operators)) return 1;
    if (/conv|dense|matmul|gemm/.test(operators)) return 0;
    if (/pool|reduce|mean|^sum/.test(operators)) return 2;
    if (/softmax|norm|lstm|gru|forest|tree/.test(operators)) return 4;
    const moves = /reshape|transpose|concat|pad|slice|split|flatten|gather/.test(operators);
    return moves && !/add|mul|sub/.test(operators) ? 5 : 3;
}

/* What all names have in common at the front says nothing. */
function commonFront(names) {
    let n = names.length > 2 ? names[0].length : 0;
    for (const s of names) while (!s.startsWith(names[0].slice(0, n))) n--;
    return names[0] ? names[0].slice(0, n).replace(/[^_]*$/, "") : "";
}
const front = commonFront(main.map(l => l.name).slice(0, -1));

/* The bytes of the arena that are live in a layer; those that buffers share count once. */
function liveBytes(i) {
    let end = 0, live = 0;
    for (const b of buffers.filter(b => b.from <= i && i <= b.to).sort((x, y) => x.at - y.at)) {
        live += Math.max(0, b.at + b.bytes - Math.max(end, b.at));
        end = Math.max(end, b.at + b.bytes);
    }
    return live;
}

for (const l of layers) {
    const root = l.root_operator || l.operators.split("+")[0], more = l.operators.split("+").length - 1;
    l.kind = kindOf(l.root_operator || l.operators);
    l.head = root.replace(/packed_|_fixed|global_|_conv2d$/g, "") + (more > 0 ? " +" + more : "");
    l.short = l.name.startsWith(front) && l.name !== front ? l.name.slice(front.length) : l.name;
    l.work = l.free ? 0 : l[workOf] || 0;
    l.share = l.work / allWork;
    l.perMac = l.multiply_adds ? l.work / l.multiply_adds : 0;
    l.shapeText = l.shape.join("x");
    l.bytes = l.graph ? l.live || 0 : liveBytes(l.id);
    l.readers = [];
}
for (const l of layers) for (const r of l.reads) if (typeof r === "number") layers[r].readers.push(l.id);
const functionOf = new Map(functions.map(f => [f.name, f]));
const peak = Math.max(0, ...main.map(l => l.bytes));
const hottest = main.reduce((best, l) => l.work > layers[best].work ? l.id : best, 0);

/* A parameter of the layer's function: what it does there, and its buffer. */
const ROLES = { in: "reads", out: "writes", tmp: "scratch", weight: "constant" };
function parameters(l) {
    return l.traffic.filter(p => p.kind !== "stack").map(p => ({ ...p, buffer: buffers[p.buffer],
        role: p.kind === "scratch" ? "tmp" : p.kind === "weights" ? "weight" : p.written ? "out" : "in" }));
}

/* The buffers of a layer with their roles. A view has the buffer of the layer whose result it shows. */
function buffersOf(l) {
    const found = new Map(parameters(l).filter(p => p.buffer).map(p => [p.buffer, p.role]));
    let from = l;
    while (from && from.free && typeof from.reads[0] === "number") from = layers[from.reads[0]];
    const isOwn = b => from && b.layer === from.id && b.kind !== "scratch";
    if (!found.size) for (const b of buffers.filter(isOwn)) found.set(b, "out");
    return found;
}
const matches = l => !state.find
    || [l.name, l.operators, l.function, l.file_name].join(" ").toLowerCase().includes(state.find);
