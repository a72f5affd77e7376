# SPDX-License-Identifier: 0BSD
# The model @name@, for a Makefile:
#
#     include path/to/@name@/@name@.mk
#     firmware.elf: $(@NAME@_SOURCES)      compiled with $(@NAME@_CFLAGS), linked with $(@NAME@_LIBS)
@NAME@_DIR      := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
@NAME@_SOURCES  := $(@NAME@_DIR)/@name@.c
@NAME@_SELFTEST := $(@NAME@_DIR)/@name@_selftest.c
@NAME@_HEADERS  := $(@NAME@_DIR)/@name@.h $(@NAME@_DIR)/@name@_selftest.h
@NAME@_CFLAGS   := -I$(@NAME@_DIR) -ffp-contract=off
@NAME@_LIBS     := -lm
