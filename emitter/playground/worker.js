/* The compiler runs in a worker, so the page stays usable, and a run can be stopped. */
const compiler = { module: null, worker: null, waiting: new Map(), next: 0 };

/* Starts a worker, and ends the one before with all that it had to do. */
function restart() {
    if (compiler.worker) compiler.worker.terminate();
    for (const { fail } of compiler.waiting.values()) fail(new Error("stopped"));
    compiler.waiting.clear();
    const url = URL.createObjectURL(new Blob([$("host").textContent], { type: "text/javascript" }));
    const worker = compiler.worker = new Worker(url);
    worker.onmessage = e => {
        const { done } = compiler.waiting.get(e.data.id);
        compiler.waiting.delete(e.data.id);
        done(e.data);
    };
    worker.onerror = e => {
        for (const { fail } of compiler.waiting.values()) fail(new Error(e.message));
        compiler.waiting.clear();
    };
    if (compiler.module) worker.postMessage({ module: compiler.module });
}

const ask = message => new Promise((done, fail) => {
    const id = compiler.next++;
    compiler.waiting.set(id, { done, fail });
    compiler.worker.postMessage({ id, ...message });
});

/* Runs `loopwright WORDS`; files: [name, bytes]. See host.js. */
const lw = (words, files = [], pages) => ask({ words, files, pages });

/* A file that this page holds. */
async function held(name) {
    const packed = Uint8Array.from(atob($(name).textContent), c => c.charCodeAt(0));
    return (await ask({ packed })).bytes;
}

async function loadCompiler() {
    restart();
    compiler.module = await WebAssembly.compile(await held("compiler"));
    compiler.worker.postMessage({ module: compiler.module });
}
