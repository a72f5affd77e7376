/* SPDX-License-Identifier: MIT */
/* Decision: output files appear whole. `emitter/support/file.c` writes every file of a command under a free name
 * beside its destination (O_EXCL) and renames all of them at the end. If a write fails or memory runs out, the files
 * are removed. */
#if defined __unix__ || defined __APPLE__
#define _POSIX_C_SOURCE 200809L
#define HAS_POSIX
#endif
/* WASI has folders, but it has neither locks nor limits of sizes. */
#if defined HAS_POSIX || defined __wasi__
#define HAS_FOLDERS
#endif
#include "support/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAS_FOLDERS
#include <dirent.h>
#include <sys/stat.h>
#endif
#ifdef HAS_POSIX
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

/* ---- Folders -------------------------------------------------------------------------------------------------- */

static bool is_chosen(const char *file, const char *extension)
{
    return file[0] != '.' && text_equal(path_extension(file), extension);
}

/* Inserts a name into the sorted list. */
static void insert_name(const char **list, int count, const char *file)
{
    int at = count;
    for (; at && strcmp(list[at - 1], file) > 0; at--) list[at] = list[at - 1];
    list[at] = file;
}

#ifdef HAS_FOLDERS
static void close_folder(void *d) { closedir(d); }

/* Lists at most `most` names; returns the number of all names. */
static int list_folder(Ctx *cx, const char *path, const char *extension, const char **list, int most)
{
    int count = 0;
    Resource held;
    DIR *d = opendir(path);
    if (!d) return 0;
    resource_hold(cx, &held, close_folder, d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        if (!is_chosen(e->d_name, extension)) continue;
        if (count < most) insert_name(list, count, text_format(cx, "%s", e->d_name));
        count++;
    }
    resource_drop(cx, &held);
    return count;
}
#else
static int list_folder(Ctx *cx, const char *path, const char *extension, const char **list, int most)
{
    (void)cx, (void)path, (void)extension, (void)list, (void)most;
    return 0;
}
#endif

const char *const *folder_files(Ctx *cx, const char *path, const char *extension, int *count)
{
    const int most = list_folder(cx, path, extension, NULL, 0);
    const char **list = NEW_ARRAY(cx->arena, const char *, most);
    const int found = list_folder(cx, path, extension, list, most);
    *count = found < most ? found : most;
    return list;
}

bool file_is_folder(const char *path)
{
#ifdef HAS_FOLDERS
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
#else
    (void)path;
    return false;
#endif
}

bool folder_create(const char *path)
{
#ifdef HAS_FOLDERS
    return mkdir(path, 0777) == 0 || (errno == EEXIST && file_is_folder(path));
#else
    char command[FILENAME_MAX + 16];     /* C99 has no function that creates a folder */
    errno = EINVAL;
    return !strchr(path, '"') && snprintf(command, sizeof command, "mkdir \"%s\"", path) < (int)sizeof command
           && system(command) == 0;
#endif
}

/* ---- Reading -------------------------------------------------------------------------------------------------- */

/* Limits in bytes, beyond any model for a microcontroller. The limit of streams keeps an endless stream from filling
 * the memory. */
enum { FIRST_READ = 1 << 16, LARGEST_STREAM = 1 << 28 };
static const size_t LARGEST_FILE = (size_t)1 << 31;

static void close_file(void *f) { fclose(f); }

/* Returns the size of a file of which `count` bytes have been read, or 0 if it is unknown, for example for a pipe. */
static size_t size_of(FILE *f, size_t count)
{
    const long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : 0;
    return size > 0 && fseek(f, (long)count, SEEK_SET) == 0 ? (size_t)size : 0;
}

/* Reads the remainder of a file that is longer than FIRST_READ; *count becomes the number of bytes read. */
static uint8_t *read_rest(Ctx *cx, FILE *f, uint8_t *at, size_t *count)
{
    const size_t size = size_of(f, *count);
    size_t capacity = *count, most = size ? LARGEST_FILE : LARGEST_STREAM;
    size_t larger = size > capacity ? size + 1 : 2 * capacity;
    for (; larger <= most && *count == capacity; larger = 2 * capacity) {
        uint8_t *more = arena_alloc(cx->arena, larger + 1);
        memcpy(more, at, *count);
        at = more;
        capacity = larger;
        *count += fread(at + *count, 1, capacity - *count, f);
    }
    return at;
}

