// SPDX-License-Identifier: Apache-2.0
// polykem sign: signatures of files, or of the records of one file.
#include <fmt/format.h>
#include <sys/resource.h>

#include <memory>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/progress.hpp"
#include "common/table.hpp"
#include "files/signing.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kSignFooter =
    "Examples:\n"
    "  polykem sign --sk signer.sk release.tar notes.txt      writes release.tar.sig and notes.txt.sig\n"
    "  polykem sign --sk logger.sk --sig log.sig --message-bytes 128 log.bin\n"
    "  polykem sign --sk backup.pem --context backup --prehash sha512 disk.img\n"
    "\n"
    "The secret key may be polykem's armour, PEM or DER (PKCS #8), or raw with --scheme.\n"
    "polykem asks for the passphrase of an encrypted key at the terminal, unless an option says where to read it.\n"
    "N messages need N secret keys, used in order, or one key for all. With --sig, one file has all signatures in "
    "order;\n"
    "take it for thousands of messages.\n"
    "A message is read whole into memory, but with --prehash in parts. --mu takes what was hashed elsewhere\n"
    "[FIPS204, Alg 7, L6].\n"
    "Signatures are hedged [FIPS204, 3.4] unless --deterministic is given.";

/// The signature files, and their numbers in `outputs`.
std::vector<std::size_t> add_outputs(const SigningOptions& options, RecordOutputs& outputs) {
  std::vector<std::string> paths;
  if (!options.sig.empty()) {
    paths = {options.sig};
  } else {
    for (const std::string& message : options.messages)
      paths.push_back(signature_path(message));
  }
  std::vector<std::size_t> out;
  for (const std::string& path : paths)
    out.push_back(outputs.add(path, RecordKind::kSignature));
  return out;
}

/// Throws CliError (resources) if that many files cannot be open at once, as outputs that appear together are.
void allow_open_files(std::size_t count) {
  constexpr std::size_t kOthers = 64;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count + kOthers) return;
  const bool enough = limit.rlim_max >= count + kOthers;
  limit.rlim_cur = count + kOthers;
  if (enough && setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  throw CliError(kExitResources,
                 fmt::format("{} signature files would be open at once, and the limit of open files is {}",
                             with_commas(count), with_commas(limit.rlim_max)),
                 "write all signatures into one file with --sig");
}

void check_inputs(const SigningOptions& options, const PassphraseOptions& passphrase) {
  std::size_t from_stdin = is_standard_input(options.sk) ? 1 : 0;
  for (const std::string& message : options.messages) {
    if (!is_standard_input(message)) continue;
    ++from_stdin;
    if (options.sig.empty())
      throw CliError(kExitUsage, "a message from standard input has no file to put its signature beside",
                     "name its signature file with --sig");
  }
  if (from_stdin + (passphrase_from_stdin(passphrase) ? 1 : 0) > 1)
    throw CliError(kExitUsage, "only one input can come from standard input", "name a file for the other");
}

/// Throws CliError (bad input) if the parts of the key do not belong together, because its signatures would not verify.
/// Done only for a key that signs all messages, because it takes longer than one signature.
void check_key(const Scheme& scheme, ByteView sk, const std::string& path) {
  Bytes pk(scheme.public_key_bytes());
  const polykem_status status = polykem_public_key_of(scheme.handle(), sk.data(), pk.data());
  refuse_bad_keys({status}, 0, KeyMode::kShared, RecordKind::kSecretKey, path);
}

int run_sign(const SigningOptions& options, const PassphraseOptions& passphrase_options) {
  check_inputs(options, passphrase_options);
  MessageReader messages(options);
  Passphrase passphrase(passphrase_options);
  RecordOutputs outputs(options);
  outputs.add_input(options.sk);
  for (const std::string& message : options.messages)
    outputs.add_input(message);
  if (!passphrase_options.file.empty()) outputs.add_input(passphrase_options.file);
  if (!passphrase_options.fd.empty()) outputs.add_input("/dev/fd/" + passphrase_options.fd);
  const std::vector<std::size_t> files = add_outputs(options, outputs);
  allow_open_files(files.size());
  outputs.open();
  InputFile key_file(options.sk);
  const Context context = open_context(options.common.threads, options.common.backend);
  RecordReader reader(key_file, RecordKind::kSecretKey, options.scheme, context, &passphrase, Sets::kSignatures);
  const Scheme& scheme = reader.scheme();
  SigningKeys keys(reader, options.sk, RecordKind::kSecretKey);
  if (keys.mode() == KeyMode::kShared) check_key(scheme, keys.next(1), options.sk);
  const std::string backend = backend_for(context, scheme, options.common.backend);
  outputs.expect(scheme, files.size() == 1 ? messages.expected() : 1);
  Progress progress("sign", messages.expected(), "signatures", options.common.quiet);
  std::uint64_t done = 0;
  MessageBatch batch;
  for (messages.read(batch, items_at_once(scheme)); batch.count() > 0; messages.read(batch, items_at_once(scheme))) {
    const Signatures made =
        context.sign(scheme, batch.count(), keys.mode(), keys.next(batch.count()), messages.signed_as(batch));
    refuse_bad_keys(made.items, done, keys.mode(), RecordKind::kSecretKey, options.sk);
    const std::size_t size = scheme.signature_bytes();
    if (files.size() == 1) outputs.write(files[0], scheme, made.sig);
    for (std::size_t i = 0; files.size() > 1 && i < batch.count(); ++i)
      outputs.write(files[done + i], scheme, {made.sig.data() + i * size, size});
    progress.update(done += batch.count());
  }
  keys.finish(done);
  progress.finish();
  outputs.commit("sign", scheme, done, backend);
  return kExitOk;
}

}  // namespace

void register_sign(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SigningOptions>();
  auto passphrase = std::make_shared<PassphraseOptions>();
  CLI::App* command = app.add_subcommand("sign", "Sign files, or the records of a file");
  command->footer(kSignFooter);
  command->add_option("--sk", options->sk, "Secret key file ('-': standard input)")->required()->type_name("FILE");
  add_signing_options(*command, *options,
                      "One file to write for all signatures (default: MESSAGE.sig for each; '-': standard output)");
  command->add_flag("--deterministic", options->deterministic, "The same message gets the same signature");
  add_passphrase_options(*command, *passphrase);
  add_file_options(*command, *options, Formats::kRecords);
  command->callback(
      [options, passphrase, &exit_code] { exit_code = run_guarded([&] { return run_sign(*options, *passphrase); }); });
}

}  // namespace polykem::cli
