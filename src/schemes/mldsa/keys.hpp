// SPDX-License-Identifier: Apache-2.0
// Expands key records into keys that are ready for use, the form in which a key set keeps them.
#pragma once

#include "schemes/mldsa/steps.hpp"

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

template <MldsaParams P, InstructionSet Isa>
struct Keys {
  using Public = PublicKey<P>;
  using Secret = SecretKey<P>;

  static void expand_public(std::byte* out, const uint8_t* records, size_t count, std::byte* workspace) {
    using Steps = VerifySteps<P, Isa>;
    auto* const keys = reinterpret_cast<Public*>(out);
    const auto record = [&](size_t i) { return records + i * P.public_key_bytes(); };
    for (size_t i = 0; i < count; ++i) {
      Steps::load_key(keys[i], record(i));
      Steps::transform_key(keys[i]);
    }
    Steps::expand_matrices(
        rows_in(workspace), count, [&](size_t i) { return keys[i].a; }, record);
    Steps::hash_public_keys({keys[0].tr, sizeof(Public)}, {records, P.public_key_bytes()}, count);
  }

  static void expand_secret(std::byte* out, const uint8_t* records, size_t count, std::byte* workspace) {
    using Steps = SignSteps<P, Isa>;
    auto* const keys = reinterpret_cast<Secret*>(out);
    const auto record = [&](size_t i) { return records + i * P.secret_key_bytes(); };
    for (size_t i = 0; i < count; ++i) {
      ct::declassify(record(i), kSeedBytes);
      Steps::load_key(keys[i], record(i));
      Steps::transform_key(keys[i]);
    }
    Steps::expand_matrices(
        rows_in(workspace), count, [&](size_t i) { return keys[i].a; }, record);
  }

  static size_t workspace_bytes(size_t) { return Arena::bytes<HashRows<P, Isa>>(1); }
  static constexpr ExpandedKeyFormat kExpandedPublicKey{sizeof(Public), workspace_bytes, expand_public};
  static constexpr ExpandedKeyFormat kExpandedSecretKey{sizeof(Secret), workspace_bytes, expand_secret};

 private:
  static HashRows<P, Isa>& rows_in(std::byte* workspace) { return *Arena(workspace).take<HashRows<P, Isa>>(1); }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
