// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/pointers.hpp"

#include <algorithm>

namespace polykem::openfhe {

std::uint32_t ReadPointers::add(Reader& reader, std::uint32_t marked) {
  const std::uint32_t number = marked & ~kNewPointer;
  if (marked == 0) reader.fail_at("id", "is a null pointer");
  if ((marked & kNewPointer) == 0 || number != objects_.size() + 1) reader.fail_at("id", "is not the next number");
  objects_.emplace_back();
  return number;
}

std::uint32_t WrittenPointers::add(const Shared& object) {
  const std::uint32_t number = next();
  written_.emplace_back(object, number & ~kNewPointer);
  return number;
}

std::uint32_t WrittenPointers::number_of(const Shared& object) {
  const bool labelled = !std::holds_alternative<std::shared_ptr<const Context>>(object);
  if (labelled && position_ < sharing_.labels.size()) {
    const auto [known, is_new] = by_label_.try_emplace(sharing_.labels[position_++], written_.size());
    if (is_new) return add(object);
    const auto& [content, number] = written_[known->second];
    if (content == object) return number;
  }
  const auto found =
      std::find_if(written_.begin(), written_.end(), [&](const auto& entry) { return entry.first == object; });
  return found != written_.end() ? found->second : add(object);
}

}  // namespace polykem::openfhe
