// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/context.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "ckks/src/error.hpp"
#include "ckks/src/primes.hpp"
#include "core/secure.hpp"
#include "core/usable_cpus.hpp"

namespace polykem::ckks {

namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(Fault::kParameters, text);
}

double bits_of(const std::vector<uint64_t>& primes, size_t first, size_t count) {
  double bits = 0;
  for (size_t i = first; i < std::min(first + count, primes.size()); ++i)
    bits += std::log2(static_cast<double>(primes[i]));
  return bits;
}

/// The fewest words whose transform is worth starting a thread.
constexpr size_t kMinWordsPerThread = size_t{1} << 15;

uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;  // an odd constant without a pattern
  return hash ^ hash >> 32;
}

unsigned cpus() {
  return std::min(usable_cpus().count, kMaxThreads);
}

}  // namespace

std::string power_of_two(double exponent) {
  char text[32];
  std::snprintf(text, sizeof text, "2^%.2f", exponent);
  return text;
}

Context::Context(const Params& params)
    : log_n_(params.log_n),
      limbs_(params.q.size()),
      special_(params.p.size()),
      threads_(params.threads != 0 ? params.threads : cpus()),
      words_per_thread_(params.threads != 0 ? 1 : kMinWordsPerThread) {
  check(params);
  digit_limbs_ = (limbs_ + params.digits - 1) / params.digits;
  add_primes(params.q, params.q_roots, "q");
  add_primes(params.p, params.p_roots, "p");
  q_id_ = hash(limbs_);
  id_ = mixed(mixed(hash(primes()), limbs_), digit_limbs_);  // keys depend on where P begins and on the digits
  for (size_t limbs = 0; limbs <= limbs_; ++limbs)
    limb_bits_.push_back(bits_of(params.q, 0, limbs));
  total_bits_ = bits_of(params.q, 0, limbs_) + bits_of(params.p, 0, special_);
  for (size_t first = 0; first < limbs_; first += digit_limbs_) {
    conversions_.emplace_back();
    for (size_t count = 1; count <= std::min(digit_limbs_, limbs_ - first); ++count)
      conversions_.back().emplace_back(ntts_, first, count);
    if (bits_of(params.q, first, digit_limbs_) > bits_of(params.p, 0, special_) + 1 && special_ != 0)
      refuse("the special primes p multiply to less than a digit of q: give more or larger ones, or more digits");
  }
  from_special_.emplace_back(ntts_, limbs_, special_);
  for (size_t i = 0; i < limbs_; ++i) {
    const Modulus& m = modulus(i);
    uint64_t p = 1;
    for (const uint64_t prime : params.p)
      p = m.mul(p, m.reduce(prime));
    p_mod_.push_back(m.factor(p));
    inverse_p_.push_back(m.factor(m.inverse(p)));
  }
  for (size_t last = 0; last < limbs_; ++last) {
    inverse_q_.emplace_back();
    for (size_t i = 0; i < last; ++i)
      inverse_q_.back().push_back(modulus(i).factor(modulus(i).inverse(modulus(i).reduce(modulus(last).value()))));
  }
}

void Context::check(const Params& params) const {
  if (log_n_ < kMinLogN || log_n_ > kMaxLogN)
    refuse("the ring dimension must be 2^" + std::to_string(kMinLogN) + " to 2^" + std::to_string(kMaxLogN));
  if (limbs_ == 0 || limbs_ > kMaxPrimes || limbs_ + special_ > kMaxPrimes)
    refuse("there must be 1 to " + std::to_string(kMaxPrimes) + " primes, at least one of them in q");
  if (special_ > kMaxSpecialPrimes)
    refuse("there must be at most " + std::to_string(kMaxSpecialPrimes) + " special primes p");
  if (params.digits == 0 || params.digits > limbs_) refuse("there must be 1 to as many digits as primes q");
  const size_t digit_limbs = (limbs_ + params.digits - 1) / params.digits;
  if ((params.digits - 1) * digit_limbs >= limbs_)
    refuse(std::to_string(limbs_) + " primes q in digits of " + std::to_string(digit_limbs) + " make fewer than " +
           std::to_string(params.digits) + " digits: ask for " +
           std::to_string((limbs_ + digit_limbs - 1) / digit_limbs));
  if (params.threads > kMaxThreads) refuse("there must be at most " + std::to_string(kMaxThreads) + " threads");
  std::vector<uint64_t> all = params.q;
  all.insert(all.end(), params.p.begin(), params.p.end());
  std::sort(all.begin(), all.end());
  if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
    refuse(std::to_string(*twice) + " is there twice: primes must differ");
}

