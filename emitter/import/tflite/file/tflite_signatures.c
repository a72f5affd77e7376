/* SPDX-License-Identifier: MIT */
/* Selects a subgraph by its signature. Signatures are names of subgraphs that are run separately, such as inference and
 * training in one file. */
#include "import/tflite/file/tflite_signatures.h"

#include "import/formats/flatbuffer.h"
#include "support/text.h"

enum { MODEL_SIGNATURES = 7, SIGNATURE_KEY = 2, SIGNATURE_SUBGRAPH = 4, MOST_SIGNATURES = 256 };

typedef struct Signatures { bool is_damaged; int count; const char **name; int64_t *subgraph; } Signatures;

static Signatures signatures_of(Ctx *cx, Bytes bytes)
{
    FlatFile file = { bytes, false };
    const FlatTable model = flat_root(&file, "TFL3");
    const FlatVector list = flat_vector(&model, MODEL_SIGNATURES, 4);
    Signatures all = { .count = list.count < MOST_SIGNATURES ? (int)list.count : MOST_SIGNATURES };
    all.name = NEW_ARRAY(cx->arena, const char *, all.count);
    all.subgraph = NEW_ARRAY(cx->arena, int64_t, all.count);
    for (int i = 0; i < all.count; i++) {
        const FlatTable each = flat_table_at(&list, (size_t)i);
        all.name[i] = flat_text(cx, &each, SIGNATURE_KEY);
        all.subgraph[i] = flat_int(&each, SIGNATURE_SUBGRAPH, 4, 0);
    }
    all.is_damaged = file.bad;
    return all;
}

static const char *names_text(Ctx *cx, const Signatures *all)
{
    Text t = text_new(cx);
    for (int i = 0; i < all->count; i++) text_printf(&t, "%s\"%s\"", i ? ", " : "", all->name[i]);
    return text_string(&t);
}

/* Notes which of several subgraphs is compiled. */
static void note_others(Ctx *cx, const Signatures *all)
{
    const char *first = "the first subgraph";
    bool has_others = false;
    for (int i = all->count - 1; i >= 0; i--) {
        if (all->subgraph[i] == 0) first = text_format(cx, "\"%s\"", all->name[i]);
        else has_others = true;
    }
    if (has_others)
        diag_listed(cx, NOTE, NULL, "the file has the signatures %s, of which %s is compiled; pass --signature NAME to "
                                    "choose a different one",
                    names_text(cx, all), first);
}

bool tflite_signature_subgraph(Ctx *cx, Bytes bytes, const char *wanted, size_t *subgraph)
{
    const Signatures all = signatures_of(cx, bytes);
    *subgraph = 0;
    if (all.is_damaged) return true;                       /* the reader of the file reports the damage */
    if (!wanted) {
        note_others(cx, &all);
        return true;
    }
    for (int i = 0; i < all.count; i++)
        if (text_equal(all.name[i], wanted) && all.subgraph[i] >= 0) {
            *subgraph = (size_t)all.subgraph[i];
            return true;
        }
    diag_error(cx, NULL, "there is no signature \"%s\" (--signature)%s", wanted,
               text_hint(cx, wanted, all.name, (size_t)all.count,
                         all.count ? text_format(cx, "; the file has %s", names_text(cx, &all))
                                   : "; the file has none, so omit the option to compile its first subgraph"));
    return false;
}
