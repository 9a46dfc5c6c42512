// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

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

/// A way to run batches on this CPU.
struct CpuBackend : BackendDescription {
  bool (*available)();             ///< true if this build has the backend and this machine can run it
  const char* inherits = nullptr;  ///< the backend whose code it uses where it has none of its own; nullptr: none
  bool needs_large_stack = false;  ///< a thread that has run it needs more stack for signals; `inherits` does not
};

/// The CPU backends, best first.
std::span<const CpuBackend> cpu_backends();

/// Returns the CPU backend of that name, or nullptr if there is none.
const CpuBackend* find_cpu_backend(std::string_view name);

/// True if this build has the CPU backend of that name and this machine can run it.
bool cpu_backend_available(const char* name);

}  // namespace polykem
