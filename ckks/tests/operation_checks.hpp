// SPDX-License-Identifier: Apache-2.0
// Compares every operation of ckks/src/cuda/kernels.hpp but the transform with simple loops. Also compiled for a CPU.
#pragma once

#include <initializer_list>
#include <memory>

#include "ntt_checks.hpp"

namespace polykem::ckks::test {

/// A level of a chain of primes: `limbs` of Q, then `specials` of P; the keys also have `unused` limbs of Q.
struct Shape {
  uint32_t limbs, specials, digit_limbs, ciphertexts, unused = 1;
  uint32_t digits() const { return (limbs + digit_limbs - 1) / digit_limbs; }
  uint32_t rows() const { return limbs + specials; }
  uint32_t key_limbs() const { return limbs + unused + specials; }
  /// Returns the index of a row's prime; unused limbs are before P.
  uint8_t prime(uint32_t row) const { return static_cast<uint8_t>(row < limbs ? row : row + unused); }
  cuda::RowMap map(uint32_t count) const {
    cuda::RowMap result;
    result.count = count;
    for (uint32_t row = 0; row < count; ++row)
      result.prime[row] = prime(row);
    return result;
  }
};

/// The tables of one conversion in device memory.
template <class Word>
struct DeviceConversion {
  DeviceConversion(const std::vector<PrimeRoot>& primes, const std::vector<uint8_t>& sources,
                   const cuda::RowMap& targets)
      : DeviceConversion(cuda::make_conversion<Word>(primes, sources, targets)) {}
  explicit DeviceConversion(const cuda::HostConversion<Word>& host)
      : hat_inverse(host.hat_inverse), matrix(host.matrix), fragments(host.fragments) {
    conversion = {host.sources, host.targets, {}, hat_inverse.get(), matrix.get(), fragments.get()};
    std::copy(host.source_primes.begin(), host.source_primes.end(), conversion.source_prime);
  }
  DeviceArray<cuda::Factor<Word>> hat_inverse;
  DeviceArray<Word> matrix;
  DeviceArray<uint32_t> fragments;
  cuda::Conversion<Word> conversion;
};

/// The data of key switching at one level.
template <class Word>
struct DeviceKeySwitch {
  DeviceKeySwitch(const std::vector<PrimeRoot>& primes, const Shape& shape) {
    const cuda::RowMap all = shape.map(shape.rows());
    cuda::RowMap key_limb;
    std::vector<uint8_t> special;
    std::vector<uint64_t> special_moduli;
    for (uint32_t row = 0; row < shape.rows(); ++row)
      key_limb.prime[row] = shape.prime(row);  // the keys' limbs are all primes in order
    for (uint32_t row = shape.limbs; row < shape.rows(); ++row) {
      special.push_back(all.prime[row]);
      special_moduli.push_back(primes[all.prime[row]].q);
    }
    for (uint32_t digit = 0; digit < shape.digits(); ++digit) {
      cuda::RowMap targets = all;
      std::vector<uint8_t> sources;
      for (uint32_t row = digit * shape.digit_limbs; row < std::min(shape.limbs, (digit + 1) * shape.digit_limbs);
           ++row) {
        sources.push_back(all.prime[row]);
        targets.prime[row] = cuda::RowMap::kSkip;
      }
      conversions.push_back(std::make_unique<DeviceConversion<Word>>(primes, sources, targets));
      up.push_back(conversions.back()->conversion);
    }
    down = std::make_unique<DeviceConversion<Word>>(primes, special, shape.map(shape.limbs));
    std::vector<cuda::Factor<Word>> inverse;
    for (uint32_t limb = 0; limb < shape.limbs; ++limb) {
      const uint64_t q = primes[limb].q;
      inverse.push_back(cuda::make_factor<Word>(cuda::inverse_mod(cuda::product_mod(special_moduli, -1, q), q), q));
    }
    inverse_special = std::make_unique<DeviceArray<cuda::Factor<Word>>>(inverse);
    keys = {{all, key_limb, shape.limbs, shape.digits(), shape.digit_limbs, shape.key_limbs()},
            up.data(),
            &down->conversion,
            inverse_special->get()};
  }
  std::vector<std::unique_ptr<DeviceConversion<Word>>> conversions;
  std::vector<cuda::Conversion<Word>> up;
  std::unique_ptr<DeviceConversion<Word>> down;
  std::unique_ptr<DeviceArray<cuda::Factor<Word>>> inverse_special;
  cuda::KeySwitch<Word> keys;
};

/// Polynomials [polynomial][row][N] of residues on the host.
struct Rows {
  size_t n;
  std::vector<Residues> row;
  Residues flat() const {
    Residues result;
    for (const Residues& r : row)
      result.insert(result.end(), r.begin(), r.end());
    return result;
  }
};

/// Operations of one type of words, N and shape: inputs, device copies, and expected results.
template <class Word>
class OperationCheck {
 public:
  OperationCheck(const DeviceTables<Word>& device, const Shape& shape, Verdict& verdict)
      : device_(device), shape_(shape), verdict_(verdict), n_(size_t{1} << device.tables.log_n) {}

