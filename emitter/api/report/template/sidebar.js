/* The selected layer: its facts, the parameters of its function, and its C, formula and schedule. */
const goTo = i => typeof i === "string" ? "input " + esc(i)
    : `<button class="link" data-go="${i}">${i} ${esc(layers[i].short)}</button>`;

/* Comments, macros, words of C, names. */
const C_WORDS = new RegExp("(/\\*[^]*?\\*/|//.*)|(#\\s*\\w+|\\b[A-Z][A-Z0-9_]{3,}\\b)|\\b(for|if|else|const|static|"
    + "void|return|restrict|u?int\\d+_t|float|double|while|int)\\b|([A-Za-z_]\\w*)", "g");

function coloured(text, list) {
    return esc(text).replace(/&quot;/g, '"').replace(C_WORDS, (all, comment, macro, word, name) => {
        const i = list.findIndex(p => p.parameter === name);
        return comment ? `<span class="comment">${all}</span>` : macro ? `<span class="macro">${all}</span>`
            : word ? `<span class="word">${all}</span>` : i < 0 ? all
                : `<b class="p-${list[i].role}" data-parameter="${i}">${all}</b>`;
    });
}

function noLayer() {
    const hot = layers[hottest], ports = [...report.inputs, ...report.outputs];
    const port = p => `<dt>${esc(p.name)}</dt><dd>${p.type} ${p.shape.join("x")}${p.scale == null ? ""
        : `, ${p.scale} (q - ${p.zero_point})`.replace("- -", "+ ")}</dd>`;
    return `<h3>No layer is selected</h3><p class="note">Choose one in any view: all show it.${hot && hot.work
        ? ` <button class="link" data-go="${hottest}">${hottest}
${esc(hot.short)} has the most work</button>, ${percent(hot.share)}.` : ""}</p>
${report.warnings.length ? `<h3>Notes of the compiler</h3>${report.warnings.map(w =>
        `<p class="note">${esc(w)}</p>`).join("")}` : ""}
<h3>Ports</h3><dl>${ports.map(port).join("")}</dl>
<h3>Compilation</h3><dl><dt>options</dt><dd>${esc(report.options || "none")}</dd><dt>version</dt>
<dd>${esc(report.version)}</dd><dt>SHA-256</dt><dd>${report.sha256}</dd></dl>`;
}

function workWords(l) {
    const per = l.multiply_adds && l.work ? `: ${l.perMac.toFixed(2)} ${workName} for each` : "";
    const counted = [["multiply_adds", "multiply-adds"], ["instructions", "instructions"], ["cycles", "cycles"]];
    return counted.filter(c => l[c[0]] != null).map(c => `${count(l[c[0]])} ${c[1]}`).join(", ") + per;
}

function facts(l) {
    const same = (functionOf.get(l.function) || { layers: [] }).layers.filter(i => i !== l.id);
    const to = l.readers.map(goTo).join(", ") || esc(report.outputs.filter(o => o.layer === l.id).map(o =>
        "output " + o.name).join(", ") || "output");
    const rows = [["operators", esc(l.operators.replaceAll("+", " + "))], ["in the file", esc(l.file_name)],
        ["graph", esc(l.graph || "")], ["from", l.reads.map(goTo).join(", ") || "constants"], ["to", to],
        ["result", `${l.type} ${l.shapeText}, ${bytes(l.result)}, ${esc(l.place)}`
            + (l.scale == null ? "" : `<br>scale ${l.scale}, zero point ${l.zero_point}`)],
        ["work", l.free ? "" : workWords(l)], ["flash", l.weights ? bytes(l.weights) + " of constants" : ""],
        ["channels", l.channels ? `${l.channels.kept} of ${l.channels.of} are kept` : ""],
        ["floats", l.float ? "computes in floating point" : ""], ["same code as", same.map(goTo).join(", ")]];
    return `<dl>${rows.filter(r => r[1]).map(r => `<dt>${r[0]}</dt><dd>${r[1]}</dd>`).join("")}</dl>`;
}

function parameterWords(l, p) {
    const from = p.role === "out" && l.in_place_of != null ? `in place of ${goTo(l.in_place_of)}, `
        : p.role === "in" && p.layer != null && p.layer !== l.id ? goTo(p.layer) + ", " : "";
    const where = p.buffer ? `${bytes(p.bytes)} at +${p.at}` : p.constant ? `<code>${esc(p.constant)}</code>, ${
        bytes(p.bytes)}` : bytes(p.bytes);
    return `<li><code class="p-${p.role}">${esc(p.parameter)}</code> ${ROLES[p.role]} ${from}${where}</li>`;
}

function codeTabs(l, f, list) {
    const s = f.schedule || { steps: [], loops: "", why: "" };
    const loops = s.loops ? `\n\n<span class="comment"># the loops that result</span>\n${esc(s.loops)}` : "";
    const texts = { C: coloured(f.text || "", list), formula: esc(f.formula || ""),
        schedule: esc((s.name ? s.name + ":\n" : "") + s.steps.map(x => "  " + x).join("\n")) + loops,
        why: esc(s.why) };
    const lines = f.lines ? `, lines ${f.lines[0]} to ${f.lines[1]} of model.c` : "";
    const tab = t => `<button role="tab" aria-selected="${t === state.tab}" data-tab="${t}">${t}</button>`;
    return `<h3>${esc(f.name)}<span class="note">${lines}</span></h3>
<ul class="args">${list.map(p => parameterWords(l, p)).join("")}</ul>
<div class="tabs" role="tablist">${Object.keys(texts).map(tab).join("")}</div>
<pre tabindex="0" role="tabpanel" aria-label="${state.tab}">${texts[state.tab]}</pre>`;
}

function one() {
    const l = layers[state.layer], box = $("one");
    if (!l) {
        box.innerHTML = noLayer();
        return;
    }
    const f = functionOf.get(l.function), list = parameters(l);
    const time = l.free ? "a view: costs nothing" : `${timeText(l)}, ${percent(l.share)}`;
    box.innerHTML = `<h3>${l.id} ${esc(l.short)} <span class="note">${time}</span></h3>${facts(l)}`
        + (f ? codeTabs(l, f, list) : `<p class="note">${l.free ? "No code: the result is its operand in another shape."
            : "The code of this layer is in the functions of its graphs."}</p>`);
    for (const b of box.querySelectorAll("[data-parameter]")) {
        const p = list[+b.dataset.parameter], light = on => () => p.buffer && $("memory").svg
            && $("memory").svg.buffers[p.buffer.id].classList.toggle("lit", on);
        b.title = p.buffer ? `${bytes(p.bytes)} at +${p.at}` : p.constant || p.kind;
        b.onmouseenter = light(true);
        b.onmouseleave = light(false);
        b.onclick = () => p.layer != null && select(p.layer);
    }
}
