"use strict";
/* The system below the compiler, for a worker: WASI with files in memory. Nothing leaves this file but the results.
   Each run has fresh memory and fresh files, so a run depends on its words and files alone. */
const DONE = 0, BAD_FILE = 8, EXISTS = 20, INVALID = 28, IS_FOLDER = 31, NONE = 44, NO_SYSTEM = 52, NOT_EMPTY = 55;
const FOLDER = 3, REGULAR = 4, STREAM = 2;
const CREATE = 1, ONLY_FOLDER = 2, ONLY_NEW = 4, EMPTY = 8;
const ROOTS = [".", "/"], FIRST_FILE = 3 + ROOTS.length;
const FIRST_PAGES = 128, PAGES = 16384;

class Exit { constructor(status) { this.status = status; } }
/* setjmp and longjmp: a jump is this exception, and host.c finds the function that continues. */
const JUMP = { name: "longjmp" };

/* A disk: name -> { bytes, size } of a file, or { folder: true }. */
class Disk {
    constructor(files) {
        this.at = new Map();
        for (const [name, bytes] of files) this.at.set(name, { bytes, size: bytes.length });
    }
    find(name) { return name === "" ? { folder: true } : this.at.get(name); }
    inside(folder) {
        const front = folder ? folder + "/" : "";
        return [...this.at.keys()].filter(n => n.startsWith(front) && !n.slice(front.length).includes("/"))
            .map(n => ({ name: n.slice(front.length), type: this.at.get(n).folder ? FOLDER : REGULAR }));
    }
    hasFolder(name) {
        const folder = this.find(name.split("/").slice(0, -1).join("/"));
        return Boolean(folder && folder.folder);
    }
    write(file, at, bytes) {
        if (at + bytes.length > file.bytes.length) {
            const more = new Uint8Array(Math.max(at + bytes.length, 2 * file.size, 4096));
            more.set(file.bytes.subarray(0, file.size));
            file.bytes = more;
        }
        file.bytes.set(bytes, at);
        file.size = Math.max(file.size, at + bytes.length);
    }
}

function joined(parts) {
    const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const p of parts) { all.set(p, at); at += p.length; }
    return all;
}

