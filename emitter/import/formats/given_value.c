/* SPDX-License-Identifier: MIT */
#include "import/formats/given_value.h"

#include "import/formats/npy.h"
#include "support/text.h"

const char *value_type_text(Ctx *cx, DType type, int rank, const int64_t *dim)
{
    Text t = text_new(cx);
    text_add(&t, dtype_info(type)->spelling);
    for (int d = 0; d < rank; d++)
        text_add(&t, dim[d] < 0 ? "[?]" : text_format(cx, "[%lld]", (long long)dim[d]));
    return text_string(&t);
}

Tensor *given_value(Ctx *cx, const char *input, const char *path, DType type, int rank, const int64_t *dim)
{
    DType own;
    int own_rank;
    int64_t shape[MAX_RANK];
    void *data;
    if (!npy_read(cx, path, &own, &own_rank, shape, &data)) return NULL;
    bool fits = own == type && own_rank == rank;
    for (int d = 0; fits && d < rank; d++) fits = dim[d] < 0 || dim[d] == shape[d];
    if (fits) return tensor_constant(cx, input, own, own_rank, shape, data);
    diag_error(cx, NULL, "--value %s=%s: the file has %s, but the input is %s; use a file of the input's type and "
                         "shape", input, path,
               value_type_text(cx, own, own_rank, shape), value_type_text(cx, type, rank, dim));
    return NULL;
}
