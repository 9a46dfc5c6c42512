// SPDX-License-Identifier: Apache-2.0
// Elliptic-curve Diffie-Hellman over many items: X25519 [RFC7748], P-256 and P-384 [SP800-186, 3.2.1].
//
// Encodings are those of TLS 1.3 [RFC8446, 4.2.8.2, 7.4.2] and HPKE. Those of X25519 are little endian, and every 32
// bytes are a scalar and a point. Those of the NIST curves are big endian; points are uncompressed (04 x y), and the
// secret is the x coordinate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "prim/simd/rows.hpp"

namespace polykem::ecdh {

enum class Curve : int { kX25519, kP256, kP384 };
inline constexpr size_t kCurves = 3;

struct CurveInfo {
  const char* name;
  size_t scalar_bytes, point_bytes, secret_bytes;
};

constexpr CurveInfo info(Curve curve) {
  constexpr CurveInfo kInfos[kCurves] = {{"X25519", 32, 32, 32}, {"P-256", 32, 65, 32}, {"P-384", 48, 97, 48}};
  return kInfos[static_cast<size_t>(curve)];
}

/// Returns the greatest of the curves' lengths, of scalars for example.
consteval size_t greatest(size_t CurveInfo::*length) {
  size_t bytes = 0;
  for (size_t i = 0; i < kCurves; ++i)
    bytes = std::max(bytes, info(static_cast<Curve>(i)).*length);
  return bytes;
}
inline constexpr size_t kMaxScalarBytes = greatest(&CurveInfo::scalar_bytes);
inline constexpr size_t kMaxPointBytes = greatest(&CurveInfo::point_bytes);

/// One way to compute a curve. Time and addresses depend neither on scalars nor on secrets, but may show whether an
/// input is valid. The functions allocate nothing. What they keep besides a few kilobytes of the stack lies in the
/// workspace, which is 64-byte aligned and which the caller zeroizes like the stack. Rows with a stride of 0 are one
/// record for all items.
struct Implementation {
  size_t workspace_bytes;
  /// Multiplies the base point by each scalar. If a NIST scalar is not in [1, order - 1], valid[i] becomes false and
  /// the point zero.
  void (*public_keys)(size_t count, ConstByteRows scalars, ByteRows points, bool* valid, std::byte* workspace);
  /// Multiplies each point by its scalar. valid[i] becomes false and the secret zero if a NIST scalar is not in
  /// [1, order - 1], if the point is not on the curve or not in its only encoding, or if the secret of X25519 is zero
  /// [RFC7748, 6.1].
  void (*shared_secrets)(size_t count, ConstByteRows scalars, ConstByteRows points, ByteRows secrets, bool* valid,
                         std::byte* workspace);
};

/// The instructions with which a curve is computed. Whatever the number of items, the fastest implementation computes
/// them: eight at a time with AVX-512, four with AVX2 (X25519), else one by one.
enum class InstructionSet { kPortable, kAvx2, kAvx512 };
/// Returns the bytes of workspace that public_keys() and shared_secrets() need.
size_t workspace_bytes(Curve curve, InstructionSet isa);
/// Computes Implementation::public_keys with the implementations for `isa`.
void public_keys(Curve curve, InstructionSet isa, size_t count, ConstByteRows scalars, ByteRows points, bool* valid,
                 std::byte* workspace);
/// Computes Implementation::shared_secrets with the implementations for `isa`.
void shared_secrets(Curve curve, InstructionSet isa, size_t count, ConstByteRows scalars, ConstByteRows points,
                    ByteRows secrets, bool* valid, std::byte* workspace);

/// True if the scalar is in the range that its curve asks for, as every scalar of X25519 is.
bool valid_scalar(Curve curve, const uint8_t* scalar);
/// Computes RandomScalar of [HYBRIDKEMS, 4.2]: takes the first valid scalar of the candidates in each seed of
/// `seed_bytes` bytes, or the last candidate if none is valid.
void choose_scalars(Curve curve, size_t count, ConstByteRows seeds, size_t seed_bytes, ByteRows scalars);

}  // namespace polykem::ecdh
