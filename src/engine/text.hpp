// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polykem {

/// Returns the text in static storage; equal texts are stored once. Thread-safe. Throws std::bad_alloc.
const char* static_text(const std::string& text);

}  // namespace polykem
