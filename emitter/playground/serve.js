/* The worker: a message is a module to keep, bytes to unpack, or a run. */
let module;
onmessage = e => {
    const { id, packed, words, files, pages } = e.data;
    if (e.data.module) module = e.data.module;
    else postMessage({ id, ...(packed ? { bytes: unpack(packed) } : run(module, words, files, pages)) });
};
