// SPDX-License-Identifier: Apache-2.0
// What m4cycles uses of version 1 of QEMU's interface for TCG plugins. QEMU documents it in docs/devel/tcg-plugins;
// distributions ship the program that has these functions, but not its header.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef struct qemu_info qemu_info_t;  // not read
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { kCallbackNoRegisters = 0 };
enum { kMemoryReadAndWrite = 3 };

typedef void (*tb_translated)(qemu_plugin_id_t id, struct qemu_plugin_tb* tb);
typedef void (*code_executed)(unsigned cpu, void* context);
typedef void (*memory_accessed)(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void* context);
typedef void (*ended)(qemu_plugin_id_t id, void* context);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_translated callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* tb, code_executed callback, int flags, void* context);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* insn, memory_accessed callback, int flags, int access,
                                      void* context);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, ended callback, void* context);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* insn);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* insn);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