/* The calls of WASI that wasi-libc makes for this program. `m` reads and writes the program's memory. */
function wasi(words, disk, streams, m) {
    const opened = [null, null, null, ...ROOTS.map(() => ({ folder: "" }))];
    const isRoot = fd => fd >= 3 && fd < FIRST_FILE;
    const name = (at, n) => m.text(at, n).split("/").filter(p => p && p !== ".").join("/");
    const status = (at, type, size) => {
        m.clear(at, 64);
        m.u8(at + 16, type);
        m.u64(at + 24, 1);
        m.u64(at + 32, size);
        return DONE;
    };
    const statusOf = (at, f) => status(at, f.folder ? FOLDER : REGULAR, f.size || 0);
    const strings = (list, at) => {
        for (const w of words) {
            m.u32(list, at);
            m.set(at, w);
            list += 4;
            at += w.length;
        }
        return DONE;
    };
    return {
        args_sizes_get(n, size) {
            m.u32(n, words.length);
            m.u32(size, words.reduce((all, w) => all + w.length, 0));
            return DONE;
        },
        args_get: strings,
        environ_sizes_get(n, size) {
            m.u32(n, 0);
            m.u32(size, 0);
            return DONE;
        },
        environ_get: () => DONE,
        clock_time_get(id, precision, at) {
            m.u64(at, Math.round(1e6 * (id ? performance.now() : Date.now())));
            return DONE;
        },
        proc_exit(code) { throw new Exit(code); },
        fd_prestat_get(fd, at) {
            if (!isRoot(fd)) return BAD_FILE;
            m.u32(at, 0);
            m.u32(at + 4, ROOTS[fd - 3].length);
            return DONE;
        },
        fd_prestat_dir_name(fd, at) {
            m.set(at, new TextEncoder().encode(ROOTS[fd - 3]));
            return DONE;
        },
        fd_fdstat_get(fd, at) {
            if (fd > 2 && !opened[fd]) return BAD_FILE;
            m.clear(at, 24);
            m.u8(at, fd < 3 ? STREAM : opened[fd].file ? REGULAR : FOLDER);
            m.u64(at + 8, fd < 3 ? 0x1fffffff & ~0x24 : 0x1fffffff);     /* streams have no place */
            m.u64(at + 16, 0x1fffffff);
            return DONE;
        },
        fd_fdstat_set_flags: () => DONE,
        fd_filestat_get(fd, at) {
            const o = opened[fd];
            return fd < 3 ? status(at, STREAM, 0) : o ? statusOf(at, o.file || { folder: true }) : BAD_FILE;
        },
        path_filestat_get(fd, flags, p, n, at) {
            const f = disk.find(name(p, n));
            return f ? statusOf(at, f) : NONE;
        },
        path_create_directory(fd, p, n) {
            const path = name(p, n);
            if (disk.find(path)) return EXISTS;
            if (!disk.hasFolder(path)) return NONE;
            disk.at.set(path, { folder: true });
            return DONE;
        },
        path_open(fd, look, p, n, how, rights, inherited, flags, at) {
            const path = name(p, n);
            let file = disk.find(path);
            if (file && how & ONLY_NEW) return EXISTS;
            if (!file && (!(how & CREATE) || !disk.hasFolder(path))) return NONE;
            if (file && file.folder) opened.push({ folder: path });
            else {
                if (!file) disk.at.set(path, file = { bytes: new Uint8Array(0), size: 0 });
                if (how & ONLY_FOLDER) return NONE;
                if (how & EMPTY) { file.bytes = new Uint8Array(0); file.size = 0; }
                opened.push({ file, at: 0, isAppended: Boolean(flags & 1) });
            }
            m.u32(at, opened.length - 1);
            return DONE;
        },
        path_rename(fd, p, n, to, q, k) {
            const from = name(p, n), file = disk.find(from);
            if (!file) return NONE;
            disk.at.delete(from);
            disk.at.set(name(q, k), file);
            return DONE;
        },
        path_unlink_file(fd, p, n) {
            const path = name(p, n), file = disk.find(path);
            if (file && file.folder) return IS_FOLDER;
            return disk.at.delete(path) ? DONE : NONE;
        },
        path_remove_directory(fd, p, n) {
            const path = name(p, n);
            if (disk.inside(path).length) return NOT_EMPTY;
            return disk.at.delete(path) ? DONE : NONE;
        },
        fd_readdir(fd, at, room, from, used) {
            if (!opened[fd] || opened[fd].folder === undefined) return BAD_FILE;
            const end = at + room, begin = at;
            for (const [i, entry] of disk.inside(opened[fd].folder).entries()) {
                if (i < from || at === end) continue;
                const text = new TextEncoder().encode(entry.name), row = new Uint8Array(24 + text.length);
                const view = new DataView(row.buffer);
                view.setBigUint64(0, BigInt(i + 1), true);
                view.setBigUint64(8, 1n, true);
                view.setUint32(16, text.length, true);
                view.setUint8(20, entry.type);
                row.set(text, 24);
                const part = row.subarray(0, end - at);
                m.set(at, part);
                at += part.length;
            }
            m.u32(used, at - begin);
            return DONE;
        },
        fd_read(fd, list, n, done) {
            const o = opened[fd];
            let total = 0;
            if (fd && !(o && o.file)) return BAD_FILE;
            for (const [at, size] of fd ? m.vectors(list, n) : []) {
                const part = o.file.bytes.subarray(o.at, Math.min(o.at + size, o.file.size));
                m.set(at, part);
                o.at += part.length;
                total += part.length;
            }
            m.u32(done, total);
            return DONE;
        },
        fd_write(fd, list, n, done) {
            const o = opened[fd];
            let total = 0;
            if (fd !== 1 && fd !== 2 && !(o && o.file)) return BAD_FILE;
            for (const [at, size] of m.vectors(list, n)) {
                const part = m.bytes(at, size);
                if (fd < 3) streams[fd].push(part);
                else {
                    if (o.isAppended) o.at = o.file.size;
                    disk.write(o.file, o.at, part);
                    o.at += size;
                }
                total += size;
            }
            m.u32(done, total);
            return DONE;
        },
        fd_seek(fd, offset, whence, at) {
            const o = opened[fd];
            if (!o || !o.file) return BAD_FILE;
            const to = Number(offset) + [0, o.at, o.file.size][whence];
            if (to < 0) return INVALID;
            o.at = to;
            m.u64(at, to);
            return DONE;
        },
        fd_close(fd) {
            if (fd >= FIRST_FILE) opened[fd] = null;
            return DONE;
        },
    };
}

