// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace polykem::lab {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<size_t> numbers(const std::string& option, const std::string& list, size_t max) {
  std::vector<size_t> out;
  for (const std::string& word : split(list)) {
    size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value == 0 || value > max)
      throw UsageError(option + ": '" + word + "' is not a number from 1 to " + std::to_string(max));
    out.push_back(value);
  }
  if (out.empty()) throw UsageError(option + ": a number is missing");
  return out;
}

double seconds(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || !(value > 0 && value <= 3600))
    throw UsageError("--seconds: '" + word + "' is not a number above 0 and at most 3600");
  return value;
}

Arguments parse_arguments(int argc, char** argv, const std::vector<std::string>& with_value,
                          const std::vector<std::string>& flags) {
  const auto is_one_of = [](const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i], value;
    if (word == "-q") word = "--quiet";
    if (word == "-h") word = "--help";
    const size_t equals = word.rfind("--", 0) == 0 ? word.find('=') : std::string::npos;
    const bool attached = equals != std::string::npos;
    if (attached) value = word.substr(equals + 1), word.resize(equals);
    if (is_one_of(flags, word) && !attached) {
      arguments.values[word] = "";
    } else if (is_one_of(with_value, word)) {
      if (!attached && ++i == argc) throw UsageError(word + " needs a value");
      arguments.values[word] = attached ? value : argv[i];
    } else {
      throw UsageError("'" + word + "' is no option; --help shows all");
    }
  }
  return arguments;
}

}  // namespace polykem::lab
