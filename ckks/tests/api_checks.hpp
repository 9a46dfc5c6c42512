// SPDX-License-Identifier: Apache-2.0
// Compares calls of the C API on a device with the same calls on the CPU: statuses, error texts, shapes and words must
// agree. It is used on a GPU, and for the module that is compiled for a CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "handles.hpp"

namespace polykem::ckks::test {

inline void must(polykem_ckks_status status, const char* what) {
  if (status == POLYKEM_CKKS_OK) return;
  std::fprintf(stderr, "%s: %s\n", what, polykem_ckks_error_text());
  std::exit(1);
}

struct ApiSet {
  unsigned log_n, q_bits, p_bits;
  size_t q_count, p_count;
  unsigned digits;
};

/// A context, a device, and keys in both places. Words are random; nothing is encrypted.
class ApiWorld {
 public:
  explicit ApiWorld(const ApiSet& set, size_t scratch_bytes = 0) : set_(set), random_(set.log_n) {
    std::vector<uint64_t> q(set.q_count), p(set.p_count);
    must(polykem_ckks_find_primes(set.log_n, set.q_bits, q.size(), nullptr, 0, q.data()), "finding primes");
    must(polykem_ckks_find_primes(set.log_n, set.p_bits, p.size(), q.data(), q.size(), p.data()), "finding primes");
    primes_ = q;
    primes_.insert(primes_.end(), p.begin(), p.end());
    const polykem_ckks_parameters parameters{sizeof parameters, set.log_n, q.size(),   q.data(), nullptr, p.size(),
                                             p.data(),          nullptr,   set.digits, 0,        1};
    polykem_ckks_context* context = nullptr;
    must(polykem_ckks_context_new(&parameters, &context), "a context");
    context_.reset(context);
    polykem_ckks_device* device = nullptr;
    must(polykem_ckks_device_open(context, 0, scratch_bytes, &device), "a device");
    device_.reset(device);
    const std::vector<uint64_t> words = residues(set.digits * 2, primes_.size());
    polykem_ckks_switching_key *here = nullptr, *there = nullptr;
    must(polykem_ckks_switching_key_new(context, words.data(), words.size(), &here), "a key");
    key_.reset(here);
    must(polykem_ckks_switching_key_to_device(device, here, &there), "a key on the device");
    key_there_.reset(there);
  }

  size_t n() const { return size_t{1} << set_.log_n; }
  const ApiSet& set() const { return set_; }
  const polykem_ckks_context* context() const { return context_.get(); }
  const polykem_ckks_device* device() const { return device_.get(); }
  DeviceHandle& device_handle() { return device_; }
  const polykem_ckks_switching_key* key(bool there) const { return there ? key_there_.get() : key_.get(); }
  std::mt19937_64& random() { return random_; }

  /// `polynomials` times a row for each of the first `limbs` primes.
  std::vector<uint64_t> residues(size_t polynomials, size_t limbs) {
    std::vector<uint64_t> words;
    words.reserve(polynomials * limbs * n());
    for (size_t row = 0; row < polynomials * limbs; ++row) {
      const uint64_t q = primes_[row % limbs];
      for (size_t i = 0; i < n(); ++i)
        words.push_back(random_() % q);
    }
    return words;
  }

