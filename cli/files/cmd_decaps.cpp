// SPDX-License-Identifier: Apache-2.0
// polykem decaps: shared secrets from secret key and ciphertext files.
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "files/records.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  polykem decaps --sk alice.sk --ct to_alice.ct --ss secret.ss\n"
    "  polykem decaps --scheme ntruhrss701 --sk fleet.sk --ct fleet.ct --ss fleet.ss --format raw\n"
    "\n"
    "N ciphertexts need N secret keys, used in order, or one key for all.\n"
    "A ciphertext made for another key, or altered on the way, is no error: it yields a secret that nobody shares.";

int run_decaps(const FileOptions& options) {
  RecordOutputs::check_places(options, {options.ss});
  if (options.sk == "-" && options.ct == "-") {
    throw CliError(kExitUsage, "only one input can come from standard input", "name a file for the other");
  }
  const Records keys = load_records(options.sk, RecordKind::kSecretKey, options.scheme);
  const Records ciphertexts = load_records(options.ct, RecordKind::kCiphertext, keys.scheme.name());
  if (keys.count != 1 && keys.count != ciphertexts.count) {
    throw CliError(kExitBadInput,
                   fmt::format("'{}' holds {} secret keys and '{}' {} ciphertexts", options.sk, keys.count, options.ct,
                               ciphertexts.count),
                   "give one key per ciphertext, or a single key");
  }
  const KeyMode mode = keys.count == 1 ? KeyMode::kShared : KeyMode::kPerItem;
  const Context context = open_context(options.common.threads, options.common.backend);
  const std::string backend = backend_for(context, keys.scheme, options.common.backend);
  const SharedSecrets made = context.decaps(keys.scheme, ciphertexts.count, mode, keys.bytes, ciphertexts.bytes);
  refuse_bad_items(made.items, RecordKind::kCiphertext, options.ct);
  RecordOutputs outputs(options, keys.scheme);
  outputs.add(options.ss, RecordKind::kSharedSecret, made.ss);
  outputs.commit("decaps", ciphertexts.count, backend);
  return kExitOk;
}

}  // namespace

void register_decaps(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FileOptions>();
  CLI::App* command = app.add_subcommand("decaps", "Decapsulate ciphertexts from a file");
  command->footer(kFooter);
  command->add_option("--sk", options->sk, "Secret key file ('-': standard input)")->required()->type_name("FILE");
  command->add_option("--ct", options->ct, "Ciphertext file ('-': standard input)")->required()->type_name("FILE");
  command->add_option("--ss", options->ss, "Shared secret file to write")->required()->type_name("FILE");
  command->add_option("-s,--scheme", options->scheme, "Parameter set; needed for a raw secret key")->type_name("NAME");
  add_file_options(*command, *options);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_decaps(*options); }); });
}

}  // namespace polykem::cli
