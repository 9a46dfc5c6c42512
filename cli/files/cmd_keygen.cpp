// SPDX-License-Identifier: Apache-2.0
// polykem keygen: key pairs into files.
#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/progress.hpp"
#include "files/records.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kKeygenFooter =
    "Examples:\n"
    "  polykem keygen --scheme ntruhps4096821 --pk alice.pk --sk alice.sk\n"
    "  polykem keygen --scheme ntruhrss701 --count 1000 --format raw --pk fleet.pk --sk fleet.sk\n"
    "\n"
    "Secret key files get mode 0600. Existing files are kept unless --force is given.";

int run_keygen(const FileOptions& options) {
  const Scheme scheme = open_scheme(options.scheme);
  RecordOutputs outputs(options);
  const std::size_t pk = outputs.add(options.pk, RecordKind::kPublicKey);
  const std::size_t sk = outputs.add(options.sk, RecordKind::kSecretKey);
  outputs.open();
  const Context context = open_context(options.common.threads, options.common.backend);
  const std::string backend = backend_for(context, scheme, options.common.backend);
  Progress progress("keygen", options.count, "key pairs", options.common.quiet);
  for (std::size_t done = 0; done < options.count;) {
    const std::size_t n = std::min(items_at_once(scheme), options.count - done);
    const KeyPairs pairs = context.keygen(scheme, n);
    outputs.write(pk, scheme, pairs.pk);
    outputs.write(sk, scheme, pairs.sk);
    progress.update(done += n);
  }
  progress.finish();
  outputs.commit("keygen", scheme, options.count, backend);
  return kExitOk;
}

}  // namespace

void register_keygen(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FileOptions>();
  CLI::App* command = app.add_subcommand("keygen", "Make key pairs and write them to files");
  command->footer(kKeygenFooter);
  command->add_option("-s,--scheme", options->scheme, "Parameter set")->required()->type_name("NAME");
  command->add_option("--pk", options->pk, "Public key file to write ('-': standard output)")
      ->required()
      ->type_name("FILE");
  command->add_option("--sk", options->sk, "Secret key file to write")->required()->type_name("FILE");
  add_count(*command, "--count", options->count, "Key pairs to make, one after the other in each file (default 1)");
  add_file_options(*command, *options);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_keygen(*options); }); });
}

}  // namespace polykem::cli
