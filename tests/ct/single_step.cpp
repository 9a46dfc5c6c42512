// SPDX-License-Identifier: Apache-2.0
#include "single_step.hpp"

#include <cpuid.h>
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <Zydis/Zydis.h>
#include <valgrind/memcheck.h>

namespace polykem::ct_test {

namespace {

constexpr size_t kMaxSteps = size_t{1} << 28, kMaxPublicBytes = size_t{1} << 28;

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "single steps: %s\n", why);
  _exit(2);
}

/// What is compared of an instruction that both runs execute, in this order.
enum Kind { kAddress, kMask, kIndex, kDivision, kKinds };
constexpr const char* kKindNames[] = {"an address of data", "the mask of a store or a gather", "an index of a gather",
                                      "an operand of a division"};

/// Of each kind, a hash of all that an instruction has of it; 0 if it has nothing.
using Hashes = std::array<uint32_t, kKinds>;

/// What the second run compares itself with. Both copies of the process and their parent share it.
struct Recording {
  uint64_t steps[2];     ///< of each run
  uint64_t accesses[2];  ///< to memory, of each run
  bool finished[2];
  bool differs;
  const char* what;                    ///< differs, by its name; null: the instruction
  uint64_t here, there;                ///< the instructions at the difference, in the first and the second run
  uint64_t public_bytes[2];            ///< recorded, and replayed
  std::array<uint64_t, kMaxSteps> at;  ///< addresses of instructions
  std::array<std::array<uint32_t, kMaxSteps>, kKinds> hashes;  ///< Hashes of each step, by kind
  std::array<uint8_t, kMaxPublicBytes> log;                    ///< sizes and values of what became public
};

/// An operand in memory: segment bases are constant and left out.
struct Operand {
  int8_t base, index;  ///< places in gregs, or -1
  uint8_t scale;
  int8_t mask;  ///< the number of an opmask register, or -1
  int64_t displacement;
  int8_t vector;  ///< the number of the vector register of indices that a gather or scatter takes, or -1
  uint8_t lanes, lane_bytes;
};

struct Instruction {
  uint64_t at = 0;  ///< 0: a free place
  uint8_t operands = 0;
  bool makes_public = false;
  bool divides = false;
  int8_t divisor = -1;  ///< the place in gregs of a division's divisor; -1: it is in memory
  uint8_t divisor_bytes = 0;
  Operand operand[2] = {};
};

enum Component { kSse = 1, kAvx = 2, kOpmask = 5, kHighHalves = 6, kHighRegisters = 7 };

// The handler of the signal may use no function that the code under test may be in.
Recording* recording = nullptr;
uint32_t this_run = 0;
ZydisDecoder decoder;
std::array<Instruction, size_t{1} << 19> decoded;
uint64_t vdso = 0;                  ///< the kernel's code in this process, which reads a clock
uint32_t component_offset[8] = {};  ///< in the state that XSAVE writes
constexpr uint64_t kVdsoBytes = 1 << 13;

int8_t place_of(ZydisRegister wanted) {
  constexpr int8_t kPlaces[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  if (wanted == ZYDIS_REGISTER_NONE || wanted == ZYDIS_REGISTER_RIP) return -1;
  if (wanted < ZYDIS_REGISTER_RAX || wanted > ZYDIS_REGISTER_R15) stop("an address of 32 bits");
  return kPlaces[wanted - ZYDIS_REGISTER_RAX];
}

/// Notes which lanes of which register are indices, if any are.
void decode_vector(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands,
                   const ZydisDecodedOperandMem& memory, Operand& out) {
  out.vector = -1;
  if (memory.type != ZYDIS_MEMOP_TYPE_VSIB) return;
  const ZyanU16 bits = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, memory.index);
  const ZydisDecodedOperand& elements = operands[operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? 1 : 0];
  const std::string_view name =
      ZydisMnemonicGetString(instruction.mnemonic);  // v[p]gather, then d or q for the indices
  out.lane_bytes = name[name.size() - (name[1] == 'p' ? 2 : 3)] == 'q' ? 8 : 4;
  out.lanes = static_cast<uint8_t>(std::min<unsigned>(bits / 8 / out.lane_bytes, elements.element_count));
  out.vector = static_cast<int8_t>(ZydisRegisterGetId(memory.index));
}

