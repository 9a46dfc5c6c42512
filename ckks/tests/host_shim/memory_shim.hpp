// SPDX-License-Identifier: Apache-2.0
// The memory of the GPU that is none, for the program that has loaded the module.
#pragma once

#include <cstddef>

struct ShimMemory {
  size_t used, most_used, wiped;  ///< bytes; wiped: with zeros, of all that was freed
  size_t limit;                   ///< more is not to be had
  size_t calls_left;              ///< allocations that succeed, if there are fewer than these
  size_t waiting;                 ///< bytes that are free once the pool is trimmed
  int devices;
};

extern "C" ShimMemory* polykem_shim_memory();
