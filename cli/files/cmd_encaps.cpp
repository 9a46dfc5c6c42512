// SPDX-License-Identifier: Apache-2.0
// polykem encaps: shared secrets and ciphertexts from public key files.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/progress.hpp"
#include "files/records.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kEncapsFooter =
    "Examples:\n"
    "  polykem encaps --pk alice.pk --ct to_alice.ct --ss secret.ss\n"
    "  polykem encaps --scheme mlkem1024 --pk fleet.pk --ct fleet.ct --ss fleet.ss --format raw\n"
    "\n"
    "A file with N keys gives N ciphertexts, one per key; with one key, --count N gives N for that key.\n"
    "Keys may be polykem's armour, PEM or DER (SubjectPublicKeyInfo), which name their set, or raw with --scheme.\n"
    "A certificate may supply a key of ML-KEM or FrodoKEM; its signature and dates are not checked.";

[[noreturn]] void throw_count(const FileOptions& options, std::uint64_t keys) {
  throw CliError(kExitUsage, fmt::format("'{}' holds {} keys, --count asks for {}", options.pk, keys, options.count),
                 "leave --count out to use each key once");
}

/// Makes all encapsulations to one key.
std::uint64_t encaps_to_one(const FileOptions& options, const Context& context, RecordReader& keys,
                            const std::function<void(const Encapsulations&, std::uint64_t)>& take) {
  const Scheme& scheme = keys.scheme();
  SecretBytes pk;
  keys.read(pk, 1);
  for (std::size_t done = 0; done < options.count;) {
    const std::size_t n = std::min(items_at_once(scheme), options.count - done);
    const Encapsulations made = context.encaps(scheme, n, KeyMode::kShared, pk);
    refuse_bad_keys(made.items, 0, KeyMode::kShared, RecordKind::kPublicKey, options.pk);
    take(made, done += n);
  }
  return options.count;
}

/// Makes one encapsulation to each key.
std::uint64_t encaps_to_each(const FileOptions& options, const Context& context, RecordReader& keys,
                             const std::function<void(const Encapsulations&, std::uint64_t)>& take) {
  const Scheme& scheme = keys.scheme();
  SecretBytes pk;
  std::uint64_t done = 0;
  while (const std::size_t n = keys.read(pk, items_at_once(scheme))) {
    if (options.count_given && done + n > options.count) throw_count(options, keys.count_all());
    const Encapsulations made = context.encaps(scheme, n, KeyMode::kPerItem, pk);
    refuse_bad_keys(made.items, done, KeyMode::kPerItem, RecordKind::kPublicKey, options.pk);
    take(made, done += n);
  }
  if (options.count_given && done != options.count) throw_count(options, done);
  return done;
}

int run_encaps(const FileOptions& options) {
  RecordOutputs outputs(options);
  outputs.add_input(options.pk);
  const std::size_t ct = outputs.add(options.ct, RecordKind::kCiphertext);
  const std::size_t ss = outputs.add(options.ss, RecordKind::kSharedSecret);
  outputs.open();
  InputFile file(options.pk);
  const Context context = open_context(options.common.threads, options.common.backend);
  RecordReader keys(file, RecordKind::kPublicKey, options.scheme, context);
  const std::string backend = backend_for(context, keys.scheme(), options.common.backend);
  const bool one_key = keys.single();
  const std::uint64_t expected = options.count_given || one_key ? options.count : keys.expected();
  outputs.expect(keys.scheme(), expected);
  Progress progress("encaps", expected, "ciphertexts", options.common.quiet);
  const auto take = [&](const Encapsulations& made, std::uint64_t done) {
    outputs.write(ct, keys.scheme(), made.ct);
    outputs.write(ss, keys.scheme(), made.ss);
    progress.update(done);
  };
  const std::uint64_t count =
      one_key ? encaps_to_one(options, context, keys, take) : encaps_to_each(options, context, keys, take);
  progress.finish();
  outputs.commit("encaps", keys.scheme(), count, backend);
  return kExitOk;
}

}  // namespace

void register_encaps(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FileOptions>();
  CLI::App* command = app.add_subcommand("encaps", "Encapsulate to public keys from a file");
  command->footer(kEncapsFooter);
  command->add_option("--pk", options->pk, "Public key file ('-': standard input)")->required()->type_name("FILE");
  command->add_option("--ct", options->ct, "Ciphertext file to write ('-': standard output)")
      ->required()
      ->type_name("FILE");
  command->add_option("--ss", options->ss, "Shared secret file to write")->required()->type_name("FILE");
  command->add_option("-s,--scheme", options->scheme, "Parameter set; needed for raw keys")->type_name("NAME");
  CLI::Option* count =
      add_count(*command, "--count", options->count, "Encapsulations to one key (default: one per key)");
  add_file_options(*command, *options, Formats::kRecords);
  command->callback([options, count, &exit_code] {
    options->count_given = count->count() > 0;
    exit_code = run_guarded([&] { return run_encaps(*options); });
  });
}

}  // namespace polykem::cli
