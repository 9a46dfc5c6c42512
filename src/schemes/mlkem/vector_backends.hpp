// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/mlkem/params.hpp"
#include "tuning/small_batches.hpp"

namespace polykem::mlkem {

/// These return the operations of set P on a vector backend, on x86 tuned for the CPUs that kCpu names. mlkem_avx2.cpp,
/// mlkem_avx512.cpp, mlkem_neon.cpp and mlkem_neon_sha3.cpp instantiate them. The operations may only be called on a
/// CPU with the backend's features.
template <MlkemParams P, tuning::Cpu kCpu>
const SchemeBackend& avx2_backend();
template <MlkemParams P, tuning::Cpu kCpu>
const SchemeBackend& avx512_backend();
template <MlkemParams P>
const SchemeBackend& neon_backend();
template <MlkemParams P>
const SchemeBackend& neon_sha3_backend();

}  // namespace polykem::mlkem