static Bytes read_all(Ctx *cx, FILE *f, const char *path)
{
    uint8_t *at = arena_alloc(cx->arena, FIRST_READ + 1);
    size_t count = fread(at, 1, FIRST_READ, f);
    if (count == FIRST_READ) at = read_rest(cx, f, at, &count);
    const int why = errno;
    const bool is_longer = !ferror(f) && !feof(f) && count && fgetc(f) != EOF;
    if (ferror(f)) diag_error(cx, NULL, "cannot read \"%s\": %s", path, strerror(why));
    else if (is_longer)
        diag_error(cx, NULL, "\"%s\" is too large; use files of at most 2 GiB and streams of at most 256 MiB", path);
    at[count] = 0;
    return (Bytes){ at, count };
}

static Bytes read_opened(Ctx *cx, FILE *f, const char *path)
{
    const Bytes none = { (const uint8_t *)"", 0 };
    Resource held;
    if (!f) {
        diag_error(cx, NULL, "cannot open \"%s\": %s", path, strerror(errno));
        return none;
    }
    resource_hold(cx, &held, close_file, f);
    const Bytes all = read_all(cx, f, path);
    resource_drop(cx, &held);
    return ctx_failed(cx) ? none : all;
}

Bytes file_read(Ctx *cx, const char *path)
{
    if (!ctx_failed(cx) && file_is_folder(path))
        diag_error(cx, NULL, "\"%s\" is a folder; use a file", path);
    return ctx_failed(cx) ? (Bytes){ (const uint8_t *)"", 0 } : read_opened(cx, fopen(path, "rb"), path);
}

#ifdef HAS_POSIX
/* Returns the first part of the path below the folder that is a symbolic link, or NULL if there is none. */
static const char *link_below(Ctx *cx, const char *folder, const char *path)
{
    struct stat s;
    for (size_t n = 0; path[n]; n++) {
        if (path[n + 1] && path[n + 1] != '/') continue;
        const char *part = text_format(cx, "%s%.*s", folder, (int)n + 1, path);
        if (lstat(part, &s) == 0 && S_ISLNK(s.st_mode)) return part;
    }
    return NULL;
}

/* Opens a regular file. Does not follow a link, and does not wait for the other end of a pipe. */
static FILE *open_regular(Ctx *cx, const char *path)
{
    struct stat s;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode)) return fdopen(fd, "rb");
    if (fd >= 0) {
        close(fd);
        diag_error(cx, NULL, "\"%s\" is a device, a pipe or a folder; use a regular file", path);
    }
    return NULL;
}

Bytes file_read_below(Ctx *cx, const char *folder, const char *path)
{
    const char *link = ctx_failed(cx) ? NULL : link_below(cx, folder, path),
               *whole = text_format(cx, "%s%s", folder, path);
    if (link)
        diag_error(cx, NULL, "\"%s\" is a symbolic link, which may leave the model's folder; use a regular file", link);
    FILE *f = ctx_failed(cx) ? NULL : open_regular(cx, whole);
    return ctx_failed(cx) ? (Bytes){ (const uint8_t *)"", 0 } : read_opened(cx, f, whole);
}
#else
Bytes file_read_below(Ctx *cx, const char *folder, const char *path)
{
    return file_read(cx, text_format(cx, "%s%s", folder, path));
}
#endif

int64_t file_size(const char *path)
{
    FILE *f = file_is_folder(path) ? NULL : fopen(path, "rb");
    const bool has_parts = f && fseek(f, 0, SEEK_END) == 0;
    const long size = has_parts ? ftell(f) : -1;
    if (f) fclose(f);
    return size;
}

bool file_read_part(Ctx *cx, const char *path, int64_t at, void *to, size_t count)
{
    if (ctx_failed(cx)) return false;
    FILE *f = at <= LONG_MAX ? fopen(path, "rb") : NULL;
    const bool is_whole = f && fseek(f, (long)at, SEEK_SET) == 0 && fread(to, 1, count, f) == count;
    if (f) fclose(f);
    if (!is_whole)
        diag_error(cx, NULL, "cannot read %llu bytes of \"%s\" at offset %lld", (unsigned long long)count, path,
                   (long long)at);
    return is_whole;
}

const char *file_text(Ctx *cx, const char *path, Bytes file)
{
    const char *text = (const char *)file.at, *line = text, *nul = memchr(text, 0, file.count);
    if (!nul) return text;
    int number = 1;
    for (const char *s = text; s < nul; s++)
        if (*s == '\n') number++, line = s + 1;
    const char *outer = cx->file;
    cx->file = path;
    diag_error(cx, text_format(cx, "%d:%d", number, (int)(nul - line) + 1),
               "the byte 0x00 has no meaning here; this file is read as text");
    cx->file = outer;
    return text;
}

