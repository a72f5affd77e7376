/* The page: files in, a compilation, results. */
const state = { files: new Map(), model: "", results: null, tab: "report", job: 0 };
const isModel = name => /\.(onnx|tflite|te)$/i.test(name), isSample = name => /\.np[yz]$/i.test(name);
const HELD = { "try-float": ["digits.onnx", "calibration.npy"], "try-integer": ["quantized.onnx"] };

function say(text, isBad = false) {
    $("status").textContent = text;
    $("status").classList.toggle("bad", isBad);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

function showFiles() {
    const samples = [...state.files.keys()].filter(isSample);
    $("files").innerHTML = [...state.files].map(([name, data]) => `<li>${name === state.model ? "<b>" : ""}${esc(name)}${
        name === state.model ? "</b>" : ""} <span class="note">${bytes(data.length)}</span> <button data-remove="${
        esc(name)}" aria-label="Remove ${esc(name)}">&#10005;</button></li>`).join("");
    $("drop").classList.toggle("full", Boolean(state.model));
    $("drop-head").textContent = state.model ? "Drop another model or samples here"
        : "Drop a model here: .onnx, .tflite or .te";
    $("quantize").hidden = !samples.length;
    if (!samples.length) $("quantized").checked = false;
    $("samples").textContent = samples.join(", ");
    $("go").disabled = !compiler.module || !state.model;
}

/* Adds files. A new model replaces the one before, and what belonged to it. */
function take(list, isQuantized) {
    const model = list.map(f => f[0]).find(isModel);
    if (model) state.files.clear();
    for (const [name, data] of list) state.files.set(name, data);
    if (model) state.model = model;
    $("quantized").checked = isQuantized && list.some(f => isSample(f[0]));
    showFiles();
    if (state.model) compile();
    else say(`${list.map(f => f[0]).join(", ")}: add a model, too, which ends in .onnx, .tflite or .te`);
}

async function takeFiles(files) {
    const name = f => f.name.replace(/^-/, "_");
    const list = await Promise.all([...files].map(async f => [name(f), new Uint8Array(await f.arrayBuffer())]));
    if (list.length) take(list, true);
}

function remove(name) {
    state.files.delete(name);
    if (name === state.model) state.model = [...state.files.keys()].find(isModel) || "";
    showFiles();
    if (state.model) compile();
}

/* ---- Compilation ------------------------------------------------------------------------------------------------- */

function stopped(e) {
    if (e.message !== "stopped") say(String(e.message), true);
}

/* Runs a command, and keeps its line and its messages, each once. */
async function step(r, words) {
    const got = await lw(words, r.all);
    r.lines.push(lineOf(words));
    for (const line of got.said.trim().split("\n")) if (line && !r.said.includes(line)) r.said.push(line);
    if (got.crash) r.said.push(`the compiler ended with "${got.crash}", which is a defect; please report it`);
    return got;
}

const fileOf = (got, name) => (got.files.find(f => f[0] === name) || [])[1];

/* From a float model and samples: integer C, and an integer model for the report and packages. */
async function quantizeModel(r) {
    const samples = r.all.map(f => f[0]).filter(isSample).flatMap(s => ["--samples", s]), page = r.base + ".html";
    r.base += "_int8";
    const model = r.base + ".onnx";
    const got = await step(r, ["quantize", r.model, ...samples, "--ports", $("ports").value,
        ...optionsOf("quantize", "quantize"), "--report", page, "-o", r.base + ".c", "-o", model]);
    r.quantization = fileOf(got, page);
    r.files = got.files.filter(f => f[0] !== page);
    if (fileOf(got, model)) r.all = [...r.all, [model, fileOf(got, model)]];
    r.model = model;
    return got;
}

async function compileModel(r) {
    const got = await step(r, ["compile", r.model, ...optionsOf("compile", "compile"), "-o", r.base + ".c"]);
    r.files = got.files;
    return got;
}

const stemOf = name => name.replace(/\.\w+$/, "").replace(/[^\w-]/g, "_");

async function work(r) {
    const got = $("quantized").checked ? await quantizeModel(r) : await compileModel(r);
    r.refused = got.status !== 0;
    if (r.refused) return;
    const html = await step(r, ["report", r.model, ...optionsOf("report", ""), "-o", r.base + ".html"]);
    r.page = fileOf(html, r.base + ".html");
    r.report = r.page && decode(r.page);
    r.data = r.report && JSON.parse(/<script type="application\/json" id="data">([^]*?)<\/script>/.exec(r.report)[1]);
    r.ms = got.ms;
    r.memory = got.memory;
}

function summary(r) {
    const t = r.data && r.data.totals, seconds = (r.ms / 1000).toFixed(2);
    const figures = t ? `: ${bytes(t.ram)} of RAM, ${bytes(t.flash)} of flash${t.cycles != null
        ? `, ${count(t.cycles)} cycles` : ""}` : "";
    const about = r.quantization ? ` The report and packages are of ${r.model}, whose inputs and outputs stay floats.`
        : "";
    return `${r.model}${figures}. Compiled in ${seconds} s with ${bytes(r.memory)} of memory.${about}`;
}

async function compile() {
    if (!state.model || !compiler.module) return;
    if (compiler.waiting.size) restart();
    const mine = ++state.job, begun = performance.now();
    const r = { all: [...state.files], model: state.model, base: stemOf(state.model), lines: [], said: [], files: [] };
    const clock = setInterval(() => say(`compiling ${r.model}, ${((performance.now() - begun) / 1000).toFixed(0)} s`), 500);
    say(`compiling ${r.model}`);
    toAddress();
    $("stop").hidden = false;
    try {
        await work(r);
        state.results = r;
        showResults();
        say(r.refused ? `${r.model} is refused` : summary(r), r.refused);
    } catch (e) {
        if (mine === state.job) say(e.message === "stopped" ? "stopped" : String(e.message), e.message !== "stopped");
    }
    clearInterval(clock);
    if (mine === state.job) $("stop").hidden = true;
}

async function savePackage() {
    const r = state.results, kind = $("kind").value, folder = r.base;
    const words = ["package", r.model, "--for", kind, ...optionsOf("package", ""), "-o", folder];
    const got = await step(r, words), files = got.files.filter(f => f[0].startsWith(folder + "/"));
    r.lines = [...new Set(r.lines)];
    if (got.status === 0) save(`${folder}-${kind}.zip`, await zip(files));
    else state.tab = "messages";
    say(got.status === 0 ? `saved ${folder}-${kind}.zip, ${files.length} files` : "the package is refused",
        got.status !== 0);
    $("line").textContent = r.lines.join("\n");
    if (got.status) showTabs();
}

async function saveOne(which) {
    const r = state.results, all = r.page ? [...r.files, [r.base + ".html", r.page]] : r.files;
    if (which === "all") save(r.base + ".zip", await zip(all));
    else saveFile(...r.files[+which]);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

function dark(isOn) {
    document.documentElement.dataset.theme = isOn ? "dark" : "light";
    const inner = $("panel").querySelector("iframe");
    if (inner) inner.contentWindow.postMessage(isOn ? "dark" : "light", "*");
}

function listenToDrops() {
    const over = isOver => e => {
        e.preventDefault();
        $("drop").classList.toggle("over", isOver);
    };
    document.ondragover = over(true);
    document.ondragleave = over(false);
    document.ondrop = e => {
        over(false)(e);
        takeFiles(e.dataTransfer.files).catch(stopped);
    };
    $("file").onchange = e => takeFiles(e.target.files).catch(stopped);
    for (const [id, names] of Object.entries(HELD))
        $(id).onclick = async () => take(await Promise.all(names.map(async n => [n, await held(n)])), false);
    $("files").onclick = e => { if (e.target.dataset.remove) remove(e.target.dataset.remove); };
}

function listenToResults() {
    $("tabs").onclick = e => {
        const to = e.target.closest("[data-tab]");
        if (!to) return;
        state.tab = to.dataset.tab;
        showTabs();
        $("tabs").querySelector("[aria-selected=true]").focus();
    };
    $("tabs").onkeydown = e => {
        const to = { ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling" }[e.key];
        const edge = { Home: "firstElementChild", End: "lastElementChild" }[e.key];
        const next = to ? document.activeElement[to] : edge && $("tabs")[edge];
        if (!next) return;
        e.preventDefault();
        next.click();
    };
    $("saves").onclick = e => {
        const b = e.target.closest("[data-save]");
        if (b) saveOne(b.dataset.save).catch(stopped);
    };
    $("pack").onclick = () => savePackage().catch(stopped);
    $("panel").onclick = e => {
        const b = e.target.closest("[data-row]"), row = b && state.results.rows[+b.dataset.row];
        if (!row) return;
        $("for").value = row.for;
        $("optimize").value = row.optimize[0];
        compile();
    };
}

function listen() {
    listenToDrops();
    listenToResults();
    $("form").onsubmit = e => {
        e.preventDefault();
        compile();
    };
    $("form").onchange = e => {
        toAddress();
        if (/^(for|optimize|quantized|ports)$/.test(e.target.id)) compile();
    };
    $("options").onclick = e => { if (e.target.dataset.option) addOption(e.target.dataset.option); };
    $("stop").onclick = () => {
        state.job++;
        restart();
        $("stop").hidden = true;
        say("stopped");
    };
    $("theme").onclick = () => dark(document.documentElement.dataset.theme !== "dark");
    $("link").onclick = async () => {
        toAddress();
        try {
            await navigator.clipboard.writeText(location.href);
            say("the link is copied; it has the options, not the model");
        } catch { say("the address of this page has the options, not the model: copy it"); }
    };
    onhashchange = () => {
        fromAddress();
        compile();
    };
}

async function begin() {
    const begun = performance.now();
    document.documentElement.classList.remove("plain");
    dark(matchMedia("(prefers-color-scheme: dark)").matches);
    await loadCompiler();
    await loadOptions();
    for (const f of FIELDS) initial[f] = $(f).value;
    fromAddress();
    listen();
    showFiles();
    say(`ready after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    if ($("file").files.length) await takeFiles($("file").files);
}
begin().catch(e => say(`the compiler cannot start: ${e.message}`, true));
