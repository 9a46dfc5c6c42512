// SPDX-License-Identifier: Apache-2.0
// Measures one core: the library's transform and evaluator, which compute with 64-bit words.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include "ckks/src/encoding.hpp"
#include "ckks/src/evaluator.hpp"
#include "ckks/src/keys.hpp"
#include "ckks/src/primes.hpp"
#include "research/lab/cpu/cpu_job.hpp"
#include "research/lab/text.hpp"
#include "work.hpp"

namespace polykem::ckks::lab {

namespace {

/// Returns the lower quartile of many calls, as for all figures of a core.
template <class Call>
double seconds_of(double budget, const Call& call) {
  struct Job : polykem::lab::CpuJob {
    explicit Job(const Call& to_call) : call(to_call) {}
    void run() override { call(); }
    void read(uint16_t*) override {}
    const Call& call;
  };
  return Job(call).seconds(budget);
}

std::vector<uint64_t> random_words(size_t count, uint64_t q, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<uint64_t> residue(0, q - 1);
  std::vector<uint64_t> words(count);
  std::generate(words.begin(), words.end(), [&] { return residue(random); });
  return words;
}

Ntt make_ntt(unsigned log_n, unsigned bits) {
  const uint64_t q = find_primes(log_n, bits, 1, {}).front();
  return {log_n, q, min_root(log_n, q)};
}

/// Prints an error on standard error.
void say_fault(const std::string& what, const std::string& where) {
  std::fprintf(stderr, "%s on cpu: %s\n", what.c_str(), where.c_str());
}

/// Compares some values of the transform of `a` with those of the polynomial, and all coefficients after the inverse.
void check_transform(const Ntt& ntt, unsigned log_n, const std::vector<uint64_t>& a, bool planted, Checked& checked) {
  const Modulus& q = ntt.modulus();
  std::vector<uint64_t> values = a;
  ntt.forward(values.data());
  const std::string what = (planted ? "ntt, planted_error, 2^" : "ntt, 2^") + std::to_string(log_n);
  if (planted) values.back() ^= 1;
  for (size_t i : {size_t{0}, size_t{1}, a.size() / 2 + 3, a.size() - 2, a.size() - 1}) {
    const uint64_t x = q.pow(ntt.psi(), 2 * bit_reverse(i, log_n) + 1);
    uint64_t want = 0;
    for (size_t k = a.size(); k-- > 0;)
      want = q.add(q.mul(want, x), a[k]);
    ++checked.compared;
    if (values[i] == want) continue;
    ++checked.wrong;
    say_fault(what,
              "value " + std::to_string(i) + " is " + std::to_string(values[i]) + ", not " + std::to_string(want));
  }
  ntt.inverse(values.data());
  checked.compared += a.size();
  if (values == a) return;
  ++checked.wrong;
  say_fault("i" + what, "not the polynomial again");
}

void check_transforms(const Request& request, Checked& checked) {
  for (const int log_n : request.log_ns) {
    for (const unsigned bits : {31, 60}) {
      const Ntt ntt = make_ntt(static_cast<unsigned>(log_n), bits);
      const uint64_t q = ntt.modulus().value();
      const size_t n = size_t{1} << log_n;
      check_transform(ntt, static_cast<unsigned>(log_n), random_words(n, q, bits), false, checked);
      check_transform(ntt, static_cast<unsigned>(log_n), std::vector<uint64_t>(n, q - 1), request.planted_error,
                      checked);
    }
  }
}

/// Keys and two ciphertexts of one chain of primes, on one thread.
class Chain {
 public:
  Chain(unsigned log_n, const Level& level, unsigned bits)
      : level_(level),
        bits_(bits),
        context_(make_params(log_n, level, bits)),
        secret_(make_secret_key(context_, drbg_)),
        public_(make_public_key(context_, secret_, drbg_)),
        square_key_(make_relinearisation_key(context_, secret_, drbg_)),
        rotation_(rotation_element(context_, 1)),
        rotation_key_(make_automorphism_key(context_, secret_, rotation_, drbg_)),
        x_(message(1)),
        y_(message(2)),
        plain_(encoded(y_)),
        a_(encrypt(context_, public_, encoded(x_), drbg_)),
        b_(encrypt(context_, public_, plain_, drbg_)) {}

