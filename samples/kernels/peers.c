/* SPDX-License-Identifier: MIT */
/* The expert versions: calls of OpenBLAS and FFTW with the tensors of k.h, one thread. */
#include <string.h>

#include "k.h"

void peer(const struct k_inputs *in, const struct k_outputs *out);

#if defined(SGEMM) || defined(SOLVE)
#include <cblas.h>
#endif
#ifdef FFT
#include <fftw3.h>
#endif

#ifdef SGEMM
void peer(const struct k_inputs *in, const struct k_outputs *out)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 512, 512, 512, 1, in->a, 512, in->b, 512, 0, out->c, 512);
}
#endif

#ifdef SOLVE
void peer(const struct k_inputs *in, const struct k_outputs *out)
{
    memcpy(out->x, in->b, 256 * 64 * sizeof *out->x);
    cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, 256, 64, 1, in->l, 256, out->x, 64);
}
#endif

#ifdef FFT
/* The plan is made once, by measuring, outside the time that counts most: the median. */
void peer(const struct k_inputs *in, const struct k_outputs *out)
{
    static fftwf_plan plan;
    const fftw_iodim size = { 1024, 1, 1 };
    static float xr[1024], xi[1024];
    if (!plan) plan = fftwf_plan_guru_split_dft(1, &size, 0, NULL, xr, xi, out->yr, out->yi, FFTW_MEASURE);
    memcpy(xr, in->xr, sizeof xr);
    memcpy(xi, in->xi, sizeof xi);
    fftwf_execute(plan);
}
#endif
