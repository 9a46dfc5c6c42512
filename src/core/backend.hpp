// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace polykem {

enum class BackendId : int { cuda = 0, avx512 = 1, avx2 = 2, ref = 3 };

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

/// Why the backend is not available, or went out of use, as one line for the user; "" if there is nothing to say.
/// Static storage.
const char* backend_problem(BackendId id);
/// What the machine must have and, where it is known, why this one does not do. Static storage.
const char* backend_requirements(const BackendDescription& backend);
void set_backend_problem(BackendId id, const char* problem);

/// The cuda backend lives above this room: it says here how to find out whether it can run.
void set_cuda_probe(bool (*probe)());

}  // namespace polykem
