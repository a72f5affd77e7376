/* SPDX-License-Identifier: MIT */
/* The HTML report: tags are closed in order, names are escaped, nothing is fetched, the same bytes each time; every layer is
 * there; what the passes folded is named. */
#define _DEFAULT_SOURCE      /* mkdtemp */
#include "check.h"

#include <ctype.h>
#include <stdbool.h>
#include <unistd.h>

#include "loopwright.h"
#include "onnx_text.h"

/* Are the elements nested as they should be? Those that have no end are written so here: meta, br, path, rect. */
static bool is_nested(const char *html, char *at, size_t room)
{
    char open[64][16];
    int depth = 0;
    for (const char *s = strchr(html, '<'); s; s = strchr(s + 1, '<')) {
        char tag[16] = "";
        const bool closes = s[1] == '/';
        for (int n = 0; n < 15 && isalnum((unsigned char)s[1 + closes + n]); n++) tag[n] = s[1 + closes + n], tag[n + 1] = 0;
        const char *end = strchr(s, '>');
        if (!end || strchr("!", s[1]) || strcmp(tag, "meta") == 0 || strcmp(tag, "br") == 0 || end[-1] == '/') continue;
        if (closes && (depth == 0 || strcmp(open[--depth], tag) != 0)) {
            snprintf(at, room, "%.60s", s);
            return false;
        }
        if (!closes && depth < 64) strcpy(open[depth++], tag);
    }
    return depth == 0;
}

static char *report_of(lw_context *cx, const char *path)
{
    const lw_options options = { .name = "m" };
    return (char *)(uintptr_t)lw_report_html(cx, path, &options);
}

int main(void)
{
    char folder[] = "/tmp/report-XXXXXX", path[64], at[64] = "";
    if (!mkdtemp(folder)) return 3;
    snprintf(path, sizeof path, "%s/a<b>&c.onnx", folder);
    lw_context *cx = lw_new(), *other = lw_new();
    Text model = onnx_text(cx, "x:1,4,6; w=4,4,3; s=4; Conv x,w c<d>&\"e\" pads=1,1; BatchNormalization c<d>&\"e\",s,s,s,s n; Relu n r; "
                               "Conv r,w t pads=1,1; Softmax t y; >y");
    FILE *f = fopen(path, "wb");
    if (f) fwrite(model.at, 1, model.length, f);
    if (f) fclose(f);
    const char *html = report_of(cx, path), *again = report_of(other, path);
    if (check_that(html && again, "report", "%s", lw_diagnostic(cx, 0, NULL))) {
        check_that(is_nested(html, at, sizeof at), "elements-are-nested", "%s", at);
        CHECK("same-bytes", strcmp(html, again) == 0);
        CHECK("names-are-escaped", !strstr(html, "<d>") && !strstr(html, "a<b>") && strstr(html, "a&lt;b&gt;&amp;c.onnx"));
        CHECK("nothing-is-fetched", !strstr(html, "http") && !strstr(html, "src=") && !strstr(html, "url(") && !strstr(html, "<script"));
        CHECK("layers-with-what-was-fused", strstr(html, "conv1d + add + relu") && strstr(html, "softmax"));
        CHECK("what-was-folded", strstr(html, "<i>batch_norm</i>") && strstr(html, "folded into"));
        CHECK("pictures", strstr(html, "<svg") && strstr(html, "memory over time"));
    }
    lw_free(cx);
    lw_free(other);
    remove(path);
    rmdir(folder);
    return check_done();
}
