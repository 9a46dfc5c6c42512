// SPDX-License-Identifier: Apache-2.0
// Division steps [BY19, 5] over bits and trits that are packed in words. One load and one store instruction move four
// words.
//
// A step computes g <- (g + s f) / x, where s makes the constant term vanish, and f <- g if it swaps. For v and w it
// computes w <- w + s x v, and v <- w if it swaps, else v <- x v. Where the step swaps, [BY19] has a multiple of that g
// by a unit. The inverse comes out the same, because f and v of one row are always multiplied by the same unit.
//
// f and g are needed modulo x^(steps that remain + 1), and v and w have degree at most the number of steps done.
#include "schemes/ntru/polyinv/cortex_m4/polyinv_m4.hpp"

#include <algorithm>
#include <bit>

#include "core/round.hpp"
#include "ct/ct.hpp"

namespace polykem::cortex_m4 {

namespace {

constexpr size_t kMaxCoefficients = 832;

/// The masks of a step: f and v are added to g and w where `take` is set; f and v become g and w where `swap` is set.
struct Masks {
  uint32_t take, minus, swap;
};

/// Advances the counter of the division steps. Returns all ones if the step swaps, that is, if the counter is positive
/// and g(0) is not zero. [BY19, 3]
uint32_t swap_mask(int32_t& delta, uint32_t g_nonzero) {
  const uint32_t swap = ct::barrier(static_cast<uint32_t>(-delta >> 31)) & g_nonzero;
  delta = static_cast<int32_t>((static_cast<uint32_t>(delta) ^ swap) - swap) + 1;
  return swap;
}

#define POLYKEM_STEP_OPERANDS(POINTER, END, MASKS) \
  [at] "+r"(POINTER)                               \
      : [end] "r"(END),                            \
        [take] "r"(MASKS.take),                    \
        [minus] "r"(MASKS.minus),                  \
        [swap] "r"(MASKS.swap)                     \
      : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "lr", "cc", "memory"

/// Runs BODY for each part of 16 bytes, two parts in a round; if their number is odd, the first one runs alone. BODY
/// advances `at`; r8 and r9 carry bits to the next part.
#define POLYKEM_TWICE(BODY)                                                                               \
  "sub r8, %[at], %[end]\n\ttst r8, #16\n\tmov r8, #0\n\tmov r9, #0\n\tbne 1f\n0:\n\t" BODY "1:\n\t" BODY \
  "cmp %[at], %[end]\n\tbne 0b"

/// Holds 64 coefficients over GF(2). Two steps are computed at once.
struct Bits {
  static constexpr size_t kCoefficients = 64, kStepsAtOnce = 2;
  static constexpr unsigned kV = 0, kW = 1;
  uint32_t word[4];  ///< f f g g, or v v w w; the lower one first

  void set(unsigned which, size_t i, uint32_t bit) { word[2 * which + i / 32] |= (bit & 1) << (i % 32); }
  uint32_t get(unsigned which, size_t i) const { return word[2 * which + i / 32] >> (i % 32) & 1; }

  /// Returns the masks of two steps: `take` is the first step's, `minus` is the second step's `take`. `swap` has the
  /// first step's swap in bit 31 and the second step's in bit 30, so that one shift to the left moves them into the
  /// carry and the sign.
  Masks masks(int32_t& delta) const {
    const uint32_t take = ct::barrier(0u - (word[2] & 1));
    const uint32_t swap = swap_mask(delta, take);
    const uint32_t sum = word[2] ^ (word[0] & take);  // f(0) is 1 before and after the first step
    const uint32_t take_next = ct::barrier(0u - (sum >> 1 & 1));
    const uint32_t swap_next = swap_mask(delta, take_next);
    return {take, take_next, (swap & 0x80000000) | (swap_next & 0x40000000)};
  }

