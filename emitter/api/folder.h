/* SPDX-License-Identifier: MIT */
#ifndef LW_API_FOLDER_H
#define LW_API_FOLDER_H
/* Writes files into a folder, which is created. */
#include "support/file.h"

/* Writes all files, whose paths begin with `root` and a slash, or none. Folders that do not exist are created, and
 * removed after a failure. */
bool folder_write(Ctx *cx, const char *root, const FileOut *file, int count);
#endif
