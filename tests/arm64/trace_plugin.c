// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU 7.2 or newer that hashes the addresses of all instructions, and of all data that they load and
// store, between marks: instructions `hint #100`, which do nothing. [QEMU, docs/devel/tcg-plugins.rst]
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The part of the plugin interface (version 1) that is used; Debian ships no header for it.
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { kNoRegisters = 0, kLoadsAndStores = 3 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*call)(qemu_plugin_id_t id, struct qemu_plugin_tb* block));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* instruction,
                                            void (*call)(unsigned cpu, void* data), int flags, void* data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* instruction,
                                      void (*call)(unsigned cpu, uint32_t info, uint64_t address, void* data),
                                      int flags, int accesses, void* data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static const uint32_t kMark = 0xd503201f | 100u << 5;
static uint64_t path, data_addresses, executed;

static void add(uint64_t* hash, uint64_t value) {
  *hash = (*hash ^ value) * 0x9e3779b97f4a7c15u;
  *hash ^= *hash >> 32;
}

static void at_instruction(unsigned cpu, void* address) {
  (void)cpu;
  add(&path, (uint64_t)(uintptr_t)address);
  ++executed;
}

static void at_access(unsigned cpu, uint32_t info, uint64_t address, void* data) {
  (void)cpu;
  (void)info;
  (void)data;
  add(&data_addresses, address);
}

static void at_mark(unsigned cpu, void* data) {
  (void)cpu;
  (void)data;
  fprintf(stderr, "mark %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", executed, path, data_addresses);
  executed = path = data_addresses = 0;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    uint32_t word;
    memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
    if (word == kMark) {
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_mark, kNoRegisters, NULL);
      continue;
    }
    void* address = (void*)(uintptr_t)qemu_plugin_insn_vaddr(instruction);
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_instruction, kNoRegisters, address);
    qemu_plugin_register_vcpu_mem_cb(instruction, at_access, kNoRegisters, kLoadsAndStores, NULL);
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
