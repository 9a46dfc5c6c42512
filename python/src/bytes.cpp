// SPDX-License-Identifier: Apache-2.0
#include "bytes.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <string>
#include <utility>

namespace polykem::python {

void set_refusal(const char* message) noexcept {
  PyObject* const module = PyImport_ImportModule("polykem._errors");
  PyObject* const type = module ? PyObject_GetAttrString(module, "ArgumentError") : nullptr;
  if (type) PyErr_SetString(type, message);
  Py_XDECREF(type);
  Py_XDECREF(module);
}

void refuse(const std::string& message) {
  set_refusal(message.c_str());
  throw nb::python_error();
}

std::vector<std::uint64_t> numbers(const NumberList& list) {
  std::vector<std::uint64_t> out;
  for (const nb::handle item : list) {
    std::uint64_t number = 0;
    if (!nb::try_cast(item, number)) throw nb::type_error("a list has something else than whole numbers from 0 on");
    out.push_back(number);
  }
  return out;
}

Bytes::Bytes(nb::handle object, const char* name, std::size_t expected, bool writable) {
  if (object.is_none()) return;
  if (nb::isinstance<DeviceBytes>(object)) {
    const auto& device = nb::cast<const DeviceBytes&>(object);
    data_ = reinterpret_cast<std::uint8_t*>(device.address);
    size_ = device.bytes;
  } else {
    const int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
    data_ = static_cast<std::uint8_t*>(view_.buf);
    size_ = static_cast<std::size_t>(view_.len);
  }
  if (size_ == expected) return;
  if (view_.obj != nullptr) PyBuffer_Release(&view_);
  refuse(std::string(name) + " has " + std::to_string(size_) + " bytes instead of " + std::to_string(expected));
}

Bytes::~Bytes() {
  if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

Bytes::Bytes(Bytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      view_(std::exchange(other.view_, {})) {}

Bytes& Bytes::operator=(Bytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(view_, other.view_);
  return *this;
}

SecretMemory::Memory::Memory(std::size_t size) : data_(new std::uint8_t[size]()), bytes_(size) {}

SecretMemory::Memory::~Memory() {
  polykem_zeroize(data_.get(), bytes_);
}

/// Marks the range before it is overwritten, so that a thread that has read zeros sees the mark.
void SecretMemory::Memory::wipe(std::size_t begin, std::size_t end) noexcept {
  {
    const std::lock_guard lock(mutex_);
    try {
      if (!wholly_wiped_) mark(begin, end);
    } catch (const std::bad_alloc&) {
      wholly_wiped_ = true;  // rather refuse what is left than take zeros for a key
    }
    if (wholly_wiped_) wiped_.clear();
  }
  polykem_zeroize(data_.get() + begin, end - begin);
}

void SecretMemory::Memory::mark(std::size_t begin, std::size_t end) {
  auto next = wiped_.upper_bound(begin);
  if (next != wiped_.begin() && std::prev(next)->second >= begin) {
    --next;
    begin = next->first;
  }
  while (next != wiped_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = wiped_.erase(next);
  }
  if (begin < end) wiped_.emplace(begin, end);
  wholly_wiped_ = begin == 0 && end == bytes_;
}

bool SecretMemory::Memory::wiped_all(std::size_t begin, std::size_t end) noexcept {
  const std::lock_guard lock(mutex_);
  const auto next = wiped_.upper_bound(begin);
  return wholly_wiped_ || (next != wiped_.begin() && std::prev(next)->second >= end);
}

bool SecretMemory::Memory::wiped_any(std::size_t begin, std::size_t end) noexcept {
  const std::lock_guard lock(mutex_);
  const auto next = wiped_.lower_bound(end);
  return wholly_wiped_ || (next != wiped_.begin() && std::prev(next)->second > begin);
}

SecretMemory::SecretMemory(const NumberList& shape, const SecretMemory* base, std::size_t offset)
    : shape_(numbers(shape)) {
  if (shape_.empty() || shape_.size() > 2) refuse("a Secret has one or two dimensions");
  for (const std::uint64_t extent : shape_)
    if (__builtin_mul_overflow(bytes_, extent, &bytes_)) refuse("a Secret larger than memory");
  if (base == nullptr) {
    memory_ = std::make_shared<Memory>(bytes_);
    return;
  }
  if (offset > base->bytes_ || bytes_ > base->bytes_ - offset) refuse("a view beyond its Secret");
  memory_ = base->memory_;
  begin_ = base->begin_ + offset;
}

void SecretMemory::wipe() noexcept {
  memory_->wipe(begin_, begin_ + bytes_);
}

bool SecretMemory::wiped() const noexcept {
  return memory_->wiped_all(begin_, begin_ + bytes_);
}

bool SecretMemory::partly_wiped() const noexcept {
  return memory_->wiped_any(begin_, begin_ + bytes_);
}

int SecretMemory::get_buffer(PyObject* self, Py_buffer* view, int) {
  const auto* secret = nb::inst_ptr<SecretMemory>(nb::handle(self));
  view->obj = nullptr;
  if (secret->partly_wiped()) {
    set_refusal(secret->wiped() ? "this Secret was wiped"
                                : "a part of this Secret was wiped; take the items that were not");
    return -1;
  }
  const std::size_t dimensions = secret->shape_.size();
  auto* extents = new (std::nothrow) Py_ssize_t[4];
  if (extents == nullptr) {
    PyErr_NoMemory();
    return -1;
  }
  for (std::size_t i = 0; i < dimensions; ++i)
    extents[i] = static_cast<Py_ssize_t>(secret->shape_[i]);
  extents[2] = dimensions == 2 ? extents[1] : 1;
  extents[3] = 1;
  static char format[] = "B";
  view->buf = secret->memory_->data() + secret->begin_;
  view->len = static_cast<Py_ssize_t>(secret->bytes_);
  view->itemsize = 1;
  view->readonly = 0;
  view->ndim = static_cast<int>(dimensions);
  view->format = format;
  view->shape = extents;
  view->strides = extents + 2;
  view->suboffsets = nullptr;
  view->internal = extents;
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

void SecretMemory::release_buffer(PyObject*, Py_buffer* view) {
  delete[] static_cast<Py_ssize_t*>(view->internal);
}

PyType_Slot SecretMemory::slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(SecretMemory::get_buffer)},
                                     {Py_bf_releasebuffer, reinterpret_cast<void*>(SecretMemory::release_buffer)},
                                     {0, nullptr}};

}  // namespace polykem::python
