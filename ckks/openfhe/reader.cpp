// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/reader.hpp"

namespace polykem::openfhe {

void Reader::descend(const char* name) {
  const std::size_t index = name == nullptr ? path_.back().elements++ : 0;
  path_.push_back({name, index, 0});
}

void Reader::open(const char* name) {
  enter(name);
  descend(name);
}

void Reader::close() {
  leave();
  path_.pop_back();
}

std::size_t Reader::open_list(const char* name, std::size_t max_count) {
  const std::size_t count = enter_list(name);
  descend(name);
  if (count > max_count) fail("has " + std::to_string(count) + " elements, more than " + std::to_string(max_count));
  return count;
}

void Reader::close_list() {
  leave_list();
  path_.pop_back();
}

std::string Reader::place() const {
  std::string text;
  for (const Step& step : path_) {
    if (step.name == nullptr) {
      text += '[' + std::to_string(step.index) + ']';
    } else {
      if (!text.empty()) text += '.';
      text += step.name;
    }
  }
  return text;
}

void Reader::fail(const std::string& what) const {
  throw FormatError(place() + ' ' + what);
}

void Reader::fail_at(const char* name, const std::string& what) const {
  std::string text = place();
  if (name != nullptr) {
    text += (text.empty() ? "" : ".") + std::string(name);
  } else if (!path_.empty()) {
    text += '[' + std::to_string(path_.back().elements) + ']';
  }
  throw FormatError(text + ' ' + what);
}

}  // namespace polykem::openfhe
