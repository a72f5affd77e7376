/* The graph in the plane: ranks by longest path, long edges through dummies, orders by barycentres, places by pools of
   neighbours, and columns like those of a newspaper, cut where few edges cross. */
const NODE = { width: 178, height: 46, rank: 72, gap: 22, dummy: 16 };

/* Repeats of a block of layers, at least three: [{first, period, count}]. Equal layers read at equal distances. */
function repeatsOf(list) {
    const far = (l, r) => typeof r === "number" ? l.id - r : r;
    const sign = list.map(l => [l.operators, l.shapeText, ...l.reads.map(r => far(l, r))].join());
    const found = [];
    for (let i = 0; i < list.length;) {
        let best = { covered: 1 };
        for (let period = 2; period <= Math.min(80, (list.length - i) / 3); period++) {
            let n = 0;
            while (i + n + period < list.length && sign[i + n] === sign[i + n + period]) n++;
            const times = Math.floor(n / period) + 1;
            if (times >= 3 && times * period > best.covered)
                best = { first: i, period, count: times, covered: times * period };
        }
        if (best.period) found.push(best);
        i += best.covered;
    }
    return found;
}

/* The vertices and edges of a graph: ports, layers, and for folded repeats one vertex that stands for all but the first
   block. */
function verticesOf(list, isFolded) {
    const all = [], byLayer = new Map(), byPort = new Map(), edges = [], seen = new Set();
    const add = v => all.push({ ...v, rank: 0, from: [], to: [] }) - 1;
    const folded = new Map();
    for (const r of isFolded ? repeatsOf(list) : [])
        for (let i = r.first + r.period; i < r.first + r.period * r.count; i++) folded.set(list[i].id, r);
    for (const l of list) for (const r of l.reads)
        if (typeof r === "string" && !byPort.has(r)) byPort.set(r, add({ port: r }));
    for (const l of list) {
        const r = folded.get(l.id);
        if (r && r.vertex == null) r.vertex = add({ fold: r, layers: [] });
        if (r) all[r.vertex].layers.push(l);
        byLayer.set(l.id, r ? r.vertex : add({ layer: l }));
    }
    for (const l of list) for (const r of l.reads) {
        const a = typeof r === "number" ? byLayer.get(r) : byPort.get(r), b = byLayer.get(l.id);
        if (a == null || a === b || seen.has(a + " " + b)) continue;
        seen.add(a + " " + b);
        edges.push({ from: a, to: b, path: [a] });
    }
    return { all, edges };
}

/* Edges come in run order, so one pass finds the longest paths. A port stands just above its first reader. */
function rankVertices(all, edges) {
    for (const e of edges) all[e.to].rank = Math.max(all[e.to].rank, all[e.from].rank + 1);
    all.forEach((v, i) => {
        const readers = v.port == null ? [] : edges.filter(e => e.from === i).map(e => all[e.to].rank);
        if (readers.length) v.rank = Math.min(...readers) - 1;
    });
    for (const e of edges) {
        let last = e.from;
        for (let r = all[last].rank + 1; r < all[e.to].rank; r++) {
            const dummy = all.push({ dummy: true, rank: r, from: [last], to: [] }) - 1;
            all[last].to.push(dummy);
            e.path.push(last = dummy);
        }
        all[last].to.push(e.to);
        all[e.to].from.push(last);
        e.path.push(e.to);
    }
}

function orderRanks(all) {
    const ranks = [];
    all.forEach((v, i) => (ranks[v.rank] = ranks[v.rank] || []).push(i));
    for (let r = 0; r < ranks.length; r++) ranks[r] = ranks[r] || [];
    const place = rank => rank.forEach((v, k) => all[v].k = k);
    const mean = (v, side) => v[side].length ? sum(v[side], u => all[u].k) / v[side].length : v.k;
    ranks.forEach(place);
    for (let round = 0; round < 8; round++)
        for (const rank of round % 2 ? [...ranks].reverse() : ranks) {
            const side = round % 2 ? "to" : "from";
            rank.sort((a, b) => mean(all[a], side) - mean(all[b], side));
            place(rank);
        }
    return ranks;
}

/* The ranks where columns begin: near equal heights, where few edges cross. */
function cutColumns(all, ranks, aspect) {
    const widths = ranks.map(rank => sum(rank, v => all[v].dummy ? NODE.dummy : NODE.width + NODE.gap));
    const usual = [...widths].sort((a, b) => a - b)[Math.floor(ranks.length * .6)] || 1;
    const columns = ranks.length < 8 ? 1
        : Math.min(8, Math.round(Math.sqrt(aspect * ranks.length * NODE.rank / (usual + 40))));
    const cuts = [0];
    for (let c = 1; c < columns; c++) {
        const wanted = ranks.length * c / columns, slack = Math.max(1, ranks.length / columns / 3);
        let best = -1, least = Infinity;
        for (let r = Math.ceil(wanted - slack); r <= wanted + slack; r++) {
            if (r <= cuts[cuts.length - 1] + 1 || r >= ranks.length - 1) continue;
            const cost = 3 * ranks[r].filter(v => all[v].dummy).length + sum(ranks[r - 1], v => all[v].to.length)
                + Math.abs(r - wanted) / slack;
            if (cost < least) { least = cost; best = r; }
        }
        if (best > 0) cuts.push(best);
    }
    return [...cuts, ranks.length];
}

