/* SPDX-License-Identifier: MIT */
/* Computes words and figures of the HTML report: see html_parts.h. All figures are computed on integers. */
#include "api/report/html_parts.h"

#include "ir/nest/costs.h"

/* Returns n / scale, rounded half up; n is not negative. */
static int64_t rounded(int64_t n, int64_t scale) { return n / scale + (n % scale * 2 >= scale); }

/* Returns three digits, rounded, with a unit, such as 512 B, 12.5 KiB, 3.4 MiB. `unit` is 1000 or 1024. */
static const char *short_number(Ctx *cx, int64_t n, int64_t unit, const char *const names[4])
{
    int power = 0;
    int64_t scale = 1;
    for (; power < 3 && rounded(n, scale) >= unit; power++) scale *= unit;
    if (power == 0) return text_format(cx, "%lld%s", (long long)n, names[0]);
    const int64_t whole = rounded(n, scale), tenths = n / scale * 10 + rounded(n % scale * 10, scale);
    return tenths >= 1000 ? text_format(cx, "%lld%s", (long long)whole, names[power])
                          : text_format(cx, "%lld.%lld%s", (long long)(tenths / 10), (long long)(tenths % 10),
                                        names[power]);
}

const char *html_bytes(Ctx *cx, int64_t n)
{
    static const char *const names[] = { " B", " KiB", " MiB", " GiB" };
    return short_number(cx, n, 1024, names);
}

const char *html_count(Ctx *cx, int64_t n)
{
    static const char *const names[] = { "", " k", " M", " G" };
    return short_number(cx, n, 1000, names);
}

const char *html_percent(Ctx *cx, int64_t n, int64_t of)
{
    const int64_t tenths = of > 0 ? (int64_t)((double)n * 1000 / (double)of + 0.5) : 0;
    return text_format(cx, "%lld.%lld %%", (long long)(tenths / 10), (long long)(tenths % 10));
}

const char *html_type(Ctx *cx, const Tensor *x)
{
    Text t = text_new(cx);
    text_printf(&t, "%s %s", dtype_info(x->type)->spelling, tensor_shape_names(cx, x));
    if (!x->quant) return text_string(&t);
    text_add(&t, x->quant->count == 1 ? ", scale " : ", scales ");
    text_float(&t, x->quant->scale[0]);
    text_printf(&t, x->quant->count == 1 ? ", zero point %ld" : ", ... (%ld)",
                x->quant->count == 1 ? (long)x->quant->zero_point[0] : (long)x->quant->count);
    return text_string(&t);
}

bool html_has_cycles(const Build *b) { return report_has_cycles(b); }

int64_t html_work(const Build *b, int group)
{
    if (b->plan.is_free[group]) return 0;
    return html_has_cycles(b) ? report_cycles(b, group) : report_group_macs(b, group);
}

int64_t html_all_work(const Build *b)
{
    int64_t sum = 0;
    for (int i = 0; i < b->groups.count; i++) sum = sat_add(sum, html_work(b, i));
    return sum;
}
