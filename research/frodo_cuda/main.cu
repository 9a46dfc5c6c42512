// SPDX-License-Identifier: Apache-2.0
// Measures the tables and figures of the paper on FrodoKEM on a GPU, for this GPU and one core of its host.
//   polykem_bench_frodo_cuda [--json FILE] [--svg FILE]
// Every matrix is compared with the core's, word by word. For each set both sides must have the same secrets, and `ref`
// must agree for some items.
#include <cuda_runtime.h>

#include <fstream>

#include "accelerators/cuda/loader.hpp"
#include "bench/cuda/resident.hpp"
#include "host.hpp"
#include "kernels.cuh"
#include "report.hpp"
#include "schemes/frodo/stages.hpp"

namespace polykem::bench {
namespace {

using frodo::GenA;
using frodo::kSeedABytes;

constexpr size_t kGenerated[] = {256, 512, 640, 976, 1344, 2048, 3072, 4096, 5120, 6144};
constexpr size_t kSizes[] = {640, 976, 1344, 2048, 3200}, kRows[] = {8, 16, 64, 320, 1344, 3200, 16384};
constexpr size_t kMatrixBytes = size_t{4} << 30, kMaxMatrices = 4096;  ///< limits of a batch
constexpr double kSeconds = 0.1;                                       ///< time for each figure of the CPU

std::vector<uint16_t> words_of(const uint16_t* device, size_t count) {
  std::vector<uint16_t> words(count);
  check(cudaMemcpy(words.data(), device, count * sizeof(uint16_t), cudaMemcpyDeviceToHost), "copy");
  return words;
}

// ---- the generation of A

void launch_generation(GenA gen_a, uint16_t* out, const uint8_t* seeds, size_t n, size_t matrices, int processors) {
  const auto columns = static_cast<uint32_t>(n), count = static_cast<uint32_t>(matrices);
  if (gen_a == GenA::kShake) {
    const dim3 grid((columns + 31) / 32, count);
    frodo_cuda::gen_a_shake_kernel<<<grid, 32>>>(out, seeds, columns);
    return;
  }
  const size_t shared = frodo_cuda::aes_shared_bytes(columns), strips = n / frodo_cuda::kStripRows * matrices;
  check(cudaFuncSetAttribute(frodo_cuda::gen_a_aes_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)),
        "shared memory for AES");
  const auto blocks = static_cast<unsigned>(std::min(strips, static_cast<size_t>(processors)));
  frodo_cuda::gen_a_aes_kernel<<<blocks, frodo::cuda::kAesThreads, shared>>>(out, seeds, columns, count);
}

GenerationRow measure_generation(const Core& core, GenA gen_a, size_t n, int processors) {
  const size_t words = n * n, batch = std::min(kMatrixBytes / (2 * words), kMaxMatrices);
  std::vector<uint8_t> seeds(batch * kSeedABytes);
  uint32_t state = static_cast<uint32_t>(n);
  for (uint8_t& byte : seeds)
    byte = static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  const DeviceBytes on_card(seeds.size()), out(batch * words * sizeof(uint16_t));
  check(cudaMemcpy(on_card.data, seeds.data(), seeds.size(), cudaMemcpyHostToDevice), "copy");
  auto* const matrices = reinterpret_cast<uint16_t*>(out.data);
  const Matrix tile(frodo::kMaxGeneratedRows, n), whole(n, n);
  GenerationRow row{gen_a == GenA::kAes ? "aes" : "shake", n, batch, 0, 0, 0};
  const auto verify = [&](size_t matrix) {
    core.generate(whole, false, gen_a, seeds.data() + matrix * kSeedABytes, n);
    if (!whole.equals(words_of(matrices + matrix * words, words)))
      die("A by " + row.function + ", n = " + std::to_string(n) + ": matrix " + std::to_string(matrix) +
          " is not the CPU's");
  };
  const auto run = [&](size_t count) {
    check(cudaMemset(out.data, 0, out.size), "memset");
    return gpu_milliseconds([&] { launch_generation(gen_a, matrices, on_card.data, n, count, processors); });
  };
  row.gpu_one = run(1);
  verify(0);
  row.gpu_many = run(batch) / static_cast<double>(batch);
  verify(0);
  verify(batch / 2);
  verify(batch - 1);
  row.cpu = best_milliseconds(kSeconds, [&] { core.generate(tile, true, gen_a, seeds.data(), n); });
  return row;
}

// ---- the product

constexpr size_t whole_tiles(size_t n) {
  return (n + polykem::cuda::kGemmInner - 1) / polykem::cuda::kGemmInner * polykem::cuda::kGemmInner;
}

/// Stores A as the kernels do for a shared key: limb, column, row.
std::vector<uint8_t> limbs_of(const Matrix& a, size_t n) {
  const size_t pitch = whole_tiles(n);
  std::vector<uint8_t> limbs(2 * pitch * pitch);
  for (size_t first = 0; first < n; first += 64) {
    for (size_t column = 0; column < n; ++column) {
      for (size_t row = first; row < std::min(first + 64, n); ++row) {
        const uint16_t word = a.view().row(row)[column];
        limbs[column * pitch + row] = static_cast<uint8_t>(word);
        limbs[(pitch + column) * pitch + row] = static_cast<uint8_t>(word >> 8);
      }
    }
  }
  return limbs;
}

ProductRow measure_product(const Core& core, const Matrix& a, const DeviceBytes& limbs, size_t n, size_t m) {
  const size_t pitch = whole_tiles(n);
  Matrix s(m, n), c(m, n);
  std::vector<uint8_t> bytes(m * pitch);
  uint64_t state = n * m + 1;
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const int value = static_cast<int>((state >> 40) % 25) - 12;
      s.view().row(i)[j] = static_cast<uint16_t>(value);
      bytes[i * pitch + j] = static_cast<uint8_t>(value);
    }
  }
  const DeviceBytes on_card(bytes.size()), out(m * n * sizeof(uint16_t));
  check(cudaMemcpy(on_card.data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copy");
  check(cudaMemset(out.data, 0, out.size), "memset");
  auto* const words = reinterpret_cast<uint16_t*>(out.data);
  const auto pad = static_cast<uint32_t>(pitch);
  const size_t tiles =
      (m + polykem::cuda::kGemmRows - 1) / polykem::cuda::kGemmRows * (pitch / polykem::cuda::kGemmColumns);
  check(cudaFuncSetAttribute(frodo_cuda::product_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             polykem::cuda::kGemmShared),
        "shared memory");
  ProductRow row{n, m, 0, 0};
  row.gpu = gpu_milliseconds([&] {
    frodo_cuda::
        product_kernel<<<static_cast<unsigned>(tiles), polykem::cuda::kGemmThreads, polykem::cuda::kGemmShared>>>(
            words, on_card.data, {limbs.data, pad, pad}, static_cast<uint32_t>(m), static_cast<uint32_t>(n));
  });
  row.cpu = std::numeric_limits<double>::infinity();
  for (const size_t step : {frodo::kMaxGeneratedRows, n})
    row.cpu = std::min(row.cpu, best_milliseconds(kSeconds / 2, [&] { core.multiply(c, s, a, m, n, step); }));
  if (!c.equals(words_of(words, m * n)))
    die("the product, n = " + std::to_string(n) + ", m = " + std::to_string(m) + ": not the CPU's");
  return row;
}

// ---- the profile

/// Returns the part of a step, which is that of its longest stage. A belongs to the product, sampling to SHAKE.
Part part_of_step(std::span<const Stage> stages, const StepInfo& step) {
  std::vector<bool> has(kParts);
  for (size_t i = step.first; i < size_t{step.first} + step.count; ++i)
    has[part_of(stages[i].name)] = true;
  if (has[kGenA] || has[kProduct]) return kProduct;
  if (has[kShake] || has[kSampling]) return kShake;
  return has[kRandom] ? kRandom : kRest;
}

void measure_profile(const Core& core, const cuda::ModuleTable& table, const frodo::Set& of, PaperReport& report) {
  const polykem_scheme* found = nullptr;
  check(polykem_scheme_find(of.name, &found), of.name);
  const Set set(found);
  constexpr size_t kCpuItems = 64;
  const size_t items =
      static_cast<size_t>(table.device_info(0).multiprocessors) * 128;  // a thread computes an item's hash
  const ResidentResult result = Resident(table, set, items).run(false);
  for (const OpResult& r : result.ops) {
    ProfileRow row{of.name, r.op, items, kCpuItems, 1e6 / r.items_per_second, PartTimes(kParts), {}};
    const DeviceOperation& operation = table.scheme(of.name)->operation(r.op);
    for (size_t i = 0; i < r.steps.size(); ++i) {  // the last one wipes the workspace
      const bool is_step = i < operation.steps.size();
      row.gpu[is_step ? part_of_step(frodo::kStages.of(r.op), operation.steps[i].info) : kRest] +=
          r.steps[i].ns_per_item * 1e-3;
    }
    row.cpu = cpu_profile(core, set, r.op, kCpuItems);
    report.profile.push_back(row);
  }
}

PaperReport measure() {
  const auto& module = cuda::loaded_module();
  if (module.table == nullptr) die(module.problem);
  const auto info = module.table->device_info(0);
  const Core core;
  PaperReport report{info.name, core.name, {}, {}, {}};
  for (const GenA gen_a : {GenA::kAes, GenA::kShake}) {
    for (const size_t n : kGenerated)
      report.generation.push_back(measure_generation(core, gen_a, n, info.multiprocessors));
  }
  for (const size_t n : kSizes) {
    const Matrix a(n, n);
    constexpr uint8_t kSeed[kSeedABytes] = {0x46, 0x72, 0x6f, 0x64, 0x6f};
    core.generate(a, false, GenA::kShake, kSeed, n);
    const std::vector<uint8_t> limbs = limbs_of(a, n);
    const DeviceBytes on_card(limbs.size());
    check(cudaMemcpy(on_card.data, limbs.data(), limbs.size(), cudaMemcpyHostToDevice), "copy");
    for (const size_t m : kRows)
      report.products.push_back(measure_product(core, a, on_card, n, m));
  }
  for (const frodo::Set& set : frodo::kSets) {
    if (set.salted) measure_profile(core, *module.table, set, report);
  }
  return report;
}

int run(int argc, char** argv) {
  std::string json, svg;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if ((option != "--json" && option != "--svg") || i + 1 == argc) die("usage: [--json FILE] [--svg FILE]");
    (option == "--json" ? json : svg) = argv[i + 1];
  }
  const PaperReport report = measure();
  print(report);
  const auto write = [](const std::string& path, const std::string& text) {
    if (path.empty()) return;
    std::ofstream out(path);
    out << text;
    out.close();
    if (!out) die("cannot write " + path);
  };
  write(json, json_of(report));
  write(svg, svg_of(report));
  return 0;
}

}  // namespace
}  // namespace polykem::bench

int main(int argc, char** argv) {
  return polykem::bench::run(argc, argv);
}