  void run(Fill fill) {
    fill_ = fill;
    elementwise();
    tensor();
    automorphism();
    rescale();
    for (cuda::Unit unit : {cuda::Unit::kInteger, cuda::Unit::kImma}) {
      mod_up(unit);
      mod_down(unit);
    }
    key_products();
  }
  void key_products() {
    key_product(true);
    key_product(false);
  }

 private:
  using Array = DeviceArray<Word>;
  static constexpr cudaStream_t kStream = nullptr;

  uint64_t q(uint32_t row) const { return device_.roots[shape_.prime(row)].q; }
  const PrimeRoot& root(uint32_t row) const { return device_.roots[shape_.prime(row)]; }

  /// `count` polynomials of `rows` rows, the first of which is row number `first` of the shape.
  Rows make(size_t count, uint32_t rows, uint32_t first = 0) {
    Rows result{n_, {}};
    for (size_t p = 0; p < count; ++p) {
      for (uint32_t r = 0; r < rows; ++r)
        result.row.push_back(make_residues(n_, q(first + r), fill_, random_));
    }
    return result;
  }

  void expect(const char* what, const Array& got, const std::vector<Residues>& want) {
    const std::vector<Word> words = got.download();
    const std::string name = describe<Word>(what, device_.tables.log_n);
    for (size_t row = 0; row < want.size(); ++row) {
      for (size_t i = 0; i < want[row].size(); ++i)
        verdict_.compare(name, words[row * n_ + i], want[row][i], row * n_ + i);
    }
  }

  template <class Op>
  Residues each(const Residues& a, const Residues& b, const Op& op) const {
    Residues result(n_);
    for (size_t i = 0; i < n_; ++i)
      result[i] = op(a[i], b[i]);
    return result;
  }

