// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ckks/src/base_conversion.hpp"
#include "ckks/src/words.hpp"

namespace polykem::ckks {

inline constexpr unsigned kMinLogN = 4, kMaxLogN = 16;
inline constexpr size_t kMaxPrimes = kMaxTerms, kMaxSpecialPrimes = kMaxConverted;
inline constexpr unsigned kMaxThreads = 1024;

/// Returns text for messages: "2^40.00".
std::string power_of_two(double exponent);

/// A parameter set: the ring Z[X] / (X^N + 1) modulo Q = q_0 q_1 ... and the special modulus P of key switching.
struct Params {
  unsigned log_n = 0;
  std::vector<uint64_t> q, p;              ///< distinct primes that are 1 mod 2N; rescaling drops the last of q
  std::vector<uint64_t> q_roots, p_roots;  ///< primitive 2N-th roots of unity; if empty, the least ones
  unsigned digits = 1;   ///< how many digits key switching decomposes Q into; P is at least half the largest
  unsigned threads = 0;  ///< threads that compute; 0: at most one per usable CPU, fewer for little work
};

/// Tables of a parameter set. Immutable; several threads may use one.
class Context {
 public:
  /// Throws Error(parameters), which says what is wrong.
  explicit Context(const Params& params);
  ~Context() { release_rows(); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  unsigned log_n() const { return log_n_; }
  size_t n() const { return size_t{1} << log_n_; }
  size_t limbs() const { return limbs_; }      ///< the number of primes of Q
  size_t special() const { return special_; }  ///< the number of primes of P
  size_t primes() const { return ntts_.size(); }
  size_t digits() const { return conversions_.size(); }

  /// q_id() and id() tell parameter sets apart: they are hashes of the ring, the primes and the roots, q_id() of Q
  /// alone, id() of Q and P.
  uint64_t q_id() const { return q_id_; }
  uint64_t id() const { return id_; }

  /// Returns the transform modulo prime i. The primes of Q come first, then those of P.
  const Ntt& ntt(size_t i) const { return ntts_[i]; }
  const Modulus& modulus(size_t i) const { return ntts_[i].modulus(); }

  /// Returns the number of digits that Q has with its first `limbs` primes.
  size_t digits_at(size_t limbs) const { return (limbs + digit_limbs_ - 1) / digit_limbs_; }
  size_t digit_first(size_t digit) const { return digit * digit_limbs_; }
  size_t digit_of(size_t limb) const { return limb / digit_limbs_; }
  /// Returns the number of primes of a digit. The last digit may have fewer than the others.
  size_t digit_size(size_t digit, size_t limbs) const;
  const BaseConversion& from_digit(size_t digit, size_t limbs) const;
  const BaseConversion& from_special() const { return from_special_.front(); }
  /// Return P mod q_i and its inverse.
  const Factor& p_mod(size_t i) const { return p_mod_[i]; }
  const Factor& inverse_p(size_t i) const { return inverse_p_[i]; }
  /// Returns the inverse of q_last mod q_i, for i < last.
  const Factor& inverse_q(size_t last, size_t i) const { return inverse_q_[last][i]; }

  /// Return log2 of P Q, and of the product of the first `limbs` primes.
  double total_bits() const { return total_bits_; }
  double limb_bits(size_t limbs) const { return limb_bits_[limbs]; }
  /// Throws Error(argument) unless the scale is a finite number above 0, and Error(scales) unless it is below the
  /// modulus of `limbs` primes: beyond that nothing of the numbers is left.
  void check_scale(double scale, size_t limbs) const;
  /// Returns 128 if the Homomorphic Encryption Standard grants a ternary secret of this N and P Q that many bits, else
  /// 0 [HES18, table 1].
  unsigned security_bits() const;

  /// Calls work(i) for i = 0..count-1 on the context's threads and waits for all.
  void for_each(size_t count, const std::function<void(size_t)>& work) const;

 private:
  void check(const Params& params) const;
  uint64_t hash(size_t primes) const;
  void add_primes(const std::vector<uint64_t>& primes, const std::vector<uint64_t>& roots, const char* name);

  unsigned log_n_;
  size_t limbs_, special_, digit_limbs_ = 0;
  unsigned threads_;
  size_t words_per_thread_;  ///< the words of work for which one more thread is started
  double total_bits_ = 0;
  std::vector<double> limb_bits_;  ///< [limbs]
  uint64_t q_id_, id_;
  std::vector<Ntt> ntts_;
  std::vector<std::vector<BaseConversion>> conversions_;  ///< [digit][number of its primes - 1]
  std::vector<BaseConversion> from_special_;              ///< has one element
  std::vector<Factor> p_mod_, inverse_p_;
  std::vector<std::vector<Factor>> inverse_q_;  ///< [last][i < last]
};

}  // namespace polykem::ckks
