// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/transform.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "ckks/src/error.hpp"
#include "ckks/src/evaluator.hpp"
#include "ckks/src/levels.hpp"

namespace polykem::ckks {

namespace {

using Diagonals = std::map<size_t, std::span<const Complex>>;

/// Returns the diagonals that are not zero, by their numbers modulo the slots.
Diagonals diagonals_of(std::span<const long> numbers, std::span<const Complex> values, size_t slots) {
  Diagonals out;
  std::set<size_t> seen;
  const auto modulus = static_cast<long>(slots);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto k = static_cast<size_t>((numbers[i] % modulus + modulus) % modulus);
    if (!seen.insert(k).second)
      throw Error(Fault::kArgument, "there are two diagonals number " + std::to_string(k) + " modulo the " +
                                        std::to_string(slots) + " slots");
    const std::span<const Complex> diagonal = values.subspan(i * slots, slots);
    if (std::any_of(diagonal.begin(), diagonal.end(), [](Complex z) { return z != Complex(0); }))
      out.emplace(k, diagonal);
  }
  if (out.empty()) throw Error(Fault::kArgument, "the matrix has no diagonal with a number other than 0");
  return out;
}

/// Returns the power of two, of babies from 0 on, with the fewest rotations, and then with the most babies.
size_t baby_steps(const Diagonals& diagonals, size_t slots) {
  size_t best = 1, fewest = SIZE_MAX;
  for (size_t size = 1; size <= slots; size *= 2) {
    std::set<size_t> babies, giants;
    for (const auto& [k, diagonal] : diagonals) {
      if (k % size != 0) babies.insert(k % size);
      if (k / size != 0) giants.insert(k / size);
    }
    if (babies.size() + giants.size() > fewest) continue;
    fewest = babies.size() + giants.size();
    best = size;
  }
  return best;
}

void check_sizes(const Context& context, size_t slots, size_t limbs, size_t limbs_per_level) {
  if (!std::has_single_bit(slots) || slots > context.n() / 2)
    throw Error(Fault::kArgument, "slots are a power of two, at most half the ring dimension");
  if (limbs > context.limbs())
    throw Error(Fault::kLevels,
                "the parameter set has " + std::to_string(context.limbs()) + " limbs, not " + std::to_string(limbs));
  if (limbs / limbs_per_level < 2)
    throw Error(Fault::kNoLevel, "a linear transform takes a level, which " + std::to_string(limbs) +
                                     " limbs do not have: take more limbs");
}

void accumulate(const Context& context, std::optional<Ciphertexts>& total, Ciphertexts summand) {
  total = total ? add(context, *total, summand) : std::move(summand);
}

}  // namespace

LinearTransform::LinearTransform(const Context& context, std::span<const long> numbers, std::span<const Complex> values,
                                 size_t slots, size_t limbs, size_t limbs_per_level)
    : slots_(slots), limbs_(limbs), limbs_per_level_(limbs_per_level) {
  const Level level(context, limbs_per_level);
  check_sizes(context, slots, limbs, limbs_per_level);
  const Diagonals diagonals = diagonals_of(numbers, values, slots);
  const size_t size = baby_steps(diagonals, slots);
  std::set<size_t> babies, steps;
  for (const auto& [k, diagonal] : diagonals) {
    const size_t baby = k % size, giant = k - baby;
    if (rows_.empty() || rows_.back().giant != giant) rows_.push_back({giant, {}});
    // The giant rotation comes after the product, so the diagonal is rotated back.
    SecretVector<Complex> moved(slots);
    std::rotate_copy(diagonal.begin(), diagonal.end() - static_cast<std::ptrdiff_t>(giant), diagonal.end(),
                     moved.begin());
    rows_.back().diagonals.push_back({baby, encode(context, moved, slots, limbs, level.divisor(limbs))});
    babies.insert(baby);
    steps.insert({baby, giant});
  }
  babies.erase(0);
  steps.erase(0);
  babies_.assign(babies.begin(), babies.end());
  rotations_.assign(steps.begin(), steps.end());
}

const SwitchingKey& LinearTransform::key_of(size_t steps, std::span<const SwitchingKey* const> keys) const {
  const auto place = std::lower_bound(rotations_.begin(), rotations_.end(), static_cast<long>(steps));
  return *keys[static_cast<size_t>(place - rotations_.begin())];
}

std::vector<Ciphertexts> LinearTransform::rotated(const Context& context, const Ciphertexts& a,
                                                  std::span<const SwitchingKey* const> keys) const {
  std::vector<uint64_t> gs;
  std::vector<const SwitchingKey*> of_gs;
  for (const size_t baby : babies_) {
    gs.push_back(rotation_element(context, static_cast<long>(baby)));
    of_gs.push_back(&key_of(baby, keys));
  }
  std::vector<Ciphertexts> made = automorphisms(context, a, gs, of_gs);
  std::vector<Ciphertexts> out(babies_.empty() ? 1 : babies_.back() + 1);
  out[0] = a;
  for (size_t i = 0; i < babies_.size(); ++i)
    out[babies_[i]] = std::move(made[i]);
  return out;
}

Ciphertexts LinearTransform::apply(const Context& context, const Ciphertexts& a,
                                   std::span<const SwitchingKey* const> keys) const {
  check_set(context, a);
  if (a.slots != slots_)
    throw Error(Fault::kArgument, "the matrix has " + std::to_string(slots_) + " rows, but the ciphertexts have " +
                                      std::to_string(a.slots) + " slots");
  if (a.limbs < limbs_)
    throw Error(Fault::kLevels, "the transform is made for " + std::to_string(limbs_) +
                                    " limbs, and the ciphertexts have " + std::to_string(a.limbs) +
                                    ": make one for these");
  const Level level(context, limbs_per_level_);
  Ciphertexts room;
  const std::vector<Ciphertexts> turned = rotated(context, level.kept(a, limbs_, room), keys);
  std::optional<Ciphertexts> total;
  for (const Row& row : rows_) {
    std::optional<Ciphertexts> part;
    for (const Diagonal& diagonal : row.diagonals)
      accumulate(context, part, mul_plain(context, turned[diagonal.baby], diagonal.plaintext));
    if (row.giant != 0) {
      const uint64_t g = rotation_element(context, static_cast<long>(row.giant));
      part = automorphism(context, *part, g, key_of(row.giant, keys));
    }
    accumulate(context, total, std::move(*part));
  }
  return level.rescaled(*total);
}

LinearTransform LinearTransform::on_device(const std::shared_ptr<const Device>& device) const {
  LinearTransform out = *this;
  for (Row& row : out.rows_)
    for (Diagonal& diagonal : row.diagonals)
      diagonal.plaintext = to_device(device, diagonal.plaintext);
  return out;
}

}  // namespace polykem::ckks
