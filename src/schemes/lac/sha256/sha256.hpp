// SPDX-License-Identifier: Apache-2.0
// SHA-256 of one message and of many messages of equal length. [FIPS180, 6.2]
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/simd/rows.hpp"

namespace polykem {

inline constexpr size_t kSha256Bytes = 32;
inline constexpr size_t kSha256BlockBytes = 64;

/// Writes SHA-256 of the `length` bytes of record i of `in` to record i of `out`, i < count. `out` may be `in`. No
/// branch and no address depends on the messages, only on length and count. What it leaves on the stack may hold
/// message words; the caller zeroizes it.
using Sha256 = void (*)(ByteRows out, ConstByteRows in, size_t length, size_t count);

void sha256_portable(ByteRows out, ConstByteRows in, size_t length, size_t count);
/// Hashes eight messages at a time, one per lane.
void sha256_avx2(ByteRows out, ConstByteRows in, size_t length, size_t count);
/// Hashes sixteen messages at a time, one per lane.
void sha256_avx512(ByteRows out, ConstByteRows in, size_t length, size_t count);
/// Hashes one message after the other by the instructions for it; needs AVX2 and SHA-NI.
void sha256_ni(ByteRows out, ConstByteRows in, size_t length, size_t count);

/// Call the best of them for `count` messages on this CPU, which has AVX2 or AVX-512.
void sha256_dispatch_avx2(ByteRows out, ConstByteRows in, size_t length, size_t count);
void sha256_dispatch_avx512(ByteRows out, ConstByteRows in, size_t length, size_t count);

}  // namespace polykem
