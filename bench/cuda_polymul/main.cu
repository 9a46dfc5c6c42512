// SPDX-License-Identifier: Apache-2.0
// Which multiplier for which product on this GPU? Checks each against the portable product, then times it.
//
//   cuda_polymul [--n 509,677,..] [--batch 1000,100000] [--kind ternary,general,bytes,s3] [--only NAME] [--json FILE]
//                [--commit ID] [--check-only]
//
// Exits with 1 if a product is wrong, with 77 where there is no GPU.
#include <cctype>
#include <cstring>
#include <random>
#include <string>

#include "ceilings.cuh"
#include "common.cuh"
#include "prim/polymul/cuda/polymul_cuda.hpp"
#include "prim/polymul/ref/schoolbook.hpp"

namespace {

using namespace polykem::bench;
using polykem::cuda::launch_mul;
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

struct Options {
  std::vector<size_t> degrees{509, 677, 701, 821};
  std::vector<size_t> batches{1000, 10000, 100000};
  std::vector<std::string> kinds{"ternary", "general", "bytes", "s3"};
  std::string only;
  std::string json;
  std::string commit = "unknown";
  std::string command;
  bool check_only = false;
};

unsigned logq_of(MulKind kind, size_t n) {
  if (kind == MulKind::bytes) return 8;
  return n == 821 || n == 1229 ? 12 : n == 701 ? 13 : n == 1373 ? 14 : 11;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

[[noreturn]] void usage(const char* why) {
  std::fprintf(stderr,
               "cuda_polymul: %s\nusage: cuda_polymul [--n LIST] [--batch LIST] [--kind LIST] [--only NAME] "
               "[--json FILE] [--commit ID] [--check-only]\n",
               why);
  std::exit(2);
}

std::vector<size_t> numbers(const std::string& text) {
  std::vector<size_t> values;
  for (const std::string& part : split(text)) {
    values.push_back(std::strtoull(part.c_str(), nullptr, 10));
    if (values.back() == 0) usage("a list holds something that is no positive number");
  }
  return values;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 0; i < argc; ++i)
    options.command += std::string(i ? " " : "") + argv[i];
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--check-only") {
      options.check_only = true;
      continue;
    }
    if (i + 1 == argc) usage("unknown option, or an option without its value");
    const std::string value = argv[++i];
    if (name == "--n")
      options.degrees = numbers(value);
    else if (name == "--batch")
      options.batches = numbers(value);
    else if (name == "--kind")
      options.kinds = split(value);
    else if (name == "--only")
      options.only = value;
    else if (name == "--json")
      options.json = value;
    else if (name == "--commit")
      options.commit = value;
    else
      usage("unknown option");
  }
  for (size_t n : options.degrees) {
    if (!polykem::cuda::degree_supported(n)) usage("--n takes 509, 677, 701, 821, 1229, 1373");
  }
  return options;
}

