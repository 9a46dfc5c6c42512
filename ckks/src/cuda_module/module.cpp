// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "ckks/src/cuda_module/gpu.hpp"
#include "ckks/src/cuda_module/memory.hpp"

namespace polykem::ckks {

namespace {

Outcome failed(Outcome outcome, const char* text, ErrorText* why) noexcept {
  const size_t length = std::min(std::strlen(text), sizeof why->text - 1);
  std::memcpy(why->text, text, length);
  why->text[length] = 0;
  return outcome;
}

template <class Work>
Outcome guarded(ErrorText* why, const Work& work) noexcept {
  try {
    work();
    return Outcome::kOk;
  } catch (const cuda::GpuError& error) {
    return failed(error.outcome(), error.what(), why);
  } catch (const std::bad_alloc&) {
    return failed(Outcome::kOutOfMemory, "there is not enough main memory", why);
  } catch (const std::exception& error) {
    return failed(Outcome::kFailed, error.what(), why);
  }
}

Outcome open(const DeviceSetup* setup, OpenDevice** out, ErrorText* why) {
  return guarded(why, [&] { *out = open_gpu(*setup).release(); });
}
void close(OpenDevice* device) {
  if (device->is_inherited()) return;
  ErrorText unheard;
  std::optional<cuda::CurrentDevice> current;
  (void)guarded(&unheard,
                [&] { current.emplace(device->ordinal()); });  // if the GPU is lost, host memory is freed all the same
  delete device;
}
Outcome allocate(OpenDevice* device, size_t count, void** out, ErrorText* why) {
  return guarded(why, [&] { *out = device->allocate(count); });
}
void release(OpenDevice* device, void* words, size_t count, bool zeroize) {
  device->release(words, count, zeroize);
}
Outcome upload(OpenDevice* device, void* to, const uint64_t* from, size_t count, ErrorText* why) {
  return guarded(why, [&] { device->upload(to, from, count); });
}
Outcome download(OpenDevice* device, uint64_t* to, const void* from, size_t count, ErrorText* why) {
  return guarded(why, [&] { device->download(to, from, count); });
}
Outcome wait(OpenDevice* device, ErrorText* why) {
  return guarded(why, [&] { device->wait(); });
}
Outcome combine(OpenDevice* device, Operation what, const DevicePolynomials* out, const DevicePolynomials* a,
                const DevicePolynomials* b, ErrorText* why) {
  return guarded(why, [&] { device->combine(what, *out, *a, *b); });
}
Outcome combine_plain(OpenDevice* device, Operation what, const DevicePolynomials* out, const DevicePolynomials* a,
                      const DevicePolynomials* b, ErrorText* why) {
  return guarded(why, [&] { device->combine_plain(what, *out, *a, *b); });
}
Outcome negate(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, ErrorText* why) {
  return guarded(why, [&] { device->negate(*out, *a); });
}
Outcome tensor(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, const DevicePolynomials* b,
               ErrorText* why) {
  return guarded(why, [&] { device->tensor(*out, *a, *b); });
}
Outcome relinearise(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, const void* key,
                    ErrorText* why) {
  return guarded(why, [&] { device->relinearise(*out, *a, key); });
}
Outcome automorphism(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, uint64_t g,
                     const void* key, ErrorText* why) {
  return guarded(why, [&] { device->automorphism(*out, *a, g, key); });
}
Outcome rescale(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, ErrorText* why) {
  return guarded(why, [&] { device->rescale(*out, *a); });
}
Outcome select(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, size_t first,
               ErrorText* why) {
  return guarded(why, [&] { device->select(*out, *a, first); });
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
