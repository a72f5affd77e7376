/* Writes a zip archive: entries with the method deflate, all of the same date, so the same files give the same bytes. */
const CRC = Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ n >>> 1 : n >>> 1;
    return n >>> 0;
});

function checksum(bytes) {
    let sum = 0xffffffff;
    for (const b of bytes) sum = CRC[(sum ^ b) & 255] ^ sum >>> 8;
    return (sum ^ 0xffffffff) >>> 0;
}

async function through(stream, bytes) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/* Fields of 16 and 32 bits, little-endian: record([value, bytes], ...). */
function record(...fields) {
    const bytes = new Uint8Array(fields.reduce((n, f) => n + f[1], 0)), view = new DataView(bytes.buffer);
    let at = 0;
    for (const [value, size] of fields) {
        if (size === 2) view.setUint16(at, value, true);
        else view.setUint32(at, value, true);
        at += size;
    }
    return bytes;
}

/* files: [name, bytes] */
async function zip(files) {
    const VERSION = 20, UTF8 = 1 << 11, DEFLATE = 8, DATE = 1 << 5 | 1, NAMES = 0x02014b50, FILE = 0x04034b50;
    const parts = [], names = [];
    let at = 0;
    for (const [path, bytes] of files) {
        const name = new TextEncoder().encode(path), packed = await through(new CompressionStream("deflate-raw"), bytes);
        const shared = [[VERSION, 2], [UTF8, 2], [DEFLATE, 2], [0, 2], [DATE, 2], [checksum(bytes), 4],
            [packed.length, 4], [bytes.length, 4], [name.length, 2], [0, 2]];
        const head = record([FILE, 4], ...shared);
        names.push(record([NAMES, 4], [VERSION, 2], ...shared, [0, 2], [0, 2], [0, 2], [0, 4], [at, 4]), name);
        parts.push(head, name, packed);
        at += head.length + name.length + packed.length;
    }
    const size = names.reduce((n, p) => n + p.length, 0), n = files.length;
    return new Blob([...parts, ...names,
        record([0x06054b50, 4], [0, 2], [0, 2], [n, 2], [n, 2], [size, 4], [at, 4], [0, 2])]);
}