bool wanted(const Options& options, MulKind kind) {
  for (const std::string& name : options.kinds) {
    if (name == kKindNames[static_cast<int>(kind)]) return true;
  }
  return false;
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

/// Compares whole rows, padding included, with the portable product; outputs are poisoned first.
bool check_case(const Case& c) {
  const size_t rows = 293;
  const size_t stride = poly_stride(c.n);
  const std::vector<uint16_t> a = make_rows(c.kind, false, c.n, c.logq, rows, 1);
  const std::vector<uint16_t> b = make_rows(c.kind, true, c.n, c.logq, rows, 2);
  // A shared operand is a random row in the first half of the check and an extreme one in the other.
  bool right = true;
  for (size_t shared_row : {size_t{100}, size_t{0}}) {
    if (c.shared == Shared::none && shared_row == 0) break;
    DeviceArray<uint16_t> a_device(a.size()), b_device(b.size()), out(rows * stride);
    check(cudaMemcpy(a_device.data, a.data(), a.size() * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(b_device.data, b.data(), b.size() * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemset(out.data, 0xa5, rows * stride * 2), "cudaMemset");
    const uint16_t* a_in = a_device.data + (c.shared == Shared::a ? shared_row * stride : 0);
    const uint16_t* b_in = b_device.data + (c.shared == Shared::b ? shared_row * stride : 0);
    check(launch_mul(c.multiplier, c.kind, c.n, c.logq, a_in, b_in, out.data, rows, c.shared, nullptr), c.name);
    check(cudaDeviceSynchronize(), c.name);
    std::vector<uint16_t> got(rows * stride);
    check(cudaMemcpy(got.data(), out.data, got.size() * 2, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t row = 0; row < rows; ++row) {
      const uint16_t* a_row = &a[(c.shared == Shared::a ? shared_row : row) * stride];
      const uint16_t* b_row = &b[(c.shared == Shared::b ? shared_row : row) * stride];
      const std::vector<uint16_t> want = expected_row(c.kind, c.n, c.logq, a_row, b_row);
      for (size_t i = 0; i < stride; ++i) {
        if (got[row * stride + i] == want[i]) continue;
        if (right) {
          std::printf("WRONG %s %s n=%zu shared=%s: row %zu coefficient %zu is %u, not %u\n", c.name,
                      kKindNames[static_cast<int>(c.kind)], c.n, kSharedNames[static_cast<int>(c.shared)], row, i,
                      got[row * stride + i], want[i]);
        }
        right = false;
      }
    }
  }
  return right;
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

struct Result {
  Case which;
  size_t batch;
  double seconds;
  double floor_seconds;
};

/// The larger of the schoolbook's multiply-adds over the unit's rate and the bytes over the bandwidth.
double floor_seconds(const Case& c, size_t batch, const Ceilings& ceilings) {
  const double unit = c.multiplier == Multiplier::schoolbook_int32 ? ceilings.imad
                      : c.multiplier == Multiplier::dp4a           ? ceilings.dp4a
                                                                   : ceilings.imma;
  const double rows = c.shared == Shared::none ? 3 : 2;
  const double arithmetic = static_cast<double>(c.n) * c.n * limb_products(c) / unit;
  return batch * std::max(arithmetic, rows * 2.0 * c.n / ceilings.bandwidth);
}

Result time_case(const Case& c, size_t batch, const Ceilings& ceilings) {
  const size_t count = batch * poly_stride(c.n);
  DeviceArray<uint16_t> a(count), b(count), out(count);
  fill<<<1024, 256>>>(a.data, count, c.kind, false, c.logq, 1);
  fill<<<1024, 256>>>(b.data, count, c.kind, true, c.logq, 2);
  check(cudaDeviceSynchronize(), "fill");
  const int repeats = batch >= 50000 ? 5 : 20;
  const double seconds = median_seconds(repeats, [&] {
    check(launch_mul(c.multiplier, c.kind, c.n, c.logq, a.data, b.data, out.data, batch, c.shared, nullptr), c.name);
  });
  return {c, batch, seconds, floor_seconds(c, batch, ceilings)};
}

void write_json(const Options& options, const Ceilings& ceilings, const std::vector<Result>& results) {
  FILE* file = std::fopen(options.json.c_str(), "w");
  if (!file) {
    std::fprintf(stderr, "cuda_polymul: %s cannot be written\n", options.json.c_str());
    std::exit(1);
  }
  cudaDeviceProp device;
  int driver = 0;
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  std::fprintf(file, "{\n  \"machine\": \"%s\",\n  \"cuda\": \"%d.%d\",\n  \"driver\": \"%d.%d\",\n", device.name,
               CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, driver / 1000, driver % 1000 / 10);
  std::fprintf(file, "  \"compiler\": \"nvcc %d.%d\",\n  \"commit\": \"%s\",\n  \"command\": \"%s\",\n",
               __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, options.commit.c_str(), options.command.c_str());
  std::fprintf(file,
               "  \"ceilings\": {\"imma_mac_per_s\": %.4g, \"dp4a_mac_per_s\": %.4g, \"imad_per_s\": %.4g, "
               "\"copy_bytes_per_s\": %.4g},\n  \"checked\": true,\n  \"results\": [\n",
               ceilings.imma, ceilings.dp4a, ceilings.imad, ceilings.bandwidth);
  for (size_t i = 0; i < results.size(); ++i) {
    const Result& r = results[i];
    std::fprintf(file,
                 "    {\"multiplier\": \"%s\", \"kind\": \"%s\", \"shared\": \"%s\", \"n\": %zu, \"logq\": %u, "
                 "\"batch\": %zu, \"seconds\": %.6g, \"products_per_s\": %.5g, \"floor_seconds\": %.6g, "
                 "\"time_over_floor\": %.3f}%s\n",
                 r.which.name, kKindNames[static_cast<int>(r.which.kind)],
                 kSharedNames[static_cast<int>(r.which.shared)], r.which.n, r.which.logq, r.batch, r.seconds,
                 r.batch / r.seconds, r.floor_seconds, r.seconds / r.floor_seconds, i + 1 < results.size() ? "," : "");
  }
  std::fprintf(file, "  ]\n}\n");
  std::fclose(file);
}

std::vector<Case> list_cases(const Options& options) {
  std::vector<Case> cases;
  for (size_t n : options.degrees) {
    for (MulKind kind : {MulKind::ternary, MulKind::general, MulKind::bytes, MulKind::s3}) {
      if (!wanted(options, kind)) continue;
      for (const Named& named : kMultipliers) {
        if (!options.only.empty() && options.only != named.name) continue;
        for (Shared shared : {Shared::none, Shared::a, Shared::b}) {
          if (!multiplier_supports(named.multiplier, kind, n, logq_of(kind, n), shared)) continue;
          cases.push_back({named.multiplier, named.name, kind, shared, n, logq_of(kind, n)});
        }
      }
    }
  }
  return cases;
}

/// Sharing is timed where it could gain something; for the others it is only checked.
bool timed(const Case& c) {
  return c.shared == Shared::none || c.multiplier == Multiplier::imma_shared ||
         c.multiplier == polykem::cuda::preferred_multiplier(c.kind, c.n, c.logq, c.shared);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "cuda_polymul: skipped, no CUDA device or driver here\n");
    return 77;
  }
  const std::vector<Case> cases = list_cases(options);
  bool right = true;
  for (const Case& c : cases)
    right = check_case(c) && right;
  std::printf("%zu cases checked: %s\n", cases.size(), right ? "all right" : "WRONG");
  if (!right || options.check_only) return right ? 0 : 1;

  const Ceilings ceilings = measure_ceilings();
  std::printf("ceilings: imma %.0f T MAC/s, dp4a %.1f T MAC/s, imad %.1f T/s, copy %.2f TB/s\n", ceilings.imma * 1e-12,
              ceilings.dp4a * 1e-12, ceilings.imad * 1e-12, ceilings.bandwidth * 1e-12);
  std::printf("%-17s %-8s %-6s %5s %8s %12s %12s %7s\n", "multiplier", "kind", "shared", "n", "batch", "M products/s",
              "floor M/s", "/floor");
  std::vector<Result> results;
  for (const Case& c : cases) {
    if (!timed(c)) continue;
    for (size_t batch : options.batches) {
      results.push_back(time_case(c, batch, ceilings));
      const Result& r = results.back();
      std::printf("%-17s %-8s %-6s %5zu %8zu %12.2f %12.2f %7.2f\n", c.name, kKindNames[static_cast<int>(c.kind)],
                  kSharedNames[static_cast<int>(c.shared)], c.n, batch, batch / r.seconds * 1e-6,
                  batch / r.floor_seconds * 1e-6, r.seconds / r.floor_seconds);
    }
  }
  if (!options.json.empty()) write_json(options, ceilings, results);
  return 0;
}