/// The instruction by which valgrind's requests end, after rotations that do nothing.
bool is_request(const uint8_t* code) {
  constexpr uint8_t kRotate51[] = {0x48, 0xc1, 0xc7, 0x33}, kExchange[] = {0x48, 0x87, 0xdb};
  return std::memcmp(code, kExchange, sizeof kExchange) == 0 &&
         std::memcmp(code - sizeof kRotate51, kRotate51, sizeof kRotate51) == 0;
}

void decode(uint64_t at, Instruction& out) {
  const auto* code = reinterpret_cast<const uint8_t*>(at);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, ZYDIS_MAX_INSTRUCTION_LENGTH, &instruction, operands)))
    stop("an instruction that Zydis does not know");
  out.at = at;
  out.makes_public = is_request(code);
  out.divides = instruction.mnemonic == ZYDIS_MNEMONIC_DIV || instruction.mnemonic == ZYDIS_MNEMONIC_IDIV;
  if (out.divides) {
    out.divisor_bytes = static_cast<uint8_t>(operands[0].size / 8);
    if (operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operands[0].reg.value);
      out.divisor = place_of(whole);
    }
  }
  for (size_t i = 0; i < instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
    if (instruction.mnemonic == ZYDIS_MNEMONIC_NOP) continue;
    if (out.operands == 2) stop("an instruction with three operands in memory");
    Operand& o = out.operand[out.operands++];
    o.base = place_of(operand.mem.base);
    decode_vector(instruction, operands, operand.mem, o);
    o.index = o.vector < 0 ? place_of(operand.mem.index) : int8_t{-1};
    o.scale = operand.mem.scale;
    o.displacement = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
    const ZydisRegister mask = instruction.avx.mask.reg;
    const bool is_masked = mask > ZYDIS_REGISTER_K0 && mask <= ZYDIS_REGISTER_K7 &&
                           (o.vector >= 0 || (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0);
    o.mask = static_cast<int8_t>(is_masked ? mask - ZYDIS_REGISTER_K0 : -1);
  }
}

const Instruction& instruction_at(uint64_t at) {
  size_t n = at * 0x9e3779b97f4a7c15u >> 45;
  for (size_t tried = 0; tried < decoded.size(); ++tried, n = (n + 1) % decoded.size()) {
    if (decoded[n].at == 0) decode(at, decoded[n]);
    if (decoded[n].at == at) return decoded[n];
  }
  stop("too many instructions");
}

/// A component of the state that XSAVE writes, of the interrupted code; null while it has its initial value, 0.
/// [SDM, vol. 1, 13.4]
const uint8_t* component(const ucontext_t& context, int number) {
  constexpr size_t kHeader = 512;
  const auto* state = reinterpret_cast<const uint8_t*>(context.uc_mcontext.fpregs);
  uint64_t present;
  std::memcpy(&present, state + kHeader, sizeof present);
  return (present >> number & 1) != 0 ? state + component_offset[number] : nullptr;
}

uint64_t opmask(const ucontext_t& context, int8_t number) {
  uint64_t value = 0;
  if (const uint8_t* all = component(context, kOpmask)) std::memcpy(&value, all + sizeof value * number, sizeof value);
  return value;
}

std::array<uint8_t, 64> vector_register(const ucontext_t& context, int8_t number) {
  std::array<uint8_t, 64> value{};
  const auto take = [&](int of, int from, size_t at, size_t bytes) {
    if (const uint8_t* all = component(context, of)) std::memcpy(value.data() + at, all + bytes * from, bytes);
  };
  if (number >= 16) {
    take(kHighRegisters, number - 16, 0, 64);
  } else {
    take(kSse, number, 0, 16);
    take(kAvx, number, 16, 16);
    take(kHighHalves, number, 32, 32);
  }
  return value;
}

