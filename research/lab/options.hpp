// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "measure.hpp"

namespace polykem::lab {

struct Options {
  Request request;
  std::string json;    ///< a file, "-" for standard output, "" for none
  std::string report;  ///< a folder
  bool list = false, quiet = false, help = false;
};

Options parse_options(int argc, char** argv);

extern const char* const kHelp;

}  // namespace polykem::lab