 private:
  ApiSet set_;
  std::mt19937_64 random_;
  std::vector<uint64_t> primes_;
  ContextHandle context_;
  DeviceHandle device_;
  SwitchingKeyHandle key_, key_there_;
};

/// The same ciphertexts, or plaintexts, in both places.
template <typename Handle>
struct Both {
  Handle here, there;
  typename Handle::pointer at(bool device) const { return device ? there.get() : here.get(); }
};
using BothCiphertexts = Both<CiphertextsHandle>;
using BothPlaintexts = Both<PlaintextsHandle>;

constexpr double kApiScale = 0x1p20;

inline BothCiphertexts random_ciphertexts(ApiWorld& world, size_t count, size_t parts, size_t limbs) {
  const polykem_ckks_shape shape{sizeof shape, count, parts, limbs, world.n() / 2, kApiScale};
  polykem_ckks_ciphertexts *here = nullptr, *there = nullptr;
  const std::vector<uint64_t> words = world.residues(count * parts, limbs);
  must(polykem_ckks_ciphertexts_new(world.context(), &shape, words.data(), words.size(), &here), "ciphertexts");
  must(polykem_ckks_ciphertexts_to_device(world.device(), here, &there), "ciphertexts on the device");
  return {CiphertextsHandle(here), CiphertextsHandle(there)};
}

inline BothPlaintexts random_plaintexts(ApiWorld& world, size_t count, size_t limbs) {
  const polykem_ckks_shape shape{sizeof shape, count, 1, limbs, world.n() / 2, kApiScale};
  polykem_ckks_plaintexts *here = nullptr, *there = nullptr;
  const std::vector<uint64_t> words = world.residues(count, limbs);
  must(polykem_ckks_plaintexts_new(world.context(), &shape, words.data(), words.size(), &here), "plaintexts");
  must(polykem_ckks_plaintexts_to_device(world.device(), here, &there), "plaintexts on the device");
  return {PlaintextsHandle(here), PlaintextsHandle(there)};
}

inline polykem_ckks_shape shape_of(const polykem_ckks_ciphertexts* a) {
  polykem_ckks_shape shape{};
  shape.struct_size = sizeof shape;
  must(polykem_ckks_ciphertexts_shape(a, &shape), "a shape");
  return shape;
}

/// Counts and prints differences.
class ApiVerdict {
 public:
  void expect(bool right, const std::string& what) {
    ++checked_;
    if (right) return;
    if (++faults_ <= 10) std::fprintf(stderr, "wrong: %s\n", what.c_str());
  }
  size_t checked() const { return checked_; }
  size_t faults() const { return faults_; }
  size_t words() const { return words_; }

  void compare(const ApiWorld& world, const BothCiphertexts& both, const std::string& what) {
    const polykem_ckks_shape a = shape_of(both.here.get()), b = shape_of(both.there.get());
    expect(a.count == b.count && a.parts == b.parts && a.limbs == b.limbs && a.slots == b.slots && a.scale == b.scale,
           what + ", shape");
    expect(polykem_ckks_ciphertexts_place(both.there.get()) == 0 &&
               polykem_ckks_ciphertexts_words(both.there.get(), nullptr) == nullptr &&
               polykem_ckks_ciphertexts_place(both.here.get()) == -1,
           what + ", place");
    polykem_ckks_ciphertexts* back = nullptr;
    must(polykem_ckks_ciphertexts_to_host(both.there.get(), &back), "copying back");
    const CiphertextsHandle owner(back);
    const size_t count = a.count * a.parts * a.limbs * world.n();
    words_ += count;
    size_t got_count = 0, expected_count = 0;
    const uint64_t* const got = polykem_ckks_ciphertexts_words(back, &got_count);
    const uint64_t* const expected = polykem_ckks_ciphertexts_words(both.here.get(), &expected_count);
    expect(got_count == count && expected_count == count && std::equal(got, got + count, expected), what + ", words");
  }

  /// Runs call(there, &out) on the CPU and on the device. Results must be equal, or errors with empty results.
  template <typename Call>
  BothCiphertexts call(const ApiWorld& world, const std::string& what, const Call& call) {
    polykem_ckks_ciphertexts *here = nullptr, *there = nullptr;
    const polykem_ckks_status a = call(false, &here);
    const std::string text = a == POLYKEM_CKKS_OK ? "" : polykem_ckks_error_text();
    const polykem_ckks_status b = call(true, &there);
    BothCiphertexts out{CiphertextsHandle(here), CiphertextsHandle(there)};
    expect(a == b && (a == POLYKEM_CKKS_OK || text == polykem_ckks_error_text()),
           what + ", status: " + std::to_string(a) + " and " + std::to_string(b) +
               (b == POLYKEM_CKKS_OK ? "" : std::string(" ") + polykem_ckks_error_text()));
    if (here != nullptr && there != nullptr) compare(world, out, what);
    return out;
  }

