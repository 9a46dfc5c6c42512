// SPDX-License-Identifier: Apache-2.0
#include "engine/static_text.hpp"

#include <mutex>
#include <new>
#include <set>

#include "engine/per_process.hpp"

namespace polykem {

namespace {

struct Texts {
  std::mutex mutex;
  std::set<std::string> all;
};

}  // namespace

const char* static_text(const std::string& text) {
  // Never destroyed: callers may still hold its texts.
  alignas(PerProcess<Texts>) static std::byte storage[sizeof(PerProcess<Texts>)];
  static auto* const texts = new (storage) PerProcess<Texts>;
  Texts& mine = texts->get();
  const std::lock_guard lock(mine.mutex);
  return mine.all.insert(text).first->c_str();
}

}  // namespace polykem