  static void step_fg(Bits* begin, size_t count, const Masks& masks) {
    Bits* at = begin + count;
    asm volatile(
        POLYKEM_TWICE("ldmdb %[at]!, {r4, r5, r6, r7}\n\t"
                      "and r10, r4, %[take]\n\teor r10, r10, r6\n\tand r11, r5, %[take]\n\teor r11, r11, r7\n\t"
                      "lsls lr, %[swap], #1\n\titt cs\n\tmovcs r4, r6\n\tmovcs r5, r7\n\t"
                      "orr r7, r8, r11, lsr #1\n\tlsl r8, r11, #31\n\t"
                      "orr r6, r8, r10, lsr #1\n\tlsl r8, r10, #31\n\t"
                      "and r10, r4, %[minus]\n\teor r10, r10, r6\n\t"
                      "and r11, r5, %[minus]\n\teor r11, r11, r7\n\t"
                      "itt mi\n\tmovmi r4, r6\n\tmovmi r5, r7\n\t"
                      "orr r7, r9, r11, lsr #1\n\tlsl r9, r11, #31\n\t"
                      "orr r6, r9, r10, lsr #1\n\tlsl r9, r10, #31\n\t"
                      "stm %[at], {r4, r5, r6, r7}\n\t")
        : POLYKEM_STEP_OPERANDS(at, begin, masks));
  }

  static void step_vw(Bits* at, size_t count, const Masks& masks) {
    asm volatile(POLYKEM_TWICE("ldm %[at], {r4, r5, r6, r7}\n\t"
                               "orr r10, r8, r4, lsl #1\n\tlsr r8, r4, #31\n\t"
                               "orr r11, r8, r5, lsl #1\n\tlsr r8, r5, #31\n\t"
                               "and r4, r10, %[take]\n\tand r5, r11, %[take]\n\t"
                               "lsls lr, %[swap], #1\n\titt cs\n\tmovcs r10, r6\n\tmovcs r11, r7\n\t"
                               "eor r6, r6, r4\n\teor r7, r7, r5\n\t"
                               "orr r4, r9, r10, lsl #1\n\tlsr r9, r10, #31\n\t"
                               "orr r5, r9, r11, lsl #1\n\tlsr r9, r11, #31\n\t"
                               "and r10, r4, %[minus]\n\tand r11, r5, %[minus]\n\t"
                               "itt mi\n\tmovmi r4, r6\n\tmovmi r5, r7\n\t"
                               "eor r6, r6, r10\n\teor r7, r7, r11\n\t"
                               "stm %[at]!, {r4, r5, r6, r7}\n\t")
                 : POLYKEM_STEP_OPERANDS(at, at + count, masks));
  }
};

/// Does what POLYKEM_TWICE does, with two more carries in r12 and r3 and with the end in a floating-point register.
#define POLYKEM_TWICE_TRITS(BODY)                                                                      \
  "vmov lr, %[end]\n\tsub r8, %[at], lr\n\ttst r8, #16\n\tmov r8, #0\n\tmov r9, #0\n\tmov r12, #0\n\t" \
  "mov r3, #0\n\tbne 1f\n0:\n\t" BODY "1:\n\t" BODY "vmov lr, %[end]\n\tcmp %[at], lr\n\tbne 0b"

/// The end and three of the masks are in floating-point registers: "t".
#define POLYKEM_TRIT_OPERANDS(POINTER, END, MASKS)              \
  [at] "+r"(POINTER)                                            \
      : [end] "t"(std::bit_cast<float>(END)),                   \
        [take] "t"(std::bit_cast<float>(MASKS.take)),           \
        [take_next] "t"(std::bit_cast<float>(MASKS.take_next)), \
        [swap] "t"(std::bit_cast<float>(MASKS.swap)),           \
        [minus] "r"(MASKS.minus),                               \
        [minus_next] "r"(MASKS.minus_next)                      \
      : "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory"

/// Holds 32 coefficients over GF(3). Two steps are computed at once. 0, 1 and 2 have the bits 00, 01 and 11 in a pair
/// of words. With these bits a sum takes six operations: s = x0 + y1, t = x1 + y0, (s + x1 | t + y1, s & t), where + is
/// exclusive or. [BB09]
struct Trits {
  static constexpr size_t kCoefficients = 32, kStepsAtOnce = 2;
  static constexpr unsigned kW = 0, kV = 1;
  uint32_t word[4];  ///< f f g g, or w w v v; the lower bit first