  void elementwise() {
    const uint32_t limbs = shape_.limbs;
    const cuda::RowMap map = shape_.map(limbs);
    const size_t polynomials = 2 * shape_.ciphertexts, rows = polynomials * limbs;
    const Rows a = make(polynomials, limbs), b = make(polynomials, limbs);
    const Array da(narrow<Word>(a.flat())), db(narrow<Word>(b.flat()));
    Array out(rows * n_);
    std::vector<Residues> sum, difference, minus, plain_sum, product;
    for (size_t r = 0; r < rows; ++r) {
      const uint64_t m = q(r % limbs);
      const auto plus = [m](uint64_t x, uint64_t y) { return (x + y) % m; };
      const auto times = [m](uint64_t x, uint64_t y) { return multiply_mod(x, y, m); };
      sum.push_back(each(a.row[r], b.row[r], plus));
      difference.push_back(each(a.row[r], b.row[r], [m](uint64_t x, uint64_t y) { return (x + m - y) % m; }));
      minus.push_back(each(a.row[r], b.row[r], [m](uint64_t x, uint64_t) { return (m - x) % m; }));
      plain_sum.push_back(each(a.row[r], b.row[r % limbs], plus));
      product.push_back(each(a.row[r], b.row[r / (2 * limbs) * limbs + r % limbs], times));
    }
    const auto& t = device_.tables;
    check(cuda::add(out.get(), da.get(), db.get(), rows, map, t, kStream), "add");
    expect("add", out, sum);
    check(cuda::subtract(out.get(), da.get(), db.get(), rows, map, t, kStream), "subtract");
    expect("subtract", out, difference);
    check(cuda::negate(out.get(), da.get(), rows, map, t, kStream), "negate");
    expect("negate", out, minus);
    check(cuda::add_plain(out.get(), da.get(), db.get(), rows, rows, map, t, kStream), "add_plain");
    expect("add_plain", out, plain_sum);
    check(cuda::multiply_plain(out.get(), da.get(), db.get(), rows, 2 * limbs, map, t, kStream), "multiply_plain");
    expect("multiply_plain", out, product);
  }

  void tensor() {
    const uint32_t limbs = shape_.limbs;
    const Rows a = make(2 * shape_.ciphertexts, limbs), b = make(2 * shape_.ciphertexts, limbs);
    const Array da(narrow<Word>(a.flat())), db(narrow<Word>(b.flat()));
    Array out(size_t{3} * shape_.ciphertexts * limbs * n_);
    std::vector<Residues> want;
    for (uint32_t c = 0; c < shape_.ciphertexts; ++c) {
      for (uint32_t part = 0; part < 3; ++part) {
        for (uint32_t l = 0; l < limbs; ++l) {
          const auto times = [m = q(l)](uint64_t x, uint64_t y) { return multiply_mod(x, y, m); };
          const auto plus = [m = q(l)](uint64_t x, uint64_t y) { return (x + y) % m; };
          const auto &a0 = a.row[2 * c * limbs + l], &a1 = a.row[(2 * c + 1) * limbs + l];
          const auto &b0 = b.row[2 * c * limbs + l], &b1 = b.row[(2 * c + 1) * limbs + l];
          want.push_back(part == 0   ? each(a0, b0, times)
                         : part == 2 ? each(a1, b1, times)
                                     : each(each(a0, b1, times), each(a1, b0, times), plus));
        }
      }
    }
    check(cuda::tensor(out.get(), da.get(), db.get(), shape_.ciphertexts, shape_.map(limbs), device_.tables, kStream),
          "tensor");
    expect("tensor", out, want);
  }

  void automorphism() {
    const Rows a = make(1, shape_.limbs);
    for (uint32_t exponent : {5u, static_cast<uint32_t>(2 * n_ - 1), 3125u}) {
      std::vector<Residues> transformed, want;
      for (uint32_t l = 0; l < shape_.limbs; ++l) {
        transformed.push_back(a.row[l]);
        want.push_back(reference_automorphism(a.row[l], exponent, q(l)));
        reference_ntt(transformed.back(), root(l));
        reference_ntt(want.back(), root(l));
      }
      const Array input(narrow<Word>(Rows{n_, transformed}.flat()));
      Array out(input.size());
      check(cuda::automorphism(out.get(), input.get(), exponent, shape_.limbs, shape_.map(shape_.limbs),
                               device_.tables.log_n, kStream),
            "automorphism");
      expect("automorphism", out, want);
    }
  }

