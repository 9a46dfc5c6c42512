// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <x86intrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace polykem::bench {

enum class Isa { kAvx2, kAvx512 };

inline const char* isa_name(Isa isa) {
  return isa == Isa::kAvx2 ? "avx2" : "avx512";
}

inline bool cpu_has(Isa isa) {
  if (isa == Isa::kAvx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni");
}

inline double ticks_per_cycle() {
  static const double value = [] {
    constexpr uint64_t kChain = 1000000;
    double best = 1e9;
    for (int run = 0; run < 20; ++run) {
      uint64_t left = kChain;
      const uint64_t start = __rdtsc();
      asm volatile("1: dec %0\n jnz 1b" : "+r"(left));
      best = std::min(best, static_cast<double>(__rdtsc() - start) / kChain);
    }
    return best;
  }();
  return value;
}

/// Returns the lower quartile of the core cycles of many calls.
template <class Call>
double cycles(Call&& call) {
  call();
  std::vector<double> times;
  double spent = 0;
  while (times.size() < 15 || (spent < 3e8 && times.size() < 401)) {
    const uint64_t start = __rdtsc();
    call();
    times.push_back(static_cast<double>(__rdtsc() - start));
    spent += times.back();
  }
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 4), times.end());
  return times[times.size() / 4] / ticks_per_cycle();
}

/// Prints a row. floor: 0 if none is stated.
inline void report(const char* name, Isa isa, double cycles_per_item, double floor) {
  std::printf("%-34s %-7s %10.0f %10.0f\n", name, isa_name(isa), cycles_per_item, floor);
}

/// 64-byte aligned zeroed memory that lives as long as the program.
template <class T>
T* aligned(size_t count) {
  void* memory = std::aligned_alloc(64, (count * sizeof(T) + 127) / 64 * 64);
  std::fill_n(static_cast<uint8_t*>(memory), (count * sizeof(T) + 127) / 64 * 64, uint8_t{0});
  return static_cast<T*>(memory);
}

/// Returns pseudorandom bytes, the same in every run.
inline void fill_noise(void* memory, size_t bytes) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < bytes; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    static_cast<uint8_t*>(memory)[i] = static_cast<uint8_t>(state >> 56);
  }
}

struct Group {
  const char* name;
  void (*run)(Isa isa);
};

void bench_aes(Isa isa);
void bench_keccak(Isa isa);
/// The part of bench_keccak() for AVX-512. floor: cycles of one of eight states.
void bench_keccak_overlapped(double floor);
void bench_lac(Isa isa);
void bench_polyinv(Isa isa);
void bench_sort(Isa isa);

inline const std::vector<Group>& groups() {
  static const std::vector<Group> all = {{"aes", bench_aes},
                                         {"keccak", bench_keccak},
                                         {"lac", bench_lac},
                                         {"polyinv", bench_polyinv},
                                         {"sort", bench_sort}};
  return all;
}

}  // namespace polykem::bench
