// SPDX-License-Identifier: Apache-2.0
// Emulates AMX's matrix tiles on a CPU without them: their instructions are illegal there, and the signal's handler
// computes the effect of each. [Intel SDM vol. 2, LDTILECFG to TILEZERO; vol. 1, 18]
//
// The linker redirects the library's check whether a backend is available to this file (CMakeLists.txt).
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/backend.hpp"

namespace polykem::test {
namespace {

constexpr size_t kTiles = 8, kMaxRows = 16, kMaxRowBytes = 64;

struct Tile {
  size_t rows = 0, row_bytes = 0;
  std::array<std::array<uint8_t, kMaxRowBytes>, kMaxRows> data{};
};

struct TileState {
  bool configured = false;
  std::array<Tile, kTiles> tiles{};
};

thread_local TileState state;

/// Ends the process as the CPU's own fault would.
[[noreturn]] void fault(const char* what) {
  std::fprintf(stderr, "tile emulator: %s\n", what);
  std::abort();
}

Tile& tile(size_t i) {
  if (!state.configured) fault("tiles are not configured");
  if (i >= kTiles || state.tiles[i].rows == 0) fault("no such tile");
  return state.tiles[i];
}

void configure(const uint8_t* memory) {
  if (memory[0] != 1 || memory[1] != 0) fault("the palette is not 1, or an instruction was interrupted");
  const auto is_zero = [&](size_t first, size_t end) {
    return std::all_of(memory + first, memory + end, [](uint8_t byte) { return byte == 0; });
  };
  if (!is_zero(2, 16) || !is_zero(32, 48) || !is_zero(56, 64)) fault("a reserved byte of the configuration");
  state = TileState{.configured = true};
  for (size_t i = 0; i < kTiles; ++i) {
    uint16_t row_bytes;
    std::memcpy(&row_bytes, memory + 16 + 2 * i, sizeof row_bytes);
    state.tiles[i].rows = memory[48 + i];
    state.tiles[i].row_bytes = row_bytes;
    if (memory[48 + i] > kMaxRows || row_bytes > kMaxRowBytes || (memory[48 + i] == 0) != (row_bytes == 0))
      fault("a tile's size");
  }
}

void load(Tile& to, const uint8_t* from, int64_t stride) {
  to.data = {};
  for (size_t i = 0; i < to.rows; ++i)
    std::memcpy(to.data[i].data(), from + static_cast<int64_t>(i) * stride, to.row_bytes);
}

void store(const Tile& from, uint8_t* to, int64_t stride) {
  for (size_t i = 0; i < from.rows; ++i)
    std::memcpy(to + static_cast<int64_t>(i) * stride, from.data[i].data(), from.row_bytes);
}

/// Left and Right: int8_t or uint8_t.
template <class Left, class Right>
void multiply(Tile& sums, const Tile& left, const Tile& right) {
  if (&sums == &left || &sums == &right || &left == &right) fault("a product's tiles are not different ones");
  if (sums.rows != left.rows || sums.row_bytes != right.row_bytes || left.row_bytes != 4 * right.rows ||
      sums.row_bytes % 4 != 0)
    fault("a product's sizes");
  for (size_t m = 0; m < sums.rows; ++m) {
    std::array<uint32_t, kMaxRowBytes / 4> row;  // sums wrap
    std::memcpy(row.data(), sums.data[m].data(), sizeof row);
    for (size_t k = 0; k < right.rows; ++k) {
      for (size_t j = 0; j < row.size(); ++j) {
        for (size_t b = 0; b < 4; ++b)
          row[j] += static_cast<uint32_t>(static_cast<Left>(left.data[m][4 * k + b]) *
                                          static_cast<Right>(right.data[k][4 * j + b]));
      }
    }
    std::memcpy(sums.data[m].data(), row.data(), sums.row_bytes);
  }
}

/// A register of the interrupted thread by its number in instructions.
greg_t& general_register(mcontext_t& context, size_t number) {
  static constexpr int kPlaces[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return context.gregs[kPlaces[number]];
}

/// True for VEX.128.0F38.W0, the map of all instructions of tiles.
bool is_of_tiles(const uint8_t* at) {
  return at[0] == 0xc4 && (at[1] & 0x1f) == 2 && (at[2] & 0x84) == 0 &&
         (at[3] == 0x49 || at[3] == 0x4b || at[3] == 0x5e);
}

/// An instruction of tiles. [Intel SDM vol. 2, 2.3.5 and 2.1.3]
class Instruction {
 public:
  explicit Instruction(mcontext_t& context)
      : context_(context), bytes_(reinterpret_cast<const uint8_t*>(context.gregs[REG_RIP])) {
    modrm_ = bytes_[4];
    length_ = 5;
    if (!is_register()) decode_address();
  }

  uint8_t opcode() const { return bytes_[3]; }
  enum class Prefix { kNone, kX66, kXf3, kXf2 };
  Prefix prefix() const { return static_cast<Prefix>(bytes_[2] & 3); }
  bool is_register() const { return modrm_ >> 6 == 3; }
  bool has_sib() const { return !is_register() && (modrm_ & 7) == 4; }
  size_t reg() const { return (modrm_ >> 3 & 7) | ((bytes_[1] & 0x80) == 0 ? 8 : 0); }
  size_t rm() const { return (modrm_ & 7) | ((bytes_[1] & 0x20) == 0 ? 8 : 0); }
  size_t vvvv() const { return 15 - (bytes_[2] >> 3 & 15); }

  /// The address of the operand in memory; without the index where that is the stride.
  uint8_t* address(bool with_index) const { return reinterpret_cast<uint8_t*>(base_ + (with_index ? index_ : 0)); }
  int64_t stride() const { return static_cast<int64_t>(index_); }
  size_t length() const { return length_; }

 private:
  void decode_address() {
    const size_t mode = modrm_ >> 6;
    size_t base = rm();
    if (has_sib()) {
      const uint8_t sib = bytes_[length_++];
      const size_t index = (sib >> 3 & 7) | ((bytes_[1] & 0x40) == 0 ? 8 : 0);
      if (index != 4) index_ = static_cast<uint64_t>(general_register(context_, index)) << (sib >> 6);
      base = (sib & 7) | (base & 8);
    }
    const bool no_base = mode == 0 && (base & 7) == 5;
    const size_t displacement_bytes = mode == 1 ? 1 : mode == 2 || no_base ? 4 : 0;
    base_ = displacement(displacement_bytes);
    length_ += displacement_bytes;
    if (!no_base) base_ += static_cast<uint64_t>(general_register(context_, base));
    if (no_base && !has_sib()) base_ += reinterpret_cast<uint64_t>(bytes_) + length_;
  }
  uint64_t displacement(size_t bytes) const {
    int8_t short_one = 0;
    int32_t long_one = 0;
    if (bytes == 1) std::memcpy(&short_one, bytes_ + length_, sizeof short_one);
    if (bytes == 4) std::memcpy(&long_one, bytes_ + length_, sizeof long_one);
    return static_cast<uint64_t>(int64_t{short_one} + long_one);
  }

  mcontext_t& context_;
  const uint8_t* bytes_;
  uint8_t modrm_;
  size_t length_;
  uint64_t base_ = 0, index_ = 0;
};

/// Returns false if a CPU would not know the instruction.
bool execute(const Instruction& instruction) {
  using Prefix = Instruction::Prefix;
  const Prefix prefix = instruction.prefix();
  switch (instruction.opcode()) {
    case 0x49:
      if (instruction.vvvv() != 0) return false;
      if (instruction.is_register() && instruction.rm() != 0) return false;
      if (instruction.is_register() && prefix == Prefix::kNone) {
        state = {};
      } else if (instruction.is_register() && prefix == Prefix::kXf2) {
        tile(instruction.reg()).data = {};
      } else if (!instruction.is_register() && prefix == Prefix::kNone) {
        configure(instruction.address(true));
      } else {
        return false;
      }
      return true;
    case 0x4b: {
      if (!instruction.has_sib() || instruction.vvvv() != 0 || prefix == Prefix::kNone) return false;
      Tile& operand = tile(instruction.reg());
      uint8_t* memory = instruction.address(false);
      prefix == Prefix::kXf3 ? store(operand, memory, instruction.stride())
                             : load(operand, memory, instruction.stride());
      return true;
    }
    case 0x5e: {
      if (!instruction.is_register()) return false;
      Tile& sums = tile(instruction.reg());
      const Tile &left = tile(instruction.rm()), &right = tile(instruction.vvvv());
      if (prefix == Prefix::kXf2) multiply<int8_t, int8_t>(sums, left, right);
      if (prefix == Prefix::kXf3) multiply<int8_t, uint8_t>(sums, left, right);
      if (prefix == Prefix::kX66) multiply<uint8_t, int8_t>(sums, left, right);
      if (prefix == Prefix::kNone) multiply<uint8_t, uint8_t>(sums, left, right);
      return true;
    }
    default:
      return false;
  }
}

/// Executes an instruction of tiles. Returns false if the next one is not one.
bool execute_tiles(mcontext_t& context) {
  if (!is_of_tiles(reinterpret_cast<const uint8_t*>(context.gregs[REG_RIP]))) return false;
  const Instruction instruction(context);
  if (!execute(instruction)) return false;
  context.gregs[REG_RIP] += static_cast<greg_t>(instruction.length());
  return true;
}

/// Executes `mov $imm32, %r32`, with which each load of a tile begins; false if the next instruction is another.
bool execute_mov(mcontext_t& context) {
  const auto* at = reinterpret_cast<const uint8_t*>(context.gregs[REG_RIP]);
  const size_t prefix = at[0] == 0x41 ? 1 : 0;
  if ((at[prefix] & 0xf8) != 0xb8) return false;
  uint32_t value;
  std::memcpy(&value, at + prefix + 1, sizeof value);
  general_register(context, (at[prefix] & 7) + 8 * prefix) = value;
  context.gregs[REG_RIP] += static_cast<greg_t>(prefix + 1 + sizeof value);
  return true;
}

/// Continues as long as it knows the instructions, because a signal takes longer than they do.
void on_illegal_instruction(int, siginfo_t*, void* interrupted) {
  mcontext_t& context = static_cast<ucontext_t*>(interrupted)->uc_mcontext;
  if (!execute_tiles(context)) fault("an illegal instruction that is none of the tiles'");
  while (execute_tiles(context) || execute_mov(context)) {
  }
}

}  // namespace

bool install_tile_emulator() {
  struct sigaction action {};
  action.sa_sigaction = on_illegal_instruction;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGILL, &action, nullptr) == 0;
}

}  // namespace polykem::test

// The functions that the linker calls instead, and those that they replace (ld --wrap).
extern "C" {
bool __real__ZN7polykem21cpu_backend_availableEPKc(const char* name);
bool __wrap__ZN7polykem21cpu_backend_availableEPKc(const char* name);
/// Makes batches use the code for Intel's CPUs, the only ones with tiles.
extern const bool __wrap__ZN7polykem11kCpuByIntelE;
const bool __wrap__ZN7polykem11kCpuByIntelE = true;
extern const bool __wrap__ZN7polykem10kCpuIsZen5E;
const bool __wrap__ZN7polykem10kCpuIsZen5E = false;
}

bool __wrap__ZN7polykem21cpu_backend_availableEPKc(const char* name) {
  const auto real = __real__ZN7polykem21cpu_backend_availableEPKc;
  if (std::string_view(name) != polykem::cpu::kAmx || real(name)) return real(name);
  static const bool emulated = real(polykem::cpu::kAvx512) && polykem::test::install_tile_emulator();
  return emulated;
}
