/* SPDX-License-Identifier: MIT */
/* The HTML report: tags close in order, names are escaped, nothing is fetched, the bytes are the same each time; every
 * layer is listed; folded calls are in its data. */
#define _DEFAULT_SOURCE      /* mkdtemp */
#include "check.h"

#include <ctype.h>
#include <stdbool.h>
#include <unistd.h>

#include "loopwright.h"
#include "onnx_text.h"

/* True if the page names a file by url(), other than a part of its own. */
static bool has_outer_url(const char *html)
{
    for (const char *at = html; (at = strstr(at, "url(")) != NULL; at++)
        if (at[4] != '#') return true;
    return false;
}

/* True if the page names an address, other than that of SVG's elements. */
static bool has_address(const char *html)
{
    for (const char *at = html; (at = strstr(at, "http")) != NULL; at++)
        if (strncmp(at, "http://www.w3.org/2000/svg", 26) != 0) return true;
    return false;
}

/* Are the elements nested as they should be? Those that have no end are written so here: meta, br, input. The texts of
 * scripts and styles are left out. */
static bool is_nested(const char *html, char *at, size_t room)
{
    char open[64][16];
    int depth = 0;
    for (const char *s = strchr(html, '<'); s; s = strchr(s + 1, '<')) {
        char tag[16] = "";
        const bool closes = s[1] == '/';
        for (int n = 0; n < 15 && isalnum((unsigned char)s[1 + closes + n]); n++)
            tag[n] = s[1 + closes + n], tag[n + 1] = 0;
        const char *end = strchr(s, '>');
        if (!end || strchr("!", s[1]) || strcmp(tag, "meta") == 0 || strcmp(tag, "br") == 0
            || strcmp(tag, "input") == 0 || end[-1] == '/') continue;
        if (closes && (depth == 0 || strcmp(open[--depth], tag) != 0)) {
            snprintf(at, room, "%.60s", s);
            return false;
        }
        if (!closes && depth < 64) strcpy(open[depth++], tag);
        if (!closes && (strcmp(tag, "script") == 0 || strcmp(tag, "style") == 0)) {
            s = strstr(s, *tag == 's' && tag[1] == 'c' ? "</script>" : "</style>");
            if (!s) return false;
            s--;
        }
    }
    return depth == 0;
}

static const char *report_of(lw_context *cx, const char *path)
{
    const lw_options options = { .name = "m" };
    return lw_report_html(cx, path, &options);
}

/* Layers of branches and loops have a separate title, in the page and in the text. */
static void check_regions(void)
{
    lw_context *cx = lw_new();
    char at[64] = "";
    const char *path = "tests/golden/control-flow/control-flow.onnx", *html = report_of(cx, path),
               *text = lw_report(cx, path, &(lw_options){ .name = "m" });
    if (check_that(html && text, "report-of-regions", "%s", lw_diagnostic(cx, 0, NULL))) {
        check_that(is_nested(html, at, sizeof at), "elements-of-regions-are-nested", "%s", at);
        CHECK("regions-in-the-page", strstr(html, "\"what\": \"choose, where its condition holds\"")
                                         && strstr(html, "memory of choose")
                                         && strstr(html, "a state's second buffer of settle"));
        CHECK("regions-in-the-text", strstr(text, "settle_body: settle, one iteration\nturned                       "
                                                  "dense+add+tanh                      16"));
        /* 24 + 24 in the branch with products, then 8 iterations of 16 + 4. */
        CHECK("multiply-adds-of-regions", strstr(text, "multiply-adds  208\n"));
    }
    lw_free(cx);
}

/* Recorded annotations change no number; both reports list them. */
static void check_annotations(void)
{
    lw_context *cx = lw_new();
    const char *path = "build/test/report.te";
    lw_write(cx, path, "input x: f32[4]\na = annotation.mine(x, why=because)\ny = relu(a)\noutput y\n");
    const char *html = report_of(cx, path), *text = lw_report(cx, path, &(lw_options){ .name = "m" });
    if (check_that(html && text, "report-of-annotations", "%s", lw_diagnostic(cx, 0, NULL))) {
        CHECK("annotations-in-the-page", strstr(html, "\"node\": \"a\", \"annotation\": \"annotation.mine\", "
                                                            "\"attributes\": \"why=because\""));
        CHECK("annotations-in-the-text", strstr(text, "annotation.mine why=because"));
    }
    lw_free(cx);
}

int main(void)
{
    check_annotations();
    char folder[] = "/tmp/report-XXXXXX", path[64], at[64] = "";
    if (!mkdtemp(folder)) return 3;
    snprintf(path, sizeof path, "%s/a<b>&c.onnx", folder);
    lw_context *cx = lw_new(), *other = lw_new();
    Text model = onnx_text(
        cx, "x:1,4,6; w=4,4,3; s=4; Conv x,w c<d>&\"e\" pads=1,1; BatchNormalization c<d>&\"e\",s,s,s,s n; Relu n r; "
            "Conv r,w t pads=1,1; Softmax t y; >y");
    FILE *f = fopen(path, "wb");
    if (f) fwrite(model.at, 1, model.length, f);
    if (f) fclose(f);
    const char *html = report_of(cx, path), *again = report_of(other, path);
    if (check_that(html && again, "report", "%s", lw_diagnostic(cx, 0, NULL))) {
        check_that(is_nested(html, at, sizeof at), "elements-are-nested", "%s", at);
        CHECK("same-bytes", strcmp(html, again) == 0);
        CHECK("names-are-escaped",
              !strstr(html, "<d>") && !strstr(html, "a<b>") && strstr(html, "a&lt;b&gt;&amp;c.onnx"));
        CHECK("nothing-is-fetched",
              !has_address(html) && !strstr(html, "src=") && !has_outer_url(html) && !strstr(html, "<link"));
        CHECK("layers-with-what-was-fused", strstr(html, "conv1d + add + relu") && strstr(html, "softmax"));
        CHECK("what-was-folded", strstr(html, "\"operator\": \"batch_norm\"") && strstr(html, "folded into"));
        CHECK("views", strstr(html, "id=\"net\"") && strstr(html, "id=\"memory\"") && strstr(html, "id=\"rows\""));
    }
    lw_free(cx);
    lw_free(other);
    remove(path);
    rmdir(folder);
    check_regions();
    return check_done();
}
