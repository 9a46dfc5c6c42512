// SPDX-License-Identifier: Apache-2.0
// polykem verify: checks signatures of files, or of the records of one file.
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "files/signing.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kVerifyFooter =
    "Examples:\n"
    "  polykem verify --pk signer.pk release.tar notes.txt    reads release.tar.sig and notes.txt.sig\n"
    "  polykem verify --pk logger.pk --sig log.sig --message-bytes 128 log.bin\n"
    "  polykem verify --pk backup.pem --context backup --prehash sha512 disk.img\n"
    "\n"
    "The public key may be polykem's armour, PEM or DER (SubjectPublicKeyInfo), a certificate whose own signature and\n"
    "dates are not checked, or raw with --scheme. N messages need N public keys, used in order, or one key for all.\n"
    "Exit code 1: a signature does not verify; which ones is said on standard error and in the JSON result.";

/// The most messages that the output for people names.
constexpr std::size_t kMaxNamed = 20;

/// The signatures of the messages: one file for each, or one for all.
class SignatureReader {
 public:
  SignatureReader(const SigningOptions& options, const Scheme& scheme, const Context& context)
      : options_(options), scheme_(scheme), context_(context) {
    if (options.sig.empty() && options.message_bytes == 0) return;
    const std::string path = options.sig.empty() ? signature_path(options.messages.front()) : options.sig;
    file_ = std::make_unique<InputFile>(path);
    all_ = std::make_unique<RecordReader>(*file_, RecordKind::kSignature, scheme.name(), context, nullptr,
                                          Sets::kSignatures);
  }

  /// The signatures of `count` messages, from message `first` on.
  const SecretBytes& next(std::uint64_t first, std::size_t count) {
    if (!all_) {
      bytes_.clear();
      for (std::size_t i = 0; i < count; ++i)
        append(signature_path(options_.messages[first + i]));
    } else if (const std::size_t got = all_->read(bytes_, count); got < count) {
      throw CliError(kExitBadInput, fmt::format("{} holds {} signatures, and there are more messages", file_->name(),
                                                with_commas(first + got)));
    }
    return bytes_;
  }

  void finish(std::uint64_t count) {
    if (!all_) return;
    const std::uint64_t signatures = all_->count_all();
    if (signatures == count) return;
    throw CliError(kExitBadInput, fmt::format("{} holds {} signatures, and there are {} messages", file_->name(),
                                              with_commas(signatures), with_commas(count)));
  }

 private:
  void append(const std::string& path) {
    InputFile file(path);
    RecordReader reader(file, RecordKind::kSignature, scheme_.name(), context_, nullptr, Sets::kSignatures);
    if (!reader.single())
      throw CliError(kExitBadInput, fmt::format("{}: holds several signatures, expected one", file.name()),
                     "name a file of all signatures with --sig");
    SecretBytes one;
    reader.read(one, 1);
    bytes_.insert(bytes_.end(), one.begin(), one.end());
  }

  const SigningOptions& options_;
  const Scheme& scheme_;
  const Context& context_;
  std::unique_ptr<InputFile> file_;
  std::unique_ptr<RecordReader> all_;
  SecretBytes bytes_;
};

void check_inputs(const SigningOptions& options) {
  std::size_t from_stdin = is_standard_input(options.pk) ? 1 : 0;
  if (is_standard_input(options.sig)) ++from_stdin;
  for (const std::string& message : options.messages) {
    if (!is_standard_input(message)) continue;
    ++from_stdin;
    if (options.sig.empty())
      throw CliError(kExitUsage, "a message from standard input has no signature beside it",
                     "name its signature file with --sig");
  }
  if (from_stdin > 1)
    throw CliError(kExitUsage, "only one input can come from standard input", "name a file for the other");
}

