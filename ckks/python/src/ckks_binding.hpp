// SPDX-License-Identifier: Apache-2.0
// Arithmetic on encrypted numbers: the handles of polykem/ckks.h with Python's lifetimes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <polykem/ckks.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "python/src/bytes.hpp"
#include "python/src/ckks_submodules.hpp"
#include "python/src/gil.hpp"

namespace polykem::python {

template <class Handle>
struct Freed;
template <>
struct Freed<polykem_ckks_context> {
  void operator()(polykem_ckks_context* handle) const { polykem_ckks_context_free(handle); }
};
template <>
struct Freed<polykem_ckks_plaintexts> {
  void operator()(polykem_ckks_plaintexts* handle) const { polykem_ckks_plaintexts_free(handle); }
};
template <>
struct Freed<polykem_ckks_ciphertexts> {
  void operator()(polykem_ckks_ciphertexts* handle) const { polykem_ckks_ciphertexts_free(handle); }
};
template <>
struct Freed<polykem_ckks_secret_key> {
  void operator()(polykem_ckks_secret_key* handle) const { polykem_ckks_secret_key_free(handle); }
};
template <>
struct Freed<polykem_ckks_public_key> {
  void operator()(polykem_ckks_public_key* handle) const { polykem_ckks_public_key_free(handle); }
};
template <>
struct Freed<polykem_ckks_switching_key> {
  void operator()(polykem_ckks_switching_key* handle) const { polykem_ckks_switching_key_free(handle); }
};

template <>
struct Freed<polykem_ckks_device> {
  void operator()(polykem_ckks_device* handle) const { polykem_ckks_device_free(handle); }
};

/// An object of the C API. Words that Python sees keep it.
template <class Handle>
class Owned {
 public:
  explicit Owned(Handle* handle) : handle_(handle, Freed<Handle>()) {}
  Handle* get() const noexcept { return handle_.get(); }
  const std::shared_ptr<Handle>& shared() const noexcept { return handle_; }

 private:
  std::shared_ptr<Handle> handle_;
};

using CkksContext = Owned<polykem_ckks_context>;
using CkksPlaintexts = Owned<polykem_ckks_plaintexts>;
using CkksCiphertexts = Owned<polykem_ckks_ciphertexts>;
using CkksSecretKey = Owned<polykem_ckks_secret_key>;
using CkksPublicKey = Owned<polykem_ckks_public_key>;
using CkksSwitchingKey = Owned<polykem_ckks_switching_key>;
using CkksDevice = Owned<polykem_ckks_device>;

using Words = nb::ndarray<nb::numpy, const std::uint64_t>;

/// The exception of a status that is not OK. Call it with the GIL held, on the thread of the call that failed.
void check_ckks(polykem_ckks_status status);

/// Raises polykem.ckks.ArgumentError.
[[noreturn]] void refuse_ckks(const std::string& text);

/// make(&handle) without the GIL.
template <class Handle, class Make>
Owned<Handle> made(const Make& make) {
  Handle* handle = nullptr;
  polykem_ckks_status status = POLYKEM_CKKS_OK;
  {
    const WithoutGil no_gil;
    status = make(&handle);
  }
  check_ckks(status);
  return Owned<Handle>(handle);
}

/// An array that reads the words of `owner`, which it keeps; `get` is polykem_ckks_..._words. Refuses a shape of
/// another size, and words that lie on a device.
template <class Handle>
Words words_of(const Owned<Handle>& owner, const std::uint64_t* (*get)(const Handle*, std::size_t*),
               const std::vector<std::size_t>& shape) {
  std::size_t count = 0, needed = 1;
  const std::uint64_t* const words = get(owner.get(), &count);
  for (const std::size_t size : shape)
    needed *= size;
  if (words == nullptr || needed != count) refuse_ckks("the object belongs to another parameter set, or lies on a GPU");
  auto kept = std::make_unique<std::shared_ptr<Handle>>(owner.shared());
  nb::capsule capsule(kept.get(), [](void* p) noexcept { delete static_cast<std::shared_ptr<Handle>*>(p); });
  kept.release();
  return Words(words, shape.size(), shape.data(), capsule);
}

polykem_ckks_shape shape_of(const CkksCiphertexts& ciphertexts);

}  // namespace polykem::python
