// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace polykem::ckks {

/// What can be wrong with a call; the C API's polykem_ckks_status has the same values (checked in capi.cpp).
enum class Fault : int {
  argument = 1,
  out_of_memory = 5,
  random = 6,
  internal = 14,
  parameters = 32,
  insecure = 33,
  levels = 34,
  scales = 35,
  parts = 36,
  no_level = 37,
  residues = 38,
  device = 39,
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
