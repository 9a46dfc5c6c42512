// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU 7.2 or newer that counts the A64 instructions between marks: instructions `hint #100`, which do
// nothing. At each mark it prints how many were executed since the one before, and how many of each function.
// [QEMU, docs/devel/tcg-plugins.rst]
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The part of the plugin interface (version 1) that is used; Debian ships no header for it.
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { kInlineAdd = 0, kNoRegisters = 0 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn* instruction);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*call)(qemu_plugin_id_t id, struct qemu_plugin_tb* block));
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* instruction, int operation, void* counter,
                                                uint64_t value);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* instruction,
                                            void (*call)(unsigned cpu, void* data), int flags, void* data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static const uint32_t kMark = 0xd503201f | 100u << 5;
enum { kMaxFunctions = 8192 };
static struct {
  const char* name;
  uint64_t executed;
} functions[kMaxFunctions];

/// Returns the counter of that function's instructions; those of no function, and of too many, share one.
static uint64_t* counter_of(const char* name) {
  size_t i = 0;
  if (name == NULL) name = "?";
  while (i + 1 < kMaxFunctions && functions[i].name != NULL && strcmp(functions[i].name, name) != 0)
    ++i;
  if (functions[i].name == NULL) functions[i].name = name;
  return &functions[i].executed;
}

static void at_mark(unsigned cpu, void* data) {
  (void)cpu;
  (void)data;
  uint64_t all = 0;
  for (size_t i = 0; i < kMaxFunctions && functions[i].name != NULL; ++i) {
    if (functions[i].executed != 0)
      fprintf(stderr, "function %" PRIu64 " %s\n", functions[i].executed, functions[i].name);
    all += functions[i].executed;
    functions[i].executed = 0;
  }
  fprintf(stderr, "mark %" PRIu64 "\n", all);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    uint32_t word;
    memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
    if (word == kMark) {
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_mark, kNoRegisters, NULL);
    } else {
      uint64_t* counter = counter_of(qemu_plugin_insn_symbol(instruction));
      qemu_plugin_register_vcpu_insn_exec_inline(instruction, kInlineAdd, counter, 1);
    }
  }
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int count,
                                                               char** arguments) {
  (void)info;
  (void)count;
  (void)arguments;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