 private:
  size_t checked_ = 0, faults_ = 0, words_ = 0;
};

/// Calls of the C API with operands in the place that `there` says.
class ApiCalls {
 public:
  ApiCalls(ApiWorld& world, ApiVerdict& verdict) : world_(world), verdict_(verdict) {}

  BothCiphertexts combine(polykem_ckks_operation operation, const BothCiphertexts& a, const BothCiphertexts& b) {
    return verdict_.call(world_, "combine " + std::to_string(operation), [&](bool there, auto** out) {
      return polykem_ckks_combine(world_.context(), operation, a.at(there), b.at(there), out);
    });
  }
  BothCiphertexts plain(polykem_ckks_operation operation, const BothCiphertexts& a, const BothPlaintexts& b) {
    return verdict_.call(world_, "combine_plain " + std::to_string(operation), [&](bool there, auto** out) {
      return polykem_ckks_combine_plain(world_.context(), operation, a.at(there), b.at(there), out);
    });
  }
  BothCiphertexts negate(const BothCiphertexts& a) {
    return verdict_.call(world_, "negate", [&](bool there, auto** out) {
      return polykem_ckks_negate(world_.context(), a.at(there), out);
    });
  }
  BothCiphertexts relinearise(const BothCiphertexts& a) {
    return verdict_.call(world_, "relinearise", [&](bool there, auto** out) {
      return polykem_ckks_relinearise(world_.context(), a.at(there), world_.key(there), out);
    });
  }
  BothCiphertexts automorphism(const BothCiphertexts& a, uint64_t g) {
    return verdict_.call(world_, "automorphism " + std::to_string(g), [&](bool there, auto** out) {
      return polykem_ckks_automorphism(world_.context(), a.at(there), g, world_.key(there), out);
    });
  }
  BothCiphertexts rescale(const BothCiphertexts& a) {
    return verdict_.call(world_, "rescale", [&](bool there, auto** out) {
      return polykem_ckks_rescale(world_.context(), a.at(there), out);
    });
  }
  BothCiphertexts keep_limbs(const BothCiphertexts& a, size_t limbs) {
    return verdict_.call(world_, "keep_limbs", [&](bool there, auto** out) {
      return polykem_ckks_keep_limbs(world_.context(), a.at(there), limbs, out);
    });
  }
  BothCiphertexts items(const BothCiphertexts& a, size_t first, size_t count) {
    return verdict_.call(world_, "items", [&](bool there, auto** out) {
      return polykem_ckks_items(world_.context(), a.at(there), first, count, out);
    });
  }
  BothCiphertexts with_scale(const BothCiphertexts& a, double scale) {
    return verdict_.call(world_, "with_scale", [&](bool there, auto** out) {
      return polykem_ckks_with_scale(world_.context(), a.at(there), scale, out);
    });
  }
  /// A polynomial of degree 3 on (-3, 1), with a constant.
  BothCiphertexts chebyshev(const BothCiphertexts& a) {
    constexpr double kCoefficients[8] = {0.5, 0, 0.25, 0.125, 0, 0, -1, 0};
    polykem_ckks_chebyshev* made = nullptr;
    must(polykem_ckks_chebyshev_new(kCoefficients, 4, -3, 1, &made), "a polynomial");
    const ChebyshevHandle polynomial(made);
    return verdict_.call(world_, "chebyshev_apply", [&](bool there, auto** out) {
      return polykem_ckks_chebyshev_apply(world_.context(), made, a.at(there), world_.key(there), 1, out);
    });
  }

  /// A matrix of three diagonals, for which both places have a transform.
  BothCiphertexts transform(const BothCiphertexts& a, size_t limbs) {
    constexpr long kNumbers[3] = {0, 1, -1};
    const std::vector<double> diagonals(3 * world_.n(), 0.5);
    polykem_ckks_transform *here = nullptr, *there = nullptr;
    must(polykem_ckks_transform_new(world_.context(), kNumbers, 3, diagonals.data(), world_.n() / 2, limbs, 1, &here),
         "a transform");
    must(polykem_ckks_transform_to_device(world_.device(), here, &there), "a transform on the device");
    const Both<TransformHandle> both{TransformHandle(here), TransformHandle(there)};
    return verdict_.call(world_, "transform_apply", [&](bool device, auto** out) {
      const polykem_ckks_switching_key* const keys[2] = {world_.key(device), world_.key(device)};
      return polykem_ckks_transform_apply(world_.context(), both.at(device), a.at(device), keys, 2, out);
    });
  }