  struct Operation {
    const char* name;
    Cost cost;
    std::function<Ciphertexts()> run;
    std::function<Complex(size_t slot)> want;
  };

  std::vector<Operation> operations() const {
    const Work work(static_cast<int>(context_.log_n()), 8, kCore, level_);
    return {
        {"hadd", work.add(), [this] { return add(context_, a_, b_); }, [this](size_t i) { return x_[i] + y_[i]; }},
        {"hsub", work.add(), [this] { return sub(context_, a_, b_); }, [this](size_t i) { return x_[i] - y_[i]; }},
        {"plain_add", work.add_plain(), [this] { return add_plain(context_, a_, plain_); },
         [this](size_t i) { return x_[i] + y_[i]; }},
        {"plain_mul", work.multiply_plain(), [this] { return mul_plain(context_, a_, plain_); },
         [this](size_t i) { return x_[i] * y_[i]; }},
        {"tensor", work.tensor(), [this] { return mul(context_, a_, b_); }, [this](size_t i) { return x_[i] * y_[i]; }},
        {"rescale", work.rescale(), [this] { return rescale(context_, a_); }, [this](size_t i) { return x_[i]; }},
        {"hmult", work.hmult(false), [this] { return relinearise(context_, mul(context_, a_, b_), square_key_); },
         [this](size_t i) { return x_[i] * y_[i]; }},
        {"hrotate", work.hrotate(false), [this] { return automorphism(context_, a_, rotation_, rotation_key_); },
         [this](size_t i) { return x_[(i + 1) % x_.size()]; }},
    };
  }

  /// Decrypts the result of an operation. A wrong residue would change every slot completely; the noise of the
  /// smallest scale stays below 2^-6.
  void check(const Operation& operation, Checked& checked) const {
    const Plaintexts plain = decrypt(context_, secret_, operation.run());
    std::vector<Complex> slots(plain.slots);
    decode(context_, plain, 0, slots);
    double max_difference = 0;
    for (size_t i = 0; i < slots.size(); ++i)
      max_difference = std::max(max_difference, std::abs(slots[i] - operation.want(i)));
    checked.compared += slots.size();
    if (max_difference < 0x1p-6) return;
    ++checked.wrong;
    say_fault(operation.name, "a slot is off by " + std::to_string(max_difference));
  }

  const Level& level() const { return level_; }
  unsigned bits() const { return bits_; }
  int log_n() const { return static_cast<int>(context_.log_n()); }

 private:
  static Params make_params(unsigned log_n, const Level& level, unsigned bits) {
    Params params;
    params.log_n = log_n;
    params.q = find_primes(log_n, bits, level.limbs + level.specials, {});
    if (params.q.size() != level.limbs + level.specials) throw std::runtime_error("there are not that many primes");
    // Special primes must not be smaller than those of a digit.
    std::sort(params.q.begin(), params.q.end());
    params.p.assign(params.q.begin() + level.limbs, params.q.end());
    params.q.resize(level.limbs);
    params.digits = level.digits();
    params.threads = 1;
    return params;
  }
  /// The square of a prime, of which a rescaling leaves enough.
  double scale() const { return std::ldexp(1, static_cast<int>(std::min(2 * bits_, 90u))); }
  std::vector<Complex> message(uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> number(-1, 1);
    std::vector<Complex> values(context_.n() / 2);
    for (Complex& z : values)
      z = {number(random), number(random)};
    return values;
  }
  Plaintexts encoded(const std::vector<Complex>& values) const {
    return encode(context_, values, values.size(), context_.limbs(), scale());
  }

