// SPDX-License-Identifier: Apache-2.0
// The products of one instruction set, as plain tables. Files that are compiled for an instruction set define no
// function that the linker could confuse with another file's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::lab {

/// The operands of a lane product: cyclic_any and cyclic_ternary, modulo x^n - 1 and a power of two; s3, NTRU's
/// modulo (3, Phi_n); negacyclic, modulo x^n + 1 and a power of two.
enum class Kind { kCyclicAny, kCyclicTernary, kS3, kNegacyclic };

/// A method of multiplying a block of `lanes` items, a row of `lanes` words for each coefficient (or one item, plain
/// words, if `lanes` is 1). Methods of the same name do it for other n.
struct LaneProduct {
  const char *name, *idea;
  Kind kind;
  size_t n, lanes;
  unsigned exact_bits;
  size_t workspace_bytes;
  void (*mul)(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace);
  double multiplications;  ///< multiplications of registers for one item; 0: not stated
  bool used = false;
};

/// A product c = a b of one item modulo x^n + 1 and LAC's q.
struct ByteProduct {
  const char *name, *idea;
  size_t workspace_bytes;
  void (*mul)(uint8_t* c, const uint8_t* a, const int8_t* b, size_t n, void* workspace);
  double terms;  ///< terms of one multiplication of a register
  bool used = false;
};

/// One item of a ring of any n: twice holds a's continuation below 0, then a; all products' sums are below 2^25.
/// sums: n words.
struct PackedProduct {
  const char *name, *idea;
  size_t (*workspace_bytes)(size_t n);
  void (*mul)(int32_t* sums, const int32_t* twice, const int16_t* b, size_t n, void* workspace);
  double terms;
};

struct CpuTables {
  const char* on;
  const LaneProduct* lanes;
  size_t lane_count;
  const ByteProduct* bytes;
  size_t byte_count;
  const PackedProduct* packed;
  size_t packed_count;
};

extern const CpuTables kTablesAvx2, kTablesAvx512;

}  // namespace polykem::lab
