// SPDX-License-Identifier: Apache-2.0
// polykem encaps: shared secrets and ciphertexts from public key files.
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
    "  polykem encaps --pk alice.pk --ct to_alice.ct --ss secret.ss\n"
    "  polykem encaps --scheme ntruhrss701 --pk fleet.pk --ct fleet.ct --ss fleet.ss --format raw\n"
    "\n"
    "A file with N keys gives N ciphertexts, one per key; with one key, --count N gives N for that key.\n"
    "Armoured keys name their set; raw keys need --scheme.";

int run_encaps(const FileOptions& options) {
  RecordOutputs::check_places(options, {options.ct, options.ss});
  const Records keys = load_records(options.pk, RecordKind::kPublicKey, options.scheme);
  if (options.count_given && keys.count != 1 && keys.count != options.count) {
    throw CliError(kExitUsage,
                   fmt::format("'{}' holds {} keys, --count asks for {}", options.pk, keys.count, options.count),
                   "leave --count out to use each key once");
  }
  const std::size_t count = options.count_given ? options.count : keys.count;
  const KeyMode mode = keys.count == 1 ? KeyMode::kShared : KeyMode::kPerItem;
  const Context context = open_context(options.common.threads, options.common.backend);
  const std::string backend = backend_for(context, keys.scheme, options.common.backend);
  const Encapsulations made = context.encaps(keys.scheme, count, mode, keys.bytes);
  refuse_bad_items(made.items, RecordKind::kPublicKey, options.pk);
  RecordOutputs outputs(options, keys.scheme);
  outputs.add(options.ct, RecordKind::kCiphertext, made.ct);
  outputs.add(options.ss, RecordKind::kSharedSecret, made.ss);
  outputs.commit("encaps", count, backend);
  return kExitOk;
}

}  // namespace

void register_encaps(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FileOptions>();
  CLI::App* command = app.add_subcommand("encaps", "Encapsulate to public keys from a file");
  command->footer(kFooter);
  command->add_option("--pk", options->pk, "Public key file ('-': standard input)")->required()->type_name("FILE");
  command->add_option("--ct", options->ct, "Ciphertext file to write ('-': standard output)")
      ->required()
      ->type_name("FILE");
  command->add_option("--ss", options->ss, "Shared secret file to write")->required()->type_name("FILE");
  command->add_option("-s,--scheme", options->scheme, "Parameter set; needed for raw keys")->type_name("NAME");
  CLI::Option* count =
      add_count(*command, "--count", options->count, "Encapsulations to one key (default: one per key)");
  add_file_options(*command, *options);
  command->callback([options, count, &exit_code] {
    options->count_given = count->count() > 0;
    exit_code = run_guarded([&] { return run_encaps(*options); });
  });
}

}  // namespace polykem::cli
