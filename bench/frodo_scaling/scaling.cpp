// SPDX-License-Identifier: Apache-2.0
#include "frodo_scaling/scaling.hpp"

#include <algorithm>
#include <limits>

#include "core/backend.hpp"
#include "frodo_scaling/matrix.hpp"
#include "schemes/frodo/gen_a.hpp"

namespace polykem::bench {

namespace {

using frodo::GenA;
using frodo::Kernels;

struct Backend {
  const char* name;
  const Kernels* kernels;
};

/// `ref` comes first, because the others are compared with it.
std::vector<Backend> usable_backends() {
  std::vector<Backend> out = {{"ref", &frodo::kKernelsRef}};
  [[maybe_unused]] const auto add = [&](const char* name, const Kernels& kernels) {
    if (cpu_backend_available(name)) out.push_back({name, &kernels});
  };
#ifdef POLYKEM_HAVE_X86
  add("avx2", frodo::kKernelsAvx2);
#endif
#ifdef POLYKEM_HAVE_AVX512
  add("avx512", frodo::kKernelsAvx512);
#endif
  return out;
}

constexpr uint8_t kSeed[frodo::kSeedABytes] = {0x46, 0x72, 0x6f, 0x64, 0x6f};

/// Generates all of A, tile by tile, and passes each tile to `visit`.
template <class Visit>
void generate(const Matrix& tile, GenA gen_a, const Kernels& kernels, size_t n, Visit&& visit) {
  for (size_t first = 0; first < n; first += frodo::kMaxGeneratedRows) {
    const size_t rows = std::min(frodo::kMaxGeneratedRows, n - first);
    generate_rows(tile.view(), gen_a, kernels, kSeed, {first, rows, n});
    visit(first);
  }
}

bool generates_the_same(GenA gen_a, const Kernels& kernels, size_t n) {
  const Matrix own(frodo::kMaxGeneratedRows, n), expected(frodo::kMaxGeneratedRows, n);
  bool same = true;
  generate(own, gen_a, kernels, n, [&](size_t first) {
    const size_t rows = std::min(frodo::kMaxGeneratedRows, n - first);
    generate_rows(expected.view(), gen_a, frodo::kKernelsRef, kSeed, {first, rows, n});
    same = same && own == expected;
  });
  return same;
}

/// Computes B = A S. A narrow S is stored by columns, so that both operands are read along rows.
void multiply(const Kernels& kernels, Matrix& b, const Matrix& a, const Matrix& s, const Matrix& s_transposed, size_t n,
              size_t width) {
  constexpr size_t kNarrow = 16;
  b.clear();
  const ProductShape shape{.rows = n, .inner = n, .columns = width};
  if (width <= kNarrow) {
    kernels.matmul.mul_add_transposed(b.view(), a.view(), s_transposed.view(), shape);
  } else {
    kernels.matmul.mul_add(b.view(), a.view(), s.view(), shape);
  }
}

class Measurement {
 public:
  Measurement(const ScalingRequest& request, const ScalingProgress& progress)
      : request_(request), progress_(progress), backends_(usable_backends()) {}

  ScalingReport run() {
    for (const size_t n : request_.dimensions)
      measure_generation("gen_a aes", GenA::kAes, n);
    for (const size_t n : request_.dimensions)
      measure_generation("gen_a shake", GenA::kShake, n);
    for (const size_t n : request_.sizes) {
      Matrix a(n, n);
      for (size_t first = 0; first < n; first += frodo::kMaxGeneratedRows) {
        const size_t rows = std::min(frodo::kMaxGeneratedRows, n - first);
        generate_rows({a.view().row(first), a.view().stride}, GenA::kShake, *backends_.back().kernels, kSeed,
                      {first, rows, n});
      }
      for (const size_t width : request_.widths)
        measure_product(a, n, width);
    }
    return std::move(report_);
  }

 private:
  bool stopped() const { return !report_.problem.empty(); }

  void add(const char* part, size_t n, size_t width, const Backend& backend, double milliseconds) {
    if (backend.kernels == &frodo::kKernelsRef) ref_milliseconds_ = milliseconds;
    report_.rows.push_back({part, n, width, backend.name, milliseconds, ref_milliseconds_ / milliseconds});
  }
  void check(bool same, const char* part, size_t n, size_t width, const Backend& backend) {
    report_.checked += 1;
    if (!same) {
      report_.problem = std::string(backend.name) + ", " + part + ", n = " + std::to_string(n) +
                        (width == 0 ? "" : ", n-bar = " + std::to_string(width));
    }
  }

  void measure_generation(const char* part, GenA gen_a, size_t n) {
    const Matrix tile(frodo::kMaxGeneratedRows, n);
    for (const Backend& backend : backends_) {
      if (stopped()) return;
      progress_(part, n, 0);
      add(part, n, 0, backend,
          best_milliseconds(seconds_of(backend), [&] { generate(tile, gen_a, *backend.kernels, n, [](size_t) {}); }));
      if (&backend != &backends_.front()) check(generates_the_same(gen_a, *backend.kernels, n), part, n, 0, backend);
    }
  }

  void measure_product(const Matrix& a, size_t n, size_t width) {
    Matrix s(n, width), b(n, width), expected(n, width);
    uint64_t state = n * width + 1;
    s.fill([&state] {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<uint16_t>((state >> 40) % 25 - 12);
    });
    const Matrix s_transposed = s.transposed();
    for (const Backend& backend : backends_) {
      if (stopped()) return;
      progress_("product", n, width);
      const bool is_ref = &backend == &backends_.front();
      Matrix& out = is_ref ? expected : b;
      add("product", n, width, backend, best_milliseconds(seconds_of(backend), [&] {
            multiply(*backend.kernels, out, a, s, s_transposed, n, width);
          }));
      if (!is_ref) check(b == expected, "product", n, width, backend);
    }
  }

  double seconds_of(const Backend& backend) const {
    return backend.kernels == &frodo::kKernelsRef ? 0 : request_.seconds;
  }

  const ScalingRequest& request_;
  const ScalingProgress& progress_;
  std::vector<Backend> backends_;
  ScalingReport report_;
  double ref_milliseconds_ = 0;
};

}  // namespace

size_t scaling_points(const ScalingRequest& request) {
  return usable_backends().size() * (2 * request.dimensions.size() + request.sizes.size() * request.widths.size());
}

ScalingReport measure_scaling(const ScalingRequest& request, const ScalingProgress& progress) {
  return Measurement(request, progress).run();
}

}  // namespace polykem::bench
