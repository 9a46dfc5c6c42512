// SPDX-License-Identifier: Apache-2.0
// The steps of a hybrid. A backend of an ML-KEM set computes its part, and prim/ecdh the curve's.
#pragma once

#include "core/scheme.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "schemes/hybrid/params.hpp"

namespace polykem::hybrid {

/// The hashes of one CPU backend, which are portable if `lanes` is nullptr.
struct Hashes {
  const KeccakFunctions* lanes;

  void shake256(ByteRows out, size_t out_bytes, ConstByteRows in, size_t in_bytes, size_t count) const;
  void sha3_256(ByteRows out, ConstByteRows in, size_t in_bytes, size_t count) const;
};

/// A hybrid on one CPU backend: its parameters, and what computes its parts.
struct Parts {
  const HybridParams& params;
  const Scheme& kem;
  const SchemeBackend& backend;  ///< a backend of kem
  ecdh::InstructionSet curve_isa;
  Hashes hashes;

  ecdh::CurveInfo curve() const { return params.curve_info(); }
  size_t public_key_bytes() const { return kem.public_key_bytes + curve().point_bytes; }
  size_t secret_key_bytes() const { return params.hpke() ? kSymBytes : kem.secret_key_bytes + curve().scalar_bytes; }
  size_t ciphertext_bytes() const { return kem.ciphertext_bytes + curve().point_bytes; }
  RecordBytes record_bytes() const {
    return {public_key_bytes(), secret_key_bytes(), ciphertext_bytes(), params.shared_secret_bytes(), 0};
  }
  /// These return the offsets of the parts in a joined record. The argument is the length of the other part.
  size_t kem_at(size_t curve_bytes) const { return params.curve_first ? curve_bytes : 0; }
  size_t curve_at(size_t kem_bytes) const { return params.curve_first ? 0 : kem_bytes; }
};

size_t workspace_bytes(const Parts& parts, Op op, size_t items);
Status run(const Parts& parts, Op op, const Batch& batch, std::byte* workspace, StepTimes* times);
std::span<const StepInfo> step_infos(Op op);

/// These deal with keys in the form in which a key set keeps them: ML-KEM's own format, then, for secret keys, the
/// curve's scalar and point.
size_t expanded_key_bytes(const Parts& parts, Op op);
size_t expansion_workspace_bytes(const Parts& parts, Op op, size_t count);
void expand_keys(const Parts& parts, Op op, std::byte* out, const uint8_t* keys, size_t count, std::byte* workspace);

}  // namespace polykem::hybrid
