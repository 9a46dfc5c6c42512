// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/levels.hpp"

#include "ckks/src/device.hpp"
#include "ckks/src/error.hpp"
#include "ckks/src/evaluator.hpp"

namespace polykem::ckks {

Level::Level(const Context& context, size_t step) : context_(context), step_(step) {
  if (step == 0) throw Error(Fault::kArgument, "a level drops one prime or more, not 0");
}

double Level::divisor(size_t limbs) const {
  double product = 1;
  for (size_t i = limbs - step_; i < limbs; ++i)
    product *= static_cast<double>(context_.modulus(i).value());
  return product;
}

void Level::need(const Ciphertexts& a, size_t levels, const std::string& taker) const {
  const size_t left = a.limbs < step_ ? 0 : a.limbs / step_ - 1;
  if (left < levels)
    throw Error(Fault::kNoLevel, taker + " takes " + std::to_string(levels) + " levels, and the ciphertexts have " +
                                     std::to_string(left) + " left: take more primes");
}

Ciphertexts Level::rescaled(const Ciphertexts& a) const {
  Ciphertexts out = rescale(context_, a);
  for (size_t i = 1; i < step_; ++i)
    out = rescale(context_, out);
  return out;
}

const Ciphertexts& Level::kept(const Ciphertexts& a, size_t limbs, Ciphertexts& room) const {
  if (a.limbs == limbs) return a;
  room = keep_limbs(context_, a, limbs);
  return room;
}

Plaintexts Level::constant(Complex value, const Ciphertexts& like, double scale) const {
  Plaintexts out = encode(context_, {&value, 1}, 1, like.limbs, scale);
  return like.on_device == nullptr ? std::move(out) : to_device(like.on_device->owner(), out);
}

}  // namespace polykem::ckks
