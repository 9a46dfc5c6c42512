// SPDX-License-Identifier: Apache-2.0
#include "core.hpp"

#include <new>

namespace polykem::provider {

namespace {

/// True if the program's libcrypto is ours: the core then passes our own functions.
bool is_our_libcrypto(const OSSL_DISPATCH* core) {
  return core_function<OSSL_FUNC_CRYPTO_malloc_fn>(core, OSSL_FUNC_CRYPTO_MALLOC) == &CRYPTO_malloc;
}

/// The library context; a provider without one is in the default context.
OSSL_LIB_CTX* context_of(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core) {
  auto* const get = core_function<OSSL_FUNC_core_get_libctx_fn>(core, OSSL_FUNC_CORE_GET_LIBCTX);
  auto* const context = get == nullptr ? nullptr : reinterpret_cast<OSSL_LIB_CTX*>(get(handle));
  return context != nullptr ? context : OSSL_LIB_CTX_set0_default(nullptr);
}

}  // namespace

CoreStreams::CoreStreams(const OSSL_DISPATCH* core)
    : read_(core_function<OSSL_FUNC_BIO_read_ex_fn>(core, OSSL_FUNC_BIO_READ_EX)),
      write_(core_function<OSSL_FUNC_BIO_write_ex_fn>(core, OSSL_FUNC_BIO_WRITE_EX)) {}

bool CoreStreams::read(OSSL_CORE_BIO* stream, std::uint8_t* out, std::size_t bytes) const {
  for (std::size_t done = 0, got = 0; done < bytes; done += got) {
    if (read_ == nullptr || read_(stream, out + done, bytes - done, &got) != 1 || got == 0) return false;
  }
  return true;
}

bool CoreStreams::write(OSSL_CORE_BIO* stream, const std::uint8_t* in, std::size_t bytes) const {
  std::size_t written = 0;
  return write_ != nullptr && write_(stream, in, bytes, &written) == 1 && written == bytes;
}

CoreLibrary::CoreLibrary(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core)
    : is_child_(!is_our_libcrypto(core)),
      context_(is_child_ ? OSSL_LIB_CTX_new_child(handle, core) : context_of(handle, core)) {
  if (context_ == nullptr) throw std::bad_alloc();
}

CoreLibrary::~CoreLibrary() {
  if (is_child_) OSSL_LIB_CTX_free(context_);
}

}  // namespace polykem::provider
