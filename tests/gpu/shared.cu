// SPDX-License-Identifier: Apache-2.0
// polykem_gpu_shared, a process that shares a GPU with others; tests/gpu/shared.sh starts several.
//   exchange ITEMS           ML-KEM-768: key pairs and encapsulations by the GPU, decapsulations by a CPU. Exit code 0:
//                            the secrets agree; 1: they differ; 3: a call failed; 4: they agree, but the CPU took over
//                            a part of the GPU's work; 77: there is no usable GPU. It prints why.
//   beside MEBIBYTES ITEMS   the same in a process of its own, while this one leaves only so much of the GPU's memory
#include <cuda_runtime_api.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "polykem/polykem.h"

namespace {

int exchange_beside(size_t left, const std::string& exchange) {
  size_t unused = 0, all = 0;
  void* memory = nullptr;
  cudaError_t error = cudaMemGetInfo(&unused, &all);
  if (error == cudaSuccess) error = cudaMalloc(&memory, unused - std::min(unused, left));
  if (error != cudaSuccess) {
    std::puts(cudaGetErrorString(error));
    return 1;
  }
  const int status = std::system(exchange.c_str());
  (void)cudaFree(memory);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

polykem_backend_info_t cuda_backend() {
  polykem_backend_info_t info{};
  info.struct_size = sizeof info;
  for (size_t i = 0; i < polykem_backend_count(); ++i) {
    if (polykem_backend_info(i, &info) == POLYKEM_OK && std::strcmp(info.name, "cuda") == 0) return info;
  }
  return {};
}

polykem_context* context(const char* backend) {
  polykem_config config{};
  config.struct_size = sizeof config;
  config.backend = backend;
  polykem_context* result = nullptr;
  return polykem_context_new(&config, &result) == POLYKEM_OK ? result : nullptr;
}

bool done(polykem_status status, const char* what) {
  if (status != POLYKEM_OK)
    std::printf("%s: %s (%s)\n", what, polykem_status_text(status), cuda_backend().requirements);
  return status == POLYKEM_OK;
}

int exchange(size_t count) {
  if (cuda_backend().available == 0) {
    std::printf("no usable GPU: %s\n", cuda_backend().requirements);
    return 77;
  }
  const polykem_scheme* set = nullptr;
  polykem_scheme_info_t info{};
  info.struct_size = sizeof info;
  polykem_context *gpu = context("cuda"), *cpu = context("ref");
  if (gpu == nullptr || cpu == nullptr || polykem_scheme_find("mlkem768", &set) != POLYKEM_OK ||
      polykem_scheme_info(set, &info) != POLYKEM_OK)
    return 3;
  std::vector<uint8_t> pk(count * info.public_key_bytes), sk(count * info.secret_key_bytes),
      ct(count * info.ciphertext_bytes), sent(count * info.shared_secret_bytes), received(sent.size());
  if (!done(polykem_keygen(gpu, set, count, pk.data(), sk.data()), "key pairs") ||
      !done(polykem_encaps(gpu, set, count, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), sent.data(), nullptr),
            "encapsulations") ||
      !done(polykem_decaps(cpu, set, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), received.data(), nullptr),
            "decapsulations"))
    return 3;
  const auto fallbacks = cuda_backend().fallbacks;
  std::printf("%zu exchanges, %u chunks by the CPU\n", count, fallbacks);
  polykem_context_free(gpu);
  polykem_context_free(cpu);
  if (sent != received) return 1;
  return fallbacks == 0 ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  const auto number = [&](int i) { return static_cast<size_t>(std::strtoul(argv[i], nullptr, 10)); };
  if (what == "exchange" && argc == 3) return exchange(number(2));
  if (what == "beside" && argc == 4)
    return exchange_beside(number(2) << 20, std::string("'") + argv[0] + "' exchange " + argv[3]);
  std::fprintf(stderr, "usage: %s exchange ITEMS | beside MEBIBYTES ITEMS\n", argv[0]);
  return 2;
}
