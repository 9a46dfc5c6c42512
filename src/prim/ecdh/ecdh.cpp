// SPDX-License-Identifier: Apache-2.0
#include "prim/ecdh/ecdh.hpp"

#include <algorithm>
#include <cstring>

#include "ct/ct.hpp"
#include "prim/ecdh/nist.hpp"
#include "prim/ecdh/x25519.hpp"

namespace polykem::ecdh {
namespace {

/// The orders of the groups. [SP800-186, 3.2.1]
constexpr uint8_t kOrderP256[] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
                                  0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
                                  0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};
constexpr uint8_t kOrderP384[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                  0xc7, 0x63, 0x4d, 0x81, 0xf4, 0x37, 0x2d, 0xdf, 0x58, 0x1a, 0x0d, 0xb2,
                                  0x48, 0xb0, 0xa7, 0x7a, 0xec, 0xec, 0x19, 0x6a, 0xcc, 0xc5, 0x29, 0x73};

/// An implementation that computes groups of `lanes` items; fewer than `min_items` are left to the next implementation.
struct GroupsBy {
  const Implementation* by;
  size_t lanes, min_items;
};

/// The implementations of a curve, in the order in which they take items. The last one takes any number of them.
struct Choice {
  GroupsBy in_order[2];
};

Choice choice(Curve curve, [[maybe_unused]] InstructionSet isa) {
  const bool x25519 = curve == Curve::kX25519;
  const Implementation& portable = x25519 ? x25519_portable() : nist_portable(curve);
#ifdef POLYKEM_HAVE_AVX512
  if (isa == InstructionSet::kAvx512) {
    if (x25519) return {{{&x25519_avx512(), 8, 2}, {&x25519_avx2_single(), 1, 1}}};
    return {{{&nist_avx512(curve), 8, 2}, {&portable, 1, 1}}};
  }
#endif
#ifdef POLYKEM_HAVE_X86
  if (isa == InstructionSet::kAvx2 && x25519) return {{{&x25519_avx2(), 4, 3}, {&x25519_avx2_single(), 1, 1}}};
#endif
  return {{{&portable, 1, 1}, {&portable, 1, 1}}};
}

/// Calls compute(implementation, first, items) for each part of a batch.
template <class Compute>
void split(Curve curve, InstructionSet isa, size_t count, const Compute& compute) {
  const Choice chosen = choice(curve, isa);
  const GroupsBy &groups = chosen.in_order[0], &rest = chosen.in_order[1];
  const size_t items = count % groups.lanes < groups.min_items ? count / groups.lanes * groups.lanes : count;
  if (items > 0) compute(*groups.by, 0, items);
  if (items < count) compute(*rest.by, items, count - items);
}

}  // namespace

size_t workspace_bytes(Curve curve, InstructionSet isa) {
  const Choice chosen = choice(curve, isa);
  return std::max(chosen.in_order[0].by->workspace_bytes, chosen.in_order[1].by->workspace_bytes);
}

void public_keys(Curve curve, InstructionSet isa, size_t count, ConstByteRows scalars, ByteRows points, bool* valid,
                 std::byte* workspace) {
  split(curve, isa, count, [&](const Implementation& by, size_t first, size_t items) {
    by.public_keys(items, {scalars.at(first), scalars.stride}, {points.at(first), points.stride}, valid + first,
                   workspace);
  });
}

void shared_secrets(Curve curve, InstructionSet isa, size_t count, ConstByteRows scalars, ConstByteRows points,
                    ByteRows secrets, bool* valid, std::byte* workspace) {
  split(curve, isa, count, [&](const Implementation& by, size_t first, size_t items) {
    by.shared_secrets(items, {scalars.at(first), scalars.stride}, {points.at(first), points.stride},
                      {secrets.at(first), secrets.stride}, valid + first, workspace);
  });
}

bool valid_scalar(Curve curve, const uint8_t* scalar) {
  if (curve == Curve::kX25519) return true;
  const uint8_t* const order = curve == Curve::kP256 ? kOrderP256 : kOrderP384;
  unsigned any = 0, borrow = 0;
  for (size_t i = info(curve).scalar_bytes; i-- > 0;) {
    any |= scalar[i];
    borrow = (unsigned{scalar[i]} - order[i] - borrow) >> 31;
  }
  bool valid = ((any + 255) >> 8 & borrow) != 0;
  ct::declassify(&valid, sizeof valid);
  return valid;
}

void choose_scalars(Curve curve, size_t count, ConstByteRows seeds, size_t seed_bytes, ByteRows scalars) {
  const size_t bytes = info(curve).scalar_bytes;
  for (size_t i = 0; i < count; ++i) {
    size_t at = 0;
    while (at + 2 * bytes <= seed_bytes && !valid_scalar(curve, seeds.at(i) + at))
      at += bytes;
    std::memcpy(scalars.at(i), seeds.at(i) + at, bytes);
  }
}

}  // namespace polykem::ecdh
