// SPDX-License-Identifier: Apache-2.0
// The configuration of polykemd, from its file and its command line.
#pragma once

#include <string>
#include <vector>

#include "daemon/options.hpp"

namespace polykem::cli {

/// A setting of the file.
struct Setting {
  std::size_t line = 0;
  std::string name, value;
};

/// The combined settings of a command line and the file that it names.
struct Configuration {
  DaemonOptions options;  ///< without the settings that have findings
  std::string file;       ///< the file that was read; empty: none
  std::vector<Setting> settings;
  std::vector<Finding> findings;  ///< about the file
};

/// arguments: a command line that was parsed before, without the program's name. Throws CLI::ParseError if its users or
/// groups no longer exist, CliError (io) if the file cannot be read.
Configuration read_configuration(const std::vector<std::string>& arguments);

}  // namespace polykem::cli
