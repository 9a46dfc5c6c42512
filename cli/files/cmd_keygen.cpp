// SPDX-License-Identifier: Apache-2.0
// polykem keygen: key pairs into files.
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/progress.hpp"
#include "files/records.hpp"
#include "formats/keys.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kKeygenFooter =
    "Examples:\n"
    "  polykem keygen --scheme mlkem768 --pk alice.pk --sk alice.sk\n"
    "  polykem keygen --scheme mlkem1024 --count 1000 --format raw --pk fleet.pk --sk fleet.sk\n"
    "  polykem keygen --scheme mlkem768 --format pem --pk alice.pub --sk alice.key\n"
    "  polykem keygen --scheme mldsa65 --pk signer.pk --sk signer.sk\n"
    "\n"
    "Secret key files get mode 0600. Existing files are kept unless --force is given.\n"
    "--format pem and der write keys for other programs, as SubjectPublicKeyInfo and PKCS #8: of ML-KEM (RFC 9935), of "
    "ML-DSA (RFC 9881), and of FrodoKEM-976 and FrodoKEM-1344 with the object identifiers of ISO/IEC 18033-2.\n"
    "There --sk-form says what a private key of ML-KEM or ML-DSA holds: its seed, which all programs read, the "
    "expanded key, or both. One of FrodoKEM holds the expanded key.";

bool has_seed_form(const Scheme& scheme) {
  return scheme.info().secret_seed_bytes != 0;
}

void check_format(const FileOptions& options, const Scheme& scheme, bool form_given) {
  if (form_given && !standard_format(options)) {
    throw CliError(kExitUsage, "--sk-form needs --format pem or der",
                   "armour and raw hold the expanded key; leave --sk-form out");
  }
  if (!standard_format(options)) return;
  if (!formats::has_key_format(scheme)) {
    throw CliError(kExitUsage,
                   fmt::format("{} has no object identifier, which keys in {} need", scheme.name(), options.format),
                   "leave --format out, or take a set of ML-KEM or ML-DSA, FrodoKEM-976 or FrodoKEM-1344");
  }
  if (!has_seed_form(scheme) && options.sk_form != "expanded") {
    throw CliError(kExitUsage, fmt::format("a private key of {} has no form as a seed", scheme.name()),
                   "leave --sk-form out");
  }
}

/// `count` seeds from the operating system.
SecretBytes make_seeds(const Scheme& scheme, std::size_t count) {
  SecretBytes seeds(count * scheme.info().secret_seed_bytes);
  for (std::size_t done = 0; done < seeds.size();) {
    const ssize_t got = getrandom(seeds.data() + done, seeds.size() - done, 0);
    if (got < 0 && errno != EINTR) throw Error(POLYKEM_ERR_RANDOM, "seeds");
    done += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  return seeds;
}

int run_keygen(FileOptions options, bool form_given) {
  const Scheme scheme = open_scheme(options.scheme, Sets::kAll);
  if (!form_given && !has_seed_form(scheme)) options.sk_form = "expanded";
  check_format(options, scheme, form_given);
  RecordOutputs outputs(options);
  const std::size_t pk = outputs.add(options.pk, RecordKind::kPublicKey);
  const std::size_t sk = outputs.add(options.sk, RecordKind::kSecretKey);
  outputs.open();
  const Context context = open_context(options.common.threads, options.common.backend);
  const std::string backend = backend_for(context, scheme, options.common.backend);
  outputs.expect(scheme, options.count);
  Progress progress("keygen", options.count, "key pairs", options.common.quiet);
  for (std::size_t done = 0; done < options.count;) {
    const std::size_t n = std::min(items_at_once(scheme), options.count - done);
    // A seed can be written only if it was made here, since the library does not return its own coins.
    const SecretBytes seeds = standard_format(options) ? make_seeds(scheme, n) : SecretBytes();
    const KeyPairs pairs = context.keygen(scheme, n, seeds);
    outputs.write(pk, scheme, pairs.pk);
    outputs.write(sk, scheme, pairs.sk, seeds);
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
  add_count(*command, "--count", options->count, "Key pairs to make; each file holds them in order (default 1)");
  add_file_options(*command, *options, Formats::kKeys);
  CLI::Option* form =
      command->add_option("--sk-form", options->sk_form,
                          "Private keys of ML-KEM and ML-DSA in pem and der: seed (default), expanded or both");
  form->check(CLI::IsMember({"seed", "expanded", "both"}))->type_name("FORM");
  command->callback([options, form, &exit_code] {
    exit_code = run_guarded([&] { return run_keygen(*options, form->count() > 0); });
  });
}

}  // namespace polykem::cli
