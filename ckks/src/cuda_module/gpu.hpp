// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "ckks/src/device_module.hpp"

namespace polykem::ckks {

/// The functions of DeviceModule, except that they throw GpuError or std::bad_alloc. Calls wait for each other.
class OpenDevice {
 public:
  virtual ~OpenDevice() = default;
  virtual int ordinal() const = 0;
  /// Returns true in a child of fork(), where the driver does nothing.
  virtual bool is_inherited() const = 0;
  virtual void* allocate(size_t count) = 0;
  virtual void release(void* words, size_t count, bool zeroize) noexcept = 0;
  virtual void upload(void* to, const uint64_t* from, size_t count) = 0;
  virtual void download(uint64_t* to, const void* from, size_t count) = 0;
  virtual void wait() = 0;
  virtual void combine(Operation what, const DevicePolynomials& out, const DevicePolynomials& a,
                       const DevicePolynomials& b) = 0;
  virtual void combine_plain(Operation what, const DevicePolynomials& out, const DevicePolynomials& a,
                             const DevicePolynomials& b) = 0;
  virtual void negate(const DevicePolynomials& out, const DevicePolynomials& a) = 0;
  virtual void tensor(const DevicePolynomials& out, const DevicePolynomials& a, const DevicePolynomials& b) = 0;
  virtual void relinearise(const DevicePolynomials& out, const DevicePolynomials& a, const void* key) = 0;
  virtual void automorphism(const DevicePolynomials& out, const DevicePolynomials& a, uint64_t g, const void* key) = 0;
  virtual void rescale(const DevicePolynomials& out, const DevicePolynomials& a) = 0;
  virtual void select(const DevicePolynomials& out, const DevicePolynomials& a, size_t first) = 0;
};

/// Opens a GPU, with 32-bit words if all primes are below 2^31, else with 64-bit words.
std::unique_ptr<OpenDevice> open_gpu(const DeviceSetup& setup);

}  // namespace polykem::ckks
