// SPDX-License-Identifier: Apache-2.0
// Measures the highest rate of each unit of the GPU. bench/cuda computes the floors of steps from these rates.
//   polykem_bench_gpu_rates [--json FILE]
// Every result is compared with the CPU's. Each rate is printed beside the one that floors use
// (bench/cuda/floors_units.hpp); for another kind of GPU, replace those by its rates.
#include <cuda_runtime.h>

#include <cstring>
#include <fstream>

#include "../cuda/floors_units.hpp"
#include "../cuda/host.hpp"
#include "../cuda/timing.hpp"
#include "core/build_info.hpp"
#include "kernels.cuh"
#include "prim/aes/aes128.hpp"
#include "prim/keccak/keccak.hpp"

namespace polykem::bench {
namespace {

using namespace gpu_rates;

struct Rate {
  const char *name, *of;
  double per_second;
  double used;  ///< the rate that floors use; 0: none does
};

template <class T>
T read_at(const DeviceBytes& from, size_t index) {
  T value;
  check(cudaMemcpy(&value, from.data + index * sizeof(T), sizeof(T), cudaMemcpyDeviceToHost), "copy");
  return value;
}

void expect(bool right, const char* what) {
  if (!right) die(std::string(what) + ": not what the CPU computes");
}

/// Several waves of blocks, so that the last, partial one has little weight.
struct Grid {
  unsigned blocks, threads;
  size_t all() const { return size_t{blocks} * threads; }
};
Grid filled(int processors, int threads, int blocks_each) {
  return {static_cast<unsigned>(processors * blocks_each * 4), static_cast<unsigned>(threads)};
}

double keccak_rate(int processors) {
  constexpr int kPermutations = 96;
  const Grid grid = filled(processors, kThreads, 6);
  const DeviceBytes out(grid.all() * sizeof(uint64_t));
  const double ms = gpu_milliseconds(
      [&] { keccak_kernel<<<grid.blocks, grid.threads>>>(reinterpret_cast<uint64_t*>(out.data), kPermutations); });
  for (const size_t thread : {size_t{0}, grid.all() / 2 + 1, grid.all() - 1}) {
    uint64_t state[25] = {thread};
    for (int i = 0; i < kPermutations; ++i)
      keccak_f1600(state);
    expect(read_at<uint64_t>(out, thread) == state[0], "Keccak");
  }
  return 1e3 * kPermutations * static_cast<double>(grid.all()) / ms;
}

double chacha_rate(int processors) {
  constexpr int kBlocks = 512;
  const Grid grid = filled(processors, kThreads, 8);
  const DeviceBytes out(grid.all() * sizeof(uint32_t));
  const double ms = gpu_milliseconds(
      [&] { chacha_kernel<<<grid.blocks, grid.threads>>>(reinterpret_cast<uint32_t*>(out.data), kBlocks); });
  for (const size_t thread : {size_t{0}, grid.all() - 1}) {
    uint32_t block[cuda::kChaChaWords] = {static_cast<uint32_t>(thread)};
    for (int i = 0; i < kBlocks; ++i)
      chacha_step(block);
    expect(read_at<uint32_t>(out, thread) == block[0], "ChaCha20");
  }
  return 1e3 * kBlocks * static_cast<double>(grid.all()) / ms;
}

/// Measures a unit for integers, in operations per second.
template <class Step>
double chain_rate(int processors, const char* what) {
  constexpr int kSteps = 4096;
  constexpr uint32_t kFactor = 0x6db6db6d;
  const Grid grid = filled(processors, kThreads, 8);
  const DeviceBytes out(grid.all() * sizeof(uint32_t));
  const double ms = gpu_milliseconds([&] {
    chain_kernel<Step><<<grid.blocks, grid.threads>>>(reinterpret_cast<uint32_t*>(out.data), kSteps, kFactor);
  });
  uint32_t x[kChainWords], sum = 0;
  fill_chain(x, static_cast<uint32_t>(grid.all() - 1));
  for (int i = 0; i < kSteps; ++i)
    Step::apply(x, kFactor);
  for (const uint32_t word : x)
    sum ^= word;
  expect(read_at<uint32_t>(out, grid.all() - 1) == sum, what);
  return 1e3 * kSteps * kChainWords * static_cast<double>(grid.all()) / ms;
}

double butterfly_rate(int processors) {
  constexpr int kSteps = 1024;
  const uint32_t factor = cuda::factor_of(17);
  const Grid grid = filled(processors, kThreads, 8);
  const DeviceBytes out(grid.all() * sizeof(uint32_t));
  const double ms = gpu_milliseconds(
      [&] { butterfly_kernel<<<grid.blocks, grid.threads>>>(reinterpret_cast<uint32_t*>(out.data), kSteps, factor); });
  cuda::Coefficients a;
  fill_coefficients(a, static_cast<uint32_t>(grid.all() - 1));
  for (int i = 0; i < kSteps; ++i)
    butterfly_step(a, factor);
  uint32_t sum = 0;
  for (const uint32_t word : a)
    sum ^= word;
  expect(read_at<uint32_t>(out, grid.all() - 1) == sum, "butterflies");
  return 1e3 * kSteps * kButterfliesOfStep * static_cast<double>(grid.all()) / ms;
}

double product_rate(int processors) {
  constexpr int kSteps = 2048;
  constexpr uint32_t kFactor = 0x9e3779b9;
  const Grid grid = filled(processors, kThreads, 8);
  const DeviceBytes out(grid.all() * sizeof(uint32_t));
  const double ms = gpu_milliseconds(
      [&] { product_kernel<<<grid.blocks, grid.threads>>>(reinterpret_cast<uint32_t*>(out.data), kSteps, kFactor); });
  for (const size_t thread : {size_t{0}, grid.all() - 1}) {
    uint32_t x[kProductWords], sum = 0;
    fill_products(x, static_cast<uint32_t>(thread));
    for (int i = 0; i < kSteps; ++i)
      product_step(x, kFactor);
    for (const uint32_t word : x)
      sum ^= word;
    expect(read_at<uint32_t>(out, thread) == sum, "products");
  }
  return 1e3 * kSteps * kProductsOfStep * static_cast<double>(grid.all()) / ms;
}

/// Row `row` and column `column` of the product that tensor_kernel computes; where a warp holds what is PTX's layout of
/// mma.m16n8k32.
int product_entry(uint32_t row, uint32_t column) {
  int sum = 0;
  for (uint32_t k = 0; k < 32; ++k) {
    const uint32_t part = k % 16 / 4, half = k / 16, byte = 8 * (k % 4);
    const auto p = static_cast<int8_t>(fragment_word(4 * (row % 8) + part, 2 * half + row / 8) >> byte);
    const auto r = static_cast<int8_t>(fragment_word(4 * column + part, 4 + half) >> byte);
    sum += p * r;
  }
  return sum;
}

double tensor_rate(int processors) {
  constexpr int kSteps = 2048;
  const Grid grid = filled(processors, kThreads, 4);
  const DeviceBytes out(grid.all() * 4 * sizeof(int));
  const double ms =
      gpu_milliseconds([&] { tensor_kernel<<<grid.blocks, grid.threads>>>(reinterpret_cast<int*>(out.data), kSteps); });
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t k = 0; k < 4; ++k) {
      const int entry = product_entry(lane / 4 + 8 * (k / 2), 2 * (lane % 4) + k % 2);
      expect(read_at<int>(out, 4 * (grid.all() - 32 + lane) + k) == kSteps * entry, "tensor cores");
    }
  }
  return 1e3 * kSteps * kTiles * 16 * 8 * 32 * static_cast<double>(grid.all() / 32) / ms;
}