/* Where a vertex would stand: the mean of its neighbours in the column, straight lines first. */
function wantedPlace(all, v, isInside) {
    let weights = 0, places = 0;
    for (const u of [...v.from, ...v.to].map(i => all[i]).filter(isInside)) {
        const own = list => list.filter(w => !all[w].dummy).length;
        const weight = u.dummy && v.dummy ? 6 : u.dummy || v.dummy ? 1 : 12 / (Math.min(own(u.to), own(v.from)) || 1);
        weights += weight;
        places += weight * u.x;
    }
    return weights ? places / weights : v.x;
}

/* The nearest places with the gaps between: neighbours that would overlap form a pool with one mean. */
function placeRank(all, rank, gap, isInside) {
    const pools = [];
    let offset = 0;
    rank.forEach((id, k) => {
        if (k) offset += gap(all[rank[k - 1]], all[id]);
        const weight = all[id].dummy ? 1 : 4;
        let pool = { sum: (wantedPlace(all, all[id], isInside) - offset) * weight, weight, at: [[id, offset]] };
        while (pools.length && pools[pools.length - 1].sum / pools[pools.length - 1].weight >= pool.sum / pool.weight) {
            const last = pools.pop();
            pool = { sum: last.sum + pool.sum, weight: last.weight + pool.weight, at: [...last.at, ...pool.at] };
        }
        pools.push(pool);
    });
    for (const p of pools) for (const [id, at] of p.at) all[id].x = p.sum / p.weight + at;
}

/* Places the ranks of a column from `left` on; returns its width. */
function placeColumn(all, ranks, first, left, column) {
    const half = v => v.dummy ? NODE.dummy / 2 : NODE.width / 2, gap = (a, b) => half(a) + half(b) + NODE.gap;
    const isInside = v => v.rank >= first && v.rank < first + ranks.length;
    for (const rank of ranks) {
        let x = 0;
        rank.forEach((id, k) => all[id].x = k ? x += gap(all[rank[k - 1]], all[id]) : 0);
        for (const id of rank) all[id].x -= x / 2;
    }
    for (let round = 0; round < 40; round++)
        for (const rank of round % 2 ? [...ranks].reverse() : ranks) placeRank(all, rank, gap, isInside);
    const flat = ranks.flat().map(id => all[id]);
    const from = Math.min(...flat.map(v => v.x - half(v))), to = Math.max(...flat.map(v => v.x + half(v)));
    for (const v of flat) {
        v.x += left - from;
        v.y = (v.rank - first) * NODE.rank + NODE.height / 2;
        v.column = column;
    }
    return to - from;
}

/* A curve within a column; an edge to the next column rises beside its own. */
function curve(u, v, begins, side) {
    const y0 = u.y + (u.dummy ? 0 : NODE.height / 2), y1 = v.y - (v.dummy ? 0 : NODE.height / 2);
    const start = `${begins ? "M" : "L"}${u.x} ${y0}`;
    if (u.column === v.column) return `${start}C${u.x} ${y0 + 16} ${v.x} ${y1 - 16} ${v.x} ${y1}`;
    const top = y1 - 14, low = y0 + 14;
    return `${start}V${y0 + 9}Q${u.x} ${low} ${(u.x + side) / 2} ${low}T${side} ${y0 + 4}V${top + 6}`
        + `Q${side} ${top} ${(side + v.x) / 2} ${top}T${v.x} ${y1}`;
}

function layout(list, aspect, isFolded) {
    const { all, edges } = verticesOf(list, isFolded), between = 56;
    rankVertices(all, edges);
    const ranks = orderRanks(all), cuts = cutColumns(all, ranks, aspect), right = [];
    let x = 0, height = NODE.height, lane = 0;
    for (let c = 0; c + 1 < cuts.length; c++) {
        const own = ranks.slice(cuts[c], cuts[c + 1]);
        x += placeColumn(all, own, cuts[c], x, c);
        right.push(x);
        x += between;
        height = Math.max(height, (own.length - 1) * NODE.rank + NODE.height);
    }
    for (const e of edges) {
        e.line = "";
        for (let k = 0; k + 1 < e.path.length; k++) {
            const u = all[e.path[k]], v = all[e.path[k + 1]];
            e.line += curve(u, v, !k, u.column === v.column ? 0 : right[u.column] + 16 + 6 * (lane++ % 5));
        }
    }
    return { vertices: all.filter(v => !v.dummy), all, edges, width: x - between, height };
}
