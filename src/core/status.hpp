// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polykem {

/// What every call reports; the C API's polykem_status has the same values (checked in capi).
enum class Status : int {
  ok = 0,
  argument = 1,
  unknown_scheme = 2,
  unknown_backend = 3,
  backend_unavailable = 4,
  out_of_memory = 5,
  random = 6,
  items = 7,
  public_key = 8,
  secret_key = 9,
  size = 11,
  busy = 12,
  range = 13,
  internal = 14,
};

}  // namespace polykem
