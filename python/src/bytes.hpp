// SPDX-License-Identifier: Apache-2.0
// Buffers of Python objects for a batch, and memory for secrets.
#pragma once

#include <nanobind/nanobind.h>
#include <polykem/polykem.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace polykem::python {

namespace nb = nanobind;

/// Raises polykem.ArgumentError in Python.
void set_refusal(const char* message) noexcept;
/// Throws polykem.ArgumentError as a C++ exception.
[[noreturn]] void refuse(const std::string& message);

/// nanobind converts arguments in noexcept functions, so a conversion that runs out of memory would end the process.
/// Therefore lists are passed as objects and text as const char*, and these functions convert lists within the call.
using NumberList = nb::typed<nb::sequence, nb::int_>;
/// Throws TypeError.
std::vector<std::uint64_t> numbers(const NumberList& list);

/// The address of GPU memory, which the creator keeps alive.
struct DeviceBytes {
  std::uintptr_t address;
  std::size_t bytes;
};

/// An array that a batch reads or writes. It holds the object's buffer, so that it cannot be resized meanwhile. None is
/// a null pointer. Must be destroyed with the GIL held.
class Bytes {
 public:
  Bytes() = default;
  /// Throws unless `object` has exactly `expected` contiguous bytes. name: the argument's name in the message.
  Bytes(nb::handle object, const char* name, std::size_t expected, bool writable);
  ~Bytes();
  Bytes(Bytes&& other) noexcept;
  Bytes& operator=(Bytes&& other) noexcept;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::uint8_t* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  Py_buffer view_{};
};

/// Memory that is overwritten with zeros before it is given back; views share it.
class SecretMemory {
 public:
  /// Zeros, or a view of `base` from byte `offset` on. shape: one or two dimensions.
  SecretMemory(const NumberList& shape, const SecretMemory* base, std::size_t offset);

  const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }
  std::size_t bytes() const noexcept { return bytes_; }
  void wipe() noexcept;
  bool wiped() const noexcept;         ///< all of its bytes were wiped, through it or another view
  bool partly_wiped() const noexcept;  ///< some were; it exports its buffer no more

  /// The slots of Python's buffer protocol.
  static PyType_Slot slots[];

 private:
  /// The memory that views share, and its wiped ranges, which neither overlap nor touch: end by beginning.
  class Memory {
   public:
    explicit Memory(std::size_t bytes);
    ~Memory();
    std::uint8_t* data() const noexcept { return data_.get(); }
    void wipe(std::size_t begin, std::size_t end) noexcept;
    bool wiped_all(std::size_t begin, std::size_t end) noexcept;
    bool wiped_any(std::size_t begin, std::size_t end) noexcept;

   private:
    void mark(std::size_t begin, std::size_t end);
    std::unique_ptr<std::uint8_t[]> data_;
    std::size_t bytes_;
    std::mutex mutex_;
    std::map<std::size_t, std::size_t> wiped_;
    bool wholly_wiped_ = false;
  };
  static int get_buffer(PyObject* self, Py_buffer* view, int flags);
  static void release_buffer(PyObject* self, Py_buffer* view);

  std::vector<std::uint64_t> shape_;
  std::size_t bytes_ = 1;
  std::shared_ptr<Memory> memory_;
  std::size_t begin_ = 0;  ///< within the memory
};

}  // namespace polykem::python
