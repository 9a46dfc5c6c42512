// SPDX-License-Identifier: Apache-2.0
// Searches for an order of the instructions in src/prim/keccak/avx512/rounds_zen5.hpp and writes that file.
//
//   c++ -std=c++20 -O2 tools/keccak_order_zen5.cpp -o build/keccak_order_zen5
//   build/keccak_order_zen5 SECONDS HEADER [SEED]
//
// It needs a Zen 5 core that is otherwise idle; ten minutes are enough. A round is a list of instructions on values,
// each of which is written once. The search moves instructions within what they depend on, changes what a column's sum
// adds first and how a word gets theta's change, assigns registers, and measures the machine code of the permutation:
// simulated annealing with some 50,000 measurements a second. docs/adr/0017-keccak-on-eight-states.md says what limits
// a Zen 5.
#include <sys/mman.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kRegisters = 32, kRoundsOfLoop = 4, kRounds = 24;
constexpr int kMeasuredRounds = 4 * kRounds;  ///< many, so that loading and storing states counts little
constexpr int kRho[5][5] = {
    {0, 1, 62, 28, 27}, {36, 44, 6, 55, 20}, {3, 10, 43, 25, 39}, {41, 45, 15, 21, 8}, {18, 2, 61, 56, 14}};  // [y][x]

// Values 0 to 24 are the words of the state before a round, word (x, y) is 5 y + x, and 25 to 29 the sums of its
// columns; 30 to 59 are the same after it. Before and after four rounds, value i is in register i.
constexpr int kSums = 25, kLive = 30, kNewSums = kLive + kSums, kTemporaries = 2 * kLive;

enum class Op { kXor, kRol, kXor3, kChi, kIota };

struct Instruction {
  Op op;
  int result;
  std::array<int, 3> sources = {-1, -1, -1};
  int bits = 0;       ///< of a rotation
  int column = -1;    ///< of a word that gets theta's change
  int overwrite = 0;  ///< 1 to 3: the source to overwrite if nothing else needs it; 4 to 6: the source to copy
};

using Round = std::vector<Instruction>;

/// The instructions of a round and the values of theta's change. [FIPS202, 3.2]
struct Program {
  Round round;
  std::array<int, 5> change, rotated;  ///< change[x] = sum[x - 1] ^ rotated[x + 1]
  int values = kTemporaries;

  int add(Instruction i) {
    round.push_back(i);
    return i.result;
  }

  Program() {
    for (int x : {0, 3, 1, 4, 2}) {  // so that registers suffice
      const int next = (x + 1) % 5;
      rotated[next] = add({Op::kRol, values++, {kSums + next, -1, -1}, 1});
      change[x] = add({Op::kXor, values++, {kSums + (x + 4) % 5, rotated[next], -1}});
    }
    std::array<int, 25> out;
    for (int y = 0; y < 5; ++y) {
      std::array<int, 5> b;
      for (int x = 0; x < 5; ++x) {
        const int from_x = (x + 3 * y) % 5, from_y = x;
        b[x] = add({Op::kXor, values++, {5 * from_y + from_x, change[from_x], -1}, 0, from_x});
        if (const int bits = kRho[from_y][from_x]) b[x] = add({Op::kRol, values++, {b[x], -1, -1}, bits});
      }
      for (int x = 0; x < 5; ++x) {
        const bool first = x == 0 && y == 0;
        out[5 * y + x] = add({Op::kChi, first ? values++ : kLive + 5 * y + x, {b[x], b[(x + 1) % 5], b[(x + 2) % 5]}});
        if (first) out[0] = add({Op::kIota, kLive, {out[0], -1, -1}});
      }
    }
    for (int x = 0; x < 5; ++x) {
      const int three = add({Op::kXor3, values++, {out[x], out[5 + x], out[10 + x]}});
      add({Op::kXor3, kNewSums + x, {three, out[15 + x], out[20 + x]}});
    }
  }
};

/// Machine code, and the same as macros of permute.hpp.
class Code {
 public:
  std::vector<uint8_t> bytes;
  std::vector<std::string> macros;