/* ---- Writing -------------------------------------------------------------------------------------------------- */

enum { MOST_NAMES = 100 };

/* An unfinished file: its temporary name, and whether that file exists. A device has no temporary file and is written
 * directly. */
typedef struct Draft { char *temporary; size_t capacity; bool is_there, is_device; } Draft;

/* Creates a new file. An existing file or link of that name is an error; a link is not followed. */
static FILE *create(const char *path)
{
#ifdef HAS_POSIX
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    FILE *f = file < 0 ? NULL : fdopen(file, "wb");
    if (file >= 0 && !f) {
        close(file);
        remove(path);
    }
    return f;
#else
    FILE *there = fopen(path, "rb");
    if (!there) return fopen(path, "wb");
    fclose(there);
    return NULL;
#endif
}

/* Opens the first of NAME.part, NAME.part1, ... that does not exist, so that files of other programs are not
 * touched. */
static FILE *create_beside(Draft *d, const char *path)
{
    FILE *f = NULL;
    for (int i = 0; i < MOST_NAMES && !f; i++) {
        snprintf(d->temporary, d->capacity, i ? "%s.part%d" : "%s.part", path, i);
        f = create(d->temporary);
#ifdef HAS_POSIX
        if (!f && errno != EEXIST) break;
#endif
    }
    d->is_there = f != NULL;
    return f;
}

/* Returns true if the process may write a file of that size. A write beyond the limit raises SIGXFSZ, which by default
 * ends the process, so in that case nothing is created. */
static bool is_within_limit(size_t bytes)
{
#ifdef HAS_POSIX
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY || bytes <= most.rlim_cur) return true;
    errno = EFBIG;
    return false;
#else
    (void)bytes;
    return true;
#endif
}

static bool is_limited(void)
{
#ifdef HAS_POSIX
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY;
#else
    return false;
#endif
}

static void count_bytes(void *to, const char *text, size_t length)
{
    (void)text;
    *(size_t *)to += length;
}

static size_t size_of_output(Ctx *cx, const FileOut *file)
{
    size_t bytes = 0;
    if (!file->print) return file->count;
    file->print(cx, file->what, count_bytes, &bytes);
    return bytes;
}

/* The file that is written; `why` is errno after the first failure. */
typedef struct Sink { FILE *f; bool failed; int why; } Sink;

static void note_failure(Sink *s)
{
    if (!s->failed) s->why = errno;
    s->failed = true;
}

static void write_bytes(void *to, const char *text, size_t length)
{
    Sink *s = to;
    if (!s->failed && fwrite(text, 1, length, s->f) != length) note_failure(s);
}

static void close_sink(void *sink)
{
    Sink *s = sink;
    if (fclose(s->f) != 0) note_failure(s);
}

/* Writes the temporary file. Returns false on failure; errno is then the reason. */
static bool write_draft(Ctx *cx, Draft *d, const FileOut *file)
{
    Resource held;
    if (!d->is_device && is_limited() && !is_within_limit(size_of_output(cx, file))) return false;
    Sink s = { d->is_device ? fopen(file->path, "wb") : create_beside(d, file->path), false, 0 };
    if (!s.f) return false;
    resource_hold(cx, &held, close_sink, &s);
    if (file->print) file->print(cx, file->what, write_bytes, &s);
    else write_bytes(&s, file->bytes, file->count);
    resource_drop(cx, &held);
    errno = s.why;
    return !s.failed;
}

/* Returns true if the path is neither a folder nor write-protected. The path is tested before any file is replaced. */
static bool may_replace(Draft *d, const char *path)
{
#ifdef HAS_POSIX
    struct stat is;
    if (stat(path, &is) != 0) return errno == ENOENT;
    d->is_device = strncmp(path, "/dev/", 5) == 0 || !(S_ISREG(is.st_mode) || S_ISDIR(is.st_mode));
    if (d->is_device) return true;
    FILE *f = fopen(path, "r+b");
    if (f) fclose(f);
    return f != NULL;
#else
    FILE *there = fopen(path, "rb"), *f = there ? fopen(path, "r+b") : NULL;
    if (there) fclose(there);
    if (f) fclose(f);
    return f || !there;
#endif
}

static bool put_in_place(Draft *d, const char *path)
{
    if (d->is_device) return true;
#ifndef HAS_POSIX
    remove(path);      /* C99 does not define whether rename replaces a file */
#endif
    if (rename(d->temporary, path) != 0) return false;
    d->is_there = false;
    return true;
}

/* ---- One set at a time ------------------------------------------------------------------------------------------ */

