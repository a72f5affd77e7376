/* SPDX-License-Identifier: MIT */
#include "support/names.h"

#include <string.h>

#include "support/map.h"
#include "support/text.h"

struct NameTable { Map map; };

const char *name_n(Ctx *cx, const char *text, size_t length)
{
    if (!cx->names) {
        cx->names = NEW(cx->arena, struct NameTable);
        cx->names->map = map_new(cx->arena);
    }
    const char *found = map_get(&cx->names->map, text, length);
    if (found) return found;
    char *copy = arena_alloc(cx->arena, length + 1);
    if (length) memcpy(copy, text, length);
    map_put(&cx->names->map, copy, length, copy);
    return copy;
}

const char *name(Ctx *cx, const char *text) { return text ? name_n(cx, text, strlen(text)) : NULL; }

const char *name_format(Ctx *cx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *s = name(cx, text_vformat(cx, format, args));
    va_end(args);
    return s;
}

/* C99, C11, C23 and C++ keywords, and the names that the emitted C uses itself. */
static const char *const reserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "class", "compl", "const", "constexpr", "continue", "default", "delete", "do", "double", "else", "enum", "explicit",
    "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
    "register", "reinterpret_cast", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
    "typename", "typeof", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor",
    "xor_eq", "NULL", "arena", "in", "out", "main",
    "INFINITY", "NAN", "HUGE_VAL", "memcpy", "memset",
};

/* Names that end in _t are types, of C or of the system. */
static bool is_reserved(const char *s)
{
    size_t length = strlen(s);
    if (length > 2 && strcmp(s + length - 2, "_t") == 0) return true;
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(s, reserved[i]) == 0) return true;
    return false;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

const char *name_prefix(Ctx *cx, const char *text)
{
    const bool is_letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
    return name_identifier(cx, is_letter ? text : text_format(cx, "m%s", text));
}

const char *name_identifier(Ctx *cx, const char *text)
{
    Text t = text_new(cx);
    if (strncmp(text, "lw_", 3) == 0 || strncmp(text, "LW_", 3) == 0) text_add(&t, "own_");     /* those are the runtime's */
    if (!*text || (*text >= '0' && *text <= '9')) text_char(&t, '_');
    for (; *text; text++) text_char(&t, is_word(*text) ? *text : '_');
    if (is_reserved(text_string(&t))) text_char(&t, '_');
    return name(cx, text_string(&t));
}

const char *name_upper(Ctx *cx, const char *s)
{
    Text t = text_new(cx);
    for (; *s; s++) text_char(&t, (char)(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s));
    return text_string(&t);
}
