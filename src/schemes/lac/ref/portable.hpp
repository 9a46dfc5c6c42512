// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/aes/aes256_ctr.hpp"
#include "schemes/lac/bch/bch.hpp"
#include "schemes/lac/ref/product.hpp"
#include "schemes/lac/sha256/sha256.hpp"

namespace polykem::lac::ref {
inline namespace POLYKEM_ISA {

/// Primitives that every machine has; other backends replace them.
struct Portable {
  static constexpr size_t kItems = 8;
  using Scratch = ref::Scratch;

  static Aes256Ctr prg() { return aes256_ctr_portable; }
  static void sha256(ByteRows out, ConstByteRows in, size_t length, size_t count) {
    sha256_portable(out, in, length, count);
  }
  static const BchFunctions& bch(size_t errors) { return errors == 8 ? kBch8Portable : kBch16Portable; }
  static void multiply(uint8_t* out, const uint8_t* a, const int8_t* s, const int8_t* added, size_t n, size_t count,
                       Scratch& scratch) {
    ref::multiply(out, a, s, added, n, count, scratch);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac::ref