uint32_t mixed(uint32_t hash, uint64_t value) {
  uint64_t all = (value ^ hash) * 0x9e3779b97f4a7c15u;
  all = (all ^ all >> 32 ^ hash) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(all >> 32);
}

/// Without an opmask every lane is hashed: one that is not loaded may then tell of a difference that is none.
uint32_t hash_of_lanes(uint32_t hash, const Operand& o, uint64_t taken, const std::array<uint8_t, 64>& indices) {
  for (size_t lane = 0; lane < o.lanes; ++lane) {
    uint64_t index = 0;
    std::memcpy(&index, indices.data() + lane * o.lane_bytes, o.lane_bytes);
    if ((taken >> lane & 1) != 0) hash = mixed(hash, index);
  }
  return hash;
}

uint64_t loaded(uint64_t address, size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), bytes);
  return value;
}

uint64_t address_of(const Operand& o, const greg_t* registers) {
  auto address = static_cast<uint64_t>(o.displacement);
  if (o.base >= 0) address += static_cast<uint64_t>(registers[o.base]);
  if (o.index >= 0) address += static_cast<uint64_t>(registers[o.index]) * o.scale;
  return address;
}

/// A division's operands, on which its time depends.
uint32_t hash_of_division(const Instruction& instruction, const greg_t* registers) {
  uint32_t hash = 0;
  for (const int8_t place : {int8_t{REG_RAX}, int8_t{REG_RDX}, instruction.divisor}) {
    if (place >= 0) hash = mixed(hash, static_cast<uint64_t>(registers[place]));
  }
  for (size_t i = 0; i < instruction.operands; ++i) {
    const uint64_t address = address_of(instruction.operand[i], registers);
    hash = mixed(hash, loaded(address, instruction.divisor_bytes));
  }
  return hash;
}

Hashes hashes_of(const Instruction& instruction, const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  Hashes out{};
  for (size_t i = 0; i < instruction.operands; ++i) {
    const Operand& o = instruction.operand[i];
    out[kAddress] = mixed(out[kAddress], address_of(o, registers));
    const uint64_t taken = o.mask >= 0 ? opmask(context, o.mask) : ~uint64_t{0};
    if (o.mask >= 0) out[kMask] = mixed(out[kMask], taken);
    if (o.vector >= 0) out[kIndex] = hash_of_lanes(out[kIndex], o, taken, vector_register(context, o.vector));
  }
  if (instruction.divides) out[kDivision] = hash_of_division(instruction, registers);
  return out;
}

/// Ends the second run. what: differs at an instruction that both execute; null: the instructions differ.
[[noreturn]] void differ(const char* what, uint64_t here, uint64_t there) {
  recording->differs = true;
  recording->what = what;
  recording->here = here;
  recording->there = there;
  _exit(0);
}

/// Hashes are 0 where nothing was written to the recording: most instructions have one kind, and pages stay untouched.
void record(uint64_t step, uint64_t at, const Hashes& hashes) {
  recording->at[step] = at;
  for (size_t kind = 0; kind < kKinds; ++kind)
    if (hashes[kind] != 0) recording->hashes[kind][step] = hashes[kind];
}

void compare(uint64_t step, uint64_t at, const Hashes& hashes) {
  if (step == recording->steps[0] || recording->at[step] != at)
    differ(nullptr, recording->at[step == 0 ? 0 : step - 1], at);
  for (size_t kind = 0; kind < kKinds; ++kind)
    if (recording->hashes[kind][step] != hashes[kind]) differ(kKindNames[kind], at, at);
}

