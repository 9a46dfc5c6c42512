// SPDX-License-Identifier: Apache-2.0
// Elliptic-curve Diffie-Hellman over many items: X25519 [RFC7748], P-256 and P-384 [SP800-186, 3.2.1].
//
// Encodings are those of TLS 1.3 [RFC8446, 4.2.8.2, 7.4.2] and HPKE: X25519 little endian, every 32 bytes are a scalar
// and a point; NIST curves big endian, points uncompressed (04 x y), the secret is the x coordinate.
#pragma once

#include <cstddef>
#include <cstdint>

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

/// One record for each item: item i's is at data + i * stride. A stride of 0: all items use the same record.
struct In {
  const uint8_t* data;
  size_t stride;
  const uint8_t* at(size_t i) const { return data + i * stride; }
};
struct Out {
  uint8_t* data;
  size_t stride;
  uint8_t* at(size_t i) const { return data + i * stride; }
};

/// One way to compute a curve. Time and addresses depend neither on scalars nor on secrets; whether an input is valid
/// may show. Functions allocate nothing; what they keep besides a few kilobytes of the stack lies in the workspace,
/// 64-byte aligned, which the caller wipes like the stack.
struct Implementation {
  size_t workspace_bytes;
  /// scalars -> points: scalar times the base point. valid[i] is 0 and the point zero if a NIST scalar is not in
  /// [1, order - 1].
  void (*public_keys)(size_t count, In scalars, Out points, bool* valid, std::byte* workspace);
  /// scalars, points -> secrets. valid[i] is 0 and the secret zero if a NIST scalar is not in [1, order - 1], if the
  /// point is not one of the curve's in its only encoding, or if the secret of X25519 is zero [RFC7748, 6.1].
  void (*shared_secrets)(size_t count, In scalars, In points, Out secrets, bool* valid, std::byte* workspace);
};

/// Which instructions a curve is computed with. Whatever the number of items, the fastest implementation computes them:
/// with AVX-512 eight at a time, with AVX2 four (X25519), else one by one.
enum class InstructionSet { kPortable, kAvx2, kAvx512 };
size_t workspace_bytes(Curve curve, InstructionSet isa);
void public_keys(Curve curve, InstructionSet isa, size_t count, In scalars, Out points, bool* valid,
                 std::byte* workspace);
void shared_secrets(Curve curve, InstructionSet isa, size_t count, In scalars, In points, Out secrets, bool* valid,
                    std::byte* workspace);

/// Whether the scalar is in the range that its curve asks for: of X25519, always.
bool valid_scalar(Curve curve, const uint8_t* scalar);
/// RandomScalar of [HYBRIDKEMS, 4.2]: of the candidates in each seed, seed_bytes long, the first valid scalar; or the
/// last one if none is.
void choose_scalars(Curve curve, size_t count, In seeds, size_t seed_bytes, Out scalars);

}  // namespace polykem::ecdh
