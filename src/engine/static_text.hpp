// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polykem {

/// Returns a copy of the text with static storage; equal texts share one copy. Thread-safe. Throws std::bad_alloc.
const char* static_text(const std::string& text);

}  // namespace polykem
