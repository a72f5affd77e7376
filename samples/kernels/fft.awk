# Prints a .te file: the discrete Fourier transform of N complex numbers in log2(N) stages of Stockham's form, without
# a reordering of bits. Stage s adds and subtracts elements N/2 apart; each half of a stage has loops of its own.
BEGIN {
    if (!N) N = 1024
    pi = atan2(0, -1)
    print "# " N " points; written by fft.awk"
    print "input xr: f32[" N "]\ninput xi: f32[" N "]"
    for (part = 0; part < 2; part++) {
        printf "const %s: f32[%d] = {", part ? "wi" : "wr", N / 2
        for (p = 0; p < N / 2; p++)
            printf "%s%.9g", p % 8 ? ", " : p ? ",\n    " : "\n    ", part ? -sin(2 * pi * p / N) : cos(2 * pi * p / N)
        print "}"
    }
    print "r0[p, q<1] = xr[p]\ni0[p, q<1] = xi[p]"
    for (s = 0; 2 ^ s < N; s++) {
        half = N / 2 ^ (s + 1)
        width = 2 ^ s
        a = "r" s "[p, q % " width "]"; b = "r" s "[p + " half ", q % " width "]"
        c = "i" s "[p, q % " width "]"; d = "i" s "[p + " half ", q % " width "]"
        u = "wr[p * " width "]"; v = "wi[p * " width "]"
        printf "r%d, i%d[p<%d, q<%d] = select(q < %d, %s + %s, (%s - %s) * %s - (%s - %s) * %s),\n", s + 1, s + 1, half,
            2 * width, width, a, b, a, b, u, c, d, v
        printf "    select(q < %d, %s + %s, (%s - %s) * %s + (%s - %s) * %s)\n", width, c, d, a, b, v, c, d, u
    }
    print "yr[k<" N "] = r" s "[0, k]\nyi[k<" N "] = i" s "[0, k]\noutput yr, yi\nnest\n\nschedule"
    print "  compute_inline r0\n  compute_inline i0"
    for (s = 0; 2 ^ s < N; s++) print "  cut r" s + 1 ".q " 2 ^ s
    for (s = 3; 2 ^ s < N; s++) {
        print "  split r" s + 1 ".q 8\n  vectorize r" s + 1 ".qi"
        print "  split r" s + 1 "@cut.q 8\n  vectorize r" s + 1 "@cut.qi"
    }
}
