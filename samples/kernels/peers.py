#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py DIRECTORY: writes laplacian_halide.o and .h, the stage of laplacian.te in Halide (PyPI: halide), and prints
the folder of Halide's headers. The schedule is that of a level of Halide's apps/local_laplacian: the smaller image
slides over the rows of the result in a folded buffer, and loops over columns are vectors. Of nine variants (levels at
the root or sliding, rows of `tall` stored or not, two rows unrolled, 8 or 16 columns), it is the fastest on AVX2."""
import os
import sys

try:
    import halide as hl
except ImportError:
    sys.exit("Halide is not installed")


def laplacian():
    x = hl.ImageParam(hl.Float(32), 2, "x")
    i, j = hl.Var("i"), hl.Var("j")
    rows, small, tall, y = hl.Func("rows"), hl.Func("small"), hl.Func("tall"), hl.Func("y")
    rows[j, i] = (x[j, 2 * i] + 3 * x[j, 2 * i + 1] + 3 * x[j, 2 * i + 2] + x[j, 2 * i + 3]) * 0.125
    small[j, i] = (rows[2 * j, i] + 3 * rows[2 * j + 1, i] + 3 * rows[2 * j + 2, i] + rows[2 * j + 3, i]) * 0.125
    tall[j, i] = hl.select(i % 2 == 0, 0.75 * small[j, i // 2] + 0.25 * small[j, i // 2 + 1],
                           0.25 * small[j, i // 2] + 0.75 * small[j, i // 2 + 1])
    y[j, i] = x[j + 2, i + 2] - hl.select(j % 2 == 0, 0.75 * tall[j // 2, i] + 0.25 * tall[j // 2 + 1, i],
                                          0.25 * tall[j // 2, i] + 0.75 * tall[j // 2 + 1, i])
    for size, tensor in ((514, x), (510, y.output_buffer())):
        tensor.dim(0).set_bounds(0, size)
        tensor.dim(1).set_bounds(0, size)
        tensor.dim(1).set_stride(size)
    small.store_root().compute_at(y, i).fold_storage(i, 4).vectorize(j, 8)
    rows.compute_at(small, i).vectorize(j, 8)
    tall.compute_at(y, i).vectorize(j, 8)
    y.vectorize(j, 16)
    return y, x


def main():
    files = os.path.join(sys.argv[1], "laplacian_halide")
    y, x = laplacian()
    target = hl.Target("x86-64-linux-sse41-avx-f16c-fma-avx2-no_asserts-no_bounds_query")
    y.compile_to({hl.OutputFileType.object: files + ".o", hl.OutputFileType.c_header: files + ".h"}, [x],
                 "laplacian_halide", target)
    print(os.path.join(os.path.dirname(hl.__file__), "include"))


if __name__ == "__main__":
    main()
