// SPDX-License-Identifier: Apache-2.0
// Batcher's merge exchange [KNUTH3, 5.2.2, Alg. M], with four comparators of one kind at a time in registers.
//
// In a phase p, comparators join i + p with i + q, where bit p of i is 0 and q runs down from the top power to 2p.
// Index i + p has bit p and i + q has not, so for one i the value at i + p may stay in a register for all q, as long as
// smaller i come first: i + q still meets its partners in the order of falling q.
//
// The array is taken as if the largest integers followed it. A comparator with one of them changes nothing.
#include "schemes/ntru/sort/cortex_m4/sort_m4.hpp"

#include "core/round.hpp"
#include "schemes/ntru/sort/sort.hpp"

namespace polykem::cortex_m4 {

namespace {

constexpr size_t kBlock = 8;  ///< the number of values that four comparators of the smallest distance cover

/// The places of four comparators of phase p among the next values. Bit p of each place is 0.
template <size_t kP>
struct Places {
  static constexpr size_t at(size_t i) { return kP == 1 ? 2 * i : kP == 2 ? i + (i & 2) : i; }
};

// Runs four comparators: r4 to r7 become the lesser of r4 to r7 and r8 to r11, which become the greater. A conditional
// move takes one cycle whether it moves or not. [CM4TRM, 3.3.1]
#define POLYKEM_COMPARATOR(LOW, HIGH) \
  "cmp " LOW ", " HIGH "\n\tittt gt\n\tmovgt r12, " LOW "\n\tmovgt " LOW ", " HIGH "\n\tmovgt " HIGH ", r12\n\t"
#define POLYKEM_COMPARATORS      \
  POLYKEM_COMPARATOR("r4", "r8") \
  POLYKEM_COMPARATOR("r5", "r9") POLYKEM_COMPARATOR("r6", "r10") POLYKEM_COMPARATOR("r7", "r11")
#define POLYKEM_FOUR(OPERATION, R0, R1, R2, R3, ADDRESS)                                                         \
  OPERATION " " R0 ", [" ADDRESS ", %[at0]]\n\t" OPERATION " " R1 ", [" ADDRESS ", %[at1]]\n\t" OPERATION " " R2 \
            ", [" ADDRESS ", %[at2]]\n\t" OPERATION " " R3 ", [" ADDRESS ", %[at3]]\n\t"
#define POLYKEM_LOW(OPERATION, ADDRESS) POLYKEM_FOUR(OPERATION, "r4", "r5", "r6", "r7", ADDRESS)
#define POLYKEM_HIGH(OPERATION, ADDRESS) POLYKEM_FOUR(OPERATION, "r8", "r9", "r10", "r11", ADDRESS)
#define POLYKEM_PLACES(P)                                                                            \
  [at0] "i"(4 * Places<P>::at(0)), [at1] "i"(4 * Places<P>::at(1)), [at2] "i"(4 * Places<P>::at(2)), \
      [at3] "i"(4 * Places<P>::at(3))
#define POLYKEM_CLOBBERS "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cc", "memory"

/// Joins x[i] with x[i + p] for four i.
template <size_t kP>
[[gnu::always_inline]] inline void join_neighbours(int32_t* x, size_t p) {
  asm volatile(POLYKEM_LOW("ldr", "%[x]") POLYKEM_HIGH("ldr", "%[y]") POLYKEM_COMPARATORS POLYKEM_LOW("str", "%[x]")
                   POLYKEM_HIGH("str", "%[y]")
               :
               : [x] "r"(x), [y] "r"(x + p), POLYKEM_PLACES(kP)
               : POLYKEM_CLOBBERS);
}

/// Joins x[i + p] with x[i + q], x[i + q / 2], .., x[i + 2p] for four i.
template <size_t kP>
[[gnu::always_inline]] inline void join_far(int32_t* x, size_t p, size_t q) {
  size_t distance = sizeof *x * q;
  int32_t* far;
  asm volatile("add %[far], %[x], %[p]\n\t" POLYKEM_LOW("ldr", "%[far]") "0:\n\tadd %[far], %[x], %[q]\n\t"
               POLYKEM_HIGH("ldr", "%[far]") POLYKEM_COMPARATORS POLYKEM_HIGH("str", "%[far]")
               "lsr %[q], %[q], #1\n\tcmp %[q], %[p]\n\tbhi 0b\n\t"
               "add %[far], %[x], %[p]\n\t" POLYKEM_LOW("str", "%[far]")
               : [q] "+r"(distance), [far] "=&r"(far)
               : [x] "r"(x), [p] "r"(sizeof *x * p), POLYKEM_PLACES(kP)
               : POLYKEM_CLOBBERS);
}

/// Runs phase p on `count` values. kP is p, or 4 for all larger p, for which i goes through runs of p.
template <size_t kP>
void phase(int32_t* values, size_t count, size_t p, size_t top) {
  const size_t run = kP < 4 ? kBlock : p, step = kP < 4 ? kBlock : 4, skip = kP < 4 ? 0 : p;
  for (size_t begin = 0; begin + p < count; begin += run + skip) {
    for (size_t i = begin; i < begin + run && i + p < count; i += step)
      join_neighbours<kP>(values + i, p);
  }
  size_t q = top;
  for (size_t begin = 0; begin + 2 * p < count; begin += run + skip) {
    for (size_t i = begin; i < begin + run && i + 2 * p < count; i += step) {
      while (i + q >= count)
        q /= 2;
      join_far<kP>(values + i, p, q);
    }
  }
}

}  // namespace

void sort_int32(int32_t* values, size_t count) {
  const size_t padded = rounded_up(count, kBlock);
  static_assert(2 * kBlock - 4 <= kSortRoom);
  for (size_t i = count; i < padded + kBlock - 4; ++i)
    values[i] = INT32_MAX;
  size_t top = 1;
  while (2 * top < padded)
    top *= 2;
  for (size_t p = top; p > 2; p /= 2)
    phase<4>(values, padded, p, top);
  phase<2>(values, padded, 2, top);
  phase<1>(values, padded, 1, top);
}

}  // namespace polykem::cortex_m4