/* Reads and writes the program's memory, whose buffer changes when it grows. */
function access(memory) {
    const view = () => new DataView(memory.buffer), all = () => new Uint8Array(memory.buffer);
    return {
        u8: (at, v) => view().setUint8(at, v),
        u32: (at, v) => view().setUint32(at, v, true),
        u64: (at, v) => view().setBigUint64(at, BigInt(v), true),
        set: (at, bytes) => all().set(bytes, at),
        clear: (at, n) => all().fill(0, at, at + n),
        bytes: (at, n) => all().slice(at, at + n),
        text: (at, n) => new TextDecoder().decode(all().slice(at, at + n)),
        vectors: (at, n) => Array.from({ length: n }, (_, i) =>
            [view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true)]),
    };
}

/* The imports that the program names, so a missing one is an error before the program runs. */
function imports(module, memory, calls, state) {
    const invoke = (at, ...words) => {
        const { __stack_pointer: stack, __indirect_function_table: table } = state.exports, depth = stack.value;
        try {
            return table.get(at)(...words);
        } catch (e) {
            if (e !== JUMP) throw e;
            stack.value = depth;
            return undefined;
        }
    };
    /* A function that returns 64 bits returns a BigInt, also after a jump, when nothing reads the value. */
    const invokeLong = (at, ...words) => invoke(at, ...words) ?? 0n;
    const given = { memory, throw_jump() { throw JUMP; }, ...calls };
    const all = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
        const value = name.startsWith("invoke_j") ? invokeLong : name.startsWith("invoke_") ? invoke : given[name];
        if (value) (all[from] = all[from] || {})[name] = value;
    }
    return all;
}

/* Runs `loopwright WORDS` once. files: [name, bytes] of what is there. Returns the status, both texts, and the files
   that are new or other than before. pages: a limit of memory, in 64 KiB. */
function run(module, words, files, pages = PAGES) {
    const begun = performance.now(), state = {}, streams = [null, [], []];
    const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: pages });
    const disk = new Disk(files), args = ["loopwright", ...words].map(w => new TextEncoder().encode(w + "\0"));
    const calls = wasi(args, disk, streams, access(memory));
    let status = 0, crash = "";
    try {
        state.exports = new WebAssembly.Instance(module, imports(module, memory, calls, state)).exports;
        state.exports._start();
    } catch (e) {
        status = e instanceof Exit ? e.status : 70;
        crash = e instanceof Exit ? "" : String(e);
    }
    const before = new Map(files), text = n => new TextDecoder().decode(joined(streams[n]));
    const results = [...disk.at].filter(([name, f]) => !f.folder && before.get(name) !== f.bytes)
        .map(([name, f]) => [name, f.bytes.slice(0, f.size)]);
    return { status, crash, out: text(1), said: text(2), files: results, ms: performance.now() - begun,
        memory: memory.buffer.byteLength };
}
