// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "ckks/src/batches.hpp"
#include "ckks/src/context.hpp"
#include "ckks/src/error.hpp"

namespace polykem::ckks {

// Operations on batches of ciphertexts [CKKS17, 3.4], in residue number systems [CHKKS18, 3]. Operands have equal
// numbers of ciphertexts; one plaintext may serve all. A message of fewer slots than the other operand's counts as
// repeated. Operands that do not fit together throw Error(levels), (scales), (parts) or (argument).

/// Scales that differ by less than this factor count as equal.
inline constexpr double kScaleTolerance = 0x1p-30;

/// Throws Error(argument) unless a batch has the primes of the context.
template <typename Batch>
void check_set(const Context& context, const Batch& batch) {
  if (batch.set != context.q_id()) throw Error(Fault::kArgument, "the operand belongs to another parameter set");
}

Ciphertexts add(const Context& context, const Ciphertexts& a, const Ciphertexts& b);
Ciphertexts sub(const Context& context, const Ciphertexts& a, const Ciphertexts& b);
Ciphertexts negate(const Context& context, const Ciphertexts& a);
Ciphertexts add_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b);
Ciphertexts sub_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b);
/// Multiplies; so do the scales. Like mul, keep_limbs and with_scale it throws what Context::check_scale throws for the
/// result.
Ciphertexts mul_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b);
/// Multiplies. The product has three parts, of which the last belongs to s^2, and the scales multiply.
Ciphertexts mul(const Context& context, const Ciphertexts& a, const Ciphertexts& b);
/// Reduces a product to two parts, with the key of s^2.
Ciphertexts relinearise(const Context& context, const Ciphertexts& a, const SwitchingKey& key);
/// Divides by the last prime, rounds and drops it. Throws Error(no_level) if it is the only one.
Ciphertexts rescale(const Context& context, const Ciphertexts& a);
/// Drops the last primes and keeps the scale.
Ciphertexts keep_limbs(const Context& context, const Ciphertexts& a, size_t limbs);
/// Returns the same residues at another scale.
Ciphertexts with_scale(const Context& context, const Ciphertexts& a, double scale);
/// Returns `count` of the batch's ciphertexts, from number `first` on.
Ciphertexts items(const Context& context, const Ciphertexts& a, size_t first, size_t count);
/// Applies X -> X^g, where g is odd and below 2N, with the key for this g. rotation_element() returns the g of a
/// rotation; that of conjugation is 2N - 1.
Ciphertexts automorphism(const Context& context, const Ciphertexts& a, uint64_t g, const SwitchingKey& key);
/// Returns automorphism() for each g with its key. On the CPU they share the decomposition of a: of 16 at N = 2^14 that
/// saves a fifth of the time with AVX-512, two fifths with AVX2.
std::vector<Ciphertexts> automorphisms(const Context& context, const Ciphertexts& a, std::span<const uint64_t> gs,
                                       std::span<const SwitchingKey* const> keys);

/// Returns the g that moves slot i + steps to slot i: 5^steps mod 2N.
uint64_t rotation_element(const Context& context, long steps);

}  // namespace polykem::ckks