double lookup_rate(int processors) {
  constexpr int kSteps = 4096;
  const Grid grid = filled(processors, kLookupThreads, 1);
  const DeviceBytes out(grid.all() * sizeof(uint32_t));
  const double ms = gpu_milliseconds(
      [&] { lookup_kernel<<<grid.blocks, grid.threads>>>(reinterpret_cast<uint32_t*>(out.data), kSteps); });
  uint32_t sum = 0;
  for (uint32_t c = 0; c < kLookupChains; ++c) {
    uint32_t entry = (kLookupThreads - 1 + c) % kLookupEntries;
    for (int i = 0; i < kSteps; ++i)
      entry = next_entry(entry);
    sum += entry;
  }
  expect(read_at<uint32_t>(out, grid.all() - 1) == sum, "look-ups");
  return 1e3 * kSteps * kLookupChains * static_cast<double>(grid.all()) / ms;
}

/// Measures AES-128, in bits of output per second.
double aes_rate(int processors) {
  const uint8_t key[kAes128KeyBytes] = {0x46, 0x72, 0x6f, 0x64, 0x6f, 0x4b, 0x45, 0x4d};
  uint4 words;
  std::memcpy(&words, key, sizeof words);
  const Grid grid = filled(processors, kAesThreads, 1);
  const DeviceBytes out(grid.all() * sizeof(uint4));
  check(cudaFuncSetAttribute(aes_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kAesShared)),
        "shared memory for AES");
  const double ms = gpu_milliseconds(
      [&] { aes_kernel<<<grid.blocks, grid.threads, kAesShared>>>(reinterpret_cast<uint4*>(out.data), words); });
  std::vector<uint16_t> a(size_t{kAesRows} * 8 * kAesGroups);
  kAes128Portable.grid(a.data(), 8 * kAesGroups, key, 0, kAesRows, 8 * kAesGroups);
  for (const size_t thread : {size_t{0}, grid.all() - 1}) {
    uint16_t sum[8] = {};
    for (size_t row = 0; row < kAesRows; ++row) {
      for (size_t k = 0; k < 8; ++k)
        sum[k] ^= a[(row * kAesGroups + thread % kAesGroups) * 8 + k];
    }
    const auto got = read_at<uint4>(out, thread);
    expect(std::memcmp(&got, sum, sizeof sum) == 0, "AES");
  }
  return 1e3 * 128 * kAesRows * static_cast<double>(grid.all()) / ms;
}

