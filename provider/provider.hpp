// SPDX-License-Identifier: Apache-2.0
// One instance of the provider, in one library context.
#pragma once

#include <openssl/core.h>

#include <memory>
#include <string>
#include <vector>

#include "algorithms.hpp"
#include "compute.hpp"
#include "config.hpp"
#include "core.hpp"
#include "errors.hpp"

namespace polykem::provider {

inline constexpr const char* kName = "polykem";
inline constexpr const char* kProperties = "provider=polykem";

struct Provider {
  Provider(const OSSL_CORE_HANDLE* own_handle, const OSSL_DISPATCH* core)
      : handle(own_handle), errors(own_handle, core), streams(core), library(own_handle, core) {}

  const OSSL_CORE_HANDLE* const handle;
  Errors errors;
  CoreStreams streams;
  CoreLibrary library;
  Offer offer;  ///< does not change once the provider is loaded
  std::vector<OSSL_ALGORITHM> key_managers, kems, signatures, encoders, decoders;
  std::unique_ptr<Compute> compute;
};

inline Provider& as_provider(void* pointer) {
  return *static_cast<Provider*>(pointer);
}

/// Tables with an entry for each offered algorithm, for each KEM, and for each signature algorithm. They end with an
/// empty entry.
std::vector<OSSL_ALGORITHM> key_manager_table(const Offer& offer);
std::vector<OSSL_ALGORITHM> kem_table(const Offer& offer);
std::vector<OSSL_ALGORITHM> signature_table(const Offer& offer);

/// Tables for the sets whose keys have standard forms.
std::vector<OSSL_ALGORITHM> encoder_table(const Offer& offer);
std::vector<OSSL_ALGORITHM> decoder_table(const Offer& offer);

/// GET_CAPABILITIES of the provider.
int get_capabilities(void* provider, const char* capability, OSSL_CALLBACK* callback, void* argument);

}  // namespace polykem::provider
