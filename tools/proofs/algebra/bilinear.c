// SPDX-License-Identifier: Apache-2.0
// Computes the coefficients of bilinear forms mod 2^16 for bilinear.py, and compares them with the expected ones. It
// writes "holds", or why not.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kZero, kFirst, kSecond, kBoth };
enum { kNothing, kWord, kAdd, kSub, kScale, kShift, kMul };

struct Step {
  uint32_t operation, kind, x, y, number;
};

/// Factors of the words of the second vector; those outside of [low, high) are zero.
struct Row {
  uint32_t low, high, uses;
  uint16_t factors[];
};

static uint32_t count, first_size, second_size, result_count, bits;
static struct Step* steps;
static uint32_t* uses;     // by later steps, and as results
static struct Row** rows;  // of steps; null if all factors are zero
static uint16_t* scalars;  // of steps of the first vector, for the word that is 1
static uint32_t* left;     // uses that are still to come, of steps whose kind is kBoth
static struct Row** unused = 0;
static size_t unused_count = 0, unused_size = 0;

static void* allocate(size_t size) {
  void* const p = calloc(size, 1);
  if (!p) abort();
  return p;
}

static void* read_all(size_t size) {
  void* const p = allocate(size + 1);
  if (fread(p, 1, size, stdin) != size) abort();
  return p;
}

static void fail(const char* text, uint32_t number, uint32_t word) {
  printf(text, number, word);
  exit(0);
}

/// Returns a row of zeros.
static struct Row* new_row(uint32_t low, uint32_t high) {
  struct Row* const row =
      unused_count > 0 ? unused[--unused_count] : allocate(sizeof(struct Row) + second_size * sizeof(uint16_t));
  row->low = low;
  row->high = high;
  row->uses = 0;
  return row;
}

static void release(struct Row* row) {
  if (--row->uses > 0) return;
  memset(row->factors + row->low, 0, (row->high - row->low) * sizeof(uint16_t));
  if (unused_count == unused_size) {
    unused_size = 2 * unused_size + 64;
    unused = realloc(unused, unused_size * sizeof *unused);
    if (!unused) abort();
  }
  unused[unused_count++] = row;
}

static struct Row* sum(const struct Row* x, const struct Row* y, int negative) {
  if (!x && !y) return 0;
  const uint32_t low = !x ? y->low : !y || x->low < y->low ? x->low : y->low;
  const uint32_t high = !x ? y->high : !y || x->high > y->high ? x->high : y->high;
  struct Row* const row = new_row(low, high);
  if (x) memcpy(row->factors + x->low, x->factors + x->low, (x->high - x->low) * sizeof(uint16_t));
  if (y) {
    for (uint32_t i = y->low; i < y->high; ++i)
      row->factors[i] += negative ? -y->factors[i] : y->factors[i];
  }
  return row;
}

static struct Row* scaled(const struct Row* x, uint16_t factor) {
  if (!x || factor == 0) return 0;
  struct Row* const row = new_row(x->low, x->high);
  for (uint32_t i = x->low; i < x->high; ++i)
    row->factors[i] = (uint32_t)x->factors[i] * factor;
  return row;
}

static struct Row* shifted(const struct Row* x, uint32_t by, uint32_t step, uint32_t word) {
  if (!x) return 0;
  struct Row* const row = new_row(x->low, x->high);
  uint16_t lost = 0;
  for (uint32_t i = x->low; i < x->high; ++i) {
    lost |= x->factors[i];
    row->factors[i] = x->factors[i] >> by;
  }
  if (lost & ((1u << by) - 1)) fail("step %u divides what is no multiple (word %u)\n", step, word);
  return row;
}

static uint16_t scalar(uint32_t at, uint32_t word) {
  const struct Step s = steps[at];
  const uint16_t x = scalars[s.x], y = scalars[s.y];
  switch (s.operation) {
    case kWord:
      return s.number == word;
    case kAdd:
      return x + y;
    case kSub:
      return x - y;
    case kScale:
      return x * s.number;
    case kShift:
      if (x & ((1u << s.number) - 1)) fail("step %u divides what is no multiple (word %u)\n", at, word);
      return x >> s.number;
  }
  abort();
}

/// Returns a step's row; `word` is the word of the first vector that is 1.
static struct Row* row(uint32_t at, uint32_t word) {
  const struct Step s = steps[at];
  struct Row *const x = rows[s.x], *const y = rows[s.y];
  switch (s.operation) {
    case kWord: {
      struct Row* const unit = new_row(s.number, s.number + 1);
      unit->factors[s.number] = 1;
      return unit;
    }
    case kAdd:
      if (x && !y) return x;
      if (y && !x) return y;
      return sum(x, y, 0);
    case kSub:
      return x && !y ? x : sum(x, y, 1);
    case kScale:
      return scaled(x, s.number);
    case kShift:
      return shifted(x, s.number, at, word);
    case kMul:
      return scaled(y, scalars[s.x]);
  }
  abort();
}

