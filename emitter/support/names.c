/* SPDX-License-Identifier: MIT */
#include "support/names.h"

#include <stdio.h>
#include <string.h>

#include "support/map.h"
#include "support/text.h"

/* `macros` is the prefix of the model's macros. */
struct NameTable { Map map; const char *macros; size_t macros_length; };

static struct NameTable *table_of(Ctx *cx)
{
    if (!cx->names) {
        cx->names = NEW(cx->arena, struct NameTable);
        cx->names->map = map_new(cx->arena);
    }
    return cx->names;
}

const char *name_n(Ctx *cx, const char *given, size_t length)
{
    const char *text = text_visible(cx, given, length, false);
    if (text != given) length = strlen(text);
    Map *map = &table_of(cx)->map;
    const char *found = map_get(map, text, length);
    if (found) return found;
    char *copy = arena_alloc(cx->arena, length + 1);
    if (length) memcpy(copy, text, length);
    map_put(map, copy, length, copy);
    return copy;
}

const char *name(Ctx *cx, const char *text) { return text ? name_n(cx, text, strlen(text)) : NULL; }

const char *name_format(Ctx *cx, const char *format, ...)
{
    char few[128];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(few, sizeof few, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof few) return name_n(cx, few, (size_t)length);
    va_start(args, format);
    const char *s = name(cx, text_vformat(cx, format, args));
    va_end(args);
    return s;
}

/* Reserved names: keywords of C99 to C23 and of C++, names that emitted C uses itself, and macros without arguments
 * that compilers predefine or that C's headers define: a program may include these before the model's. Errors and
 * signals are taken from POSIX and Linux. */
static const char *const reserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "consteval", "constexpr", "constinit",
    "const_cast", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected",
    "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try",
    "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq",
    "arena", "in", "out", "main", "memcpy", "memset",
    "linux", "unix", "i386", "mips", "sparc", "sun", "vax", "m68k", "hppa", "PPC", "AVR", "MSP430", "WIN32", "WIN64",
    "NULL", "INFINITY", "NAN", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "HUGE", "MAXFLOAT", "SNAN", "SNANF", "SNANL",
    "DOMAIN", "SING", "OVERFLOW", "UNDERFLOW", "TLOSS", "PLOSS", "MATH_ERRNO", "MATH_ERREXCEPT", "math_errhandling",
    "signgam", "errno", "BIG_ENDIAN", "LITTLE_ENDIAN", "PDP_ENDIAN", "BYTE_ORDER",
    "EOF", "BUFSIZ", "FILENAME_MAX", "FOPEN_MAX", "TMP_MAX", "L_tmpnam", "P_tmpdir", "SEEK_SET", "SEEK_CUR", "SEEK_END",
    "stdin", "stdout", "stderr", "EXIT_SUCCESS", "EXIT_FAILURE", "RAND_MAX", "MB_CUR_MAX", "CLOCKS_PER_SEC", "WEOF",
    "CHAR_BIT", "MB_LEN_MAX", "DECIMAL_DIG", "SSIZE_MAX", "PATH_MAX", "NAME_MAX", "I", "complex", "imaginary",
    "SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO",
    "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGRTMAX", "SIGRTMIN", "SIGSEGV",
    "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1",
    "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ",
    "E2BIG", "EACCES", "EADDRINUSE", "EADDRNOTAVAIL", "EADV", "EAFNOSUPPORT", "EAGAIN", "EALREADY", "EBADE", "EBADF",
    "EBADFD", "EBADMSG", "EBADR", "EBADRQC", "EBADSLT", "EBFONT", "EBUSY", "ECANCELED", "ECHILD", "ECHRNG", "ECOMM",
    "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EDEADLK", "EDEADLOCK", "EDESTADDRREQ", "EDOM", "EDOTDOT", "EDQUOT",
    "EEXIST", "EFAULT", "EFBIG", "EHOSTDOWN", "EHOSTUNREACH", "EHWPOISON", "EIDRM", "EILSEQ", "EINPROGRESS", "EINTR",
    "EINVAL", "EIO", "EISCONN", "EISDIR", "EISNAM", "EKEYEXPIRED", "EKEYREJECTED", "EKEYREVOKED", "EL2HLT", "EL2NSYNC",
    "EL3HLT", "EL3RST", "ELIBACC", "ELIBBAD", "ELIBEXEC", "ELIBMAX", "ELIBSCN", "ELNRNG", "ELOOP", "EMEDIUMTYPE",
    "EMFILE", "EMLINK", "EMSGSIZE", "EMULTIHOP", "ENAMETOOLONG", "ENAVAIL", "ENETDOWN", "ENETRESET", "ENETUNREACH",
    "ENFILE", "ENOANO", "ENOBUFS", "ENOCSI", "ENODATA", "ENODEV", "ENOENT", "ENOEXEC", "ENOKEY", "ENOLCK", "ENOLINK",
    "ENOMEDIUM", "ENOMEM", "ENOMSG", "ENONET", "ENOPKG", "ENOPROTOOPT", "ENOSPC", "ENOSR", "ENOSTR", "ENOSYS",
    "ENOTBLK", "ENOTCONN", "ENOTDIR", "ENOTEMPTY", "ENOTNAM", "ENOTRECOVERABLE", "ENOTSOCK", "ENOTSUP", "ENOTTY",
    "ENOTUNIQ", "ENXIO", "EOPNOTSUPP", "EOVERFLOW", "EOWNERDEAD", "EPERM", "EPFNOSUPPORT", "EPIPE", "EPROTO",
    "EPROTONOSUPPORT", "EPROTOTYPE", "ERANGE", "EREMCHG", "EREMOTE", "EREMOTEIO", "ERESTART", "ERFKILL", "EROFS",
    "ESHUTDOWN", "ESOCKTNOSUPPORT", "ESPIPE", "ESRCH", "ESRMNT", "ESTALE", "ESTRPIPE", "ETIME", "ETIMEDOUT",
    "ETOOMANYREFS", "ETXTBSY", "EUCLEAN", "EUNATCH", "EUSERS", "EWOULDBLOCK", "EXDEV", "EXFULL",
};

