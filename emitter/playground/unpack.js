/* Unpacks LZMA (`xz --format=lzma`), which is a fifth smaller than what DecompressionStream reads. The names are those
   of the format's specification. */
function unpack(packed) {
    const lc = packed[0] % 9, lp = Math.floor(packed[0] / 9) % 5, pb = Math.floor(packed[0] / 45);
    const HEADER = 13, STATES = 12, HALF = 1024;
    let at = HEADER + 1, range = 0xffffffff, code = 0, out = new Uint8Array(8 * packed.length), size = 0;
    const probabilities = n => new Uint16Array(n).fill(HALF);
    for (let i = 0; i < 4; i++) code = (code << 8 | packed[at++]) >>> 0;

    function narrow() {
        if (range >= 1 << 24) return;
        range = range << 8 >>> 0;
        code = (code << 8 | packed[at++]) >>> 0;
    }
    function bit(p, i) {
        const bound = (range >>> 11) * p[i], isOne = code >= bound;
        if (isOne) {
            range -= bound;
            code -= bound;
            p[i] -= p[i] >> 5;
        } else {
            range = bound;
            p[i] += 2048 - p[i] >> 5;
        }
        narrow();
        return isOne ? 1 : 0;
    }
    function tree(p, bits, from = 0) {
        let m = 1;
        for (let i = 0; i < bits; i++) m = m << 1 | bit(p, from + m);
        return m - (1 << bits);
    }
    function reversed(p, bits, from = 0) {
        let m = 1, value = 0;
        for (let i = 0; i < bits; i++) {
            const b = bit(p, from + m);
            m = m << 1 | b;
            value |= b << i;
        }
        return value;
    }
    function direct(bits) {
        let value = 0;
        while (bits--) {
            range >>>= 1;
            const isOne = code >= range;
            if (isOne) code -= range;
            value = (value << 1 | isOne) >>> 0;
            narrow();
        }
        return value;
    }

    const lengths = () => ({ choice: probabilities(2), low: probabilities(16 << 3), mid: probabilities(16 << 3),
        high: probabilities(256) });
    function length(p, position) {
        if (!bit(p.choice, 0)) return tree(p.low, 3, position << 3);
        if (!bit(p.choice, 1)) return 8 + tree(p.mid, 3, position << 3);
        return 16 + tree(p.high, 8);
    }
    const literals = probabilities(0x300 << lc + lp), slots = probabilities(4 << 6), special = probabilities(128);
    const align = probabilities(16), matchLength = lengths(), repeatLength = lengths();
    const isMatch = probabilities(STATES << 4), isLong = probabilities(STATES << 4);
    const [isRepeat, isOld0, isOld1, isOld2] = [0, 0, 0, 0].map(() => probabilities(STATES));
    let state = 0, old = [0, 0, 0, 0];

    function add(byte) {
        if (size === out.length) {
            const more = new Uint8Array(2 * size);
            more.set(out);
            out = more;
        }
        out[size++] = byte;
    }
    function literal() {
        const before = size ? out[size - 1] : 0;
        const from = 0x300 * (((size & (1 << lp) - 1) << lc) + (before >> 8 - lc));
        let m = 1;
        if (state >= 7) {
            let other = out[size - old[0] - 1];
            while (m < 0x100) {
                const expected = other >> 7 & 1, b = bit(literals, from + (1 + expected << 8) + m);
                other <<= 1;
                m = m << 1 | b;
                if (b !== expected) break;
            }
        }
        while (m < 0x100) m = m << 1 | bit(literals, from + m);
        add(m & 0xff);
        state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
    }
    function distance(n) {
        const slot = tree(slots, 6, Math.min(n, 3) << 6), bits = (slot >> 1) - 1;
        if (slot < 4) return slot;
        const high = (2 | slot & 1) << bits >>> 0;
        return slot < 14 ? high + reversed(special, bits, high - slot)
            : high + direct(bits - 4) * 16 + reversed(align, 4);
    }
    function copy(n) {
        for (let i = 0; i < n + 2; i++) add(out[size - old[0] - 1]);
    }
    /* A match at one of the last four distances. */
    function repeat(position) {
        if (!bit(isOld0, state)) {
            if (!bit(isLong, (state << 4) + position)) {
                state = state < 7 ? 9 : 11;
                return add(out[size - old[0] - 1]);
            }
        } else {
            const i = !bit(isOld1, state) ? 1 : !bit(isOld2, state) ? 2 : 3;
            old = [old[i], ...old.filter((_, k) => k !== i)];
        }
        const n = length(repeatLength, position);
        state = state < 7 ? 8 : 11;
        return copy(n);
    }

    for (;;) {
        const position = size & (1 << pb) - 1;
        if (!bit(isMatch, (state << 4) + position)) literal();
        else if (bit(isRepeat, state)) repeat(position);
        else {
            const n = length(matchLength, position);
            state = state < 7 ? 7 : 10;
            const d = distance(n);
            if (d === 0xffffffff) return out.slice(0, size);      /* the mark of the end */
            old = [d, old[0], old[1], old[2]];
            copy(n);
        }
    }
}
