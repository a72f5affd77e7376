/* SPDX-License-Identifier: MIT */
/* npydiff GOT.npy EXPECTED.npy [STEP]: compares two arrays. Types and shapes must be equal. Floats agree if |got -
 * expected| <= 1e-4 + 1e-3 |expected| (with STEP, that; NaN agrees with NaN alone); everything else if its bytes are
 * equal. Prints the largest difference. Status 0: they agree, 1: they differ, 2: a file is no array that this program
 * can read. It shares no code with the compiler's reader, so one fault cannot hide in both. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Array {
    char type[8];            /* as the file spells it: "<f4" */
    char shape[128];         /* likewise, between the parentheses, without spaces */
    unsigned char *data;
    long bytes;
} Array;

static void refuse(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    exit(2);
}

/* The header's text from `key` to the first character of `stop`, without spaces. */
static void read_field(const char *path, const char *header, const char *key, char first, char stop, char *to,
                       size_t room)
{
    const char *at = strstr(header, key);
    size_t n = 0;
    if (at) at = strchr(at + strlen(key), first);
    if (!at) refuse(path, "a field of the header is missing");
    for (at++; *at && *at != stop; at++) {
        if (*at == ' ') continue;
        if (n + 1 == room) refuse(path, "a field of the header is too long");
        to[n++] = *at;
    }
    if (n && to[n - 1] == ',') n--;
    to[n] = 0;
}

static Array read_array(const char *path)
{
    Array a;
    unsigned char start[12] = { 0 };
    FILE *f = fopen(path, "rb");
    if (!f || fread(start, 1, 10, f) != 10 || memcmp(start, "\x93NUMPY", 6) != 0) refuse(path, "not a .npy file");
    size_t length = start[8] + 256u * start[9];
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, f) != 2 || start[10] || start[11])
            refuse(path, "the header is cut off or too long");
    }
    char *header = calloc(length + 1, 1);
    if (!header || fread(header, 1, length, f) != length) refuse(path, "the header is cut off");
    read_field(path, header, "'descr'", '\'', '\'', a.type, sizeof a.type);
    read_field(path, header, "'shape'", '(', ')', a.shape, sizeof a.shape);
    if (strstr(header, "'fortran_order': True")) refuse(path, "in Fortran's order");
    free(header);
    long begin = ftell(f);
    if (fseek(f, 0, SEEK_END) != 0) refuse(path, "cannot be read");
    a.bytes = ftell(f) - begin;
    a.data = malloc((size_t)a.bytes + 1);
    if (!a.data || fseek(f, begin, SEEK_SET) != 0 || fread(a.data, 1, (size_t)a.bytes, f) != (size_t)a.bytes)
        refuse(path, "cannot be read");
    fclose(f);
    return a;
}

static double element(const Array *a, long i)
{
    float single;
    double wide;
    if (a->type[2] == '4') {
        memcpy(&single, a->data + 4 * i, 4);
        return (double)single;
    }
    memcpy(&wide, a->data + 8 * i, 8);
    return wide;
}

/* Returns the number of floats that differ. */
static long compare_floats(const Array *got, const Array *want, double step)
{
    long size = want->type[2] - '0', wrong = 0, worst_at = 0;
    double worst = 0;
    for (long i = 0; i < want->bytes / size; i++) {
        double g = element(got, i), w = element(want, i), d = fabs(g - w);
        if (g == w || (g != g && w != w)) continue;
        wrong += !(d <= (step > 0 ? step : 1e-4 + 1e-3 * fabs(w)));
        if (d <= worst) continue;
        worst = d;
        worst_at = i;
    }
    printf("%ld of %ld elements differ; largest difference %.3g at element %ld\n", wrong, want->bytes / size, worst,
           worst_at);
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: npydiff GOT.npy WANT.npy [STEP]\n");
        return 2;
    }
    Array got = read_array(argv[1]), want = read_array(argv[2]);
    if (strcmp(got.type, want.type) != 0 || strcmp(got.shape, want.shape) != 0 || got.bytes != want.bytes) {
        printf("%s is %s (%s) of %ld bytes, but %s (%s) of %ld bytes is wanted\n", argv[1], got.type, got.shape,
               got.bytes, want.type, want.shape, want.bytes);
        return 1;
    }
    if (strcmp(want.type, "<f4") == 0 || strcmp(want.type, "<f8") == 0)
        return compare_floats(&got, &want, argc > 3 ? atof(argv[3]) : 0) != 0;
    int differ = memcmp(got.data, want.data, (size_t)want.bytes) != 0;
    printf("the bytes %s\n", differ ? "differ" : "are equal");
    return differ;
}