  void move(int to, int from) {
    evex(1, to, 0, from, 0x6f);
    operands(to, from);
    macro("MOVE", {to, from});
  }
  void exclusive_or(int to, int a, int b) {
    evex(1, to, a, b, 0xef);
    operands(to, b);
    macro("XOR", {to, a, b});
  }
  void rotate(int to, int from, int bits) {
    evex(1, 1, to, from, 0x72);
    operands(1, from);
    byte(bits);
    macro("ROL", {to, from, bits});
  }
  void ternary(int to, int b, int c, int table) {
    evex(3, to, b, c, 0x25);
    operands(to, c);
    byte(table);
    macro("TERNARY", {to, b, c, table});
  }
  /// Adds constant `round` at rsi.
  void iota(int to, int from, int round) {
    evex(1, to, from, kRsi, 0xef, true);
    memory(to, kRsi, round);
    macro("IOTA_TO", {to, from, round});
  }
  /// Words of the state are at rdi.
  void load(int to, int word) {
    evex(1, to, 0, kRdi, 0x6f);
    memory(to, kRdi, word);
  }
  void store(int from, int word) {
    evex(1, from, 0, kRdi, 0x7f);
    memory(from, kRdi, word);
  }
  void byte(int value) { bytes.push_back(static_cast<uint8_t>(value)); }

 private:
  static constexpr int kRsi = 6, kRdi = 7;

  void evex(int map, int reg, int vvvv, int rm, int opcode, bool broadcast = false) {
    byte(0x62);
    byte((reg >> 3 & 1 ? 0 : 0x80) | (rm >> 4 & 1 ? 0 : 0x40) | (rm >> 3 & 1 ? 0 : 0x20) | (reg >> 4 & 1 ? 0 : 0x10) |
         map);
    byte(0x85 | (~vvvv & 15) << 3);
    byte(0x40 | (broadcast ? 0x10 : 0) | (vvvv >> 4 & 1 ? 0 : 8));
    byte(opcode);
  }
  void operands(int reg, int rm) { byte(0xc0 | (reg & 7) << 3 | (rm & 7)); }
  void memory(int reg, int base, int offset) {
    byte(0x40 | (reg & 7) << 3 | base);
    byte(offset);
  }
  void macro(const char* name, std::vector<int> numbers) {
    if (!keep_macros) return;
    std::string text = std::string("POLYKEM_") + name + "(";
    for (size_t i = 0; i < numbers.size(); ++i)
      text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
    macros.push_back(text + ")");
  }

 public:
  bool keep_macros = false;
};

/// Assigns registers to kRoundsOfLoop rounds.
class Assigner {
 public:
  explicit Assigner(int values) : uses_(values), register_(values) {}

  /// Returns false if there are not enough registers.
  bool rounds(const Round& round, Code& code) {
    std::array<int, kLive> place;
    for (int i = 0; i < kLive; ++i)
      place[i] = i;
    for (int number = 0; number < kRoundsOfLoop; ++number) {
      begin(round, place);
      for (const Instruction& i : round) {
        if (is_change(i) && uses_[i.result] == 0) continue;
        if (!emit(i, number, code)) return false;
      }
      for (int i = 0; i < kLive; ++i)
        place[i] = register_[kLive + i];
    }
    return move_back(place, code);
  }

 private:
  static bool is_change(const Instruction& i) { return i.op == Op::kXor && i.column < 0; }

  void begin(const Round& round, const std::array<int, kLive>& place) {
    std::fill(uses_.begin(), uses_.end(), 0);
    owner_.fill(kNobody);
    for (int i = 0; i < kLive; ++i) {
      register_[i] = place[i];
      owner_[place[i]] = i;
      uses_[kLive + i] = 1;
    }
    for (const Instruction& i : round)
      for (int s : i.sources)
        if (s >= 0) ++uses_[s];
    for (const Instruction& i : round)
      if (is_change(i) && uses_[i.result] == 0)
        for (int s : {i.sources[0], i.sources[1]})
          --uses_[s];
  }

