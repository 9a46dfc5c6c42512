// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/rows/rows.hpp"

#include "core/cpu_features.hpp"

namespace polykem::ckks {

namespace {

const RowFunctions& best() {
#ifdef POLYKEM_HAVE_AVX512
  if (cpu_features().avx512()) return rows_avx512();
#endif
#ifdef POLYKEM_HAVE_X86
  if (cpu_features().avx2() && cpu_features().has(CpuFeatures::kFma)) return rows_avx2();
#endif
  return rows_ref();
}

}  // namespace

const RowFunctions& rows() {
  static const RowFunctions& functions = best();
  return functions;
}

}  // namespace polykem::ckks