/// Records what becomes public, or gives it the value of the first run.
void make_public(uint64_t at, const uint64_t* request) {
  if (request[0] != VG_USERREQ__MAKE_MEM_DEFINED) return;
  auto* memory = reinterpret_cast<uint8_t*>(request[1]);
  const uint64_t bytes = request[2];
  uint64_t& place = recording->public_bytes[this_run];
  if (place + sizeof bytes + bytes > kMaxPublicBytes) stop("too much becomes public");
  uint8_t* log = &recording->log[place];
  place += sizeof bytes + bytes;
  if (this_run == 0) {
    std::memcpy(log, &bytes, sizeof bytes);
    std::memcpy(log + sizeof bytes, memory, bytes);
  } else {
    if (std::memcmp(log, &bytes, sizeof bytes) != 0) differ("how much becomes public", at, at);
    if (std::memcmp(memory, log + sizeof bytes, bytes) != 0) std::memcpy(memory, log + sizeof bytes, bytes);
  }
}

/// Called before every instruction while the trap flag is set.
void on_step(int, siginfo_t*, void* argument) {
  const auto& context = *static_cast<const ucontext_t*>(argument);
  const auto at = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (at - vdso < kVdsoBytes) return;
  const Instruction& instruction = instruction_at(at);
  const Hashes hashes = hashes_of(instruction, context);
  const uint64_t step = recording->steps[this_run]++;
  recording->accesses[this_run] += instruction.operands;
  if (step == kMaxSteps) stop("too many steps");
  if (this_run == 0) {
    record(step, at, hashes);
  } else {
    compare(step, at, hashes);
  }
  if (instruction.makes_public) make_public(at, reinterpret_cast<const uint64_t*>(context.uc_mcontext.gregs[REG_RAX]));
}

inline void set_trap_flag() {
  asm volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
}
inline void clear_trap_flag() {
  asm volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
}

/// Runs `body` in a copy of this process, so that memory is allocated alike each time.
void run(const std::function<void(uint32_t)>& body, uint32_t number) {
  const pid_t child = fork();
  if (child < 0) stop("cannot fork");
  if (child == 0) {
    this_run = number;
    struct sigaction action {};
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO;
    if (sigaction(SIGTRAP, &action, nullptr) != 0) stop("cannot catch SIGTRAP");
    set_trap_flag();
    body(number);
    clear_trap_flag();
    recording->finished[number] = true;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!recording->finished[number] && !recording->differs) stop("the code under test did not return");
}

std::string place(uint64_t at) {
  Dl_info file{};
  char text[64];
  if (dladdr(reinterpret_cast<void*>(at), &file) == 0) return "an unknown file";
  std::snprintf(text, sizeof text, "+0x%lx",
                static_cast<unsigned long>(at - reinterpret_cast<uint64_t>(file.dli_fbase)));
  return file.dli_fname + std::string(text);
}

void prepare() {
  void* memory =
      mmap(nullptr, sizeof(Recording), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) stop("no memory");
  recording = static_cast<Recording*>(memory);
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  vdso = getauxval(AT_SYSINFO_EHDR);
  component_offset[kSse] = 160;
  for (const int number : {kAvx, kOpmask, kHighHalves, kHighRegisters}) {
    uint32_t size, ecx, edx;
    __cpuid_count(0xd, number, size, component_offset[number], ecx, edx);
  }
}

}  // namespace

Comparison compare_steps(const std::function<void(uint32_t run)>& body) {
  body(0);
  prepare();
  run(body, 0);
  run(body, 1);
  Comparison result;
  const bool ended_early = recording->finished[1] && recording->steps[1] != recording->steps[0];
  result.instructions = recording->steps[1];
  result.accesses = recording->accesses[1];
  if (recording->differs && recording->what != nullptr) {
    result.difference = recording->what + (" differs at " + place(recording->there));
  } else if (recording->differs) {
    result.difference = "different instructions follow the one at " + place(recording->here);
  } else if (ended_early) {
    result.difference = "one run has fewer instructions";
  }
  munmap(recording, sizeof(Recording));
  return result;
}

}  // namespace polykem::ct_test