/// Throws CliError (usage) if the JSON result would replace an input.
void check_result_path(const SigningOptions& options) {
  if (options.common.json.path.empty()) return;
  OutputFiles result(options.common.json.force);
  result.add(options.common.json.path, FileMode::kPublic);
  result.add_input(options.pk);
  if (!options.sig.empty()) result.add_input(options.sig);
  for (const std::string& message : options.messages) {
    result.add_input(message);
    if (options.sig.empty()) result.add_input(signature_path(message));
  }
  result.check();
}

struct Outcome {
  std::string scheme, backend;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> wrong;  ///< messages with wrong signatures, counted from 0
};

Json as_json(const Outcome& outcome, const MessageReader& messages) {
  Json out = json_header("polykem-verify-1");
  out["scheme"] = outcome.scheme;
  out["backend"] = outcome.backend;
  out["count"] = outcome.count;
  out["valid"] = outcome.count - outcome.wrong.size();
  out["wrong"] = Json::array();
  for (const std::uint64_t number : outcome.wrong)
    out["wrong"].push_back({{"number", number + 1}, {"message", messages.name(number)}});
  return out;
}

void print_outcome(const Outcome& outcome, const MessageReader& messages, const CommonOptions& options) {
  const std::size_t named = std::min(outcome.wrong.size(), kMaxNamed);
  if (!json_to_stdout(options.json) && !options.quiet) {
    print_out("{} of {} signatures verify, {}\n", with_commas(outcome.count - outcome.wrong.size()),
              with_commas(outcome.count), outcome.scheme);
  }
  flush_output();
  for (std::size_t i = 0; i < named; ++i)
    print_error("polykem: {}: {}\n", messages.name(outcome.wrong[i]), polykem_status_text(POLYKEM_ERR_SIGNATURE));
  if (outcome.wrong.size() > named) print_error("  and {} more\n", with_commas(outcome.wrong.size() - named));
}

Outcome verify_all(const SigningOptions& options, MessageReader& messages) {
  InputFile key_file(options.pk);
  const Context context = open_context(options.common.threads, options.common.backend);
  RecordReader reader(key_file, RecordKind::kPublicKey, options.scheme, context, nullptr, Sets::kSignatures);
  const Scheme& scheme = reader.scheme();
  SigningKeys keys(reader, options.pk, RecordKind::kPublicKey);
  SignatureReader signatures(options, scheme, context);
  Outcome out{scheme.name(), backend_for(context, scheme, options.common.backend), 0, {}};
  Progress progress("verify", messages.expected(), "signatures", options.common.quiet);
  MessageBatch batch;
  for (messages.read(batch, items_at_once(scheme)); batch.count() > 0; messages.read(batch, items_at_once(scheme))) {
    const Verification found = context.verify(scheme, batch.count(), keys.mode(), keys.next(batch.count()),
                                              messages.signed_as(batch), signatures.next(out.count, batch.count()));
    for (std::size_t i = 0; i < batch.count(); ++i)
      if (!found.valid(i)) out.wrong.push_back(out.count + i);
    progress.update(out.count += batch.count());
  }
  keys.finish(out.count);
  signatures.finish(out.count);
  progress.finish();
  return out;
}

int run_verify(const SigningOptions& options) {
  check_inputs(options);
  check_result_path(options);
  MessageReader messages(options);
  const Outcome outcome = verify_all(options, messages);
  write_json(options.common.json, as_json(outcome, messages));
  print_outcome(outcome, messages, options.common);
  return outcome.wrong.empty() ? kExitOk : kExitCheckFailed;
}

}  // namespace

void register_verify(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SigningOptions>();
  CLI::App* command = app.add_subcommand("verify", "Verify signatures of files, or of the records of a file");
  command->footer(kVerifyFooter);
  command->add_option("--pk", options->pk, "Public key file ('-': standard input)")->required()->type_name("FILE");
  add_signing_options(*command, *options,
                      "The file of all signatures (default: MESSAGE.sig for each; '-': standard input)");
  add_backend(*command, options->common);
  add_threads(*command, options->common, 0);
  add_json(*command, options->common);
  add_quiet(*command, options->common);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_verify(*options); }); });
}

}  // namespace polykem::cli