  /// Runs all calls once.
  void every(size_t count, size_t limbs) {
    const BothCiphertexts a = random_ciphertexts(world_, count, 2, limbs),
                          b = random_ciphertexts(world_, count, 2, limbs);
    for (const auto operation : {POLYKEM_CKKS_ADD, POLYKEM_CKKS_SUB}) {
      combine(operation, a, b);
      combine(operation, a, a);
    }
    const BothCiphertexts product = combine(POLYKEM_CKKS_MUL, a, b);
    const BothPlaintexts one = random_plaintexts(world_, 1, world_.set().q_count),
                         each = random_plaintexts(world_, count, limbs),
                         longer = random_plaintexts(world_, count, world_.set().q_count);
    for (const auto operation : {POLYKEM_CKKS_ADD, POLYKEM_CKKS_SUB, POLYKEM_CKKS_MUL}) {
      plain(operation, a, one);
      plain(operation, a, each);
      plain(operation, a, longer);
      plain(operation, product, each);
    }
    negate(product);
    relinearise(product);
    relinearise(a);  // has two parts only
    automorphism(a, 5);
    automorphism(b, 2 * world_.n() - 1);
    automorphism(a, 4);  // is even
    rescale(a);
    rescale(product);
    keep_limbs(a, 1);
    keep_limbs(a, limbs + 1);
    items(product, count - 1, 1);
    items(a, 0, count);
    items(a, 1, count);
    items(a, 0, 0);
    with_scale(a, 3);
    transform(a, limbs);
    transform(a, world_.set().q_count);  // more limbs than the ciphertexts have, if they are fewer
    chebyshev(with_scale(a, std::exp2(world_.set().q_bits - 1)));
  }

  /// Runs `depth` random operations on existing objects, including errors.
  void circuit(size_t count, size_t depth) {
    std::mt19937_64& random = world_.random();
    std::vector<BothCiphertexts> known;
    for (int i = 0; i < 2; ++i)
      known.push_back(random_ciphertexts(world_, count, 2, world_.set().q_count));
    const BothPlaintexts number = random_plaintexts(world_, 1, world_.set().q_count);
    for (size_t step = 0; step < depth; ++step) {
      const BothCiphertexts &a = known[random() % known.size()], &b = known[random() % known.size()];
      BothCiphertexts out = next(random() % 9, a, b, number);
      if (out.there == nullptr) continue;
      out = with_scale(out, kApiScale);
      if (shape_of(out.here.get()).parts == 3) out = relinearise(out);
      if (known.size() < 4)
        known.push_back(std::move(out));
      else
        known[random() % known.size()] = std::move(out);
    }
  }

 private:
  BothCiphertexts next(size_t which, const BothCiphertexts& a, const BothCiphertexts& b, const BothPlaintexts& number) {
    const uint64_t g = world_.random()() % world_.n() * 2 + 1;
    const size_t limbs = shape_of(a.here.get()).limbs;
    switch (which) {
      case 0:
        return combine(POLYKEM_CKKS_ADD, a, b);
      case 1:
        return combine(POLYKEM_CKKS_SUB, a, b);
      case 2:
        return combine(POLYKEM_CKKS_MUL, a, b);
      case 3:
        return plain(POLYKEM_CKKS_ADD, a, number);
      case 4:
        return plain(POLYKEM_CKKS_MUL, a, number);
      case 5:
        return negate(a);
      case 6:
        return automorphism(a, g);
      case 7:
        return rescale(a);
      default:
        return keep_limbs(a, std::max<size_t>(limbs, 2) - 1);
    }
  }

  ApiWorld& world_;
  ApiVerdict& verdict_;
};

}  // namespace polykem::ckks::test
