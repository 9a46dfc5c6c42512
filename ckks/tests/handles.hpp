// SPDX-License-Identifier: Apache-2.0
// Objects of the C API that free themselves.
#pragma once

#include <polykem/ckks.h>

#include <memory>

namespace polykem::ckks::test {

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using ContextHandle = std::unique_ptr<polykem_ckks_context, Free<polykem_ckks_context_free>>;
using PlaintextsHandle = std::unique_ptr<polykem_ckks_plaintexts, Free<polykem_ckks_plaintexts_free>>;
using CiphertextsHandle = std::unique_ptr<polykem_ckks_ciphertexts, Free<polykem_ckks_ciphertexts_free>>;
using SecretKeyHandle = std::unique_ptr<polykem_ckks_secret_key, Free<polykem_ckks_secret_key_free>>;
using PublicKeyHandle = std::unique_ptr<polykem_ckks_public_key, Free<polykem_ckks_public_key_free>>;
using SwitchingKeyHandle = std::unique_ptr<polykem_ckks_switching_key, Free<polykem_ckks_switching_key_free>>;
using ChebyshevHandle = std::unique_ptr<polykem_ckks_chebyshev, Free<polykem_ckks_chebyshev_free>>;
using TransformHandle = std::unique_ptr<polykem_ckks_transform, Free<polykem_ckks_transform_free>>;
using DeviceHandle = std::unique_ptr<polykem_ckks_device, Free<polykem_ckks_device_free>>;

}  // namespace polykem::ckks::test