  bool is_free(int r) const { return owner_[r] == kNobody; }
  int use(int value) {
    const int r = register_[value];
    if (--uses_[value] == 0) owner_[r] = kNobody;
    return r;
  }
  /// A free register, if possible `wanted`, but none of `others`; -1: none.
  int find(int wanted, const std::vector<int>& others = {}) const {
    const auto good = [&](int r) { return is_free(r) && std::find(others.begin(), others.end(), r) == others.end(); };
    if (wanted >= 0 && wanted < kRegisters && good(wanted)) return wanted;
    for (int r = 0; r < kRegisters; ++r)
      if (good(r)) return r;
    return -1;
  }
  bool give(int value, int r) {
    if (r < 0) return false;
    owner_[r] = value;
    register_[value] = r;
    return true;
  }

  bool emit(const Instruction& i, int number, Code& code) {
    const int home = i.result < kTemporaries ? i.result - kLive : -1;
    if (i.op == Op::kXor3 || i.op == Op::kChi) return emit_ternary(i, home, code);
    const int a = use(i.sources[0]), b = i.op == Op::kXor ? use(i.sources[1]) : -1;
    if (!give(i.result, find(is_free(a) ? a : home))) return false;
    const int to = register_[i.result];
    if (i.op == Op::kXor) code.exclusive_or(to, a, b);
    if (i.op == Op::kRol) code.rotate(to, a, i.bits);
    if (i.op == Op::kIota) code.iota(to, a, number);
    return true;
  }

  /// The instruction overwrites one of its operands, which is copied before if it is needed later.
  bool emit_ternary(const Instruction& i, int home, Code& code) {
    std::array<int, 3> r;
    for (int k = 0; k < 3; ++k)
      r[k] = use(i.sources[k]);
    int over = -1;
    for (int k = 2; k >= 0; --k)
      if (is_free(r[k])) over = k;
    for (int k = 0; k < 3; ++k)
      if (is_free(r[k]) && r[k] == home) over = k;
    if (i.overwrite >= 1 && i.overwrite <= 3 && is_free(r[i.overwrite - 1])) over = i.overwrite - 1;
    int to = over < 0 ? -1 : r[over];
    if (i.overwrite > 3 || over < 0) {
      over = i.overwrite > 3 ? i.overwrite - 4 : 0;
      to = find(home, {r[(over + 1) % 3], r[(over + 2) % 3]});
      if (to >= 0 && to != r[over]) code.move(to, r[over]);
    }
    if (!give(i.result, to)) return false;
    code.ternary(to, r[(over + 1) % 3], r[(over + 2) % 3], table(i.op, over));
    return true;
  }

  /// The table of a ^ b ^ c or a ^ (~b & c), where operand `over` comes first and the others follow in turn.
  static int table(Op op, int over) {
    int result = 0;
    for (int bits = 0; bits < 8; ++bits) {
      std::array<int, 3> v;
      for (int k = 0; k < 3; ++k)
        v[(over + k) % 3] = bits >> (2 - k) & 1;
      const int bit = op == Op::kChi ? v[0] ^ ((v[1] ^ 1) & v[2]) : v[0] ^ v[1] ^ v[2];
      result |= bit << bits;
    }
    return result;
  }

  /// Moves value i from place[i] to register i.
  static bool move_back(std::array<int, kLive> place, Code& code) {
    const auto holds = [&](int r) { return std::find(place.begin(), place.end(), r) != place.end(); };
    for (;;) {
      int wrong = -1, ready = -1;
      for (int i = 0; i < kLive; ++i) {
        if (place[i] == i) continue;
        wrong = i;
        if (!holds(i)) ready = i;
      }
      if (wrong < 0) return true;
      int to = ready;
      for (int r = 0; to < 0 && r < kRegisters; ++r)
        if (!holds(r)) to = r;
      if (to < 0) return false;
      const int i = ready >= 0 ? ready : wrong;
      code.move(to, place[i]);
      place[i] = to;
    }
  }

  static constexpr int kNobody = -1;
  std::vector<int> uses_, register_;
  std::array<int, kRegisters> owner_;
};

