/* SPDX-License-Identifier: MIT */
/* ONNX models with weights in a second file: read from their offset, and refused if the file is too short. */
#define _DEFAULT_SOURCE      /* mkdtemp, mkdir */
#include "check.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "context/context.h"
#include "import/onnx/onnx.h"
#include "onnx_text.h"

enum { FLOATS = 12 };

/* FILE in the folder: 0, 0.5, 1, ..., little-endian. */
static void write_weights(const char *path)
{
    FILE *f = fopen(path, "wb");
    for (int i = 0; f && i < FLOATS; i++) {
        const float v = (float)i / 2;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        for (int b = 0; b < 4; b++) fputc((int)(bits >> (8 * b) & 255), f);
    }
    if (f) fclose(f);
}

static Ctx *read_model(const char *folder, const char *line, Model *m)
{
    Ctx *cx = context_new(NULL, NULL);
    const Text file = onnx_text(cx, line);
    onnx_read(cx, text_format(cx, "%s/model.onnx", folder), (Bytes){ (const uint8_t *)file.at, file.length }, NULL, m);
    return cx;
}

/* The constant that the only node reads begins with `first`; each next element is larger by a half. */
static void accepted(const char *folder, const char *test_name, const char *line, float first)
{
    Model m = { 0 };
    Ctx *cx = read_model(folder, line, &m);
    const Node *n = ctx_failed(cx) ? NULL : m.output[0]->producer;
    const Tensor *w = n && n->in_count == 2 ? n->in[1] : NULL;
    bool same = w && w->data && tensor_elems(w) > 0;
    for (int64_t i = 0; same && i < tensor_elems(w); i++) same = ((const float *)w->data)[i] == first + (float)i / 2;
    check_that(same, check_label(test_name, "is-read"), "%s", cx->diags ? diag_text(cx, cx->diags) : "other values");
    ctx_free(cx);
}

static void refused(const char *folder, const char *test_name, const char *line, const char *why)
{
    Model m = { 0 };
    Ctx *cx = read_model(folder, line, &m);
    const char *text = cx->diags ? diag_text(cx, cx->diags) : "nothing";
    check_that(ctx_failed(cx) && strstr(text, why) != NULL, check_label(test_name, "is-refused"), "%s", text);
    ctx_free(cx);
}

int main(void)
{
    char folder[] = "/tmp/external-XXXXXX", file[64], below[64], deep[64];
    if (!mkdtemp(folder)) return 3;
    snprintf(file, sizeof file, "%s/w.bin", folder);
    snprintf(below, sizeof below, "%s/below", folder);
    snprintf(deep, sizeof deep, "%s/below/w.bin", folder);
    mkdir(below, 0700);
    write_weights(file);
    write_weights(deep);
    accepted(folder, "whole-file", "x:12; w&12&w.bin&&; Add x,w y; >y", 0);
    accepted(folder, "offset-and-length", "x:4; w&4&w.bin&8&16; Add x,w y; >y", 1);
    accepted(folder, "offset-without-length", "x:2; w&2&w.bin&40&; Add x,w y; >y", 5);
    accepted(folder, "in-a-folder-below", "x:3; w&3&below/w.bin&36&12; Add x,w y; >y", 4.5f);
    accepted(folder, "two-tensors-of-one-file", "x:4; v&4&w.bin&0&16; w&4&w.bin&16&16; Add x,v t; Add x,w y; >y", 2);
    refused(folder, "no-such-file", "x:4; w&4&none.bin&0&16; Add x,w y; >y", "none.bin");
    refused(folder, "past-the-end", "x:4; w&4&w.bin&36&16; Add x,w y; >y", "exceeds \"w.bin\"");
    refused(folder, "offset-past-the-end", "x:4; w&4&w.bin&99999999999999999999&16; Add x,w y; >y",
            "must have a location");
    refused(folder, "offset-that-wraps", "x:4; w&4&w.bin&18446744073709551608&16; Add x,w y; >y", "external data");
    refused(folder, "length-of-another-shape", "x:4; w&4&w.bin&0&12; Add x,w y; >y", "a length of 16 bytes");
    refused(folder, "no-location", "x:4; w&4&&0&16; Add x,w y; >y", "must have a location");
    refused(folder, "absolute-path", "x:4; w&4&/etc/hostname&&; Add x,w y; >y", "outside the model's folder");
    refused(folder, "folder-above", "x:4; w&4&below/../../w.bin&&; Add x,w y; >y", "outside the model's folder");
    refused(folder, "a-folder-is-no-file", "x:4; w&4&below&&; Add x,w y; >y", "below");
    remove(file);
    remove(deep);
    rmdir(below);
    rmdir(folder);
    return check_done();
}