  /// The masks of two steps. In each step, f and v are added to g and w where `take` is set, negated where `minus` is
  /// set. `swap` is as in Bits.
  struct TwoMasks {
    uint32_t take, minus, take_next, minus_next, swap;
  };

  void set(unsigned which, size_t i, uint32_t trit) {
    word[2 * which] |= ((trit | trit >> 1) & 1) << i;
    word[2 * which + 1] |= (trit >> 1) << i;
  }
  uint32_t get(unsigned which, size_t i) const { return (word[2 * which] >> i & 1) + (word[2 * which + 1] >> i & 1); }

  /// Returns the masks of two steps, in which s = -g(0) f(0). Those of the second step follow from the lowest
  /// coefficients after the first one.
  TwoMasks masks(int32_t& delta) const {
    const uint32_t take = ct::barrier(0u - (word[2] & 1));
    const uint32_t minus = ct::barrier(((word[1] ^ word[3]) & 1) - 1);
    const uint32_t swap = swap_mask(delta, take);
    const uint32_t y0 = word[0] & take, y1 = (word[1] ^ minus) & y0;
    const uint32_t s = word[2] ^ y1, t = word[3] ^ y0;
    const uint32_t lower = ((s ^ word[3]) | (t ^ y1)) >> 1, upper = (s & t) >> 1;
    const uint32_t f_upper = word[1] ^ ((word[1] ^ word[3]) & swap);
    const uint32_t take_next = ct::barrier(0u - (lower & 1));
    const uint32_t minus_next = ct::barrier(((f_upper ^ upper) & 1) - 1);
    const uint32_t swap_next = swap_mask(delta, take_next);
    return {take, minus, take_next, minus_next, (swap & 0x80000000) | (swap_next & 0x40000000)};
  }

  static void step_fg(Trits* begin, size_t count, const TwoMasks& masks) {
    Trits* at = begin + count;
    asm volatile(
        POLYKEM_TWICE_TRITS("ldmdb %[at]!, {r4, r5, r6, r7}\n\tvmov lr, %[swap]\n\tlsls lr, lr, #1\n\t"
                            "vmov lr, %[take]\n\tand r10, r4, lr\n\teor r11, r5, %[minus]\n\tand r11, r11, r10\n\t"
                            "eor lr, r6, r11\n\teor r10, r7, r10\n\titt cs\n\tmovcs r4, r6\n\tmovcs r5, r7\n\t"
                            "eor r6, lr, r7\n\tand r7, lr, r10\n\teor r10, r10, r11\n\torr r6, r6, r10\n\t"
                            "orr r10, r8, r6, lsr #1\n\tlsl r8, r6, #31\n\t"
                            "orr r11, r9, r7, lsr #1\n\tlsl r9, r7, #31\n\t"
                            "vmov lr, %[take_next]\n\tand r6, r4, lr\n\teor r7, r5, %[minus_next]\n\t"
                            "and r7, r7, r6\n\teor lr, r10, r7\n\teor r6, r11, r6\n\t"
                            "itt mi\n\tmovmi r4, r10\n\tmovmi r5, r11\n\t"
                            "eor r10, lr, r11\n\tand r11, lr, r6\n\teor r6, r6, r7\n\torr r10, r10, r6\n\t"
                            "orr r6, r12, r10, lsr #1\n\tlsl r12, r10, #31\n\t"
                            "orr r7, r3, r11, lsr #1\n\tlsl r3, r11, #31\n\t"
                            "stm %[at], {r4, r5, r6, r7}\n\t")
        : POLYKEM_TRIT_OPERANDS(at, begin, masks));
  }