/// The function of a permutation: rdi, the states; rsi, the constants; rdx, their end.
std::vector<uint8_t> function(const Code& rounds) {
  Code code;
  for (int w = 0; w < 25; ++w)
    code.load(w, w);
  for (int x = 0; x < 5; ++x) {
    code.exclusive_or(kSums + x, x, 5 + x);
    code.ternary(kSums + x, 10 + x, 15 + x, 0x96);
    code.exclusive_or(kSums + x, kSums + x, 20 + x);
  }
  while (code.bytes.size() % 64 != 0)
    code.byte(0x90);
  const size_t top = code.bytes.size();
  code.bytes.insert(code.bytes.end(), rounds.bytes.begin(), rounds.bytes.end());
  for (int b : {0x48, 0x83, 0xc6, 8 * kRoundsOfLoop, 0x48, 0x39, 0xd6, 0x0f, 0x85})  // add, cmp, jne
    code.byte(b);
  const auto distance = static_cast<int32_t>(top) - static_cast<int32_t>(code.bytes.size() + 4);
  for (int k = 0; k < 4; ++k)
    code.byte(distance >> (8 * k) & 0xff);
  for (int w = 0; w < 25; ++w)
    code.store(w, w);
  for (int b : {0xc5, 0xf8, 0x77, 0xc3})  // vzeroupper, ret
    code.byte(b);
  return code.bytes;
}

using States = uint64_t[25][8];

uint64_t ticks() {
  return __rdtsc();
}

class Machine {
 public:
  Machine()
      : memory_(static_cast<uint8_t*>(mmap(nullptr, kPlaces * kPlaceBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("no memory for machine code");
    for (int i = 0; i < kMeasuredRounds; ++i)
      iota_[i] = (static_cast<uint64_t>(i) + 1) * 0x9e3779b97f4a7c15;
    calibrate(50);
  }

  /// Core cycles of 24 rounds, the least of `times` measurements; kNever if registers do not suffice.
  double cycles(const Round& round, int values, int times) {
    Code code;
    if (!Assigner(values).rounds(round, code)) return kNever;
    const auto permute = place(function(code));
    uint64_t best = ~uint64_t{0};
    run(permute);
    for (int i = 0; i < times; ++i) {
      const uint64_t begin = ticks();
      run(permute);
      best = std::min(best, ticks() - begin);
    }
    return static_cast<double>(best) / ticks_ / kRuns * kRounds / kMeasuredRounds;
  }

  /// Compares a permutation with plain code.
  bool is_right(const Round& round, int values) {
    Code code;
    if (!Assigner(values).rounds(round, code)) return false;
    alignas(64) States got;
    for (int w = 0; w < 25; ++w)
      for (int l = 0; l < 8; ++l)
        got[w][l] = static_cast<uint64_t>(8 * w + l) * 0xd1342543de82ef95;
    std::array<std::array<uint64_t, 25>, 8> want;
    for (int l = 0; l < 8; ++l) {
      for (int w = 0; w < 25; ++w)
        want[l][w] = got[w][l];
      permute_plainly(want[l]);
    }
    place(function(code))(got, iota_, iota_ + kRounds);
    for (int l = 0; l < 8; ++l)
      for (int w = 0; w < 25; ++w)
        if (got[w][l] != want[l][w]) return false;
    return true;
  }

  /// Measures how many ticks of the time stamp counter a core cycle takes, by additions that wait for each other.
  void calibrate(int times) {
    uint64_t best = ~uint64_t{0};
    constexpr int kAdditions = 4000;
    for (int i = 0; i < times; ++i) {
      const uint64_t begin = ticks();
      uint64_t x = begin;
      for (int k = 0; k < kAdditions / 8; ++k)
        asm volatile(
            "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
            "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0"
            : "+r"(x));
      best = std::min(best, ticks() - begin);
    }
    ticks_ = static_cast<double>(best) / kAdditions;
  }

  static constexpr double kNever = 1e9;

 private:
  using Function = void (*)(States&, const uint64_t*, const uint64_t*);
  static constexpr size_t kPlaces = 16, kPlaceBytes = 65536;
  static constexpr int kRuns = 4;

  Function place(const std::vector<uint8_t>& code) {
    at_ = (at_ + 1) % kPlaces;
    return reinterpret_cast<Function>(std::memcpy(memory_ + at_ * kPlaceBytes, code.data(), code.size()));
  }
  void run(Function permute) {
    for (int i = 0; i < kRuns; ++i)
      permute(states_[i % 2], iota_, iota_ + kMeasuredRounds);
  }
  void permute_plainly(std::array<uint64_t, 25>& a) const {
    const auto rol = [](uint64_t v, int n) { return n == 0 ? v : v << n | v >> (64 - n); };
    for (int r = 0; r < kRounds; ++r) {
      std::array<uint64_t, 5> c;
      std::array<uint64_t, 25> b;
      for (int x = 0; x < 5; ++x)
        c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
      for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 5; ++x)
          b[y + 5 * ((2 * x + 3 * y) % 5)] = rol(a[5 * y + x] ^ c[(x + 4) % 5] ^ rol(c[(x + 1) % 5], 1), kRho[y][x]);
      for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 5; ++x)
          a[5 * y + x] = b[5 * y + x] ^ (~b[5 * y + (x + 1) % 5] & b[5 * y + (x + 2) % 5]);
      a[0] ^= iota_[r];
    }
  }

