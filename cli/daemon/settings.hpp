// SPDX-License-Identifier: Apache-2.0
// The configuration of polykemd, as its file and its command line say.
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

/// What the command line `words`, which app could parse, and the file that it names say together.
struct Configuration {
  DaemonOptions options;  ///< settings with findings are as if they were left out
  std::string file;       ///< that was read; empty: none
  std::vector<Setting> settings;
  std::vector<Finding> findings;  ///< of the file
};

/// Throws CliError: usage for a command line that does not parse, io if the file cannot be read.
Configuration read_configuration(const std::vector<std::string>& words);

}  // namespace polykem::cli
