// SPDX-License-Identifier: Apache-2.0
// Which multiplier for which product on this GPU? Checks each against the portable product, then times it.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "ceilings.cuh"
#include "common.cuh"
#include "cuda_polymul.hpp"
#include "multipliers.hpp"
#include "prim/polymul/ref/schoolbook.hpp"

namespace {

using namespace polykem::bench;
using polykem::cuda::launch_mul_crosswise;
using polykem::cuda::launch_multiplier;
using polykem::cuda::MulKind;
using polykem::cuda::Multiplier;
using polykem::cuda::multiplier_supports;
using polykem::cuda::poly_stride;
using polykem::cuda::Shared;

struct Named {
  Multiplier multiplier;
  const char* name;
};
constexpr Named kMultipliers[] = {
    {Multiplier::schoolbook_int32, "schoolbook_int32"},
    {Multiplier::dp4a, "dp4a"},
    {Multiplier::imma, "imma"},
    {Multiplier::imma_tmvp, "imma_tmvp"},
    {Multiplier::imma_shared, "imma_shared"},
};
constexpr const char* kKindNames[] = {"ternary", "general", "bytes", "s3"};
constexpr const char* kSharedNames[] = {"none", "a", "b"};

constexpr size_t kDegrees[] = {509, 677, 701, 821, 1229, 1373};

unsigned logq_of(MulKind kind, size_t n) {
  if (kind == MulKind::bytes) return 8;
  return n == 821 || n == 1229 ? 12 : n == 701 ? 13 : n == 1373 ? 14 : 11;
}

/// One coefficient of an operand: ternary ones as 0, 1, q - 1; those of s3 as 0, 1, 2.
uint16_t coefficient(MulKind kind, bool is_b, unsigned logq, uint32_t random) {
  if (kind == MulKind::s3) return static_cast<uint16_t>(random % 3);
  if (kind == MulKind::ternary && is_b) return static_cast<uint16_t>((random % 3 + ((1u << logq) - 1)) % (1u << logq));
  if (kind == MulKind::bytes) return static_cast<uint16_t>(random);  // the upper byte counts for nothing
  return static_cast<uint16_t>(random & ((1u << logq) - 1));
}

/// `rows` rows of which the first are extreme: all largest, all one, a single coefficient at either end; then random
/// ones. The padding holds rubbish on purpose.
std::vector<uint16_t> make_rows(MulKind kind, bool is_b, size_t n, unsigned logq, size_t rows, uint32_t seed) {
  std::mt19937 generator(seed);
  const size_t stride = poly_stride(n);
  std::vector<uint16_t> out(rows * stride);
  const uint16_t top = kind == MulKind::s3 ? 2 : static_cast<uint16_t>((1u << logq) - 1);
  for (size_t row = 0; row < rows; ++row) {
    uint16_t* at = &out[row * stride];
    const size_t extreme = is_b ? row % 6 : row / 6;
    for (size_t i = 0; i < stride; ++i) {
      uint16_t value = coefficient(kind, is_b, logq, generator());
      if (row < 36) {
        if (extreme == 0) value = top;
        if (extreme == 1) value = 1;
        if (extreme == 2) value = i == 0 ? top : 0;
        if (extreme == 3) value = i == n - 1 ? top : 0;
        if (extreme == 4) value = 0;
      }
      at[i] = i < n ? value : static_cast<uint16_t>(generator());
    }
  }
  return out;
}

std::vector<uint16_t> expected_row(MulKind kind, size_t n, unsigned logq, const uint16_t* a, const uint16_t* b) {
  std::vector<uint16_t> c(poly_stride(n), 0);
  polykem::poly_mul_cyclic(c.data(), a, b, n);
  const uint16_t last = c[n - 1];
  for (size_t i = 0; i < n; ++i) {
    c[i] = kind == MulKind::s3 ? static_cast<uint16_t>((c[i] + 2 * last) % 3)
                               : static_cast<uint16_t>(c[i] & ((1u << logq) - 1));
  }
  return c;
}

struct Case {
  Multiplier multiplier;
  const char* name;
  MulKind kind;
  Shared shared;
  size_t n;
  unsigned logq;
};

/// The same rows modulo 3, with -1 for 2.
std::vector<uint16_t> with_minus_one(std::vector<uint16_t> rows) {
  std::replace(rows.begin(), rows.end(), uint16_t{2}, uint16_t{0xffff});
  return rows;
}

/// Compares whole rows, padding included, with the portable product; outputs are poisoned first. Returns what is wrong.
/// minus_a, minus_b: operands of s3 with -1 for 2.
std::string check_case(const Case& c, bool minus_a, bool minus_b) {
  const size_t rows = 293;
  const size_t stride = poly_stride(c.n);
  const std::vector<uint16_t> a = make_rows(c.kind, false, c.n, c.logq, rows, 1);
  const std::vector<uint16_t> b = make_rows(c.kind, true, c.n, c.logq, rows, 2);
  const std::vector<uint16_t> a_form = minus_a ? with_minus_one(a) : a, b_form = minus_b ? with_minus_one(b) : b;
  // A shared operand is a random row in the first half of the check and an extreme one in the other.
  for (size_t shared_row : {size_t{100}, size_t{0}}) {
    if (c.shared == Shared::none && shared_row == 0) break;
    DeviceArray<uint16_t> a_device(a.size()), b_device(b.size()), out(rows * stride);
    check(cudaMemcpy(a_device.data, a_form.data(), a.size() * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(b_device.data, b_form.data(), b.size() * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemset(out.data, 0xa5, rows * stride * 2), "cudaMemset");
    const uint16_t* a_in = a_device.data + (c.shared == Shared::a ? shared_row * stride : 0);
    const uint16_t* b_in = b_device.data + (c.shared == Shared::b ? shared_row * stride : 0);
    check(launch_multiplier(c.multiplier, c.kind, c.n, c.logq, a_in, b_in, out.data, rows, c.shared, nullptr), c.name);
    check(cudaDeviceSynchronize(), c.name);
    std::vector<uint16_t> got(rows * stride);
    check(cudaMemcpy(got.data(), out.data, got.size() * 2, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t row = 0; row < rows; ++row) {
      const uint16_t* a_row = &a[(c.shared == Shared::a ? shared_row : row) * stride];
      const uint16_t* b_row = &b[(c.shared == Shared::b ? shared_row : row) * stride];
      const std::vector<uint16_t> want = expected_row(c.kind, c.n, c.logq, a_row, b_row);
      for (size_t i = 0; i < stride; ++i) {
        if (got[row * stride + i] == want[i]) continue;
        return std::string(c.name) + " " + kKindNames[static_cast<int>(c.kind)] + ", n = " + std::to_string(c.n) +
               ", shared " + kSharedNames[static_cast<int>(c.shared)] + ": row " + std::to_string(row) +
               ", coefficient " + std::to_string(i) + " is " + std::to_string(got[row * stride + i]) + ", not " +
               std::to_string(want[i]);
      }
    }
  }
  return "";
}

/// The same in all forms that operands of the case may have.
std::string check_case(const Case& c) {
  const bool takes_minus_one = c.multiplier == Multiplier::imma && c.kind == MulKind::s3;
  for (int form = 0; form < (takes_minus_one ? 4 : 1); ++form) {
    const std::string problem = check_case(c, (form & 1) != 0, (form & 2) != 0);
    if (!problem.empty()) return problem;
  }
  return "";
}

/// The same for both products of launch_mul_crosswise().
std::string check_crosswise(MulKind kind, size_t n) {
  const size_t rows = 97, stride = poly_stride(n);
  const unsigned logq = logq_of(kind, n);
  const std::vector<uint16_t> a = make_rows(kind, false, n, logq, rows, 3);
  const std::vector<uint16_t> b = make_rows(kind, true, n, logq, 2 * rows, 4);
  DeviceArray<uint16_t> a_device(a.size()), b_device(b.size()), out(b.size());
  check(cudaMemcpy(a_device.data, a.data(), a.size() * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemcpy(b_device.data, b.data(), b.size() * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemset(out.data, 0xa5, b.size() * 2), "cudaMemset");
  check(launch_mul_crosswise(kind, n, a_device.data, b_device.data, out.data, rows, nullptr), "crosswise");
  std::vector<uint16_t> got(b.size());
  check(cudaMemcpy(got.data(), out.data, got.size() * 2, cudaMemcpyDeviceToHost), "crosswise");
  for (size_t row = 0; row < 2 * rows; ++row) {
    const std::vector<uint16_t> want =
        expected_row(kind, n, logq, &a[row % rows * stride], &b[(row + rows) % (2 * rows) * stride]);
    if (!std::equal(want.begin(), want.end(), &got[row * stride]))
      return std::string("crosswise ") + kKindNames[static_cast<int>(kind)] + ", n = " + std::to_string(n) + ": row " +
             std::to_string(row) + " is wrong";
  }
  return "";
}

__global__ void fill(uint16_t* rows, size_t count, MulKind kind, bool is_b, unsigned logq, uint32_t seed) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    uint32_t x = static_cast<uint32_t>(i) * 0x9e3779b1u + seed;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    x ^= x >> 16;
    const uint32_t q = 1u << logq;
    uint32_t value = x & (q - 1);
    if (kind == MulKind::s3) value = x % 3;
    if (kind == MulKind::ternary && is_b) value = (x % 3 + q - 1) & (q - 1);
    rows[i] = static_cast<uint16_t>(value);
  }
}

/// Products of single-limb polynomials that the algorithm's arithmetic unit must do.
double limb_products(const Case& c) {
  if (c.multiplier == Multiplier::schoolbook_int32 || c.kind == MulKind::s3 || c.kind == MulKind::bytes) return 1;
  return c.kind == MulKind::ternary ? 2 : 3;
}

/// Of one product: the larger of the schoolbook's multiply-adds over the unit's rate and the bytes over the bandwidth.
double floor_seconds(const Case& c, const Ceilings& ceilings) {
  const double unit = c.multiplier == Multiplier::schoolbook_int32 ? ceilings.imad
                      : c.multiplier == Multiplier::dp4a           ? ceilings.dp4a
                                                                   : ceilings.imma;
  const double rows = c.shared == Shared::none ? 3 : 2;
  const double arithmetic = static_cast<double>(c.n) * c.n * limb_products(c) / unit;
  return std::max(arithmetic, rows * 2.0 * c.n / ceilings.bandwidth);
}

/// Of one product.
double time_case(const Case& c, size_t batch) {
  const size_t count = batch * poly_stride(c.n);
  DeviceArray<uint16_t> a(count), b(count), out(count);
  fill<<<1024, 256>>>(a.data, count, c.kind, false, c.logq, 1);
  fill<<<1024, 256>>>(b.data, count, c.kind, true, c.logq, 2);
  check(cudaDeviceSynchronize(), "fill");
  const int repeats = batch >= 50000 ? 5 : 20;
  const double seconds = median_seconds(repeats, [&] {
    check(launch_multiplier(c.multiplier, c.kind, c.n, c.logq, a.data, b.data, out.data, batch, c.shared, nullptr),
          c.name);
  });
  return seconds / static_cast<double>(batch);
}

std::vector<size_t> degrees_of(const CudaPolymulJob& job) {
  if (job.degree_count == 0) return {std::begin(kDegrees), std::end(kDegrees)};
  return {job.degrees, job.degrees + job.degree_count};
}

std::vector<Case> list_cases(const std::vector<size_t>& degrees) {
  std::vector<Case> cases;
  for (size_t n : degrees) {
    for (MulKind kind : {MulKind::ternary, MulKind::general, MulKind::bytes, MulKind::s3}) {
      for (const Named& named : kMultipliers) {
        for (Shared shared : {Shared::none, Shared::a, Shared::b}) {
          if (!multiplier_supports(named.multiplier, kind, n, logq_of(kind, n), shared)) continue;
          cases.push_back({named.multiplier, named.name, kind, shared, n, logq_of(kind, n)});
        }
      }
    }
  }
  return cases;
}

/// What the library uses, the fastest on an H200.
bool chosen(const Case& c) {
  return c.multiplier == Multiplier::imma;
}

/// Sharing is timed where it could gain something; for the others it is only checked.
bool timed(const Case& c) {
  return c.shared == Shared::none || c.multiplier == Multiplier::imma_shared || chosen(c);
}

template <size_t kSize>
void say(char (&to)[kSize], const std::string& text) {
  std::snprintf(to, kSize, "%s", text.c_str());
}

CudaPolymulOutcome run(CudaPolymulJob& job) {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "looking for a GPU");
  say(job.device, device.name);
  const std::vector<size_t> degrees = degrees_of(job);
  const std::vector<Case> cases = list_cases(degrees);
  for (const Case& c : cases) {
    const std::string problem = check_case(c);
    say(job.problem, problem);
    if (!problem.empty()) return CudaPolymulOutcome::wrong;
    ++job.checked;
  }
  for (const size_t n : degrees) {
    for (const MulKind kind : {MulKind::bytes, MulKind::s3}) {
      const std::string problem = check_crosswise(kind, n);
      say(job.problem, problem);
      if (!problem.empty()) return CudaPolymulOutcome::wrong;
      ++job.checked;
    }
  }
  if (job.check_only != 0) return CudaPolymulOutcome::done;
  const Ceilings ceilings = measure_ceilings();
  std::snprintf(job.ceilings, sizeof job.ceilings,
                "mma.sync %.0f T, dp4a %.1f T, 32-bit %.1f T multiply-adds/s; copies %.2f TB/s", ceilings.imma * 1e-12,
                ceilings.dp4a * 1e-12, ceilings.imad * 1e-12, ceilings.bandwidth * 1e-12);
  for (const Case& c : cases) {
    for (size_t i = 0; i < job.batch_count && timed(c); ++i) {
      const CudaPolymulRow row{c.name,
                               kKindNames[static_cast<int>(c.kind)],
                               kSharedNames[static_cast<int>(c.shared)],
                               c.n,
                               job.batches[i],
                               time_case(c, job.batches[i]),
                               floor_seconds(c, ceilings),
                               chosen(c) ? 1 : 0};
      job.row(job.user, &row);
    }
  }
  return CudaPolymulOutcome::done;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) CudaPolymulOutcome polykem_bench_cuda_polymul(CudaPolymulJob* job) {
  try {
    return run(*job);
  } catch (const std::exception& error) {
    say(job->problem, error.what());
    return CudaPolymulOutcome::failed;
  }
}
