// SPDX-License-Identifier: Apache-2.0
// Compares every backend of Saber with the reference: all operations, full and partial blocks, keys per item, shared
// and expanded keys.
#include <gtest/gtest.h>

#include <algorithm>

#include "schemes/registry.hpp"
#include "schemes/saber/saber.hpp"
#include "support/isa.hpp"
#include "support/kem_batches.hpp"

namespace polykem {
namespace {

using test::Bytes;

/// Some keys hold arbitrary bytes, some ciphertexts belong to another key.
struct Inputs : test::KemInputs {
  explicit Inputs(const Scheme& s) : KemInputs(s) {
    for (size_t i = 3; i + 3 < count; i += 11) {
      ct[i * s.ciphertext_bytes + i] ^= 0x80;
      std::fill_n(&pk[(i + 1) * s.public_key_bytes], s.public_key_bytes, static_cast<uint8_t>(0xff));
      std::fill_n(&sk[(i + 2) * s.secret_key_bytes], s.secret_key_bytes, static_cast<uint8_t>(0xff));
      const Bytes any = noise.bytes(s.secret_key_bytes);
      std::copy(any.begin(), any.end(), &sk[(i + 3) * s.secret_key_bytes]);
    }
  }
};

class SaberLanesTest : public test::IsaTest {};

TEST_P(SaberLanesTest, OperationsAgreeWithReference) {
  for (const Scheme& s : saber::schemes()) {
    const Inputs in(s);
    const auto expect_same = [&](Op op, bool shared, const char* what) {
      test::expect_same(s, test::backend_name(GetParam()), op, in.of(op, shared), what);
    };
    expect_same(Op::kKeygen, false, "keygen");
    for (const bool shared : {false, true}) {
      expect_same(Op::kEncaps, shared, "encaps");
      expect_same(Op::kDecaps, shared, "decaps");
    }
  }
}

TEST_P(SaberLanesTest, ExpandedKeysGiveTheSame) {
  for (const Scheme& s : saber::schemes())
    test::expect_expanded_keys_give_the_same(s, test::backend_name(GetParam()), Inputs(s));
}

POLYKEM_EVERY_SHA3_ISA(SaberLanesTest);

}  // namespace
}  // namespace polykem