void Context::add_primes(const std::vector<uint64_t>& primes, const std::vector<uint64_t>& roots, const char* name) {
  if (!roots.empty() && roots.size() != primes.size())
    refuse(std::string("there must be as many roots as primes ") + name);
  for (size_t i = 0; i < primes.size(); ++i) {
    const std::string which = std::string(name) + "[" + std::to_string(i) + "] = " + std::to_string(primes[i]);
    if (primes[i] >> kMaxPrimeBits > 1 || !is_prime(primes[i])) refuse(which + " is no prime below 2^61");
    if (primes[i] % (uint64_t{2} << log_n_) != 1) refuse(which + " is not 1 modulo twice the ring dimension");
    const uint64_t root = roots.empty() ? min_root(log_n_, primes[i]) : roots[i];
    if (!is_root(log_n_, primes[i], root))
      refuse(std::to_string(root) + " is no primitive root of unity of order 2N modulo " + which);
    ntts_.emplace_back(log_n_, primes[i], root);
  }
}

void Context::check_scale(double scale, size_t limbs) const {
  if (!(scale > 0) || !std::isfinite(scale)) throw Error(Fault::kArgument, "a scale is a finite number above 0");
  const double bits = std::log2(scale), bound = limb_bits(limbs);
  if (bits < bound) return;
  throw Error(Fault::kScales, "a scale of " + power_of_two(bits) + " is not below the modulus, " + power_of_two(bound) +
                                  " with " + std::to_string(limbs) + (limbs == 1 ? " limb" : " limbs") +
                                  ": rescale first, keep more limbs, or take a smaller scale");
}

uint64_t Context::hash(size_t primes) const {
  uint64_t hash = log_n_;
  for (size_t i = 0; i < primes; ++i)
    hash = mixed(mixed(hash, modulus(i).value()), ntt(i).psi());
  return hash;
}

size_t Context::digit_size(size_t digit, size_t limbs) const {
  return std::min(digit_limbs_, limbs - digit_first(digit));
}

const BaseConversion& Context::from_digit(size_t digit, size_t limbs) const {
  return conversions_[digit][digit_size(digit, limbs) - 1];
}

unsigned Context::security_bits() const {
  // The most bits of the modulus for N = 2^10 ... 2^15 under classical attacks; that of 2^16 was estimated since by the
  // same method [BCC24, table 5.2].
  constexpr double kMax[] = {27, 54, 109, 218, 438, 881, 1747};
  if (log_n_ < 10) return 0;
  return total_bits_ <= kMax[log_n_ - 10] ? 128 : 0;
}

void Context::for_each(size_t count, const std::function<void(size_t)>& work) const {
  std::atomic<size_t> next{0};
  std::exception_ptr failed;
  std::mutex mutex;
  const auto run = [&] {
    try {
      for (size_t i = next++; i < count; i = next++)
        work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failed = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> helpers;
  try {
    const size_t max_threads = std::min({size_t{threads_}, count, 1 + count * n() / words_per_thread_});
    helpers.reserve(max_threads);
    for (size_t i = 1; i < max_threads; ++i)
      helpers.emplace_back([&run] {
        run();
        zeroize_stack();
      });
  } catch (const std::system_error&) {  // no more threads: those that run do the work
  } catch (const std::bad_alloc&) {     // no memory for one more
  }
  run();
  for (std::thread& helper : helpers)
    helper.join();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace polykem::ckks
