// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>

#include "arguments.hpp"

namespace polykem::lab {

const char* const kHelp =
    "Usage: polykem-lab [OPTIONS]\n"
    "Multiplies the polynomials and matrices of lattice KEMs by every method, on this CPU (one core) and on the\n"
    "first GPU. Every product is compared with the schoolbook's before it is measured; a wrong one ends the program "
    "with\n"
    "exit code 1.\n\n"
    "  --problem NAME,...  Only these (default the usual ones; \"all\": every one; --list shows them)\n"
    "  --method NAME,...   Only these methods\n"
    "  --on NAME,...       Only methods on: portable, avx2, avx512, amx, cuda\n"
    "  --shared WHICH,...  Which operand is one for the whole batch: none, a, b (default none,a)\n"
    "  --items N,...       Products of a batch (default by problem and device)\n"
    "  --n N,...           Sizes of matrices instead of FrodoKEM's, multiples of 16\n"
    "  --nbar N,...        Rows of S' instead of FrodoKEM's eight\n"
    "  --seconds S         How long to measure each figure (default 0.1; 0.05 for a report)\n"
    "  --check             Compare only, measure nothing\n"
    "  --json FILE         Write the figures as JSON (\"-\": to standard output)\n"
    "  --report FOLDER     Measure what its tables and plots need: the usual problems, both axes of FrodoKEM; write\n"
    "                      lab.json, report.md and plots there\n"
    "  --list              The problems and the methods of this machine\n"
    "  -q, --quiet         No table and no progress\n"
    "  -h, --help          This text\n\n"
    "Exit codes: 0 done, 1 a product is wrong, 2 usage, 4 nothing here can do what was asked, 5 a file or the GPU "
    "failed.\n";

namespace {

std::vector<Sharing> sharings(const std::string& list) {
  std::vector<Sharing> out;
  for (const std::string& word : split(list)) {
    bool found = false;
    for (const Sharing sharing : {Sharing::kNone, Sharing::kA, Sharing::kB}) {
      if (word == sharing_name(sharing)) out.push_back(sharing), found = true;
    }
    if (!found) throw UsageError("--shared: '" + word + "' must be none, a or b");
  }
  return out;
}

std::vector<Problem> choose(const std::string& list) {
  std::vector<Problem> out;
  if (list.empty()) {
    std::copy_if(problems().begin(), problems().end(), std::back_inserter(out),
                 [](const Problem& p) { return p.usual; });
    return out;
  }
  if (list == "all") return problems();
  for (const std::string& word : split(list)) {
    const auto found =
        std::find_if(problems().begin(), problems().end(), [&](const Problem& p) { return p.name == word; });
    if (found == problems().end())
      throw UsageError("--problem: there is no '" + word + "'; polykem-lab --list shows all");
    out.push_back(*found);
  }
  return out;
}

/// Each matrix in all sizes of both axes; an empty axis has the problem's own. Other problems have no axes.
std::vector<Problem> spread(const std::vector<Problem>& chosen, const std::vector<size_t>& sizes,
                            const std::vector<size_t>& rows) {
  std::vector<Problem> out;
  for (const Problem& problem : chosen) {
    if (problem.shape != Shape::kMatrix) {
      out.push_back(problem);
      continue;
    }
    for (const size_t n : sizes.empty() ? std::vector{problem.n} : sizes) {
      for (const size_t r : rows.empty() ? std::vector{problem.rows} : rows) {
        Problem variant = problem;
        variant.n = n;
        variant.rows = r;
        out.push_back(variant);
      }
    }
  }
  return out;
}

void add(std::vector<Subject>& subjects, const std::vector<Problem>& list, Extent extent) {
  for (const Problem& problem : list)
    subjects.push_back({problem, extent});
}

/// The problems that are compared with TensorCrypto's tables, then the other usual ones, then FrodoKEM-976 with other
/// sizes and with other numbers of rows.
std::vector<Subject> report_subjects(const std::vector<size_t>& sizes, const std::vector<size_t>& rows) {
  const std::vector<Problem> first = choose("ring512,tensorfro560,lac512,ntru509,frodo976");
  std::vector<Problem> rest = choose("");
  rest.erase(std::remove_if(rest.begin(), rest.end(),
                            [&](const Problem& p) {
                              return std::any_of(first.begin(), first.end(),
                                                 [&](const Problem& other) { return other.name == p.name; });
                            }),
             rest.end());
  std::vector<Subject> out;
  add(out, spread(first, sizes, rows), Extent::kEvery);
  add(out, spread(rest, sizes, rows), Extent::kLargest);
  add(out, spread(choose("frodo976"), {256, 512, 640, 1344, 2048}, {}), Extent::kAxis);
  add(out, spread(choose("frodo976"), {}, {1, 16, 32, 64}), Extent::kAxis);
  return out;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  constexpr size_t kMaxItems = 10'000'000, kMaxSize = 8192;
  const Arguments arguments = parse_arguments(
      argc, argv,
      {"--problem", "--method", "--on", "--shared", "--items", "--n", "--nbar", "--seconds", "--json", "--report"},
      {"--list", "--check", "--quiet", "--help"});
  Options options;
  options.list = arguments.has("--list");
  options.quiet = arguments.has("--quiet");
  options.help = arguments.has("--help");
  options.json = arguments.at("--json");
  options.report = arguments.at("--report");
  Request& request = options.request;
  request.check_only = arguments.has("--check");
  request.methods = split(arguments.at("--method"));
  request.on = split(arguments.at("--on"));
  request.sharing = sharings(arguments.at("--shared"));
  if (arguments.has("--items")) request.items = numbers("--items", arguments.at("--items"), kMaxItems);
  request.seconds = arguments.has("--seconds")  ? seconds(arguments.at("--seconds"))
                    : arguments.has("--report") ? 0.05
                                                : 0.1;
  std::vector<size_t> sizes, rows;
  if (arguments.has("--n")) sizes = numbers("--n", arguments.at("--n"), kMaxSize);
  if (arguments.has("--nbar")) rows = numbers("--nbar", arguments.at("--nbar"), kMaxSize);
  for (const size_t n : sizes) {
    if (n % 16 != 0) throw UsageError("--n: " + std::to_string(n) + " is not a multiple of 16");
  }
  const bool report = arguments.has("--report");
  if (report && options.report.empty()) throw UsageError("--report needs a folder");
  if (report && !arguments.has("--problem")) {
    request.subjects = report_subjects(sizes, rows);
  } else {
    add(request.subjects, spread(choose(arguments.at("--problem")), sizes, rows), Extent::kEvery);
  }
  return options;
}

}  // namespace polykem::lab
