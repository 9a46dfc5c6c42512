// SPDX-License-Identifier: Apache-2.0
// GPUs, by way of a module that is loaded when the first device is opened (device_module.hpp).
#pragma once

#include <memory>

#include "ckks/src/backend.hpp"
#include "ckks/src/context.hpp"
#include "ckks/src/device_module.hpp"
#include "ckks/src/error.hpp"

namespace polykem::ckks {

/// A GPU with the tables of a parameter set. Several threads may use one: their work is queued in the order of their
/// calls. Everything that lies on it keeps it open.
class Device final : public Backend {
 public:
  static constexpr unsigned kMinLogN = 12;

  /// Opens a GPU. scratch_bytes: the most that an operation takes beside operands and result, unless a single
  /// ciphertext needs more; 0: 2 GiB or a quarter of the memory that is free. Throws Error(parameters) for a set that
  /// no device takes, Error(device) where there is no such GPU or no module, and Error(out_of_memory).
  static std::shared_ptr<const Device> open(const Context& context, int ordinal, size_t scratch_bytes);
  ~Device() override;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int ordinal() const { return ordinal_; }
  uint64_t q_id() const { return q_id_; }
  uint64_t id() const { return id_; }
  /// Waits until all work that was queued is done. Throws Error(device) if something failed.
  void wait() const;

  void allocate(Ciphertexts& out) const override;
  void combine(Operation operation, const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const override;
  void combine_plain(Operation operation, const Ciphertexts& a, const Plaintexts& b, Ciphertexts& out) const override;
  void negate(const Ciphertexts& a, Ciphertexts& out) const override;
  void tensor(const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const override;
  void relinearise(const Ciphertexts& a, const SwitchingKey& key, Ciphertexts& out) const override;
  void automorphism(const Ciphertexts& a, uint64_t g, const SwitchingKey& key, Ciphertexts& out) const override;
  void rescale(const Ciphertexts& a, Ciphertexts& out) const override;
  void select(const Ciphertexts& a, size_t first, Ciphertexts& out) const override;

 private:
  friend class DeviceWords;

  Device(const Context& context, int ordinal, const DeviceModule& module);
  /// Calls a function of the module, and throws if it fails.
  template <typename... Parameters, typename... Arguments>
  void run(Outcome (*function)(OpenDevice*, Parameters...), const Arguments&... arguments) const;

  const DeviceModule& module_;
  OpenDevice* open_ = nullptr;
  int ordinal_;
  uint64_t q_id_, id_;
  std::weak_ptr<const Device> self_;
};

/// Words in a device's memory.
class DeviceWords {
 public:
  /// secret: the words are zeroized before the memory is freed. Throws Error(out_of_memory).
  DeviceWords(std::shared_ptr<const Device> device, size_t count, bool secret);
  ~DeviceWords();
  DeviceWords(const DeviceWords&) = delete;
  DeviceWords& operator=(const DeviceWords&) = delete;

  const Device& device() const { return *device_; }
  const std::shared_ptr<const Device>& owner() const { return device_; }
  void* get() const { return words_; }
  size_t count() const { return count_; }
  void upload(const uint64_t* words) const;
  void download(uint64_t* words) const;

 private:
  std::shared_ptr<const Device> device_;
  size_t count_;
  bool secret_;
  void* words_ = nullptr;
};

/// Returns the device where a batch or a key lies, or nullptr for main memory.
template <typename Object>
const Device* device_of(const Object& object) {
  return object.on_device == nullptr ? nullptr : &object.on_device->device();
}

/// These copy. They throw Error(argument) for objects of another parameter set, and Error(device) for those that lie on
/// another device.
Ciphertexts to_device(const std::shared_ptr<const Device>& device, const Ciphertexts& a);
Plaintexts to_device(const std::shared_ptr<const Device>& device, const Plaintexts& a);
SwitchingKey to_device(const std::shared_ptr<const Device>& device, const SwitchingKey& key);
Ciphertexts to_host(const Ciphertexts& a);
Plaintexts to_host(const Plaintexts& a);

/// Throws Error(device) if a batch lies on a device.
template <typename Batch>
void need_on_host(const Batch& batch) {
  if (batch.on_device != nullptr)
    throw Error(Fault::kDevice, "the batch lies on a device: copy it to main memory first (..._to_host)");
}

}  // namespace polykem::ckks
