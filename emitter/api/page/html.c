/* SPDX-License-Identifier: MIT */
/* The frame of the reports: see html.h. */
#include "api/page/html.h"

static const char *const style[] = {
    ":root{color-scheme:light dark;--page:#fff;--ink:#1c2430;--faint:#5b6675;--line:#d9dee5;--card:#f5f7f9;",
    "--mac:#2f6fb0;--weight:#b8722c;--result:#3d8a5f}@media(prefers-color-scheme:dark){:root{--page:#14181d;",
    "--ink:#e6e9ed;--faint:#9aa5b1;--line:#333b45;--card:#1d232a;--mac:#6ea8e0;--weight:#dc9d5c;--result:#6dbf92}}",
    "*{box-sizing:border-box}body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--page);",
    "color:var(--ink);font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}h1{font-size:1.4rem;margin:.2rem 0}",
    "h2{font-size:1.1rem;margin:2rem 0 .4rem}h3{font-size:1rem;margin:1rem 0 .3rem}p{margin:.3rem 0;",
    "color:var(--faint);font-size:.9rem}.cards{display:grid;",
    "grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem;margin:1rem 0}",
    ".cards div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem}",
    ".cards b{display:block;font-size:1.25rem}.cards span{color:var(--faint);font-size:.82rem}.wide{overflow-x:auto;",
    "border:1px solid var(--line);border-radius:.5rem}svg{display:block}svg text{fill:var(--ink);",
    "font:11px system-ui,sans-serif}svg .faint{fill:var(--faint)}ol{list-style:none;margin:0;padding:0}",
    "li{border-top:1px solid var(--line);padding:.5rem 0;display:grid;gap:.1rem 1rem;grid-template-columns:1fr}",
    "li b{font-weight:600}li i{font-style:normal;color:var(--faint);font-size:.85rem}.bars{display:grid;",
    "grid-template-columns:1fr 9rem;gap:.05rem .6rem;align-items:center}.bars span{font-size:.82rem;",
    "text-align:right;font-variant-numeric:tabular-nums}.bars svg{width:100%;height:.55rem}",
    "@media(min-width:44rem){li{grid-template-columns:22rem 1fr;align-items:center}}.key span{display:inline-block;",
    "margin-right:1rem}",
    ".key span::before{content:'';display:inline-block;width:.7rem;height:.7rem;border-radius:2px;",
    "margin-right:.35rem;background:var(--c)}figure{margin:0;padding:.5rem 0;border-top:1px solid var(--line)}",
    "figure svg{width:100%;height:auto}figcaption{font-size:.85rem;color:var(--faint)}figcaption b{color:var(--ink)}",
    ".grids{display:grid;gap:0 1.2rem;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr))}",
    "pre{white-space:pre-wrap;background:var(--card);border:1px solid var(--line);border-radius:.5rem;",
    "padding:.6rem .8rem;font-size:.8rem}",
    "@media print{:root{--page:#fff;--ink:#000;--faint:#444;--line:#bbb;--card:#fff}body{max-width:none}",
    ".wide{overflow:visible;border:0}.wide svg{max-width:100%;height:auto}h2,h3,p{break-after:avoid}",
    "li,figure,pre,svg,.cards div{break-inside:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}",
};

void html_escaped(Text *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '&') text_add(t, "&amp;");
        else if (*s == '<') text_add(t, "&lt;");
        else if (*s == '>') text_add(t, "&gt;");
        else if (*s == '"') text_add(t, "&quot;");
        else if ((unsigned char)*s < ' ') text_char(t, ' ');
        else text_char(t, *s);
    }
}

void html_card(Text *t, const char *figure, const char *what)
{
    text_printf(t, "<div><b>%s</b><span>%s</span></div>\n", figure, what);
}

void html_begin(Text *t, const char *title, const char *below)
{
    text_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                "content=\"width=device-width,initial-scale=1\">\n<title>");
    html_escaped(t, title);
    text_add(t, "</title>\n<style>\n");
    for (size_t i = 0; i < sizeof style / sizeof style[0]; i++) text_printf(t, "%s\n", style[i]);
    text_add(t, "</style>\n</head>\n<body>\n<h1>");
    html_escaped(t, title);
    text_add(t, "</h1>\n<p>");
    html_escaped(t, below);
    text_add(t, "</p>\n");
}

void html_end(Text *t) { text_add(t, "</body>\n</html>\n"); }
