/* SPDX-License-Identifier: MIT */
/* QEMU plugin: prints the instructions that the program executed, as `instructions N`. The declarations are those of
 * QEMU's plugin interface, version 1 (qemu-plugin.h), which Debian does not package. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

struct qemu_plugin_tb;
typedef uint64_t Plugin;
typedef void Translated(Plugin, struct qemu_plugin_tb *);
extern void qemu_plugin_register_vcpu_tb_trans_cb(Plugin, Translated *);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
extern void qemu_plugin_register_atexit_cb(Plugin, void (*)(Plugin, void *), void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);

enum { ADD = 0 };
int qemu_plugin_version = 1;
static uint64_t executed;

static void translated(Plugin id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, &executed, qemu_plugin_tb_n_insns(block));
}

static void at_exit(Plugin id, void *unused)
{
    (void)id, (void)unused;
    fprintf(stderr, "instructions %" PRIu64 "\n", executed);
}

int qemu_plugin_install(Plugin id, const void *info, int count, char **words)
{
    (void)info, (void)count, (void)words;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
