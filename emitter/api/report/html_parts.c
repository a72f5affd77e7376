/* SPDX-License-Identifier: MIT */
/* Prints figures in three digits: see html_parts.h. All figures are computed on integers. */
#include "api/report/html_parts.h"

#include "support/text.h"

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

const char *html_milliseconds(Ctx *cx, int64_t microseconds)
{
    int64_t unit = 1;
    while (microseconds / unit >= 1000) unit *= 10;
    const int64_t n = rounded(microseconds, unit) * unit;
    const int decimals = unit >= 1000 ? 0 : unit == 100 ? 1 : unit == 10 ? 2 : 3;
    const int64_t part = n % 1000 / (decimals == 1 ? 100 : decimals == 2 ? 10 : 1);
    return decimals ? text_format(cx, "%lld.%0*lld", (long long)(n / 1000), decimals, (long long)part)
                    : text_format(cx, "%lld", (long long)(n / 1000));
}
