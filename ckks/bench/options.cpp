// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>

namespace polykem::ckks::lab {

using polykem::lab::Arguments;
using polykem::lab::UsageError;

const char* const kHelp =
    "Usage: polykem-lab ckks [OPTIONS]\n"
    "Compares every form of CKKS's transform and every operation with its definition, then measures them: on one core\n"
    "with the library, on the first GPU with the kernels of ckks/src/cuda. A wrong word ends the program with exit "
    "code "
    "1.\n\n"
    "  --check          Compare only, measure nothing\n"
    "  --seconds S      How long to measure each figure (default 0.1; for a report 0.01, and 1 besides for the\n"
    "                   transforms that the library uses, as a GPU may come to its power limit)\n"
    "  --json FILE      Write the figures as JSON (\"-\": to standard output)\n"
    "  --report FOLDER  Write ckks.json, report.md and plots there\n"
    "  --on NAME,...    Only on these: cpu, cuda\n"
    "  --only NAME,...  Measure only these: ntt, intt, hadd, hsub, plain_add, plain_mul, tensor, automorphism, "
    "rescale,\n"
    "                   conversion_up, conversion_down, mod_up, mod_down, key_product, hmult, hrotate\n"
    "  --log-n N,...    Transforms of 2^N points, N from 12 to 16 (default all); operations have the largest\n"
    "  --planted-error  Adds a transform that is wrong on purpose\n"
    "  -q, --quiet      No table and no progress\n"
    "  -h, --help       This text\n\n"
    "Exit codes: 0 done, 1 something is wrong, 2 usage, 4 nothing here can do what was asked, 5 a file or the GPU "
    "failed.\n";

namespace {

void read_devices(const std::string& list, Options& options) {
  options.cpu = options.cuda = false;
  for (const std::string& name : polykem::lab::split(list)) {
    if (name != "cpu" && name != "cuda") throw UsageError("--on: '" + name + "' is neither cpu nor cuda");
    (name == "cpu" ? options.cpu : options.cuda) = true;
  }
  if (!options.cpu && !options.cuda) throw UsageError("--on: a name is missing; cpu or cuda");
}

std::vector<int> read_sizes(const std::string& list) {
  std::vector<int> sizes;
  for (const size_t size : polykem::lab::numbers("--log-n", list, 16)) {
    if (size < 12) throw UsageError("--log-n: " + std::to_string(size) + " is not a number from 12 to 16");
    sizes.push_back(static_cast<int>(size));
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<std::string> read_operations(const std::string& list) {
  std::vector<std::string> names = polykem::lab::split(list);
  for (const std::string& name : names) {
    if (std::find(kOperations.begin(), kOperations.end(), name) == kOperations.end())
      throw UsageError("--only: there is no '" + name + "'; polykem-lab ckks --help shows all");
  }
  if (names.empty()) throw UsageError("--only: a name is missing");
  return names;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  const Arguments arguments =
      polykem::lab::parse_arguments(argc, argv, {"--seconds", "--json", "--report", "--on", "--only", "--log-n"},
                                    {"--check", "--planted-error", "--quiet", "--help"});
  Options options;
  options.help = arguments.has("--help");
  options.quiet = arguments.has("--quiet");
  options.check_only = arguments.has("--check");
  options.json = arguments.at("--json");
  options.report = arguments.at("--report");
  if (arguments.has("--report") && options.report.empty()) throw UsageError("--report needs a folder");
  if (options.check_only && arguments.has("--report"))
    throw UsageError("--report needs figures, and --check measures none");
  if (arguments.has("--on")) read_devices(arguments.at("--on"), options);
  Request& request = options.request;
  request.planted_error = arguments.has("--planted-error");
  if (arguments.has("--log-n")) request.log_ns = read_sizes(arguments.at("--log-n"));
  if (arguments.has("--only")) request.only = read_operations(arguments.at("--only"));
  request.seconds = arguments.has("--seconds")  ? polykem::lab::seconds(arguments.at("--seconds"))
                    : arguments.has("--report") ? 0.01
                                                : 0.1;
  if (arguments.has("--report")) request.sustained = 1;
  return options;
}

}  // namespace polykem::ckks::lab