static bool begins(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

static bool ends(const char *s, const char *with)
{
    const size_t length = strlen(s), tail = strlen(with);
    return length > tail && strcmp(s + length - tail, with) == 0;
}

/* Returns true for the limits of <stdint.h> and <limits.h>: INT8_MIN, UINT_LEAST16_MAX, SIZE_WIDTH, LONG_MAX, .. */
static bool is_limit(const char *s)
{
    static const char *const types[] = { "INT", "UINT", "SIZE_", "PTRDIFF_", "WCHAR_", "WINT_", "SIG_ATOMIC_", "CHAR_",
                                         "SCHAR_", "UCHAR_", "SHRT_", "USHRT_", "LONG_", "ULONG_", "LLONG_",
                                         "ULLONG_" };
    bool is_type = false;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) is_type = is_type || begins(s, types[i]);
    return is_type && (ends(s, "_MIN") || ends(s, "_MAX") || ends(s, "_WIDTH"));
}

/* Returns true for the families of macros that C reserves: M_PI, FP_NAN, FLT_MAX, FE_INEXACT, LC_ALL, SIG_ERR,
 * PRIx32. */
static bool is_of_a_family(const char *s)
{
    static const char *const prefixes[] = { "M_", "FP_", "FLT_", "DBL_", "LDBL_", "FE_", "LC_", "SIG_" };
    static const char *const formats[] = { "PRI", "SCN" };
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (begins(s, prefixes[i])) return true;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (begins(s, formats[i]) && s[3] && strchr("diouxX", s[3]) && s[4] && strchr("1368LFMP", s[4])) return true;
    return false;
}

/* Returns true if the name is reserved. Names with the suffix _t are types of C or of the system. */
static bool is_reserved(const char *s)
{
    if (ends(s, "_t") || is_limit(s) || is_of_a_family(s)) return true;
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(s, reserved[i]) == 0) return true;
    return false;
}

/* Returns true if the prefix is reserved for the runtime or for compilers: `__`, and `_` before a capital letter, as in
 * __LINE__ and _Bool. */
static bool is_reserved_beginning(const char *s)
{
    if (begins(s, "lw_") || begins(s, "LW_")) return true;
    return s[0] == '_' && (s[1] == '_' || (s[1] >= 'A' && s[1] <= 'Z'));
}

void name_reserve_macros(Ctx *cx, const char *prefix)
{
    struct NameTable *t = table_of(cx);
    t->macros = name_format(cx, "%s_", name_upper(cx, prefix));
    t->macros_length = strlen(t->macros);
}

const char *name_prefix(Ctx *cx, const char *text)
{
    const bool is_letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
    bool is_apart = false;
    Text t = text_new(cx);
    if (!is_letter) text_char(&t, 'm');
    for (; *text; text++) {
        const bool is_own = name_is_word(*text) && *text != '_';
        if (is_own && is_apart) text_char(&t, '_');
        if (is_own) text_char(&t, *text);
        is_apart = !is_own;
    }
    const char *word = name(cx, text_string(&t));
    const bool is_free = name_identifier(cx, word) == word && !is_reserved_beginning(text_format(cx, "%s_", word));
    return is_free ? word : name_format(cx, "m_%s", word);
}

const char *name_suffix(Ctx *cx, const char *text)
{
    size_t length = 0;
    while (name_is_word(text[length])) length++;
    if (!text[length]) return name(cx, text);
    Text t = text_new(cx);
    for (; *text; text++) text_char(&t, name_is_word(*text) ? *text : '_');
    return name(cx, text_string(&t));
}

const char *name_identifier(Ctx *cx, const char *text)
{
    const bool is_open = !*text || (*text >= '0' && *text <= '9');
    const char *word = name_suffix(cx, is_open ? text_format(cx, "_%s", text) : text);
    if (is_reserved_beginning(word)) return name_format(cx, *word == '_' ? "own%s" : "own_%s", word);
    return is_reserved(word) ? name_format(cx, "%s_", word) : name(cx, word);
}

const char *name_unprefixed(Ctx *cx, const char *text)
{
    const struct NameTable *t = table_of(cx);
    const char *identifier = name_identifier(cx, text);
    const bool is_macro = t->macros && strncmp(identifier, t->macros, t->macros_length) == 0;
    return is_macro ? name_format(cx, "own_%s", identifier) : identifier;
}

const char *name_upper(Ctx *cx, const char *s)
{
    Text t = text_new(cx);
    for (; *s; s++) text_char(&t, (char)(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s));
    return text_string(&t);
}
