/* SPDX-License-Identifier: MIT */
/* A plugin of QEMU's user mode that counts the executed instructions of a program with one thread, and prints their
 * number on stderr at its end: `instructions N`. The declarations are those of QEMU's plugin interface, version 1, so
 * no header of QEMU is required.
 *
 *   cc -O2 -shared -fPIC -o count.so count_instructions.c
 *   qemu-aarch64 -plugin ./count.so -d plugin PROGRAM ... */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct qemu_plugin_tb;
struct qemu_info_t;
typedef uint64_t PluginId;
enum { ADD_U64 = 0 };       /* the only inline operation */

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int op, void *at, uint64_t by);
void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, void (*run)(PluginId id, struct qemu_plugin_tb *block));
void qemu_plugin_register_atexit_cb(PluginId id, void (*run)(PluginId id, void *user), void *user);

int qemu_plugin_version = 1;
int qemu_plugin_install(PluginId id, const struct qemu_info_t *info, int argc, char **argv);

static uint64_t executed;

static void count_block(PluginId id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &executed, qemu_plugin_tb_n_insns(block));
}

static void print_count(PluginId id, void *user)
{
    (void)id;
    (void)user;
    fprintf(stderr, "instructions %" PRIu64 "\n", executed);
}

int qemu_plugin_install(PluginId id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
    qemu_plugin_register_atexit_cb(id, print_count, NULL);
    return 0;
}