  void rescale() {
    const uint32_t limbs = shape_.limbs;
    const Rows a = make(2, limbs);
    const uint64_t last = q(limbs - 1);
    std::vector<cuda::Factor<Word>> inverse;
    std::vector<Residues> want;
    for (uint32_t row = 0; row < 2 * limbs; ++row) {
      const uint32_t l = row % limbs;
      const uint64_t m = q(l);
      if (l + 1 == limbs) continue;
      const uint64_t factor = cuda::inverse_mod(last, m);
      if (row < limbs) inverse.push_back(cuda::make_factor<Word>(factor, m));
      Residues r = a.row[row - l + limbs - 1];
      reference_intt(r, root(limbs - 1));
      for (uint64_t& x : r)
        x = x > last / 2 ? (m - (last - x) % m) % m : x % m;
      reference_ntt(r, root(l));
      want.push_back(
          each(a.row[row], r, [&](uint64_t x, uint64_t y) { return multiply_mod((x + m - y) % m, factor, m); }));
    }
    const Array input(narrow<Word>(a.flat()));
    Array out(want.size() * n_), scratch(2 * n_);
    const DeviceArray<cuda::Factor<Word>> factors(inverse);
    check(cuda::rescale(out.get(), input.get(), scratch.get(), 2, shape_.map(limbs), factors.get(), device_.tables,
                        kStream),
          "rescale");
    expect("rescale", out, want);
  }

  /// Converts residues modulo the primes of rows [first, first + count) to row `target`, by definition.
  Residues converted(const Residues* sources, uint32_t first, uint32_t count, uint32_t target) const {
    std::vector<uint64_t> moduli;
    for (uint32_t i = 0; i < count; ++i)
      moduli.push_back(q(first + i));
    Residues result(n_);
    const uint64_t p = q(target);
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t inverse = cuda::inverse_mod(cuda::product_mod(moduli, static_cast<int>(i), moduli[i]), moduli[i]);
      const uint64_t hat = cuda::product_mod(moduli, static_cast<int>(i), p);
      for (size_t k = 0; k < n_; ++k)
        result[k] = (result[k] + multiply_mod(multiply_mod(sources[i][k], inverse, moduli[i]) % p, hat, p)) % p;
    }
    return result;
  }

  void mod_up(cuda::Unit unit) {
    const uint32_t limbs = shape_.limbs, parts = 3;
    const Rows a = make(parts * shape_.ciphertexts, limbs);
    std::vector<Residues> want;
    for (uint32_t c = 0; c < shape_.ciphertexts; ++c) {
      const auto part = a.row.begin() + ((c + 1) * parts - 1) * limbs;
      std::vector<Residues> coefficients(part, part + limbs);
      for (uint32_t l = 0; l < limbs; ++l)
        reference_intt(coefficients[l], root(l));
      for (uint32_t digit = 0; digit < shape_.digits(); ++digit) {
        const uint32_t first = digit * shape_.digit_limbs, count = std::min(shape_.digit_limbs, limbs - first);
        for (uint32_t row = 0; row < shape_.rows(); ++row) {
          if (row >= first && row < first + count) {
            want.push_back({});  // left alone
            continue;
          }
          want.push_back(converted(&coefficients[first], first, count, row));
          reference_ntt(want.back(), root(row));
        }
      }
    }
    const DeviceKeySwitch<Word> keys(device_.roots, shape_);
    const Array input(narrow<Word>(a.flat()));
    Array digits(want.size() * n_), scratch(shape_.ciphertexts * limbs * n_);
    check(cuda::mod_up(unit, digits.get(), input.get(), parts, scratch.get(), shape_.ciphertexts, keys.keys,
                       device_.tables, kStream),
          "mod_up");
    expect(unit == cuda::Unit::kImma ? "mod_up, imma" : "mod_up", digits, want);
  }