  static void step_vw(Trits* at, size_t count, const TwoMasks& masks) {
    asm volatile(
        POLYKEM_TWICE_TRITS("ldm %[at], {r4, r5, r6, r7}\n\tvmov lr, %[swap]\n\tlsls lr, lr, #1\n\t"
                            "orr r10, r8, r6, lsl #1\n\tlsr r8, r6, #31\n\t"
                            "orr r11, r9, r7, lsl #1\n\tlsr r9, r7, #31\n\t"
                            "vmov lr, %[take]\n\tand r6, r10, lr\n\teor r7, r11, %[minus]\n\tand r7, r7, r6\n\t"
                            "eor lr, r4, r7\n\teor r6, r5, r6\n\titt cs\n\tmovcs r10, r4\n\tmovcs r11, r5\n\t"
                            "eor r4, lr, r5\n\tand r5, lr, r6\n\teor r6, r6, r7\n\torr r4, r4, r6\n\t"
                            "orr r6, r12, r10, lsl #1\n\tlsr r12, r10, #31\n\t"
                            "orr r7, r3, r11, lsl #1\n\tlsr r3, r11, #31\n\t"
                            "vmov lr, %[take_next]\n\tand r10, r6, lr\n\teor r11, r7, %[minus_next]\n\t"
                            "and r11, r11, r10\n\teor lr, r4, r11\n\teor r10, r5, r10\n\t"
                            "itt mi\n\tmovmi r6, r4\n\tmovmi r7, r5\n\t"
                            "eor r4, lr, r5\n\tand r5, lr, r10\n\teor r10, r10, r11\n\torr r4, r4, r10\n\t"
                            "stm %[at]!, {r4, r5, r6, r7}\n\t")
        : POLYKEM_TRIT_OPERANDS(at, at + count, masks));
  }
};

constexpr unsigned kF = 0, kG = 1;

/// The rows f, g and w, v that yield the inverse of a mod Phi_n.
template <class Part>
struct Rows {
  static constexpr size_t kParts = kMaxCoefficients / Part::kCoefficients;
  static constexpr size_t kSteps = 16;  ///< the steps that are computed on the same numbers of parts
  Part fg[kParts], wv[kParts];

  static size_t parts(size_t coefficients) { return (coefficients + Part::kCoefficients - 1) / Part::kCoefficients; }
  static void set(Part* row, unsigned which, size_t i, uint32_t value) {
    row[i / Part::kCoefficients].set(which, i % Part::kCoefficients, value);
  }

  Rows(const uint16_t* a, size_t n) : fg{}, wv{} {
    for (size_t i = 0; i < n; ++i)
      set(fg, kF, i, 1);
    for (size_t i = 0; i + 1 < n; ++i)
      set(fg, kG, n - 2 - i, a[i]);
    set(wv, Part::kW, 0, 1);
  }

  /// Runs at least 2 (n - 1) - 1 steps. Then g is zero, so one more step only turns v into x v.
  void run(size_t n) {
    const size_t steps = rounded_up(2 * (n - 1) - 1, Part::kStepsAtOnce);
    int32_t delta = 1;
    for (size_t first = 0; first < steps; first += kSteps) {
      const size_t end = std::min(steps, first + kSteps);
      const size_t fg_parts = parts(std::min(n, steps - first + 1)), wv_parts = parts(std::min(n, end + 1));
      for (size_t step = first; step < end; step += Part::kStepsAtOnce) {
        const auto masks = fg[0].masks(delta);
        Part::step_fg(fg, fg_parts, masks);
        Part::step_vw(wv, wv_parts, masks);
      }
    }
  }

  uint32_t v(size_t i) const { return wv[i / Part::kCoefficients].get(Part::kV, i % Part::kCoefficients); }
};

}  // namespace

void poly_inverse_mod2(uint16_t* inverse, const uint16_t* a, size_t n) {
  Rows<Bits> rows(a, n);
  rows.run(n);
  for (size_t i = 0; i + 1 < n; ++i)
    inverse[i] = static_cast<uint16_t>(rows.v(n - 1 - i));  // rows.v has the coefficients of x v
  inverse[n - 1] = 0;
}

void poly_inverse_mod3(uint16_t* inverse, const uint16_t* a, size_t n) {
  Rows<Trits> rows(a, n);
  rows.run(n);
  const uint32_t negate = 0u - (rows.fg[0].word[1] & 1);  // the last f is constant, 1 or 2: divide by it
  for (size_t i = 0; i + 1 < n; ++i) {
    const uint32_t v = rows.v(n - 1 - i);  // rows.v has the coefficients of x v
    const uint32_t negated = 2 * v - 3 * (v >> 1);
    inverse[i] = static_cast<uint16_t>(v ^ (negate & (v ^ negated)));
  }
  inverse[n - 1] = 0;
}

}  // namespace polykem::cortex_m4