/// Measures bytes per second that a copy reads and writes, and that clearing writes.
std::pair<double, double> memory_rates() {
  constexpr size_t kBytes = size_t{2} << 30;
  static_assert(kBytes % kCopyBytesOfBlock == 0);
  const DeviceBytes from(kBytes), to(kBytes);
  check(cudaMemset(from.data, 0x5a, kBytes), "memset");
  const double copy = gpu_milliseconds([&] {
    copy_kernel<<<kBytes / kCopyBytesOfBlock, kThreads>>>(reinterpret_cast<uint4*>(to.data),
                                                          reinterpret_cast<const uint4*>(from.data));
  });
  for (const size_t at : {size_t{0}, kBytes / 16 + 7, kBytes / 8 - 1})
    expect(read_at<uint64_t>(to, at) == 0x5a5a5a5a5a5a5a5a, "the copy");
  const double clear = gpu_milliseconds([&] { check(cudaMemsetAsync(to.data, 0, kBytes), "memset"); });
  return {2e3 * kBytes / copy, 1e3 * kBytes / clear};
}

std::vector<Rate> measure(int processors) {
  const auto [copied, cleared] = memory_rates();
  const Rates bus = measure_rates(1);
  return {
      {"permutations", "Keccak-f[1600], a thread each", keccak_rate(processors), kPermutationsPerSecond},
      {"random_blocks", "ChaCha20, 64 bytes, a thread each", chacha_rate(processors), kRandomBlocksPerSecond},
      {"byte_macs", "int8 mma.sync m16n8k32", tensor_rate(processors), kMacsPerSecond},
      {"logic", "32-bit logic operations of three operands", chain_rate<LogicStep>(processors, "logic"),
       kLanesPerSecond},
      {"shifts", "32-bit shifts of two joined words", chain_rate<ShiftStep>(processors, "shifts"), 0},
      {"sums", "32-bit sums of three words", chain_rate<SumStep>(processors, "sums"), 0},
      {"multiply_adds", "32-bit words", chain_rate<MultiplyAddStep>(processors, "multiply-adds"), kLanesPerSecond},
      {"both_units", "logic operations and multiply-adds, half of each",
       chain_rate<BothUnitsStep>(processors, "both units"), 2 * kLanesPerSecond},
      {"butterflies", "multiply, high multiply, add, subtract", butterfly_rate(processors), kButterfliesPerSecond},
      {"products", "32-bit words, added with a carry", product_rate(processors), kProductsPerSecond},
      {"lookups", "32-bit words of shared memory, no conflicts", lookup_rate(processors), kLookupsPerSecond},
      {"aes_bits", "AES-128 by tables, blocks of a row share two rounds", aes_rate(processors), 0},
      {"memory_bytes", "read and written by a copy", copied, kBytesPerSecond},
      {"cleared_bytes", "written by cudaMemset", cleared, 0},
      {"pcie_in_bytes", "from pinned memory", bus.in, 0},
      {"pcie_out_bytes", "to pinned memory", bus.out, 0},
      {"pcie_both_bytes", "both directions at once, added up", bus.both, 0},
      {"host_copy_bytes", "copied by all CPUs in the host's memory", bus.host_copy, 0},
  };
}

void write_json(const std::string& path, const cudaDeviceProp& properties, const std::vector<Rate>& rates) {
  std::ofstream out(path);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  out << "{\n \"device\": \"" << properties.name << "\", \"multiprocessors\": " << properties.multiProcessorCount
      << ", \"driver\": " << driver << ", \"cuda\": " << runtime << ", \"version\": \"" << polykem_version() << "\", "
      << json_of(kBuild) << ", \"command\": \"bench/cuda/run.sh build-gpu rates\", \"samples\": " << kSamples
      << ",\n \"rates\": [";
  const char* between = "\n";
  for (const Rate& rate : rates) {
    out << between << "  {\"name\": \"" << rate.name << "\", \"of\": \"" << rate.of
        << "\", \"per_second\": " << rate.per_second;
    if (rate.used > 0) out << ", \"used_for_floors\": " << rate.used;
    out << "}";
    between = ",\n";
  }
  out << "\n ]\n}\n";
  out.close();
  if (!out) die("cannot write " + path);
}

int run(int argc, char** argv) {
  if (argc != 1 && !(argc == 3 && std::strcmp(argv[1], "--json") == 0)) die("usage: [--json FILE]");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  std::printf("%s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
  const std::vector<Rate> rates = measure(properties.multiProcessorCount);
  for (const Rate& rate : rates) {
    std::printf("%-16s %10.4g/s", rate.name, rate.per_second);
    if (rate.used > 0) std::printf("  floors use %.4g (measured / used: %.3f)", rate.used, rate.per_second / rate.used);
    std::printf("  %s\n", rate.of);
  }
  if (argc == 3) write_json(argv[2], properties, rates);
  return 0;
}

}  // namespace
}  // namespace polykem::bench

int main(int argc, char** argv) {
  return polykem::bench::run(argc, argv);
}