  uint8_t* memory_;
  size_t at_ = 0;
  alignas(64) States states_[2] = {};
  uint64_t iota_[kMeasuredRounds];
  double ticks_ = 1;
};

class Search {
 public:
  Search(double seconds, unsigned seed) : random_(seed), seconds_(seconds) {}

  Round run(Machine& machine) {
    const auto start = std::chrono::steady_clock::now();
    Round now = program_.round, best = now;
    double time = machine.cycles(now, program_.values, kAccurately), best_time = time;
    std::printf("%.0f cycles a permutation to begin with\n", time);
    for (uint64_t step = 1;; ++step) {
      const double left =
          1 - std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / seconds_;
      if (left <= 0) return best;
      if (step % 64 == 0) {
        machine.calibrate(4);
        time = machine.cycles(now, program_.values, 12);
      }
      if (step % 8192 == 0) {
        best_time = machine.cycles(best, program_.values, kAccurately);
        std::printf("\r%4.0f s left: %.0f cycles, the best %.0f ", left * seconds_, time, best_time);
        std::fflush(stdout);
      }
      Round next = now;
      if (!change(next)) continue;
      const double limit = time + left * kTemperature * -std::log(1 - fraction());
      if (machine.cycles(next, program_.values, 2) > limit) continue;
      const double taken = machine.cycles(next, program_.values, 5);
      if (taken > limit) continue;
      now = next;
      time = taken;
      if (taken >= best_time) continue;
      const double again = machine.cycles(next, program_.values, kAccurately);
      if (again < best_time) {
        best_time = again;
        best = next;
      }
    }
  }

  int values() const { return program_.values; }

 private:
  static constexpr double kTemperature = 4;  ///< cycles
  static constexpr int kAccurately = 40;

  double fraction() { return static_cast<double>(random_() >> 5) / (1 << 27); }
  size_t below(size_t n) { return random_() % n; }

  /// Whether what the instruction at `at` reads has been written by then.
  static bool is_possible(const Round& round, size_t at) {
    for (size_t i = at + 1; i < round.size(); ++i)
      for (int s : round[at].sources)
        if (s >= 0 && round[i].result == s) return false;
    return true;
  }

