// SPDX-License-Identifier: Apache-2.0
// The arguments of a command line.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace polykem::lab {

/// An error in the command line, which what() explains.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The names of options with a value, and without.
struct Arguments {
  std::map<std::string, std::string> values;
  bool has(const std::string& option) const { return values.count(option) != 0; }
  std::string at(const std::string& option) const { return has(option) ? values.at(option) : std::string(); }
};

/// Reads all arguments but the first, in both forms, "--a B" and "--a=B"; -q and -h are --quiet and --help. Throws
/// UsageError.
Arguments parse_arguments(int argc, char** argv, const std::vector<std::string>& with_value,
                          const std::vector<std::string>& flags);

/// Splits at commas, without empty parts.
std::vector<std::string> split(const std::string& list);
/// Parses a list of at least one number from 1 to `max`. Throws UsageError.
std::vector<size_t> numbers(const std::string& option, const std::string& list, size_t max);
/// Parses the value of --seconds. Throws UsageError.
double seconds(const std::string& word);

}  // namespace polykem::lab