  void mod_down(cuda::Unit unit) {
    const uint32_t limbs = shape_.limbs, all = shape_.rows();
    const Rows a = make(2 * shape_.ciphertexts, all), addend = make(3 * shape_.ciphertexts, limbs);
    std::vector<uint64_t> special;
    for (uint32_t row = limbs; row < all; ++row)
      special.push_back(q(row));
    std::vector<Residues> want;
    for (uint32_t polynomial = 0; polynomial < 2 * shape_.ciphertexts; ++polynomial) {
      std::vector<Residues> coefficients;
      for (uint32_t row = limbs; row < all; ++row) {
        coefficients.push_back(a.row[polynomial * all + row]);
        reference_intt(coefficients.back(), root(row));
      }
      for (uint32_t l = 0; l < limbs; ++l) {
        const uint64_t m = q(l), factor = cuda::inverse_mod(cuda::product_mod(special, -1, m), m);
        Residues x = converted(coefficients.data(), limbs, shape_.specials, l);
        reference_ntt(x, root(l));
        x = each(a.row[polynomial * all + l], x,
                 [&](uint64_t s, uint64_t t) { return multiply_mod((s + m - t) % m, factor, m); });
        if (polynomial % 2 == 0)
          x = each(x, addend.row[polynomial / 2 * 3 * limbs + l], [m](uint64_t s, uint64_t t) { return (s + t) % m; });
        want.push_back(x);
      }
    }
    const DeviceKeySwitch<Word> keys(device_.roots, shape_);
    const Array input(narrow<Word>(a.flat())), more(narrow<Word>(addend.flat()));
    Array out(want.size() * n_), scratch(out.size());
    check(cuda::mod_down(unit, out.get(), input.get(), scratch.get(), {more.get(), 3, 1}, shape_.ciphertexts, keys.keys,
                         device_.tables, kStream),
          "mod_down");
    expect(unit == cuda::Unit::kImma ? "mod_down, imma" : "mod_down", out, want);
  }

  void key_product(bool with_own) {
    const uint32_t all = shape_.rows(), limbs = shape_.limbs, digits = shape_.digits(), own_parts = 3;
    const Rows a = make(shape_.ciphertexts * digits, all), own = make(shape_.ciphertexts * own_parts, limbs);
    Rows keys{n_, {}};
    for (uint32_t row = 0; row < digits * 2 * shape_.key_limbs(); ++row)
      keys.row.push_back(make_residues(n_, device_.roots[row % shape_.key_limbs()].q, fill_, random_));
    std::vector<Residues> want;
    for (uint32_t c = 0; c < shape_.ciphertexts; ++c) {
      for (uint32_t part = 0; part < 2; ++part) {
        for (uint32_t row = 0; row < all; ++row) {
          Residues sum(n_);
          for (uint32_t d = 0; d < digits; ++d) {
            const bool is_own = with_own && row < limbs && row / shape_.digit_limbs == d;
            const Residues& digit =
                is_own ? own.row[(c * own_parts + own_parts - 1) * limbs + row] : a.row[(c * digits + d) * all + row];
            const Residues& key = keys.row[(d * 2 + part) * shape_.key_limbs() + shape_.prime(row)];
            for (size_t i = 0; i < n_; ++i)
              sum[i] = (sum[i] + multiply_mod(digit[i], key[i], q(row))) % q(row);
          }
          want.push_back(sum);
        }
      }
    }
    const DeviceKeySwitch<Word> tables(device_.roots, shape_);
    const Array da(narrow<Word>(a.flat())), downs(narrow<Word>(own.flat())), dk(narrow<Word>(keys.flat()));
    Array out(want.size() * n_);
    check(cuda::key_product(out.get(), da.get(), with_own ? downs.get() : nullptr, own_parts, dk.get(),
                            shape_.ciphertexts, tables.keys.rows, device_.tables, kStream),
          "key_product");
    expect("key_product", out, want);
  }

  const DeviceTables<Word>& device_;
  Shape shape_;
  Verdict& verdict_;
  size_t n_;
  Fill fill_ = Fill::kRandom;
  std::mt19937_64 random_{7};
};

/// Checks all operations with chains of this many primes of `bits` bits.
template <class Word>
void check_operations(int log_n, int bits, const Shape& shape, std::initializer_list<Fill> fills, Verdict& verdict) {
  const DeviceTables<Word> device(log_n, make_primes(static_cast<int>(shape.key_limbs()), bits, log_n));
  OperationCheck<Word> check_of(device, shape, verdict);
  for (Fill fill : fills)
    check_of.run(fill);
}

}  // namespace polykem::ckks::test
