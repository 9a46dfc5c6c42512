// SPDX-License-Identifier: Apache-2.0
// The host's part: matrices in its memory, the same computation on one core, and results.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bench/cuda/common.hpp"
#include "bench/frodo_scaling/matrix.hpp"
#include "core/backend.hpp"
#include "schemes/frodo/gen_a.hpp"

namespace polykem::frodo {

// A library that is built without vector code has none of them.
extern const Kernels kKernelsAvx2 [[gnu::weak]], kKernelsAvx512 [[gnu::weak]];

}  // namespace polykem::frodo

namespace polykem::bench {

/// The paper's six parts of an operation. The part of AES is the generation of A, by either function.
enum Part { kRandom, kShake, kGenA, kProduct, kSampling, kRest, kParts };
inline constexpr const char* kPartNames[kParts] = {"randomness", "shake", "a", "product", "sampling", "rest"};

using PartTimes = std::vector<double>;  ///< microseconds per item, by Part

inline Part part_of(const std::string& stage) {
  if (stage == "randombytes") return kRandom;
  if (stage.rfind("shake", 0) == 0) return kShake;
  if (stage == "gen_a") return kGenA;
  if (stage.find("matmul") != std::string::npos) return kProduct;  // "gen_a.matmul.as" too: A as it is multiplied
  return stage == "sample_matrix" ? kSampling : kRest;
}

/// One operation of a set. On the GPU "shake" includes sampling and "product" includes A, since a kernel does both.
struct ProfileRow {
  std::string set;
  Op op;
  size_t items, cpu_items;
  double gpu_whole;  ///< microseconds per item of the operation as it is launched
  PartTimes gpu, cpu;
};

/// Milliseconds for one matrix A alone, and for one of a batch.
struct GenerationRow {
  std::string function;  ///< "aes" or "shake"
  size_t n, batch;
  double gpu_one, gpu_many, cpu;
};

/// Milliseconds for S' A, where S' is m x n and A is n x n.
struct ProductRow {
  size_t n, m;
  double gpu, cpu;
};

struct PaperReport {
  std::string device, cpu_backend;
  std::vector<ProfileRow> profile;
  std::vector<GenerationRow> generation;
  std::vector<ProductRow> products;
};

/// Computes on one core with the best instruction set of this machine.
class Core {
 public:
  const char* name = "ref";

  Core() {
#ifdef __x86_64__
    for (const auto& [candidate, kernels] :
         {std::pair{"avx2", &frodo::kKernelsAvx2}, std::pair{"avx512", &frodo::kKernelsAvx512}}) {
      if (cpu_backend_available(candidate)) name = candidate, kernels_ = kernels;
    }
#endif
  }

  /// Generates all of A. With `tile` all rows go to one place, as in FrodoKEM; otherwise every row is kept.
  void generate(const Matrix& out, bool tile, frodo::GenA gen_a, const uint8_t* seed, size_t n) const {
    for (size_t first = 0; first < n; first += frodo::kMaxGeneratedRows) {
      const size_t rows = std::min(frodo::kMaxGeneratedRows, n - first);
      generate_rows(out.from_row(tile ? 0 : first), gen_a, *kernels_, seed, {first, rows, n});
    }
  }

  /// Computes c = s a, with `step` rows of A at a time.
  void multiply(Matrix& c, const Matrix& s, const Matrix& a, size_t m, size_t n, size_t step) const {
    c.clear();
    for (size_t first = 0; first < n; first += step)
      kernels_->matmul.mul_add(c.view(), Matrix16{s.view().data + first, s.view().stride}, a.from_row(first),
                               {.rows = m, .inner = std::min(step, n - first), .columns = n});
  }

 private:
  const frodo::Kernels* kernels_ = &frodo::kKernelsRef;
};

/// Returns the profile of one core: the parts of the fastest of several batches.
inline PartTimes cpu_profile(const Core& core, const Set& set, Op op, size_t items) {
  const polykem_config config{sizeof config, 1, core.name};
  polykem_context* context = nullptr;
  check(polykem_context_new(&config, &context), "opening the CPU backend");
  std::vector<uint8_t> pk(items * set.info.public_key_bytes), sk(items * set.info.secret_key_bytes),
      ct(items * set.info.ciphertext_bytes), ss(items * set.info.shared_secret_bytes);
  const auto keygen = [&] { check(polykem_keygen(context, set.scheme, items, pk.data(), sk.data()), set.name()); };
  const auto encaps = [&] {
    check(polykem_encaps(context, set.scheme, items, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), ss.data(), nullptr),
          set.name());
  };
  const auto decaps = [&] {
    check(polykem_decaps(context, set.scheme, items, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), ss.data(), nullptr),
          set.name());
  };
  keygen();
  encaps();
  PartTimes best;
  double min_us = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    check(polykem_profile_enable(context, 1), "profile");
    op == Op::kKeygen ? keygen() : op == Op::kEncaps ? encaps() : decaps();
    std::vector<polykem_step_record> records(32);
    for (polykem_step_record& r : records)
      r.struct_size = sizeof r;
    size_t size = 0;
    check(polykem_profile_read(context, records.data(), records.size(), &size), "profile");
    PartTimes parts(kParts);
    double all = 0;
    for (size_t r = 0; r < std::min(size, records.size()); ++r) {
      const double us = static_cast<double>(records[r].nanoseconds) * 1e-3 / static_cast<double>(items);
      parts[part_of(records[r].stages)] += us;
      all += us;
    }
    if (all < min_us) min_us = all, best = parts;
  }
  polykem_zeroize(sk.data(), sk.size());
  polykem_zeroize(ss.data(), ss.size());
  polykem_context_free(context);
  return best;
}

}  // namespace polykem::bench
