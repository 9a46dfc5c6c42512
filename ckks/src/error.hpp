// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace polykem::ckks {

/// The result of a call; the C API's polykem_ckks_status has the same values (checked in capi.cpp).
enum class Fault : int {
  kArgument = 1,
  kOutOfMemory = 5,
  kRandom = 6,
  kInternal = 14,
  kParameters = 32,
  kInsecure = 33,
  kLevels = 34,
  kScales = 35,
  kParts = 36,
  kNoLevel = 37,
  kResidues = 38,
  kDevice = 39,
  kDecryption = 40,
  kFormat = 41,
};

/// Thrown by everything in ckks/src; its text says what to do.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& text) : std::runtime_error(text), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

}  // namespace polykem::ckks
