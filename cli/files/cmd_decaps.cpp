// SPDX-License-Identifier: Apache-2.0
// polykem decaps: shared secrets from secret key and ciphertext files.
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "files/records.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kDecapsFooter =
    "Examples:\n"
    "  polykem decaps --sk alice.sk --ct to_alice.ct --ss secret.ss\n"
    "  polykem decaps --scheme mlkem1024 --sk fleet.sk --ct fleet.ct --ss fleet.ss --format raw\n"
    "\n"
    "The secret key may be polykem's armour, PEM or DER (PKCS #8), or raw with --scheme.\n"
    "polykem asks for the passphrase of an encrypted key at the terminal, unless an option says where to read it.\n"
    "N ciphertexts need N secret keys, used in order, or one key for all.\n"
    "A ciphertext made for another key, or altered on the way, is not an error: it yields a secret that nobody shares.";

/// Reads both files a batch at a time.
struct Inputs {
  RecordReader& keys;
  RecordReader& ciphertexts;
  KeyMode mode;
  SecretBytes sk, ct;
};

/// Reads the next batch and returns its number of items, 0 at the end. Throws CliError (bad input) if one file is
/// shorter than the other.
std::size_t next_batch(const FileOptions& options, Inputs& in) {
  const std::size_t max_items = items_at_once(in.keys.scheme());
  const std::size_t n = in.ciphertexts.read(in.ct, max_items);
  const std::size_t keys = in.mode == KeyMode::kShared ? n : in.keys.read(in.sk, max_items);
  if (keys == n) return n;
  throw CliError(kExitBadInput,
                 fmt::format("'{}' holds {} secret keys and '{}' {} ciphertexts", options.sk, in.keys.count_all(),
                             options.ct, in.ciphertexts.count_all()),
                 "give one key per ciphertext, or a single key");
}

int run_decaps(const FileOptions& options, const PassphraseOptions& passphrase_options) {
  if (is_standard_input(options.sk) + is_standard_input(options.ct) + passphrase_from_stdin(passphrase_options) > 1) {
    throw CliError(kExitUsage, "only one input can come from standard input", "name a file for the other");
  }
  Passphrase passphrase(passphrase_options);
  RecordOutputs outputs(options);
  outputs.add_input(options.sk);
  outputs.add_input(options.ct);
  if (!passphrase_options.file.empty()) outputs.add_input(passphrase_options.file);
  if (!passphrase_options.fd.empty()) outputs.add_input("/dev/fd/" + passphrase_options.fd);
  const std::size_t ss = outputs.add(options.ss, RecordKind::kSharedSecret);
  outputs.open();
  InputFile key_file(options.sk);
  InputFile ciphertext_file(options.ct);
  const Context context = open_context(options.common.threads, options.common.backend);
  RecordReader keys(key_file, RecordKind::kSecretKey, options.scheme, context, &passphrase);
  const Scheme& scheme = keys.scheme();
  RecordReader ciphertexts(ciphertext_file, RecordKind::kCiphertext, scheme.name(), context);
  Inputs in{keys, ciphertexts, keys.single() ? KeyMode::kShared : KeyMode::kPerItem, {}, {}};
  if (in.mode == KeyMode::kShared) keys.read(in.sk, 1);
  const std::string backend = backend_for(context, scheme, options.common.backend);
  outputs.expect(scheme, ciphertexts.expected());
  Progress progress("decaps", ciphertexts.expected(), "ciphertexts", options.common.quiet);
  std::uint64_t done = 0;
  while (const std::size_t n = next_batch(options, in)) {
    const SharedSecrets made = context.decaps(scheme, n, in.mode, in.sk, in.ct);
    // A ciphertext of the right size always yields a secret, so only a key can be malformed.
    refuse_bad_keys(made.items, done, in.mode, RecordKind::kSecretKey, options.sk);
    outputs.write(ss, scheme, made.ss);
    progress.update(done += n);
  }
  progress.finish();
  outputs.commit("decaps", scheme, done, backend);
  return kExitOk;
}

}  // namespace

void register_decaps(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FileOptions>();
  auto passphrase = std::make_shared<PassphraseOptions>();
  CLI::App* command = app.add_subcommand("decaps", "Decapsulate ciphertexts from a file");
  command->footer(kDecapsFooter);
  command->add_option("--sk", options->sk, "Secret key file ('-': standard input)")->required()->type_name("FILE");
  command->add_option("--ct", options->ct, "Ciphertext file ('-': standard input)")->required()->type_name("FILE");
  command->add_option("--ss", options->ss, "Shared secret file to write")->required()->type_name("FILE");
  command->add_option("-s,--scheme", options->scheme, "Parameter set; needed for a raw secret key")->type_name("NAME");
  add_passphrase_options(*command, *passphrase);
  add_file_options(*command, *options, Formats::kRecords);
  command->callback([options, passphrase, &exit_code] {
    exit_code = run_guarded([&] { return run_decaps(*options, *passphrase); });
  });
}

}  // namespace polykem::cli
