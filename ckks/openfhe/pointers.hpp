// SPDX-License-Identifier: Apache-2.0
// The numbers of objects to which a file points more than once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "ckks/openfhe/check.hpp"
#include "ckks/openfhe/objects.hpp"
#include "ckks/openfhe/reader.hpp"

namespace polykem::openfhe {

using Shared = std::variant<std::monostate, Modulus, Moduli, std::shared_ptr<const Context>>;

inline constexpr std::uint32_t kNewPointer = std::uint32_t{1} << 31;

/// The objects of a file's pointers, by number from 1 on.
class ReadPointers {
 public:
  explicit ReadPointers(const Sharing&) {}
  /// Takes a number that is marked as new; returns it without the mark.
  std::uint32_t add(Reader& reader, std::uint32_t marked);
  void set(std::uint32_t number, Shared object) { objects_[number - 1] = std::move(object); }
  template <class T>
  const T& get(Reader& reader, std::uint32_t number) const {
    const T* found = number == 0 || number > objects_.size() ? nullptr : std::get_if<T>(&objects_[number - 1]);
    if (found == nullptr) reader.fail_at("id", "leads to nothing of that kind");
    return *found;
  }

 private:
  std::vector<Shared> objects_;
};

/// The numbers to write, according to Sharing or so that equal objects are written once.
class WrittenPointers {
 public:
  explicit WrittenPointers(const Sharing& sharing) : sharing_(sharing) {}
  /// Returns a number, which is marked if the object must follow.
  std::uint32_t number_of(const Shared& object);
  /// Returns the number of an object that is not shared.
  std::uint32_t next() { return ++last_ | kNewPointer; }

 private:
  std::uint32_t add(const Shared& object);

  const Sharing& sharing_;
  std::size_t position_ = 0;
  std::uint32_t last_ = 0;
  std::vector<std::pair<Shared, std::uint32_t>> written_;
  std::map<std::uint32_t, std::size_t> by_label_;
};

}  // namespace polykem::openfhe
