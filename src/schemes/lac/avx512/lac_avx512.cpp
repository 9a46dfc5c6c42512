// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "prim/aes/aes256_ctr.hpp"
#include "schemes/lac/backend.hpp"
#include "schemes/lac/backends.hpp"
#include "schemes/lac/bch/bch.hpp"
#include "schemes/lac/lanes/product_vnni.hpp"

namespace polykem::lac {

namespace {

struct Avx512 {
  static constexpr const char* kName = cpu::kAvx512;
  static constexpr size_t kItems = 16;
  using Scratch = lanes::ScratchVnni;

  static Aes256Ctr prg() { return aes256_ctr_avx512; }
  static void sha256(ByteRows out, ConstByteRows in, size_t length, size_t count) {
    sha256_dispatch_avx512(out, in, length, count);
  }
  static const BchFunctions& bch(size_t errors) { return errors == 8 ? kBch8Avx512 : kBch16Avx512; }
  static void multiply(uint8_t* out, const uint8_t* a, const int8_t* s, const int8_t* added, size_t n, size_t count,
                       Scratch& scratch) {
    lanes::multiply(out, a, s, added, n, count, scratch);
  }
};

}  // namespace

std::span<const SchemeBackend> avx512_backends() {
  static constexpr auto kBackends = backends<Avx512>();
  return kBackends;
}

}  // namespace polykem::lac