/* A lock on the files of a set while they are put in place. If two processes write the same files, one process renames
 * all of its files before the other renames any. The lock is on the file NAME.lock; a process that ends leaves it
 * unlocked. */
typedef struct SetLock { const char *path; int file; } SetLock;

#ifdef HAS_POSIX
static bool is_at(int file, const char *path)
{
    struct stat own, there;
    return fstat(file, &own) == 0 && stat(path, &there) == 0 && own.st_ino == there.st_ino
           && own.st_dev == there.st_dev;
}

/* Locks the set. Where nothing can be locked, as in some network file systems, the files are written without a lock. */
static void lock_set(SetLock *lock)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    for (int i = 0; i < MOST_NAMES; i++) {
        lock->file = open(lock->path, O_RDWR | O_CREAT, 0666);
        const bool is_locked = lock->file >= 0 && fcntl(lock->file, F_SETLKW, &whole) == 0;
        if (!is_locked || is_at(lock->file, lock->path)) return;
        close(lock->file);     /* the process before removed the file */
        lock->file = -1;
    }
}

/* Removes the file, unless it has contents and therefore belongs to another program. */
static void unlock_set(const SetLock *lock)
{
    struct stat is;
    if (lock->file < 0) return;
    if (fstat(lock->file, &is) == 0 && is.st_size == 0 && is_at(lock->file, lock->path)) remove(lock->path);
    close(lock->file);
}
#else
static void lock_set(SetLock *lock) { lock->file = -1; }
static void unlock_set(const SetLock *lock) { (void)lock; }
#endif

/* The temporary files of one call. Printing may run out of memory; unwinding then removes the files. */
typedef struct Drafts { Draft *at; size_t count; } Drafts;

static void remove_drafts(void *what)
{
    const Drafts *d = what;
    for (size_t i = 0; i < d->count; i++)
        if (d->at[i].is_there) remove(d->at[i].temporary);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_folder(Ctx *cx, const char *path) { return name_n(cx, path, (size_t)(last_part(path) - path)); }

static bool refuse_folder(Ctx *cx, const char *path)
{
    diag_error(cx, NULL, "cannot write \"%s\": there is no folder \"%s\"", path, path_folder(cx, path));
    return false;
}

bool file_has_folder(Ctx *cx, const char *path)
{
#ifdef HAS_FOLDERS
    struct stat is;
    const char *folder = path_folder(cx, path);
    if (*folder && stat(folder, &is) != 0 && errno == ENOENT) return refuse_folder(cx, path);
#else
    (void)path;
#endif
    return !ctx_failed(cx);
}

bool file_write_all(Ctx *cx, const FileOut *files, size_t count)
{
    if (ctx_failed(cx) || !ctx_accepts_warnings(cx)) return false;
    Resource held;
    Drafts drafts = { NEW_ARRAY(cx->arena, Draft, count), count };
    Draft *draft = drafts.at;
    size_t done = 0, placed = 0;
    for (size_t i = 0; i < count; i++) {
        draft[i].capacity = strlen(files[i].path) + sizeof ".part" + 8;
        draft[i].temporary = NEW_ARRAY(cx->arena, char, draft[i].capacity);
    }
    resource_hold(cx, &held, remove_drafts, &drafts);
    while (done < count && may_replace(&draft[done], files[done].path) && write_draft(cx, &draft[done], &files[done]))
        done++;
    SetLock lock = { text_format(cx, "%s.lock", files[0].path), -1 };
    if (done == count && count > 1 && !draft[0].is_device) lock_set(&lock);
    while (done == count && placed < count && put_in_place(&draft[placed], files[placed].path)) placed++;
    const int why = errno;
    unlock_set(&lock);
    resource_drop(cx, &held);
    if (placed == count) return true;
    const char *path = files[done < count ? done : placed].path, *folder = path_folder(cx, path);
    if (why == ENOENT && *folder && !file_is_folder(folder)) return refuse_folder(cx, path);
    diag_error(cx, NULL, "cannot write \"%s\": %s", path, strerror(why));
    return false;
}

bool file_write(Ctx *cx, const char *path, const void *bytes, size_t count)
{
    const FileOut one = { .path = path, .bytes = bytes, .count = count };
    return file_write_all(cx, &one, 1);
}

const char *path_stem(Ctx *cx, const char *path)
{
    const char *base = last_part(path), *dot = strrchr(base, '.');
    return dot && dot != base ? name_n(cx, base, (size_t)(dot - base)) : name(cx, base);
}

const char *path_extension(const char *path)
{
    const char *base = last_part(path), *dot = strrchr(base, '.');
    return dot && dot != base ? dot + 1 : "";
}
