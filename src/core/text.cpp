// SPDX-License-Identifier: Apache-2.0
#include "core/text.hpp"

#include <mutex>
#include <set>

namespace polykem {

const char* static_text(const std::string& text) {
  static std::mutex mutex;
  static auto* const texts = new std::set<std::string>;  // never destroyed: callers may still use its texts
  const std::lock_guard lock(mutex);
  return texts->insert(text).first->c_str();
}

}  // namespace polykem
