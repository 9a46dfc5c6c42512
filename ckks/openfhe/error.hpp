// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace polykem::openfhe {

/// Ends the refusal of what only OpenFHE before 1.5 writes.
inline constexpr const char* kTooOld = "files of OpenFHE before 1.5 are too old, write it with 1.5 or 1.6";

/// The text is not an object of the expected type. what() is a sentence that names the place.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace polykem::openfhe
