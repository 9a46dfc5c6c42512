// SPDX-License-Identifier: Apache-2.0
// Compares every kernel and form of CKKS on a GPU with the CPU's reference. polykem-lab ckks measures them.
//   polykem_gpu_ckks [check]
// Exits with 1 if a word is wrong or a call fails, with 2 for other words, with 77 if there is no GPU.
#include <cstring>

#include "all_checks.hpp"

int main(int count, char** arguments) {
  if (count > 2 || (count == 2 && std::strcmp(arguments[1], "check") != 0)) {
    std::fputs("usage: polykem_gpu_ckks [check]; polykem-lab ckks measures\n", stderr);
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: there is no GPU");
    return 77;
  }
  try {
    const polykem::ckks::test::Counts counts = polykem::ckks::test::check_all(true);
    std::printf("%zu words compared, %zu wrong\n", counts.compared, counts.wrong);
    return counts.wrong == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "polykem_gpu_ckks: %s\n", error.what());
    return 1;
  }
}