  Level level_;
  unsigned bits_;
  Context context_;
  Drbg drbg_;
  SecretKey secret_;
  PublicKey public_;
  SwitchingKey square_key_;
  uint64_t rotation_;
  SwitchingKey rotation_key_;
  std::vector<Complex> x_, y_;
  Plaintexts plain_;
  Ciphertexts a_, b_;
};

/// Measures 64-bit products of double width per second, in eight independent chains.
double multiplications() {
  constexpr size_t kSteps = 200000, kChains = 8;
  uint64_t x[kChains];
  std::iota(x, x + kChains, 3);
  const double seconds = seconds_of(0.05, [&] {
    for (size_t i = 0; i < kSteps; ++i) {
      for (uint64_t& y : x) {
        const auto wide = static_cast<unsigned __int128>(y) * 0x9e3779b97f4a7c15;
        y = static_cast<uint64_t>(wide >> 64) + static_cast<uint64_t>(wide);
      }
    }
  });
  volatile uint64_t sink = std::accumulate(x, x + kChains, uint64_t{0});
  (void)sink;
  return kSteps * kChains / seconds;
}

double copied_bytes() {
  constexpr size_t kBytes = size_t{64} << 20;
  const std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes);
  return 2.0 * kBytes / seconds_of(0.1, [&] { std::memcpy(to.data(), from.data(), kBytes); });
}

class Core : public Device {
 public:
  std::string name() const override { return polykem::lab::cpu_name(); }

  Checked check(const Request& request) override {
    Checked checked;
    check_transforms(request, checked);
    for_each_chain(request, [&](const Chain& chain) {
      for (const Chain::Operation& operation : chain.operations()) {
        if (request.wants(operation.name)) chain.check(operation, checked);
      }
    });
    return checked;
  }

  Rates rates() override {
    Rates rates;
    rates.bytes = copied_bytes();
    rates.slots = multiplications();
    return rates;
  }

  void time(const Request& request, const std::function<void(const Row&)>& add) override {
    for (const unsigned bits : {31, 60}) {
      for (const int log_n : request.log_ns)
        time_transforms(request, log_n, bits, add);
    }
    for_each_chain(request, [&](const Chain& chain) {
      for (const Chain::Operation& operation : chain.operations()) {
        if (!request.wants(operation.name)) continue;
        Row row = row_of(operation.name, chain.log_n(), chain.bits(), operation.cost);
        row.level = chain.level();
        row.seconds = seconds_of(request.seconds, operation.run);
        add(row);
      }
    });
  }

 private:
  static Row row_of(const std::string& operation, int log_n, unsigned bits, const Cost& cost) {
    Row row;
    row.operation = operation;
    row.on = "cpu";
    row.unit = "integer";
    row.log_n = log_n;
    row.bits = static_cast<int>(bits);
    row.cost = cost;
    row.used = true;
    return row;
  }

  static void time_transforms(const Request& request, int log_n, unsigned bits,
                              const std::function<void(const Row&)>& add) {
    if (!request.wants("ntt") && !request.wants("intt")) return;
    const Ntt ntt = make_ntt(static_cast<unsigned>(log_n), bits);
    std::vector<uint64_t> row_words = random_words(size_t{1} << log_n, ntt.modulus().value(), 1);
    for (const char* operation : {"ntt", "intt"}) {
      if (!request.wants(operation)) continue;
      // A row stays in the caches, so the multiplier is the bound.
      Cost cost = Work(log_n, 8, kCore).transform();
      cost.bytes = 0;
      Row row = row_of(operation, log_n, bits, cost);
      row.form = rows().name;
      row.level.limbs = 1;
      const bool forward = std::strcmp(operation, "ntt") == 0;
      row.seconds = seconds_of(request.seconds, [&] {
        if (forward) {
          ntt.forward(row_words.data());
        } else {
          ntt.inverse(row_words.data());
        }
      });
      add(row);
    }
  }

  /// The chains of the GPU's figures. They are kept from the check to the measurement, because their keys take seconds.
  template <class Visit>
  void for_each_chain(const Request& request, const Visit& visit) {
    static constexpr const char* kNames[] = {"hadd",   "hsub",    "plain_add", "plain_mul",
                                             "tensor", "rescale", "hmult",     "hrotate"};
    if (std::none_of(std::begin(kNames), std::end(kNames), [&](const char* name) { return request.wants(name); }))
      return;
    const auto log_n = static_cast<unsigned>(request.log_ns.back());
    if (chains_.empty()) {
      chains_.push_back(std::make_unique<Chain>(log_n, Level{48, 12, 12}, 31));
      chains_.push_back(std::make_unique<Chain>(log_n, Level{24, 6, 6}, 60));
    }
    for (const auto& chain : chains_)
      visit(*chain);
  }

  std::vector<std::unique_ptr<Chain>> chains_;
};

}  // namespace

Device& open_core() {
  static Core core;
  return core;
}

}  // namespace polykem::ckks::lab
