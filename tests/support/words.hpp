// SPDX-License-Identifier: Apache-2.0
// Words for tests of FrodoKEM's matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "support/bytes.hpp"

namespace polykem::test {

using Words = std::vector<uint16_t>;
using Fill = std::function<uint16_t()>;

inline Words filled(size_t count, const Fill& fill) {
  Words words(count);
  for (uint16_t& word : words)
    word = fill();
  return words;
}

inline Fill constant_words(int word) {
  return [word] { return static_cast<uint16_t>(word); };
}
inline Fill any_words(Noise& noise) {
  return [&noise] { return static_cast<uint16_t>(noise.next() >> 40); };
}
/// From -12 to 12, as the error distributions give them.
inline Fill small_words(Noise& noise) {
  return [&noise] { return static_cast<uint16_t>((noise.next() >> 40) % 25 - 12); };
}
/// From -128 to 127.
inline Fill byte_words(Noise& noise) {
  return [&noise] { return static_cast<uint16_t>((noise.next() >> 40) % 256 - 128); };
}

}  // namespace polykem::test
