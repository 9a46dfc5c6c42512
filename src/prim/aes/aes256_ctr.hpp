// SPDX-License-Identifier: Apache-2.0
// The keystream of AES-256 in counter mode, for random generators and for LAC. [FIPS197; SP80038A, 6.5]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

inline constexpr size_t kAes256KeyBytes = 32;
inline constexpr size_t kAesBlockBytes = 16;

/// Writes `length` bytes of keystream: block i is AES-256 of the eight bytes of `nonce`, lowest first, followed by the
/// eight bytes of counter + i (mod 2^64), highest first. The last block may be cut short. `out` may overlap the key.
/// The expanded key is zeroized before return.
using Aes256Ctr = void (*)(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce,
                           uint64_t counter);

/// A keystream that is still to be written, by Aes256Ctr or in pieces. The destructor zeroizes the key. (Files with
/// different instruction sets share this type, so it has no inline functions.)
struct Aes256Keystream {
  uint8_t key[kAes256KeyBytes];
  uint64_t nonce, counter;

  Aes256Keystream();
  ~Aes256Keystream();
  Aes256Keystream(const Aes256Keystream&) = delete;
  Aes256Keystream& operator=(const Aes256Keystream&) = delete;
};

/// Computes eight bit-sliced blocks at a time, without tables.
void aes256_ctr_portable(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce,
                         uint64_t counter);
/// Keeps eight blocks in flight; needs AVX2 and AES-NI.
void aes256_ctr_avx2(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce, uint64_t counter);
/// Keeps eight registers of four blocks in flight; needs AVX-512 with VAES.
void aes256_ctr_avx512(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce,
                       uint64_t counter);
/// Keeps eight blocks in flight; needs the AES extension of AArch64.
void aes256_ctr_neon(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce, uint64_t counter);

/// The one of these that uses the AES instructions of this machine's CPU; nullptr if it has none.
Aes256Ctr aes256_ctr_of_cpu();

}  // namespace polykem
