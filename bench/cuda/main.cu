// SPDX-License-Identifier: Apache-2.0
// Measures KEMs and signatures on the GPU: kernels with all data in its memory, whole and step by step beside the lower
// bounds of the hardware, then batches from host to host.
//   polykem_bench_cuda [--scheme NAME]... [--family NAME]... [--items N] [--shared] [--kernels | --pinned]
//                      [--json FILE]
// Without names it measures every set of the module. --family: ntru, mlkem (with Kyber), frodokem, saberkem, lac,
// hybrid or mldsa. --shared: also with one key for all items. --kernels: nothing from host to host. --pinned: only
// whole batches from host to host, from pinned memory. Every run is checked: both sides must have the same secrets,
// signatures must verify, and `ref` must agree for some items that stayed on the GPU. If a step is faster than its
// floor on the GPU whose rates the floors assume, the program fails after it has written the file.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "accelerators/cuda/loader.hpp"
#include "report.hpp"

namespace polykem::bench {
namespace {

struct Options {
  std::vector<std::string> schemes, families;
  size_t items = 0;  ///< 0: chosen for each set
  bool shared = false, kernels = false, pinned = false;
  std::string json, command = "polykem_bench_cuda";
};

Options parse(int argc, char** argv) {
  constexpr const char* kUsage =
      "usage: [--scheme NAME]... [--family NAME]... [--items N] [--shared] [--kernels | --pinned] [--json FILE]";
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option != "--json") options.command += " " + option;
    if (option == "--shared" || option == "--kernels" || option == "--pinned") {
      (option == "--shared" ? options.shared : option == "--kernels" ? options.kernels : options.pinned) = true;
      continue;
    }
    if (++i == argc) die(kUsage);
    const std::string value = argv[i];
    if (option != "--json") options.command += " " + value;
    if (option == "--items")
      options.items = std::strtoul(value.c_str(), nullptr, 10);
    else if (option == "--json")
      options.json = value;
    else if (option == "--scheme")
      options.schemes.push_back(value);
    else if (option == "--family")
      options.families.push_back(value);
    else
      die(kUsage);
    if (option == "--items" && options.items == 0) die("--items wants a number of at least 1, not '" + value + "'");
  }
  return options;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool named(const Options& options, const Set& set) {
  return contains(options.schemes, set.name());
}

bool wanted(const Options& options, const Set& set) {
  if (options.schemes.empty() && options.families.empty()) return true;
  return named(options, set) || contains(options.families, set.family());
}

/// The module's sets that were asked for, in the order of the registry; not all sets of a family are on GPUs.
std::vector<Set> chosen_sets(const Options& options, const cuda::ModuleTable& table) {
  std::vector<Set> sets;
  const size_t kems = polykem_scheme_count();
  for (size_t i = 0; i < kems + polykem_signature_count(); ++i) {
    const Set set(i < kems ? polykem_scheme_at(i) : polykem_signature_at(i - kems));
    if (!wanted(options, set)) continue;
    if (table.scheme(set.info.name) != nullptr)
      sets.push_back(set);
    else if (named(options, set))
      die("the module has no operations for " + set.name());
  }
  if (sets.empty()) die("no family or set of that name; 'polykem list' shows all");
  return sets;
}

/// The number of items that keep the GPU busy: of FrodoKEM, whose hashes take a thread an item, 128 for each
/// multiprocessor; of the hybrids twice as many as X25519 computes at a time.
size_t suitable_items(const cuda::ModuleTable& table, const Set& set) {
  const auto multiprocessors = static_cast<size_t>(table.device_info(0).multiprocessors);
  if (set.family() == "hybrid") return multiprocessors * 1024;
  return set.family() == "frodokem" ? multiprocessors * 128 : 100000;
}

SetResult measure(const Options& options, const cuda::ModuleTable& table, const Rates& rates, const Set& set) {
  const size_t items = options.items != 0 ? options.items : suitable_items(table, set);
  SetResult result{set, items, {}, {}};
  if (!options.pinned) result.resident = Resident(table, set, items).run(options.shared);
  if (options.kernels) return result;
  const auto from_host = [&](size_t count, bool pinned, bool with_row) {
    for (const auto& h : host_to_host(rates, set, count, pinned, with_row))
      result.host.push_back(h);
  };
  if (options.pinned) {
    from_host(items, true, true);
    return result;
  }
  const size_t fewer = set.family() == "frodokem" ? 256 : 10000;
  from_host(1, false, false);
  if (const size_t of_peer = host_peer_items(set.name()); of_peer != 0) from_host(of_peer, true, false);
  from_host(fewer, true, false);
  from_host(items, true, true);
  from_host(fewer, false, false);
  from_host(items, false, false);
  return result;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const auto& module = cuda::loaded_module();
  if (module.table == nullptr) die(module.problem);
  const std::vector<Set> sets = chosen_sets(options, *module.table);
  const auto info = module.table->device_info(0);
  const int devices = module.table->device_count();
  std::printf("%d x %s, %d multiprocessors each\n", devices, info.name, info.multiprocessors);
  const Machine machine{info.name, options.command, json_of(*module.table->build), devices, measure_rates(devices)};
  std::vector<SetResult> results;
  for (const Set& set : sets) {
    results.push_back(measure(options, *module.table, machine.rates, set));
    print(results.back());
    std::fflush(stdout);
  }
  if (!options.json.empty()) write_json(options.json, results, machine);
  if (machine.device.find(kRatesOf) == std::string::npos) return 0;
  for (const SetResult& r : results) {
    if (beats_floors(r.resident.ops) || beats_floors(r.resident.shared_ops))
      die("a step of " + r.set.name() + " is faster than its floor: mend the floor in bench/cuda");
  }
  return 0;
}

}  // namespace
}  // namespace polykem::bench

int main(int argc, char** argv) {
  return polykem::bench::run(argc, argv);
}
