// SPDX-License-Identifier: Apache-2.0
// Checks the library against the fake module: polykem_cuda_module_check MODE, with FAKE_CUDA and POLYKEM_CUDA_MODULE
// set.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "engine/cuda/backend.hpp"
#include "polykem/polykem.h"

namespace {

using Bytes = std::vector<uint8_t>;

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what);
}

/// What `polykem doctor` would say of the backend.
polykem_backend_info_t cuda_info() {
  polykem_backend_info_t info{};
  for (size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info(i, &info);
    if (std::strcmp(info.name, "cuda") == 0) return info;
  }
  expect(false, "there is no backend cuda");
  return info;
}

polykem_context* context(const char* backend, polykem_status wanted) {
  const polykem_config config{sizeof config, 1, backend};
  polykem_context* result = nullptr;
  expect(polykem_context_new(&config, &result) == wanted, "polykem_context_new");
  return result;
}

const polykem_scheme* find(const char* name) {
  const polykem_scheme* scheme = nullptr;
  expect(polykem_scheme_find(name, &scheme) == POLYKEM_OK, "polykem_scheme_find");
  return scheme;
}

/// No module that works: the backend says why, and everything else is as if it did not exist.
void check_unavailable(const char* reason) {
  const polykem_backend_info_t info = cuda_info();
  expect(info.available == 0, "cuda must not be available");
  expect(std::strstr(info.requirements, reason) != nullptr, "the reason is missing");
  if (std::strstr(info.requirements, reason) == nullptr) std::fprintf(stderr, "  got: %s\n", info.requirements);
  context("cuda", POLYKEM_ERR_BACKEND_UNAVAILABLE);
  polykem_context* any = context(nullptr, POLYKEM_OK);
  const char* backend = polykem_context_backend(any, find("ntruhps2048509"));
  expect(backend != nullptr && std::strcmp(backend, "cuda") != 0, "a CPU backend must run the set");
  polykem_context_free(any);
}

/// A module whose description does not fit the library's: the set is not run by it.
void check_mismatch() {
  expect(cuda_info().available == 1, "the module itself is fine");
  polykem_context* forced = context("cuda", POLYKEM_OK);
  expect(polykem_context_backend(forced, find("ntruhps2048509")) == nullptr, "a set described otherwise must not run");
  polykem_context_free(forced);
}

struct Results {
  Bytes pk, sk, ct, ss, decapsulated;
};

/// A deterministic exchange of `count` items.
Results exchange(polykem_context* context, size_t count) {
  const polykem_scheme* scheme = find("ntruhps2048509");
  polykem_scheme_info_t info{};
  polykem_scheme_info(scheme, &info);
  Bytes keygen_draws(count * info.keygen_draw_bytes), encaps_draws(count * info.encaps_draw_bytes);
  for (size_t i = 0; i < keygen_draws.size(); ++i)
    keygen_draws[i] = static_cast<uint8_t>(i * i / 7);
  for (size_t i = 0; i < encaps_draws.size(); ++i)
    encaps_draws[i] = static_cast<uint8_t>(i * i / 11);
  Results r{Bytes(count * info.public_key_bytes), Bytes(count * info.secret_key_bytes),
            Bytes(count * info.ciphertext_bytes), Bytes(count * 32), Bytes(count * 32)};
  polykem_request request{};
  request.struct_size = sizeof request;
  request.scheme = scheme;
  request.count = count;
  request.op = POLYKEM_KEYGEN;
  request.draws = keygen_draws.data();
  request.pk_out = r.pk.data();
  request.sk_out = r.sk.data();
  expect(polykem_run(context, &request) == POLYKEM_OK, "keygen");
  request.op = POLYKEM_ENCAPS;
  request.draws = encaps_draws.data();
  request.pk = r.pk.data();
  request.ct_out = r.ct.data();
  request.ss_out = r.ss.data();
  expect(polykem_run(context, &request) == POLYKEM_OK, "encaps");
  request.op = POLYKEM_DECAPS;
  request.draws = nullptr;
  request.sk = r.sk.data();
  request.ct = r.ct.data();
  request.ss_out = r.decapsulated.data();
  expect(polykem_run(context, &request) == POLYKEM_OK, "decaps");
  return r;
}

/// A device that fails: the CPU does the work, nothing is lost, and doctor can say what happened.
void check_moved_to_cpu(const char* reason) {
  constexpr size_t kCount = 37;
  polykem_context* gpu = context("cuda", POLYKEM_OK);
  polykem_context* cpu = context("ref", POLYKEM_OK);
  const Results got = exchange(gpu, kCount), wanted = exchange(cpu, kCount);
  expect(got.pk == wanted.pk && got.sk == wanted.sk && got.ct == wanted.ct && got.ss == wanted.ss, "other results");
  expect(got.decapsulated == wanted.ss, "other decapsulated secrets");
  expect(polykem::cuda::chunks_moved_to_cpu() == 3, "three chunks moved to the CPU");
  expect(std::strstr(cuda_info().requirements, reason) != nullptr, "the driver's words are missing");
  polykem_context_free(gpu);
  polykem_context_free(cpu);
}

/// No device memory for keys: they stay on the host.
void check_keys_on_host() {
  polykem_context* gpu = context("cuda", POLYKEM_OK);
  const Results made = exchange(gpu, 3);
  polykem_keyset* keys = nullptr;
  const polykem_scheme* scheme = find("ntruhps2048509");
  expect(polykem_keyset_import(gpu, scheme, POLYKEM_SECRET_KEYS, 3, made.sk.data(), &keys) == POLYKEM_OK, "import");
  Bytes ss(96);
  polykem_request request{};
  request.struct_size = sizeof request;
  request.scheme = scheme;
  request.count = 3;
  request.op = POLYKEM_DECAPS;
  request.keyset = keys;
  request.ct = made.ct.data();
  request.ss_out = ss.data();
  expect(polykem_run(gpu, &request) == POLYKEM_OK && ss == made.ss, "decaps with keys on the host");
  polykem_keyset_free(keys);
  polykem_context_free(gpu);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  if (mode == "absent")
    check_unavailable("was not found");
  else if (mode == "off")
    check_unavailable("switched off");
  else if (mode == "foreign")
    check_unavailable("is no polykem module");
  else if (mode == "other_version")
    check_unavailable("another version");
  else if (mode == "no_gpu")
    check_unavailable("cudaErrorNoDevice");
  else if (mode == "wrong_sizes" || mode == "wrong_steps")
    check_mismatch();
  else if (mode == "run_fails")
    check_moved_to_cpu("cudaErrorLaunchFailure");
  else if (mode == "run_no_memory")
    check_moved_to_cpu("cudaErrorMemoryAllocation");
  else if (mode == "keys_no_memory")
    check_keys_on_host();
  else
    expect(false, "unknown mode");
  return failures == 0 ? 0 : 1;
}
