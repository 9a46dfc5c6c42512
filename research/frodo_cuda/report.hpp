// SPDX-License-Identifier: Apache-2.0
// The results as text, as JSON and as plots.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <string>

#include "bench/frodo_scaling/scaling.hpp"
#include "core/build_info.hpp"
#include "host.hpp"

namespace polykem::bench {

inline double sum(const PartTimes& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

inline double gbit_per_second(const GenerationRow& row, double milliseconds) {
  return 16e-6 * static_cast<double>(row.n * row.n) / milliseconds;
}

/// Returns the rate in 10^12 multiply-adds of an element of S' and a word of A per second.
inline double tmac_per_second(const ProductRow& row, double milliseconds) {
  return 1e-9 * static_cast<double>(row.n * row.n * row.m) / milliseconds;
}

inline void print(const PaperReport& report) {
  const char* const cpu = report.cpu_backend.c_str();
  std::printf("%s beside one core (%s)\n", report.device.c_str(), cpu);
  std::printf(
      "\nA, n x n words: milliseconds of one matrix alone, of one of a batch, of the core; Gbit/s; batch over core\n");
  for (const GenerationRow& r : report.generation)
    std::printf("%-5s n %5zu | %9.4f %9.5f %9.4f ms | %7.1f %7.1f %7.1f Gbit/s | x%.1f x%.1f (batch of %zu)\n",
                r.function.c_str(), r.n, r.gpu_one, r.gpu_many, r.cpu, gbit_per_second(r, r.gpu_one),
                gbit_per_second(r, r.gpu_many), gbit_per_second(r, r.cpu), r.cpu / r.gpu_one, r.cpu / r.gpu_many,
                r.batch);
  std::printf("\nS' A, S' m x n, A n x n: milliseconds and T MAC/s of the GPU and of the core\n");
  for (const ProductRow& r : report.products)
    std::printf("n %5zu m %6zu | %9.4f %10.3f ms | %8.3f %8.4f T MAC/s | x%.1f\n", r.n, r.m, r.gpu, r.cpu,
                tmac_per_second(r, r.gpu), tmac_per_second(r, r.cpu), r.cpu / r.gpu);
  std::printf("\nMicroseconds an item, GPU / core; on the GPU sampling is in SHAKE, A in the product\n");
  for (const ProfileRow& r : report.profile) {
    std::printf("%-18s %-6s", r.set.c_str(), kOpNames[static_cast<int>(r.op)]);
    for (size_t p = 0; p < kParts; ++p)
      std::printf(" | %s %.3f / %.2f", kPartNames[p], r.gpu[p], r.cpu[p]);
    std::printf(" | all %.3f / %.2f: x%.0f\n", r.gpu_whole, sum(r.cpu), sum(r.cpu) / r.gpu_whole);
  }
}

inline std::string json_of_parts(const PartTimes& parts) {
  std::ostringstream out;
  for (size_t p = 0; p < kParts; ++p)
    out << (p == 0 ? "{\"" : ", \"") << kPartNames[p] << "\": " << parts[p];
  return out.str() + "}";
}

inline std::string json_of(const PaperReport& report) {
  std::ostringstream out;
  out << "{\n \"device\": \"" << report.device << "\", \"cpu\": \"one core, " << report.cpu_backend
      << "\", \"version\": \"" << polykem_version() << "\", " << json_of(kBuild)
      << ", \"command\": \"bench/cuda/run.sh build-gpu frodo\",\n \"samples\": " << kSamples << ",\n \"generation\": [";
  const char* between = "\n";
  for (const GenerationRow& r : report.generation) {
    out << between << "  {\"function\": \"" << r.function << "\", \"n\": " << r.n << ", \"batch\": " << r.batch
        << ", \"one_ms\": " << r.gpu_one << ", \"many_ms\": " << r.gpu_many << ", \"cpu_ms\": " << r.cpu << "}";
    between = ",\n";
  }
  out << "\n ],\n \"products\": [";
  between = "\n";
  for (const ProductRow& r : report.products) {
    out << between << "  {\"n\": " << r.n << ", \"m\": " << r.m << ", \"ms\": " << r.gpu << ", \"cpu_ms\": " << r.cpu
        << "}";
    between = ",\n";
  }
  out << "\n ],\n \"profile\": [";
  between = "\n";
  for (const ProfileRow& r : report.profile) {
    out << between << "  {\"set\": \"" << r.set << "\", \"op\": \"" << kOpNames[static_cast<int>(r.op)]
        << "\", \"items\": " << r.items << ", \"us\": " << r.gpu_whole << ",\n   \"gpu_us\": " << json_of_parts(r.gpu)
        << ",\n   \"cpu_items\": " << r.cpu_items << ", \"cpu_us\": " << json_of_parts(r.cpu) << "}";
    between = ",\n";
  }
  out << "\n ]\n}\n";
  return out.str();
}

/// Plots milliseconds over n and over m, as frodo_scaling does.
inline std::string svg_of(const PaperReport& report) {
  ScalingReport plots;
  const std::string core = "a core";
  for (const GenerationRow& r : report.generation) {
    const std::string part = "gen_a " + r.function;
    plots.rows.push_back({part, r.n, 0, "GPU", r.gpu_one, 0});
    plots.rows.push_back({part, r.n, 0, "GPU, a batch", r.gpu_many, 0});
    plots.rows.push_back({part, r.n, 0, core, r.cpu, 0});
  }
  for (const ProductRow& r : report.products) {
    plots.rows.push_back({"product", r.n, r.m, "GPU", r.gpu, 0});
    plots.rows.push_back({"product", r.n, r.m, core, r.cpu, 0});
  }
  return plot_scaling(plots, "FrodoKEM's A and its product on one " + report.device + " and on one core of its host",
                      {"Product S' A, A n x n", "m, rows of S'"});
}

}  // namespace polykem::bench