  bool change(Round& round) {
    switch (below(9)) {
      case 0:
        return change_sum(round);
      case 1:
        return change_overwritten(round);
      case 2:
        return change_theta(round);
      default:
        return move(round);
    }
  }
  /// Swaps two of the words that a column's sum adds.
  bool change_sum(Round& round) {
    const int result = kNewSums + static_cast<int>(below(5));
    const auto with = [&](int value) {
      return std::find_if(round.begin(), round.end(), [&](const Instruction& i) { return i.result == value; });
    };
    const auto last = with(result);
    const auto first = std::find_if(round.begin(), round.end(), [&](const Instruction& i) {
      return i.op == Op::kXor3 && i.column < 0 && i.result >= kTemporaries &&
             std::find(last->sources.begin(), last->sources.end(), i.result) != last->sources.end();
    });
    const size_t a = below(3), b = below(3);
    if (last->sources[b] == first->result) return false;
    std::swap(first->sources[a], last->sources[b]);
    return is_possible(round, static_cast<size_t>(first - round.begin())) &&
           is_possible(round, static_cast<size_t>(last - round.begin()));
  }
  bool change_overwritten(Round& round) {
    Instruction& i = round[below(round.size())];
    if (i.op != Op::kChi && i.op != Op::kXor3) return false;
    i.overwrite = static_cast<int>(below(i.column < 0 ? 7 : 4));
    return true;
  }
  /// A word gets theta's change in one value or in the two of which it consists.
  bool change_theta(Round& round) {
    const size_t at = below(round.size());
    Instruction& i = round[at];
    if (i.column < 0) return false;
    if (i.op == Op::kXor) {
      i.op = Op::kXor3;
      i.sources[1] = kSums + (i.column + 4) % 5;
      i.sources[2] = program_.rotated[(i.column + 1) % 5];
    } else {
      i.op = Op::kXor;
      i.sources[1] = program_.change[i.column];
      i.sources[2] = -1;
    }
    return is_possible(round, at);
  }
  bool move(Round& round) {
    constexpr int kMoves[] = {1, 1, 2, 3, 5, 10, 20};
    for (int m = kMoves[below(7)]; m > 0; --m) {
      size_t at = below(round.size());
      const bool later = below(2) != 0;
      for (auto steps = 1 + static_cast<int>(-std::log(1 - fraction()) * 8); steps > 0; --steps) {
        if (later ? at + 1 == round.size() : at == 0) break;
        const size_t to = later ? at + 1 : at - 1;
        const Instruction &first = round[std::min(at, to)], &second = round[std::max(at, to)];
        if (std::find(second.sources.begin(), second.sources.end(), first.result) != second.sources.end()) break;
        std::swap(round[at], round[to]);
        at = to;
      }
    }
    return true;
  }

  const Program program_;
  std::mt19937 random_;
  double seconds_;
};

/// Writes the header; what the caller has done for each of eight states meanwhile is spread evenly.
void write_header(const char* path, const std::vector<std::string>& macros) {
  std::ofstream file(path);
  file << "// SPDX-License-Identifier: Apache-2.0\n"
          "// Four rounds of Keccak for a Zen 5, in an order that tools/keccak_order_zen5.cpp found. Do not edit.\n"
          "#pragma once\n\n// clang-format off\n#define POLYKEM_FOUR_ROUNDS_ZEN5(SCALAR)";
  size_t column = 120;
  const auto put = [&](const std::string& text) {
    if (column + text.size() + 3 > 120) {
      file << " \\\n ";
      column = 1;
    }
    file << ' ' << text;
    column += text.size() + 1;
  };
  constexpr size_t kStates = 8;
  for (size_t i = 0; i < macros.size(); ++i) {
    for (size_t l = 0; l < kStates; ++l)
      if ((2 * l + 1) * macros.size() / (2 * kStates) == i) put("SCALAR(" + std::to_string(l) + ")");
    put(macros[i]);
  }
  file << "\n// clang-format on\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 || count > 4 || std::atof(arguments[1]) <= 0) {
    std::fprintf(stderr, "usage: keccak_order_zen5 SECONDS HEADER [SEED]\n");
    return 2;
  }
  Machine machine;
  Search search(std::atof(arguments[1]), count > 3 ? static_cast<unsigned>(std::atoi(arguments[3])) : 1);
  const Round best = search.run(machine);
  if (!machine.is_right(best, search.values())) {
    std::fprintf(stderr, "\nthe permutation is wrong: a fault in this program\n");
    return 1;
  }
  Code code;
  code.keep_macros = true;
  Assigner(search.values()).rounds(best, code);
  write_header(arguments[2], code.macros);
  std::printf("\n%s: %.0f cycles a permutation\n", arguments[2], machine.cycles(best, search.values(), 400));
}
