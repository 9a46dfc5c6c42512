// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace polykem {

enum class BackendId : int { avx512 = 0, avx2 = 1, ref = 2 };

struct BackendDescription {
  BackendId id;
  const char* name;
  const char* description;
  const char* requirements;
  bool built;  ///< compiled into this library
};

/// All backends, best first.
std::span<const BackendDescription> backends();

/// nullptr if there is none of that name.
const BackendDescription* find_backend(const char* name);

/// True if this build and this machine can run it.
bool backend_available(const BackendDescription& backend);

}  // namespace polykem
