// SPDX-License-Identifier: Apache-2.0
// The files through which a process reaches a core on an FPGA: /dev/uioN of the core and of its DMA, and a buffer of
// u-dma-buf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace polykem::rtl {

/// An open file; closed at the end.
class File {
 public:
  explicit File(int descriptor = -1) : descriptor_(descriptor) {}
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

/// Memory of a device in this process's address space; unmapped at the end.
class Mapping {
 public:
  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  /// Maps the first `bytes` bytes of the file; false if that cannot be done.
  bool map(const File& file, size_t bytes);

  volatile uint32_t* registers() const { return static_cast<volatile uint32_t*>(memory_); }
  volatile uint64_t* words() const { return static_cast<volatile uint64_t*>(memory_); }
  size_t bytes() const { return bytes_; }

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

/// One core and what belongs to it.
struct UioDevice {
  /// Bytes of registers that are mapped: a page.
  static constexpr size_t kRegisterBytes = 4096;
  /// A half for the input of the longest command, 4,736 bytes, a half for output.
  static constexpr size_t kMinBuffer = 2 * 8192;

  File interrupts;              ///< a read waits for the core's interrupt, writing a 1 (32 bits) allows the next
  Mapping core, dma;            ///< registers
  Mapping buffer;               ///< memory that the DMA reaches
  uint64_t buffer_address = 0;  ///< physical
};

/// names: "CORE,DMA,BUFFER", e.g. "/dev/uio4,/dev/uio5,/dev/udmabuf0". nullptr with the reason in `problem`. While the
/// device exists, nobody else can open the same core.
std::unique_ptr<UioDevice> open_uio(const std::string& names, std::string& problem);

}  // namespace polykem::rtl
