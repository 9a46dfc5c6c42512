// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"

#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "core/cpu.hpp"

namespace polykem {

namespace {

#ifdef POLYKEM_HAVE_X86
constexpr bool kX86 = true;
#else
constexpr bool kX86 = false;
#endif

constexpr BackendDescription kBackends[] = {
    {BackendId::cuda, "cuda", "batches on NVIDIA GPUs, a key of its own for every client",
     "an NVIDIA GPU of compute capability 7.5 or newer, its driver for CUDA 13, and libpolykem_cuda.so", true},
    {BackendId::avx512, "avx512", "batches across the lanes of 512-bit vectors",
     "x86-64 with AVX-512 F, BW, VL, DQ, VBMI, VBMI2, VNNI, IFMA, VAES, VPCLMULQDQ and GFNI", kX86},
    {BackendId::avx2, "avx2", "batches across the lanes of 256-bit vectors", "x86-64 with AVX2, BMI2 and AES", kX86},
    {BackendId::ref, "ref", "portable C++, one stage a step, the reference for all others", "any 64-bit machine", true},
};

bool (*cuda_probe)() = nullptr;

/// What was said about each backend. Old texts stay, since callers may still hold them.
class Problems {
 public:
  const char* get(BackendId id) {
    const std::lock_guard lock(mutex_);
    return current_[static_cast<size_t>(id)];
  }
  void set(BackendId id, const char* problem) {
    const char* kept = keep(problem);
    const std::lock_guard lock(mutex_);
    current_[static_cast<size_t>(id)] = kept;
  }
  /// The text as static storage.
  const char* keep(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return texts_.insert(text).first->c_str();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> texts_;
  const char* current_[std::size(kBackends)] = {"", "", "", ""};
};

Problems& problems() {
  static Problems all;
  return all;
}

}  // namespace

std::span<const BackendDescription> backends() {
  return kBackends;
}

const BackendDescription* find_backend(const char* name) {
  for (const auto& backend : kBackends) {
    if (std::strcmp(backend.name, name) == 0) return &backend;
  }
  return nullptr;
}

bool backend_available(const BackendDescription& backend) {
  if (!backend.built) return false;
  switch (backend.id) {
    case BackendId::cuda:
      return cuda_probe != nullptr && cuda_probe();
    case BackendId::avx512:
      return cpu_features().avx512();
    case BackendId::avx2:
      return cpu_features().avx2();
    case BackendId::ref:
      return true;
  }
  return false;
}

const char* backend_problem(BackendId id) {
  return problems().get(id);
}
const char* backend_requirements(const BackendDescription& backend) {
  const std::string problem = backend_problem(backend.id);
  return problem.empty() ? backend.requirements
                         : problems().keep(std::string(backend.requirements) + "; here: " + problem);
}
void set_backend_problem(BackendId id, const char* problem) {
  problems().set(id, problem);
}
void set_cuda_probe(bool (*probe)()) {
  cuda_probe = probe;
}

}  // namespace polykem
