// SPDX-License-Identifier: Apache-2.0
// Every way to multiply polynomials of NTRU, checked against the portable product and timed beside its floor.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace polykem::bench {

struct PolymulRequest {
  std::vector<size_t> degrees;  ///< of the sets'; empty: all
  std::vector<size_t> batches;  ///< products of one launch, on a GPU
  bool check_only = false;
};

struct PolymulRow {
  std::string unit;              ///< "cuda", "avx512", "avx2"
  std::string multiplier, kind;  ///< kind: which operands
  std::string shared;            ///< "a" or "b": one operand for the whole batch; "none"
  size_t n, batch;
  double time, floor;  ///< of one product; a floor of 0 is not stated
  bool chosen;         ///< what the library uses for this
};

struct PolymulReport {
  std::string time_unit;  ///< "ns", or "cycles" of one core
  std::string device;     ///< the GPU, or ""
  std::string problem;    ///< why there are no rows, or which product is wrong
  bool wrong = false;     ///< a product is wrong
  size_t checked = 0;     ///< combinations that were right
  std::string ceilings;   ///< rates that the floors are made of, in words
  std::vector<PolymulRow> rows;
};

/// Told each row when it has been measured.
using PolymulProgress = std::function<void(const PolymulRow&)>;

/// On the first GPU, by libpolykem_bench_polymul.so, which lies beside the program or in ../lib. `problem` says why
/// there is nothing if there is nothing.
PolymulReport polymul_on_gpu(const PolymulRequest& request, const PolymulProgress& progress);

/// On one core, with every instruction set there is; `batches` is ignored: every product fills the lanes by itself.
PolymulReport polymul_on_cpu(const PolymulRequest& request, const PolymulProgress& progress);

}  // namespace polykem::bench
