// SPDX-License-Identifier: Apache-2.0
// The byte strings of a batch's items, as Python passes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bytes.hpp"

namespace polykem::python {

/// A buffer or None, its size, a width, an array of offsets or None, and whether one string is for all items.
using MessageTuple = nb::typed<nb::tuple, nb::any, int, int, nb::any, bool>;

/// The strings of `count` items, kept alive.
struct MessageArray {
  MessageArray(const MessageTuple& given, std::size_t count, const char* name, bool writable = false)
      : held(given[0], name, nb::cast<std::size_t>(given[1]), writable),
        width(nb::cast<std::size_t>(given[2])),
        offsets(given[3], "offsets", (count + 1) * sizeof(std::uint64_t), false),
        shared(nb::cast<bool>(given[4])) {
    const std::uint64_t* begins = at();
    const std::size_t records = shared ? 1 : count;
    if (begins ? begins[count] > held.size() : width > 0 && held.size() / width < records)
      refuse(std::string(name) + " ends before its last item");
  }
  const std::uint64_t* at() const { return reinterpret_cast<const std::uint64_t*>(offsets.data()); }
  polykem_strings strings() const {
    static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
    const bool empty = held.size() == 0;
    return {empty ? nullptr : held.data(), reinterpret_cast<const std::size_t*>(offsets.data()), width, shared ? 1 : 0};
  }

  Bytes held;
  std::size_t width;
  Bytes offsets;
  bool shared;
};

/// The strings of the items from `first` on.
inline polykem_strings from_item(polykem_strings strings, std::size_t first) {
  if (strings.data == nullptr || strings.shared != 0) return strings;
  if (strings.offsets != nullptr) {
    strings.offsets += first;
  } else {
    strings.data += first * strings.width;
  }
  return strings;
}

}  // namespace polykem::python
