// SPDX-License-Identifier: Apache-2.0
#include "accelerators/rtl/driver/uio_device.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace polykem::rtl {

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Mapping::~Mapping() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

bool Mapping::map(const File& file, size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (memory == MAP_FAILED) return false;
  *this = Mapping();
  memory_ = memory;
  bytes_ = bytes;
  return true;
}

namespace {

/// "a,b,c"; false if there are not three names.
bool split_names(const std::string& names, std::string (&out)[3]) {
  const size_t first = names.find(','), last = names.rfind(',');
  if (first == std::string::npos || first == last) return false;
  out[0] = names.substr(0, first);
  out[1] = names.substr(first + 1, last - first - 1);
  out[2] = names.substr(last + 1);
  return out[1].find(',') == std::string::npos;
}

/// A number in a file of sysfs, decimal or with 0x; 0 if it cannot be read.
uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  file.unsetf(std::ios::basefield);
  return file >> value ? value : 0;
}

std::string because(const std::string& path) {
  return path + ": " + std::strerror(errno);
}

/// O_SYNC: the processor does not cache the memory, so that the DMA and it see the same.
File open_device(const std::string& path) {
  return File(open(path.c_str(), O_RDWR | O_SYNC | O_CLOEXEC));
}

bool map_registers(const std::string& path, const File& file, Mapping& out, std::string& problem) {
  if (file.is_open() && out.map(file, UioDevice::kRegisterBytes)) return true;
  problem = because(path);
  return false;
}

bool map_buffer(const std::string& path, UioDevice& device, std::string& problem) {
  const std::string about = "/sys/class/u-dma-buf/" + path.substr(path.rfind('/') + 1);
  const uint64_t bytes = number_in(about + "/size");
  device.buffer_address = number_in(about + "/phys_addr");
  if (bytes < UioDevice::kMinBuffer || device.buffer_address == 0) {
    problem = path + ": no buffer of u-dma-buf with " + std::to_string(UioDevice::kMinBuffer) + " bytes at least";
    return false;
  }
  const File file = open_device(path);
  if (file.is_open() && device.buffer.map(file, bytes)) return true;
  problem = because(path);
  return false;
}

}  // namespace

std::unique_ptr<UioDevice> open_uio(const std::string& names, std::string& problem) {
  std::string name[3];
  if (!split_names(names, name)) {
    problem = "'" + names + "' does not name three devices: CORE,DMA,BUFFER";
    return nullptr;
  }
  auto device = std::make_unique<UioDevice>();
  device->interrupts = open_device(name[0]);
  const File dma = open_device(name[1]);
  if (!map_registers(name[0], device->interrupts, device->core, problem)) return nullptr;
  if (flock(device->interrupts.descriptor(), LOCK_EX | LOCK_NB) != 0) {
    problem = name[0] + ": another process uses the core";
    return nullptr;
  }
  if (!map_registers(name[1], dma, device->dma, problem) || !map_buffer(name[2], *device, problem)) return nullptr;
  return device;
}

}  // namespace polykem::rtl
