// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "ckks/src/cuda_module/gpu.hpp"
#include "ckks/src/cuda_module/memory.hpp"

namespace polykem::ckks {

namespace {

Outcome failed(Outcome outcome, const char* text, Problem* problem) noexcept {
  const size_t length = std::min(std::strlen(text), sizeof problem->text - 1);
  std::memcpy(problem->text, text, length);
  problem->text[length] = 0;
  return outcome;
}

template <class Work>
Outcome guarded(Problem* problem, const Work& work) noexcept {
  try {
    work();
    return Outcome::kOk;
  } catch (const cuda::GpuError& error) {
    return failed(error.outcome(), error.what(), problem);
  } catch (const std::bad_alloc&) {
    return failed(Outcome::kOutOfMemory, "there is not enough main memory", problem);
  } catch (const std::exception& error) {
    return failed(Outcome::kFailed, error.what(), problem);
  }
}

Outcome open(const DeviceSetup* setup, OpenDevice** out, Problem* problem) {
  return guarded(problem, [&] { *out = open_gpu(*setup).release(); });
}
void close(OpenDevice* device) {
  if (device->is_inherited()) return;
  Problem unheard;
  std::optional<cuda::Current> current;
  (void)guarded(&unheard,
                [&] { current.emplace(device->ordinal()); });  // if the GPU is lost, host memory is freed all the same
  delete device;
}
Outcome allocate(OpenDevice* device, size_t count, void** out, Problem* problem) {
  return guarded(problem, [&] { *out = device->allocate(count); });
}
void release(OpenDevice* device, void* words, size_t count, bool wipe) {
  device->release(words, count, wipe);
}
Outcome upload(OpenDevice* device, void* to, const uint64_t* from, size_t count, Problem* problem) {
  return guarded(problem, [&] { device->upload(to, from, count); });
}
Outcome download(OpenDevice* device, uint64_t* to, const void* from, size_t count, Problem* problem) {
  return guarded(problem, [&] { device->download(to, from, count); });
}
Outcome wait(OpenDevice* device, Problem* problem) {
  return guarded(problem, [&] { device->wait(); });
}
Outcome combine(OpenDevice* device, Operation what, const DevicePolynomials* out, const DevicePolynomials* a,
                const DevicePolynomials* b, Problem* problem) {
  return guarded(problem, [&] { device->combine(what, *out, *a, *b); });
}
Outcome combine_plain(OpenDevice* device, Operation what, const DevicePolynomials* out, const DevicePolynomials* a,
                      const DevicePolynomials* b, Problem* problem) {
  return guarded(problem, [&] { device->combine_plain(what, *out, *a, *b); });
}
Outcome negate(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, Problem* problem) {
  return guarded(problem, [&] { device->negate(*out, *a); });
}
Outcome tensor(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, const DevicePolynomials* b,
               Problem* problem) {
  return guarded(problem, [&] { device->tensor(*out, *a, *b); });
}
Outcome relinearise(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, const void* key,
                    Problem* problem) {
  return guarded(problem, [&] { device->relinearise(*out, *a, key); });
}
Outcome automorphism(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, uint64_t g,
                     const void* key, Problem* problem) {
  return guarded(problem, [&] { device->automorphism(*out, *a, g, key); });
}
Outcome rescale(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, Problem* problem) {
  return guarded(problem, [&] { device->rescale(*out, *a); });
}
Outcome select(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, size_t first,
               Problem* problem) {
  return guarded(problem, [&] { device->select(*out, *a, first); });
}

constexpr DeviceModule kModule{kDeviceModuleVersion,
                               sizeof(DeviceModule),
                               open,
                               close,
                               allocate,
                               release,
                               upload,
                               download,
                               wait,
                               combine,
                               combine_plain,
                               negate,
                               tensor,
                               relinearise,
                               automorphism,
                               rescale,
                               select};

}  // namespace

}  // namespace polykem::ckks

extern "C" __attribute__((visibility("default"))) const polykem::ckks::DeviceModule* polykem_ckks_cuda_module() {
  return &polykem::ckks::kModule;
}
