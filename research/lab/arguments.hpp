// SPDX-License-Identifier: Apache-2.0
// The arguments of a command line.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace polykem::lab {

/// What the user typed makes no sense; what() says why.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Options with a value, and without.
struct Arguments {
  std::map<std::string, std::string> values;
  bool has(const std::string& option) const { return values.count(option) != 0; }
  std::string at(const std::string& option) const { return has(option) ? values.at(option) : std::string(); }
};

/// Reads all arguments but the first, in both forms, "--a B" and "--a=B"; -q and -h are --quiet and --help. Throws
/// UsageError.
Arguments parse_arguments(int argc, char** argv, const std::vector<std::string>& with_value,
                          const std::vector<std::string>& flags);

/// At commas, without empty ones.
std::vector<std::string> split(const std::string& list);
/// Numbers from 1 to `most`, at least one. Throws UsageError.
std::vector<size_t> numbers(const std::string& option, const std::string& list, size_t most);
/// The value of --seconds. Throws UsageError.
double seconds(const std::string& word);

}  // namespace polykem::lab
