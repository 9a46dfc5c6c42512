// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace polykem {

/// A way to run batches: on this CPU or on an accelerator. Strings are static storage.
struct BackendDescription {
  const char* name;
  const char* description;
  const char* requirements;  ///< what the machine must have
};

/// Names of the CPU backends.
namespace cpu {
inline constexpr const char *kRef = "ref", *kAvx2 = "avx2", *kAvx512 = "avx512", *kAmx = "amx", *kNeon = "neon",
                            *kNeonSha3 = "neon-sha3";
}

/// The CPU backends, best first.
std::span<const BackendDescription> cpu_backends();

/// The backend whose code the named one uses where it has none of its own; nullptr if there is none.
const char* inherited_cpu_backend(const char* name);

/// True if this build has the CPU backend of that name and this machine can run it.
bool cpu_backend_available(const char* name);

}  // namespace polykem
