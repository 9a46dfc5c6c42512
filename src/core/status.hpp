// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polykem {

/// The result of a call; the C API's polykem_status has the same values (checked in capi).
enum class Status : int {
  kOk = 0,
  kArgument = 1,
  kUnknownScheme = 2,
  kUnknownBackend = 3,
  kBackendUnavailable = 4,
  kOutOfMemory = 5,
  kRandom = 6,
  kItems = 7,
  kPublicKey = 8,
  kSecretKey = 9,
  kSize = 11,
  kBusy = 12,
  kRange = 13,
  kInternal = 14,
  kCiphertext = 15,
  kSignature = 16,
};

}  // namespace polykem
