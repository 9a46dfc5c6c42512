// SPDX-License-Identifier: Apache-2.0
// Searches all writable memory of this process for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace polykem::test {

/// Memory that the scan leaves out, for what belongs to the caller of the library. It is never freed.
std::span<uint8_t> own_memory(size_t bytes);

/// Runs `work` on a stack that the scan leaves out, so that `work` adds no copies of secrets.
void inspect(const std::function<void()>& work);

/// Byte strings to search for. Only their hashes are kept. Use one object at a time: objects share their memory.
class Needles {
 public:
  Needles() : short_(0), long_(1) {}

  /// Every `window` neighbouring bytes of `secret` that are not nearly all equal. 8, or kLongWindow and more for bytes
  /// that carry little information, so that none appears by chance.
  void add(const std::string& what, std::span<const uint8_t> secret, size_t window);
  /// The same for small numbers that the library may keep as words of 16 bits.
  void add_words(const std::string& what, std::span<const int16_t> words);

  size_t size() const { return short_.count + long_.count; }
  /// The findings, "what at address in mapping", one per line; empty if there are none.
  std::string find();

  static constexpr size_t kLongWindow = 64;

 private:
  struct Window {
    uint64_t begin_hash, hash;
    size_t bytes, what;
  };
  struct Kind {
    explicit Kind(size_t which);

    std::span<Window> windows;  ///< the first `count` are used
    size_t count = 0;
    std::span<uint8_t> filter;  ///< [h mod its size] is 1 for each begin_hash h
  };
  template <bool kLong>
  void find_in(std::span<const uint8_t> memory, const std::string& mapping, std::string& found) const;

  std::vector<std::string> names_;
  Kind short_, long_;  ///< windows of less than kLongWindow bytes, and the others
};

}  // namespace polykem::test
