// SPDX-License-Identifier: Apache-2.0
// The least cost of transforms and operations. Rows have N words that must be read or written. Operations are counted
// for one ciphertext of a batch.
#pragma once

#include "ckks.hpp"

namespace polykem::ckks::lab {

/// Multiplier slots of a product with a constant factor, which a butterfly has; of a product of double width; of its
/// reduction by Montgomery's method.
struct Multiplier {
  double constant, wide, reduction;
};
/// For a GPU with 32-bit words (a high product takes two slots) and with 64-bit words; for a core, with 64-bit words.
inline constexpr Multiplier kGpu32{4, 2, 3}, kGpu64{14, 8, 11}, kCore{3, 1, 2};

/// The costs of operations on one kind of words.
class Work {
 public:
  Work(int log_n, size_t word_bytes, const Multiplier& multiplier, const Level& level = {}, size_t batch = 1)
      : n_(static_cast<double>(size_t{1} << log_n)),
        word_bytes_(static_cast<double>(word_bytes)),
        m_(multiplier),
        ntt_slots_(n_ / 2 * log_n * multiplier.constant),
        limbs_(level.limbs),
        specials_(level.specials),
        digits_(level.digits()),
        digit_limbs_(level.digit_limbs),
        all_(level.rows()),
        key_rows_(2 * digits_ * all_ / static_cast<double>(batch)),
        plain_rows_(limbs_ / static_cast<double>(batch)) {}

  /// Returns the cost of a row's transform with this many passes over memory.
  Cost transform(int passes = 1) const { return {passes * 2 * n_ * word_bytes_, ntt_slots_, 0}; }
  /// Returns the cost of a row's transform by products with matrices, in which each coefficient has `terms` terms. A
  /// product of words takes 16 products of bytes.
  Cost matrix_transform(int passes, double terms) const { return {passes * 2 * n_ * word_bytes_, 0, 16 * terms * n_}; }
  Cost add() const { return words(6 * limbs_); }
  Cost add_plain() const { return words(4 * limbs_ + plain_rows_); }
  Cost multiply_plain() const { return words(4 * limbs_ + plain_rows_, 2 * limbs_ * (m_.wide + m_.reduction)); }
  Cost tensor() const { return words(7 * limbs_, tensor_slots()); }
  Cost automorphism() const { return words(4 * limbs_); }
  Cost rescale() const { return words(4 * limbs_ - 2, 2 * (limbs_ - 1) * m_.constant, 2 * limbs_); }
  /// Returns the cost of the conversion alone, which reads the limbs once and writes each digit's other rows.
  Cost conversion_up(bool imma) const { return words(limbs_ + up_rows(), up_slots(imma), 0, up_products(imma)); }
  Cost conversion_down(bool imma) const { return words(2 * all_, down_slots(imma), 0, down_products(imma)); }
  Cost mod_up(bool imma) const { return words(limbs_ + up_rows(), up_slots(imma), up_ntts(), up_products(imma)); }
  Cost mod_down(bool imma) const {
    return words(2 * all_ + 4 * limbs_, down_slots(imma) + 2 * limbs_ * m_.constant, 2 * all_, down_products(imma));
  }
  Cost key_product() const { return words(digits_ * all_ + 2 * all_ + key_rows_, key_slots()); }
  Cost hmult(bool imma) const { return switched(6 * limbs_, tensor_slots(), imma); }
  Cost hrotate(bool imma) const { return switched(4 * limbs_, 0, imma); }

 private:
  /// slots, byte_products: those of each coefficient.
  Cost words(double rows, double slots = 0, double ntts = 0, double byte_products = 0) const {
    return {rows * n_ * word_bytes_, slots * n_ + ntts * ntt_slots_, byte_products * n_};
  }
  Cost switched(double rows, double slots, bool imma) const {
    return words(rows + key_rows_, slots + up_slots(imma) + key_slots() + down_slots(imma) + 2 * limbs_ * m_.constant,
                 up_ntts() + 2 * all_, up_products(imma) + down_products(imma));
  }
  double up_rows() const { return digits_ * all_ - limbs_; }
  double up_ntts() const { return limbs_ + up_rows(); }
  double tensor_slots() const { return limbs_ * (4 * m_.wide + 3 * m_.reduction); }
  double key_slots() const { return 2 * all_ * (digits_ * m_.wide + m_.reduction); }
  /// Returns the cost of a result with `sources` terms.
  double result_slots(double sources, bool imma) const { return imma ? 0 : sources * m_.wide + m_.reduction; }
  double up_slots(bool imma) const { return limbs_ * m_.constant + up_rows() * result_slots(digit_limbs_, imma); }
  double down_slots(bool imma) const {
    return 2 * specials_ * m_.constant + 2 * limbs_ * result_slots(specials_, imma);
  }
  double up_products(bool imma) const { return imma ? 16 * up_rows() * digit_limbs_ : 0; }
  double down_products(bool imma) const { return imma ? 16 * 2 * limbs_ * specials_ : 0; }

  double n_, word_bytes_;
  Multiplier m_;
  double ntt_slots_, limbs_, specials_, digits_, digit_limbs_, all_, key_rows_, plain_rows_;
};

}  // namespace polykem::ckks::lab
