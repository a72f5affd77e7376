/* SPDX-License-Identifier: MIT */
/* Refuses a name or a setting whose length the kind's manifest does not accept. */
#include "api/package/package.h"

#include <string.h>

/* The limits of Arduino's library specification, PlatformIO's schema, ESP-IDF's component manager and PACK.xsd, in
 * characters. */
static const struct { const char *kind, *word, *option; int least, most; } limits[] = {
    { "arduino",    "name",    "--name",            1,  63 },
    { "platformio", "name",    "--name",            1, 100 },
    { "platformio", "version", "--package-version", 1,  50 },
    { "platformio", "author",  "--author",          1, 100 },
    { "platformio", "url",     "--url",             1, 255 },
    { "platformio", "licence", "--licence",         1, 255 },
    { "esp-idf",    "name",    "--name",            2,  64 },
    { "cmsis-pack", "name",    "--name",            1,  32 },
};

/* Returns the characters of a text in UTF-8. */
static int characters(const char *s)
{
    int count = 0;
    for (; *s; s++) count += ((unsigned char)*s & 0xC0) != 0x80;
    return count;
}

void package_limits(Ctx *cx, const char *kind, const Settings *s, const Program *p)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (strcmp(limits[i].kind, kind) != 0) continue;
        const char *setting = package_setting(cx, s, limits[i].word, ""), *value = setting ? setting : p->name;
        if (characters(value) >= limits[i].least && characters(value) <= limits[i].most) continue;
        diag_usage(cx, NULL, "a package for %s does not accept the %s \"%s\"; use %s with %d to %d characters",
                   kind, limits[i].word, value, limits[i].option, limits[i].least, limits[i].most);
    }
}
