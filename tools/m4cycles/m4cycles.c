// SPDX-License-Identifier: Apache-2.0
// A plugin for qemu-system-arm that counts the cycles which a Cortex-M4 would take, by function. README.md says how
// good the count is.
//
//   qemu-system-arm ... -plugin libm4cycles.so,functions=NM-OUTPUT,out=JSON[,trace=FUNCTION]...
//
// With trace, each call of FUNCTION also gets a hash of all addresses of instructions and data that it touched.
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "qemu_plugin.h"
#include "timing.h"

PLUGIN_EXPORT int qemu_plugin_version = 1;

/* A run of instructions that is entered at its beginning only. */
struct block {
  uint32_t begin, end;  ///< end: where control goes if the last instruction does not branch
  unsigned cycles, instructions;
  enum flow flow;  ///< of the last instruction
  bool call;
  struct function* function;
};

static uint64_t cycles, instructions;
static const struct block* before;
static const char* out_path;

/* ---- traces of functions */

enum { kMaxTracers = 8, kMaxTraces = 256 };
struct tracer {
  struct function* function;
  bool inside;
  uint64_t hash, hashes[kMaxTraces];
  size_t count;
};
static struct tracer tracers[kMaxTracers];
static size_t tracer_count;

/* A step of the 64-bit FNV-1a hash with a word in the place of a byte. */
static void trace(uint64_t address) {
  for (size_t i = 0; i < tracer_count; ++i) {
    if (tracers[i].inside) tracers[i].hash = (tracers[i].hash ^ address) * 0x100000001b3;
  }
}

static void update_tracers(void) {
  for (struct tracer* t = tracers; t < tracers + tracer_count; ++t) {
    const bool inside = t->function->active > 0;
    if (inside && !t->inside) t->hash = 0xcbf29ce484222325;
    if (!inside && t->inside && t->count < kMaxTraces) t->hashes[t->count++] = t->hash;
    t->inside = inside;
  }
}

static void write_traces(FILE* out) {
  const char* separator = "";
  for (const struct tracer* t = tracers; t < tracers + tracer_count; ++t) {
    fprintf(out, "%s\n  \"%s\": [", separator, t->function->name);
    for (size_t i = 0; i < t->count; ++i)
      fprintf(out, "%s\"%016llx\"", i == 0 ? "" : ", ", (unsigned long long)t->hashes[i]);
    fputs("]", out);
    separator = ",";
  }
}

/* ---- execution */

/* A call, a return, or a jump to the beginning of another function, which returns to its caller's caller. */
static void follow(const struct block* block) {
  if (before->call) {
    enter_function(block->function, before->end, cycles);
  } else if (!leave_functions(block->begin, cycles) && block->function != before->function &&
             block->begin == block->function->begin) {
    enter_function(block->function, innermost_return(), cycles);
  }
  update_tracers();
}

static void execute(unsigned cpu, void* context) {
  (void)cpu;
  const struct block* block = context;
  if (before != NULL && block->begin != before->end) {
    static const unsigned costs[] = {[kFlowNext] = 0, [kFlowDirect] = kTakenDirect, [kFlowIndirect] = kTakenIndirect};
    const unsigned taken = costs[before->flow];
    cycles += taken;
    before->function->own += taken;
    follow(block);
  }
  trace(block->begin);
  cycles += block->cycles;
  instructions += block->instructions;
  block->function->own += block->cycles;
  before = block;
}

static void access_memory(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void* context) {
  (void)cpu;
  const unsigned size = 1u << qemu_plugin_mem_size_shift(info);
  if (size <= 4 && (address & (size - 1)) != 0) {
    cycles += kUnaligned;
    ((const struct block*)context)->function->own += kUnaligned;
  }
  trace(address);
}

/* ---- translation */

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  struct block* block = calloc(1, sizeof *block);  // QEMU keeps it in its translated code
  const size_t count = qemu_plugin_tb_n_insns(tb);
  bool after = false;
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const bool wide = qemu_plugin_insn_size(insn) == 4;
    uint16_t words[2] = {0, 0};
    memcpy(words, qemu_plugin_insn_data(insn), wide ? 4 : 2);
    const struct timing timing = timing_of(words[0], words[1], wide, after);
    const uint32_t address = (uint32_t)qemu_plugin_insn_vaddr(insn);
    if (i == 0) block->begin = address;
    block->end = address + (wide ? 4 : 2);
    block->cycles += timing.cycles;
    block->flow = timing.flow;
    block->call = timing.call;
    after = timing.pipelines;
    qemu_plugin_register_vcpu_mem_cb(insn, access_memory, kCallbackNoRegisters, kMemoryReadAndWrite, block);
  }
  block->instructions = (unsigned)count;
  block->function = function_at(block->begin);
  qemu_plugin_register_vcpu_tb_exec_cb(tb, execute, kCallbackNoRegisters, block);
}

static void finish(qemu_plugin_id_t id, void* context) {
  (void)id;
  (void)context;
  FILE* out = fopen(out_path, "w");
  if (out == NULL) return;
  fprintf(out, "{\"cycles\": %llu, \"instructions\": %llu,\n \"traces\": {", (unsigned long long)cycles,
          (unsigned long long)instructions);
  write_traces(out);
  fputs("},\n \"functions\": ", out);
  write_functions(out);
  fputs("}\n", out);
  fclose(out);
}

/* The value of an argument "name=value", or NULL. */
static const char* option(const char* argument, const char* name) {
  const size_t length = strlen(name);
  return strncmp(argument, name, length) == 0 && argument[length] == '=' ? strdup(argument + length + 1) : NULL;
}

static bool add_tracer(const char* name) {
  struct function* function = function_named(name);
  if (function == NULL || tracer_count == kMaxTracers) {
    fprintf(stderr, "m4cycles: there is no function %s, or there are too many\n", name);
    return false;
  }
  tracers[tracer_count++].function = function;
  return true;
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  (void)info;
  const char *path = NULL, *name;
  for (int i = 0; i < argc; ++i) {
    if (path == NULL) path = option(argv[i], "functions");
    if (out_path == NULL) out_path = option(argv[i], "out");
  }
  if (path == NULL || out_path == NULL || !read_functions(path)) {
    fputs("m4cycles: needs functions=NM-OUTPUT and out=JSON\n", stderr);
    return 1;
  }
  for (int i = 0; i < argc; ++i) {
    if ((name = option(argv[i], "trace")) != NULL && !add_tracer(name)) return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, finish, NULL);
  return 0;
}
