// SPDX-License-Identifier: Apache-2.0
// What libpolykem_bench_polymul.so exports: one function, found at run time.
#pragma once

#include <cstddef>

namespace polykem::bench {

struct CudaPolymulRow {
  const char *multiplier, *kind, *shared;
  size_t n, batch;
  double seconds, floor_seconds;  ///< of one product
  int chosen;                     ///< the library uses it
};

struct CudaPolymulJob {
  const size_t* degrees;
  size_t degree_count;  ///< 0: all
  const size_t* batches;
  size_t batch_count;
  int check_only;
  void* user;
  void (*row)(void* user, const CudaPolymulRow* row);
  // What comes back.
  size_t checked;
  char device[64], problem[256], ceilings[128];
};

/// failed: `problem` has the driver's words, or says that there is no GPU.
enum class CudaPolymulOutcome : int { done = 0, wrong = 1, failed = 2 };

inline constexpr const char* kCudaPolymulEntry = "polykem_bench_cuda_polymul";

}  // namespace polykem::bench

extern "C" polykem::bench::CudaPolymulOutcome polykem_bench_cuda_polymul(polykem::bench::CudaPolymulJob* job);
