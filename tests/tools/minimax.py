#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the polynomial coefficients of runtime/lw_math.h.

Each row of FITS asks for the polynomial p that minimizes max |w(x) * (g(x) - p(v(x)))| over an
interval, by Remez's exchange on a dense Chebyshev grid.  The low coefficients carry the
accuracy, so they are rounded to the machine's type one at a time and the others refitted around
them; at last all are moved by units in the last place while that helps.  Prints the
coefficients, lowest first, as exact C constants, and log2 of the error that remains after
rounding.  Needs mpmath.  Usage: minimax.py [NAME...]
"""
import struct
import sys
from mpmath import mp, mpf, cos, pi, exp, expm1, log, log1p, sin, sinh, asin, atan, tanh, erf, erfc, lu_solve, matrix

mp.prec = 180
GRID = 600

LN2 = log(mpf(2))


# name: (type, number of coefficients, from, to, g, v, w).  By the weight w the error is relative
# to the function's result (or absolute, if the result is near 1).
FITS = {
    # e^r = 1 + r + r^2 p(r)
    "expf":  ("f", 5, -0.3468, 0.3468, lambda r: (expm1(r) - r) / r**2, lambda r: r, lambda r: r * r),
    "exp":   ("d", 10, -0.34658, 0.34658, lambda r: (expm1(r) - r) / r**2, lambda r: r, lambda r: r * r),
    # 2^r = 1 + r p(r)
    "exp2f": ("f", 6, -0.5001, 0.5001, lambda r: expm1(r * LN2) / r, lambda r: r, lambda r: r),
    "exp2":  ("d", 12, -0.5000001, 0.5000001, lambda r: expm1(r * LN2) / r, lambda r: r, lambda r: r),
    # log(1+f) = f - f^2/2 + f^3 p(f)
    "logf":  ("f", 9, -0.29292, 0.41424, lambda f: (log1p(f) - f + f * f / 2) / f**3, lambda f: f,
              lambda f: f**3 / log1p(f)),
    # log(1+f) = 2 atanh(s), s = f/(2+f):  2 atanh(s) = 2s + s z p(z), z = s^2
    "log":   ("d", 7, 1e-9, 0.17158, lambda s: (log((1 + s) / (1 - s)) - 2 * s) / s**3, lambda s: s * s,
              lambda s: s * s),
    # the same after its second term: 2s + 2/3 s z + s z^2 p(z)
    "log_tail": ("d", 9, 1e-9, 0.17158, lambda s: (log((1 + s) / (1 - s)) - 2 * s - 2 * s**3 / 3) / s**5,
                 lambda s: s * s, lambda s: s**4),
    # sin r = r + r z p(z);  cos r = 1 - z/2 + z^2 p(z)
    "sinf":  ("f", 3, 1e-9, 0.7855, lambda r: (sin(r) - r) / r**3, lambda r: r * r, lambda r: r**3 / sin(r)),
    "cosf":  ("f", 3, 1e-9, 0.7855, lambda r: (cos(r) - 1 + r * r / 2) / r**4, lambda r: r * r, lambda r: r**4),
    "sin":   ("d", 6, 1e-6, 0.7854, lambda r: (sin(r) - r) / r**3, lambda r: r * r, lambda r: r**3 / sin(r)),
    "cos":   ("d", 6, 1e-6, 0.7854, lambda r: (cos(r) - 1 + r * r / 2) / r**4, lambda r: r * r, lambda r: r**4),
    # sinh x = x + x z p(z)
    "sinhf": ("f", 4, 1e-9, 1, lambda x: (sinh(x) - x) / x**3, lambda x: x * x, lambda x: x**3 / sinh(x)),
    "sinh":  ("d", 8, 1e-6, 1, lambda x: (sinh(x) - x) / x**3, lambda x: x * x, lambda x: x**3 / sinh(x)),
    # asin x = x + x z p(z);  atan x = x + x z p(z);  tanh x = x + x z p(z)
    "asinf": ("f", 5, 1e-9, 0.5, lambda x: (asin(x) - x) / x**3, lambda x: x * x, lambda x: x**3 / asin(x)),
    "asin":  ("d", 13, 1e-6, 0.5, lambda x: (asin(x) - x) / x**3, lambda x: x * x, lambda x: x**3 / asin(x)),
    "atanf": ("f", 9, 1e-9, 1, lambda x: (atan(x) - x) / x**3, lambda x: x * x, lambda x: x**3 / atan(x)),
    "atan":  ("d", 12, 1e-6, 0.41422, lambda x: (atan(x) - x) / x**3, lambda x: x * x, lambda x: x**3 / atan(x)),
    "tanhf": ("f", 5, 1e-9, 0.55, lambda x: (tanh(x) - x) / x**3, lambda x: x * x, lambda x: x**3 / tanh(x)),
    "tanh":  ("d", 11, 1e-6, 0.55, lambda x: (tanh(x) - x) / x**3, lambda x: x * x, lambda x: x**3 / tanh(x)),
    # erf x = x + x p(z), small x;  erf x = 1 - exp(-p(x)), large x
    "erff":  ("f", 7, 1e-9, 0.95, lambda x: erf(x) / x - 1, lambda x: x * x, lambda x: x / erf(x)),
    "erfcf": ("f", 8, 0.92, 4, lambda x: -log(erfc(x)), lambda x: x, lambda x: erfc(x)),
    "erf":   ("d", 12, 1e-6, 0.9, lambda x: erf(x) / x - 1, lambda x: x * x, lambda x: x / erf(x)),
    "erfc1": ("d", 16, 0.9, 2.25, lambda x: -log(erfc(x)), lambda x: x - 1, lambda x: erfc(x)),
    "erfc2": ("d", 16, 2.25, 6, lambda x: -log(erfc(x)), lambda x: x - 3, lambda x: erfc(x)),
}


def to_machine(c, kind):
    if kind == "d":
        return mpf(float(c))
    return mpf(struct.unpack("f", struct.pack("f", float(c)))[0])


def to_text(c, kind):
    mantissa, exponent = float(c).hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + exponent + ("f" if kind == "f" else "")


def solve_levelled(points, low, high):
    """The coefficients low..high-1 with an error of equal size and alternating sign at the points."""
    n = high - low + 1
    a, b = matrix(n, n), matrix(n, 1)
    for i, (_, g, v, w) in enumerate(points):
        for j in range(low, high):
            a[i, j - low] = v**j
        a[i, n - 1] = (-1)**i / w
        b[i] = g
    x = lu_solve(a, b)
    return [x[j] for j in range(n - 1)]


def error_at(point, coefs):
    _, g, v, w = point
    p = mpf(0)
    for c in reversed(coefs):
        p = p * v + c
    return w * (g - p)


def alternating_extrema(samples, errors, count):
    """One extremum per run of equal sign; the smaller ends are dropped until `count` remain."""
    runs = []
    for s, e in zip(samples, errors):
        if runs and (runs[-1][1] > 0) == (e > 0):
            if abs(e) > abs(runs[-1][1]):
                runs[-1] = (s, e)
        else:
            runs.append((s, e))
    while len(runs) > count:
        runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
    return [s for s, _ in runs]


def remez(samples, fixed, total):
    """Minimax coefficients when the first len(fixed) of them are given."""
    low, free = len(fixed), total - len(fixed)
    shifted = [(x, g - sum(c * v**i for i, c in enumerate(fixed)), v, w) for x, g, v, w in samples]
    heaviest = max(w for _, _, _, w in shifted)
    heavy = [s for s in shifted if s[3] > heaviest / 50]
    points = [heavy[round(i * (len(heavy) - 1) / free)] for i in range(free + 1)]
    best, best_size = None, None
    for _ in range(12):
        coefs = [mpf(0)] * low + solve_levelled(points, low, total)
        errors = [error_at(s, coefs) for s in shifted]
        size = max(abs(e) for e in errors)
        if best is None or size < best_size:
            best, best_size = coefs, size
        level = min(abs(error_at(p, coefs)) for p in points)
        if size < level * mpf("1.01"):
            break
        candidates = alternating_extrema(shifted, errors, free + 1)
        if len(candidates) < free + 1:
            break
        points = candidates
    return list(fixed) + best[low:]


def largest_error(samples, coefs):
    return max(abs(error_at(s, coefs)) for s in samples)


def round_and_refit(samples, total, kind, steps):
    """Rounds `steps` coefficients one by one, each time refitting the rest, then all others."""
    fixed = []
    while len(fixed) < total:
        coefs = remez(samples, fixed, total)
        keep = len(fixed) + 1 if len(fixed) < steps else total
        fixed += [to_machine(c, kind) for c in coefs[len(fixed):keep]]
    return fixed


def polish(samples, coefs, kind):
    """Moves single coefficients by units in the last place while the error decreases."""
    digits = 52 if kind == "d" else 23
    size = largest_error(samples, coefs)
    improved = True
    while improved:
        improved = False
        for i, c in enumerate(coefs):
            unit = mpf(2)**(int(mp.floor(log(abs(c)) / LN2)) - digits)
            for step in (-8, -2, -1, 1, 2, 8):
                trial = coefs[:i] + [c + step * unit] + coefs[i + 1:]
                trial_size = largest_error(samples, trial)
                if trial_size < size * mpf("0.999"):
                    coefs, size, improved = trial, trial_size, True
                    break
    return coefs


def fit(name):
    kind, total, start, end, g, v, w = FITS[name]
    start, end = mpf(start), mpf(end)
    samples = []
    for i in range(GRID):
        x = (start + end) / 2 - (end - start) / 2 * cos(pi * (i + mpf("0.37")) / GRID)
        samples.append((x, g(x), v(x), abs(w(x))))
    best = min((round_and_refit(samples, total, kind, steps) for steps in range(4)),
               key=lambda coefs: largest_error(samples, coefs))
    best = polish(samples[::3], best, kind)
    size = largest_error(samples, best)
    print("%s  /* error 2^%.1f */" % (name, float(log(size) / LN2)))
    for c in best:
        print("    %s," % to_text(c, kind))


for each in sys.argv[1:] or FITS:
    fit(each)
