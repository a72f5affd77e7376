/* The options: the form, the address, and what each command takes. */
const COMMANDS = ["compile", "quantize", "report", "package"];
/* command -> option -> { value, what }, from the help of the compiler */
const takes = new Map();
const FIELDS = ["for", "optimize", "ram", "more", "ports"];

/* The words of a line, as a shell reads them. */
const wordsOf = text => [...text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(m => m[0].replace(/'([^']*)'|"([^"]*)"/g,
    (all, single, double) => single ?? double));
const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
const lineOf = words => ["loopwright", ...words.map(quoted)].join(" ");

/* A line of help: the name and value in columns 2 to 35, the sentence from column 37. */
function readHelp(text) {
    const found = new Map();
    for (const line of text.split("\n")) {
        const left = line.slice(2, 36).trim().replace(/^-\w, /, ""), [name, value] = left.split(/\s+/);
        if (line.startsWith("  -") && name.startsWith("--")) found.set(name, { value, what: line.slice(37) });
    }
    return found;
}

const rowsOf = text => text.split("\n\n")[0].trim().split("\n").slice(1).map(line => line.split(/\s{2,}/));

async function loadOptions() {
    const outputOf = async words => (await lw(words)).out;
    for (const c of COMMANDS) takes.set(c, readHelp(await outputOf([c, "--help"])));
    const option = (value, text) => `<option value="${esc(value)}">${esc(text)}</option>`;
    const boards = rowsOf(await outputOf(["boards"])).map(([name, chip, , flash, ram]) =>
        option("board " + name, `${name}: ${chip}, ${flash} flash, ${ram} RAM`));
    const targets = rowsOf(await outputOf(["targets"])).map(r => r[0]);
    $("for").innerHTML = `<optgroup label="Targets">${targets.map(t => option("target " + t, t)).join("")}</optgroup>
<optgroup label="Boards">${boards.join("")}</optgroup>`;
    $("for").value = "target cortex-m4";
    const kinds = takes.get("package").get("--for").what.replace(/^write for /, "").split(/, | or /);
    $("kind").innerHTML = kinds.map(k => option(k, k)).join("");
    $("kind").value = "cmake";
    $("version").textContent = (await outputOf(["--version"])).trim();
    listOptions();
}

/* All options that the form passes on; a click adds one to the line. */
function listOptions() {
    const all = new Map(COMMANDS.flatMap(c => [...takes.get(c)]));
    for (const own of ["--help", "--version", "--target", "--board", "--optimize", "--ram", "--samples", "--for",
        "--ports", "--report", "--cc", "--runner", "--link", "--finetune", "--timeout"]) all.delete(own);
    $("options").innerHTML = "<dl>" + [...all].map(([name, { value, what }]) => `<dt><button type="button" class="link"
data-option="${name}">${name} ${esc(value || "")}</button></dt><dd>${esc(what)}</dd>`).join("") + "</dl>";
}

function addOption(name) {
    $("more").value = `${$("more").value} ${name} `.trimStart();
    $("more").focus();
}

/* The words of the form that a command takes. A word that no command takes goes to the first, which refuses it. */
function optionsOf(command, first, without = []) {
    const words = [], more = wordsOf($("more").value), [kind, name] = $("for").value.split(" ");
    const known = c => word => takes.get(c).get(word.split("=")[0]);
    if (!without.includes("for")) words.push("--" + kind, name);
    if (!without.includes("optimize") && $("optimize").value !== "balanced")
        words.push("--optimize", $("optimize").value);
    if ($("ram").value.trim()) words.push("--ram", $("ram").value.trim());
    for (let i = 0; i < more.length; i++) {
        const own = known(command)(more[i]), any = own || COMMANDS.map(c => known(c)(more[i])).find(o => o);
        const part = any && any.value && !more[i].includes("=") ? more.slice(i, ++i + 1) : [more[i]];
        if (own || (!any && command === first)) words.push(...part);
    }
    return words;
}

/* A link has options alone: never a model, a name of a file, or a sample. */
function toAddress() {
    const q = new URLSearchParams(FIELDS.filter(f => $(f).value !== initial[f]).map(f => [f, $(f).value]));
    try { history.replaceState(null, "", "#" + q); } catch {}
}
const initial = {};
function fromAddress() {
    const q = new URLSearchParams(location.hash.slice(1));
    for (const f of FIELDS) {
        $(f).value = q.get(f) ?? initial[f];
        if (!$(f).value && initial[f]) $(f).value = initial[f];      /* a choice that does not exist */
    }
}
