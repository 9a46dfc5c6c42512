// SPDX-License-Identifier: Apache-2.0
// What every function of the C API does: it turns exceptions into a status and a text.
#pragma once

#include <polykem/ckks.h>

#include <exception>
#include <new>
#include <stdexcept>

#include "ckks/src/error.hpp"
#include "core/secure.hpp"

namespace polykem::ckks {

/// Keeps the text for polykem_ckks_error_text(); returns the fault as a status.
polykem_ckks_status failed(Fault fault, const char* text) noexcept;

template <typename Work>
polykem_ckks_status status_of(const Work& work) noexcept {
  try {
    work();
    return POLYKEM_CKKS_OK;
  } catch (const Error& error) {
    return failed(error.fault(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(Fault::kOutOfMemory, "there is not enough memory");
  } catch (const std::length_error&) {
    return failed(Fault::kOutOfMemory, "there is not enough memory");
  } catch (const std::exception& error) {
    return failed(Fault::kInternal, error.what());
  } catch (...) {
    return failed(Fault::kInternal, "an exception of unknown type");
  }
}

/// Runs `work`, turns what it throws into a status, and zeroizes what it left on the stack: sums over secrets, say.
template <typename Work>
polykem_ckks_status guarded(const Work& work) noexcept {
  const polykem_ckks_status status = status_of(work);
  polykem::zeroize_stack();
  return status;
}

template <typename... Pointers>
void need(const Pointers*... pointers) {
  if ((!pointers || ...)) throw Error(Fault::kArgument, "a pointer is NULL");
}

}  // namespace polykem::ckks
