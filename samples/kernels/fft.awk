# Prints a .te file: the discrete Fourier transform of N complex numbers, N a power of 2 from 8, in Stockham's form,
# without a reordering of digits. A stage of radix R combines elements N/R apart and is one pass over memory: of radix 8
# at the ends, and 4 between. All results of a stage are computed from R values in registers.

# The transform of four complex numbers a, b, c, d: yr[0..3], yi[0..3].
function transform4(ar, ai, br, bi, cr, ci, dr, di, yr, yi) {
    yr[0] = "(" ar " + " cr " + (" br " + " dr "))"; yi[0] = "(" ai " + " ci " + (" bi " + " di "))"
    yr[1] = "(" ar " - " cr " + (" bi " - " di "))"; yi[1] = "(" ai " - " ci " - (" br " - " dr "))"
    yr[2] = "(" ar " + " cr " - (" br " + " dr "))"; yi[2] = "(" ai " + " ci " - (" bi " + " di "))"
    yr[3] = "(" ar " - " cr " - (" bi " - " di "))"; yi[3] = "(" ai " - " ci " + (" br " - " dr "))"
}

# The transform of eight, from those of the even and of the odd ones, which are rotated by multiples of 45 degrees.
function transform8(r, i, yr, yi,    c, h, plus, minus) {
    h = sprintf(" * %.9g", sqrt(0.5))
    transform4(r[0], i[0], r[2], i[2], r[4], i[4], r[6], i[6], er, ei)
    transform4(r[1], i[1], r[3], i[3], r[5], i[5], r[7], i[7], or, oi)
    tr[0] = or[0]; ti[0] = oi[0]
    tr[1] = "(" or[1] " + " oi[1] ")" h; ti[1] = "(" oi[1] " - " or[1] ")" h
    tr[2] = oi[2]; ti[2] = or[2]
    tr[3] = "(" oi[3] " - " or[3] ")" h; ti[3] = "(" or[3] " + " oi[3] ")" h
    for (c = 0; c < 4; c++) {
        plus = c < 2 ? " + " : " - "; minus = c < 2 ? " - " : " + "
        yr[c] = "(" er[c] " + " tr[c] ")"; yr[c + 4] = "(" er[c] " - " tr[c] ")"
        yi[c] = "(" ei[c] plus ti[c] ")"; yi[c + 4] = "(" ei[c] minus ti[c] ")"
    }
}

# An expression for y[c], from <= c < from + count.
function choice(y, from, count) {
    if (count == 1) return y[from]
    return "select(c < " from + count / 2 ",\n    " choice(y, from, count / 2) ",\n    " \
        choice(y, from + count / 2, count / 2) ")"
}

# The cosines, or negative sines, of multiples of 2 * pi * factor / n.
function table(name, factor, count, n, part,    i, angle) {
    printf "const %s: f32[%d] = {", name, count
    for (i = 0; i < count; i++) {
        angle = 8 * atan2(1, 1) * i * factor / n
        printf "%s%.9g", i % 8 ? ", " : i ? ",\n    " : "\n    ", part ? -sin(angle) : cos(angle)
    }
    print "}"
}

# Prints stage t. Its result is [row][c][q], which the next stage reads as [row][q]; `width` counts q.
function stage(t,    rows, R, k, c, place, u, v) {
    R = radix[t]
    rows = N / width / R
    last = rows == 1
    for (c = 1; c < R && !last; c++) {
        table("wr" t "_" c, c, rows, N / width, 0)
        table("wi" t "_" c, c, rows, N / width, 1)
    }
    for (k = 0; k < R; k++) {
        place = last ? k : "p + " k * rows
        if (t > 1) place = place (before > 1 ? ", q / " before ", q % " before : ", q, 0")
        r[k] = (t == 1 ? "xr" : "r" t - 1) "[" place "]"
        i[k] = (t == 1 ? "xi" : "i" t - 1) "[" place "]"
    }
    if (R == 4) transform4(r[0], i[0], r[1], i[1], r[2], i[2], r[3], i[3], yr, yi)
    else transform8(r, i, yr, yi)
    for (c = 1; c < R && !last; c++) {
        u = "wr" t "_" c "[p]"; v = "wi" t "_" c "[p]"
        re = yr[c] " * " u " - " yi[c] " * " v
        yi[c] = yr[c] " * " v " + " yi[c] " * " u
        yr[c] = re
    }
    printf "%s[%sc<%d, q<%d] = %s,\n    %s\n", last ? "yr, yi" : "r" t ", i" t, last ? "" : "p<" rows ", ", R, width,
        choice(yr, 0, R), choice(yi, 0, R)
}

# The steps of stage t: all c, for one q or for 8 of them in vectors.
function steps(t, name) {
    if (width > 8) print "  split " name ".q 8\n  reorder " name ".qo " name ".c " name ".qi\n  vectorize " name ".qi"
    else if (width > 1) print "  vectorize " name ".q"
    print "  unroll " name ".c"
}

BEGIN {
    if (!N) N = 1024
    print "# " N " points; written by fft.awk"
    print "input xr: f32[" N "]\ninput xi: f32[" N "]"
    for (left = N; left > 1; left /= radix[stages]) {
        first = stages == 0
        radix[++stages] = left == 8 || (first && left != 16) ? 8 : 4
    }
    before = width = 1
    for (t = 1; t <= stages; t++) { stage(t); before = width; width *= radix[t] }
    print "output yr, yi\nnest\n\nschedule"
    width = 1
    for (t = 1; t <= stages; t++) { steps(t, t == stages ? "yr" : "r" t); width *= radix[t] }
}
