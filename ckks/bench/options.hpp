// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckks.hpp"
#include "research/lab/arguments.hpp"

namespace polykem::ckks::lab {

struct Options {
  Request request;
  std::string json;    ///< a file, "-" for standard output, "" for none
  std::string report;  ///< a folder
  bool cpu = true, cuda = true;
  bool check_only = false, quiet = false, help = false;
};

/// Parses the command line. Throws polykem::lab::UsageError.
Options parse_options(int argc, char** argv);

extern const char* const kHelp;

}  // namespace polykem::ckks::lab