/// Computes a step's row; returns whether it has factors other than zero.
static int compute(uint32_t at, uint32_t word) {
  struct Row* const found = row(at, word);
  rows[at] = found;
  if (found) ++found->uses;
  return found != 0;
}

static void used(uint32_t step) {
  if (steps[step].kind == kBoth && rows[step] && --left[step] == 0) release(rows[step]);
}

static void expect(uint32_t result, uint32_t step, uint32_t word, int32_t there, uint16_t factor) {
  const uint16_t mask = (1u << bits) - 1;
  const struct Row* const got = rows[step];
  uint16_t others = 0;
  if (got) {
    for (uint32_t i = got->low; i < got->high; ++i)
      others |= (int32_t)i == there ? 0 : got->factors[i] & mask;
  }
  const uint16_t at_there = got && there >= 0 ? got->factors[there] : 0;
  const uint16_t wanted = there >= 0 ? factor : 0;
  if (others || ((at_there ^ wanted) & mask)) fail("result %u has other factors with word %u\n", result, word);
}

/// Lists, for every step, those of the kind kBoth that use it: users[first_user[at]], .. come before
/// users[first_user[at + 1]].
static uint32_t *first_user, *users;

static void list_users(void) {
  first_user = allocate((count + 2) * sizeof *first_user);
  for (uint32_t at = 0; at < count; ++at) {
    if (steps[at].kind != kBoth) continue;
    ++first_user[steps[at].x + 2];
    ++first_user[steps[at].y + 2];
  }
  for (uint32_t at = 0; at < count; ++at)
    first_user[at + 2] += first_user[at + 1];
  users = allocate((first_user[count + 1] + 1) * sizeof *users);
  for (uint32_t at = 0; at < count; ++at) {
    if (steps[at].kind != kBoth) continue;
    users[first_user[steps[at].x + 1]++] = at;
    users[first_user[steps[at].y + 1]++] = at;
  }
}

static uint64_t* waiting;  // a bit for each step that has an operand other than zero

static void wake_users(uint32_t at) {
  for (uint32_t n = first_user[at]; n < first_user[at + 1]; ++n)
    waiting[users[n] / 64] |= UINT64_C(1) << users[n] % 64;
}

int main(void) {
  const uint32_t* const header = read_all(5 * sizeof(uint32_t));
  count = header[0], first_size = header[1], second_size = header[2], result_count = header[3], bits = header[4];
  steps = read_all(count * sizeof(struct Step));
  const uint32_t* const results = read_all(result_count * sizeof(uint32_t));
  const size_t expected = (size_t)first_size * result_count;
  const int32_t* const words = read_all(expected * sizeof(int32_t));
  const uint16_t* const factors = read_all(expected * sizeof(uint16_t));
  rows = allocate(count * sizeof *rows);
  scalars = allocate(count * sizeof *scalars);
  uses = allocate(count * sizeof *uses);
  left = allocate(count * sizeof *left);
  waiting = allocate((count / 64 + 1) * sizeof *waiting);
  uint32_t* const of_first = allocate(count * sizeof *of_first);
  uint32_t* const computed = allocate(count * sizeof *computed);
  uint32_t of_first_count = 0;
  list_users();
  for (uint32_t at = 0; at < count; ++at) {
    ++uses[steps[at].x];
    ++uses[steps[at].y];
    if (steps[at].kind == kFirst) of_first[of_first_count++] = at;
    if (steps[at].kind == kSecond) compute(at, 0);
  }
  for (uint32_t n = 0; n < result_count; ++n)
    ++uses[results[n]];
  for (uint32_t word = 0; word < first_size; ++word) {
    for (uint32_t n = 0; n < of_first_count; ++n) {
      scalars[of_first[n]] = scalar(of_first[n], word);
      if (scalars[of_first[n]]) wake_users(of_first[n]);
    }
    uint32_t computed_count = 0;
    for (uint32_t group = 0; group <= count / 64; ++group) {
      while (waiting[group]) {  // operands come before the steps that use them
        const uint32_t at = 64 * group + (uint32_t)__builtin_ctzll(waiting[group]);
        waiting[group] &= waiting[group] - 1;
        left[at] = uses[at];
        if (compute(at, word)) wake_users(at);
        computed[computed_count++] = at;
        used(steps[at].x);
        used(steps[at].y);
      }
    }
    for (uint32_t n = 0; n < result_count; ++n) {
      const size_t here = (size_t)word * result_count + n;
      expect(n, results[n], word, words[here], factors[here]);
      used(results[n]);
    }
    for (uint32_t n = 0; n < computed_count; ++n)
      rows[computed[n]] = 0;
  }
  puts("holds");
}
