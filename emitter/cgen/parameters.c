/* SPDX-License-Identifier: MIT */
#include "cgen/parameters.h"

#include "cgen/template.h"

void program_text(Text *t, const Program *p, const char *text)
{
    for (; *text; text++) {
        if (*text == '$') text_add(t, p->name);
        else if (*text == '@')
            for (const char *s = p->name; *s; s++) text_char(t, (char)(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s));
        else if (*text == '^') print_arguments(t, p, IN_TESTBENCH);
        else if (*text == '~') text_add(t, p->weights.file);
        else text_char(t, *text);
    }
}

void program_file(Text *t, const Program *p, const char *file)
{
    for (const char *const *line = template_lines(file); !template_ends(*line); line++) {
        program_text(t, p, *line);
        text_char(t, '\n');
    }
}

void features_print(Ctx *cx, Text *t, const Program *p, FeaturePart part)
{
    const int count = p->features.count;
    for (int i = 0; i < count; i++) {
        const Feature *f = p->features.at[part == FEATURE_END ? count - 1 - i : i];
        if (f->part[part]) f->part[part](cx, t, p);
        if (f->text[part]) program_text(t, p, f->text[part]);
        if (f->file[part]) program_file(t, p, f->file[part]);
    }
}

const char *program_parameters(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    for (int i = 0; i < p->features.count; i++) {
        const Parameter *x = &p->features.at[i]->parameter;
        if (!x->name) continue;
        text_printf(&t, "%s%s%s%s%s *%s, ", x->step_writes && !p->is_step ? "const " : "", x->type,
                    x->suffix ? p->name : "", x->suffix ? "_" : "", x->suffix ? x->suffix : "", x->name);
    }
    return text_string(&t);
}

void print_arguments(Text *t, const Program *p, ArgumentOf of)
{
    for (int i = 0; i < p->features.count; i++)
        if (p->features.at[i]->parameter.name) text_printf(t, "%s, ", p->features.at[i]->parameter.argument[of]);
}

void parameters_check(Text *t, const Program *p)
{
    for (int i = 0; i < p->features.count; i++) {
        const Parameter *x = &p->features.at[i]->parameter;
        if (x->error) text_printf(t, "    if (%s == NULL) return %s_%s;\n", x->name, p->prefix, x->error);
    }
}

void error_codes(Text *t, const Program *p)
{
    for (int code = 1; code <= MOST_CODES; code++)
        for (int i = 0; i < p->features.count; i++)
            if (p->features.at[i]->code == code)
                text_printf(t, "#define %s_E_%s\n", p->prefix, p->features.at[i]->meaning);
}

bool features_call_string(const Program *p)
{
    bool calls = false;
    for (int i = 0; i < p->features.count; i++) calls = calls || p->features.at[i]->calls_string;
    return calls;
}

void features_pieces(Text *t, const Program *p)
{
    for (int i = 0; i < p->features.count; i++)
        if (p->features.at[i]->pieces) text_printf(t, "%s ", p->features.at[i]->pieces);
}
