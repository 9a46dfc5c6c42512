// SPDX-License-Identifier: Apache-2.0
// Selects the parameter sets of a run on a GPU.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

namespace polykem::test {

/// True if one of the words (separated by blanks or commas) is the beginning of the set's family or name, or if there
/// are no words: "ntru mlkem", "kyber", "efrodokem976".
inline bool named(const std::string& words, const std::string& family, const std::string& name) {
  bool any = false;
  for (size_t at = 0; at < words.size();) {
    const size_t begin = words.find_first_not_of(" ,", at);
    if (begin == std::string::npos) break;
    at = std::min(words.find_first_of(" ,", begin), words.size());
    const std::string word = words.substr(begin, at - begin);
    if (family.rfind(word, 0) == 0 || name.rfind(word, 0) == 0) return true;
    any = true;
  }
  return !any;
}

/// True if POLYKEM_GPU_FAMILIES names the set or is not set.
inline bool selected(const std::string& family, const std::string& name) {
  const char* words = std::getenv("POLYKEM_GPU_FAMILIES");
  return named(words == nullptr ? "" : words, family, name);
}

}  // namespace polykem::test
