// SPDX-License-Identifier: Apache-2.0
#include "files/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "formats/keys.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kBytesAtOnce = std::size_t{16} << 20;
/// The most bytes of text that are encoded at once, so that they stay in the cache until they are written.
constexpr std::size_t kTextAtOnce = std::size_t{1} << 18;

constexpr const char* kFormats = "Output format: armour (text that names its set, default) or raw";
constexpr const char* kKeyFormats =
    "Output format: armour (text that names its set, default), pem or der (for other programs; ML-KEM, ML-DSA, "
    "FrodoKEM-976 and 1344), or raw";

formats::PrivateForm form_of(const std::string& name) {
  if (name == "seed") return formats::PrivateForm::kSeed;
  return name == "expanded" ? formats::PrivateForm::kExpanded : formats::PrivateForm::kBoth;
}

/// Finds the set that a file names. Throws CliError (bad input, not usage) if it is unknown.
Scheme scheme_named(const std::string& name, const std::string& where) {
  if (const polykem_scheme* handle = find_set(name); handle != nullptr) return Scheme(handle);
  throw CliError(kExitBadInput, fmt::format("{}: this build has no parameter set '{}'", where, name), suggestion(name));
}

/// Returns a hint that names a set and a kind of record whose size is that of a raw file. Prefers one record to
/// several, and the requested set to others.
std::string guess_by_size(std::size_t size, const Scheme& asked) {
  std::vector<Scheme> schemes = all_sets();
  std::stable_partition(schemes.begin(), schemes.end(), [&](const Scheme& scheme) { return scheme == asked; });
  for (const bool single : {true, false}) {
    for (const Scheme& scheme : schemes) {
      for (const RecordKind kind :
           {RecordKind::kPublicKey, RecordKind::kSecretKey, RecordKind::kCiphertext, RecordKind::kSignature}) {
        const std::size_t record = record_bytes(scheme, kind);
        if (record == 0) continue;
        if (single && size == record) return fmt::format("it has the size of a {} {}", scheme.name(), kind_name(kind));
        if (single || size % record != 0) continue;
        return fmt::format("it has the size of {} {} {}s", size / record, scheme.name(), kind_name(kind));
      }
    }
  }
  return "the file may be cut off or not be raw";
}

/// Bytes of an armoured record in a file: a begin line, lines of 64 characters, an end line.
std::uint64_t armoured_bytes(const Scheme& scheme, RecordKind kind) {
  const std::size_t characters = (record_bytes(scheme, kind) + 2) / 3 * 4;
  const std::size_t titles = 2 * (std::strlen(scheme.name()) + std::strlen(kind_name(kind))) + 30;
  return characters + (characters + 63) / 64 + titles;
}

bool is_secret(RecordKind kind) {
  return kind == RecordKind::kSecretKey || kind == RecordKind::kSharedSecret;
}

}  // namespace

RecordReader::RecordReader(InputFile& file, RecordKind kind, const std::string& scheme_name, const Context& context,
                           Passphrase* passphrase, Sets sets)
    : file_(file),
      kind_(kind),
      encoding_(encoding_of(file.peek())),
      named_(file, encoding_, kind, context, passphrase, sets),
      scheme_(find_scheme(scheme_name, sets)),
      record_bytes_(record_bytes(scheme_, kind)),
      file_bytes_(record_bytes_) {
  if (encoding_ != Encoding::kRaw) {
    check_record();
    ahead_ = named_.record().bytes;
    count_ = 1;
    file_bytes_ = file_.taken();
  } else if (file.size() > 0) {
    check_size(file.size());
  }
}

Scheme RecordReader::find_scheme(const std::string& scheme_name, Sets sets) {
  if (file_.peek().size() == 0) throw CliError(kExitBadInput, fmt::format("{}: is empty", file_.name()));
  if (encoding_ == Encoding::kRaw) {
    if (!scheme_name.empty()) return open_scheme(scheme_name, sets);
    throw CliError(kExitUsage, fmt::format("{}: raw bytes do not name their parameter set", file_.name()),
                   "name it with --scheme; 'polykem list' shows all");
  }
  if (!named_.next()) throw CliError(kExitBadInput, fmt::format("{}: holds no block", file_.name()));
  const Scheme scheme = scheme_named(named_.record().scheme, file_.name());
  check_kind(scheme, sets, kExitBadInput, file_.name());
  return scheme_name.empty() ? scheme : open_scheme(scheme_name, sets);
}

void RecordReader::check_record() const {
  const NamedRecord& record = named_.record();
  const Scheme found = scheme_named(record.scheme, file_.name());
  if (found != scheme_) {
    throw CliError(
        kExitBadInput, fmt::format("{}: is of set {}, expected {}", file_.name(), found.name(), scheme_.name()),
        fmt::format("use keys and {} of one set together", scheme_.is_signature() ? "signatures" : "ciphertexts"));
  }
  if (record.kind != kind_) {
    throw CliError(kExitBadInput, fmt::format("{}: holds a {}, expected a {}", file_.name(), kind_name(record.kind),
                                              kind_name(kind_)));
  }
  if (record.bytes.size() != record_bytes_) {
    throw CliError(kExitBadInput,
                   fmt::format("{}: the {} has {} bytes, expected {} for {}", file_.name(), kind_name(kind_),
                               with_commas(record.bytes.size()), with_commas(record_bytes_), scheme_.info().title));
  }
}

void RecordReader::check_size(std::uint64_t file_bytes) const {
  if (file_bytes % record_bytes_ == 0) return;
  const bool many = file_bytes > record_bytes_;
  throw CliError(kExitBadInput,
                 fmt::format("{}: {} bytes, expected {}{} for {}{}{} of {}", file_.name(), with_commas(file_bytes),
                             many ? "a multiple of " : "", with_commas(record_bytes_), many ? "" : "a ",
                             kind_name(kind_), many ? "s" : "", scheme_.info().title),
                 guess_by_size(file_bytes, scheme_));
}

std::size_t RecordReader::append_raw(SecretBytes& out, std::size_t n) {
  const std::size_t before = out.size();
  out.resize(before + n * record_bytes_);
  const std::size_t got = file_.read(out.data() + before, n * record_bytes_);
  if (got < n * record_bytes_) check_size(file_.taken());
  out.resize(before + got);
  return got / record_bytes_;
}

std::size_t RecordReader::append_named(SecretBytes& out, std::size_t n) {
  std::size_t done = 0;
  while (done < n && named_.next()) {
    check_record();
    out.insert(out.end(), named_.record().bytes.begin(), named_.record().bytes.end());
    ++done;
  }
  return done;
}

std::size_t RecordReader::append(SecretBytes& out, std::size_t n) {
  const std::size_t got = n == 0 ? 0 : encoding_ == Encoding::kRaw ? append_raw(out, n) : append_named(out, n);
  count_ += got;
  return got;
}

bool RecordReader::single() {
  const std::size_t held = ahead_.size() / record_bytes_;
  append(ahead_, 2 - held);
  return ahead_.size() == record_bytes_;
}

std::size_t RecordReader::read(SecretBytes& out, std::size_t n) {
  out.clear();
  out.reserve(n * record_bytes_);
  const std::size_t held = std::min(n, ahead_.size() / record_bytes_);
  const auto end = ahead_.begin() + static_cast<std::ptrdiff_t>(held * record_bytes_);
  out.assign(ahead_.begin(), end);
  ahead_.erase(ahead_.begin(), end);
  return held + append(out, n - held);
}

std::uint64_t RecordReader::count_all() {
  SecretBytes unused;
  while (read(unused, items_at_once(scheme_)) > 0) {
  }
  return count_;
}

std::uint64_t RecordReader::expected() const {
  // Any text may stand between keys in PEM.
  return encoding_ == Encoding::kPem ? 0 : file_.size() / file_bytes_;
}

void add_file_options(CLI::App& app, FileOptions& options, Formats formats) {
  const bool keys = formats == Formats::kKeys;
  const auto only_of_keys = [keys](const std::string& value) -> std::string {
    if (keys || (value != "pem" && value != "der")) return {};
    return fmt::format("'{}' is a format of keys; ciphertexts, secrets and signatures are written as armour or raw",
                       value);
  };
  const std::vector<std::string> names =
      keys ? std::vector<std::string>{"armour", "pem", "der", "raw"} : std::vector<std::string>{"armour", "raw"};
  app.add_option("--format", options.format, keys ? kKeyFormats : kFormats)
      ->check(CLI::Validator(only_of_keys, ""))
      ->check(CLI::IsMember(names))
      ->type_name("F");
  add_backend(app, options.common);
  add_threads(app, options.common, 0);
  add_json(app, options.common);
  add_quiet(app, options.common);
}

bool standard_format(const FileOptions& options) {
  return options.format == "pem" || options.format == "der";
}

std::size_t items_at_once(const Scheme& scheme) {
  const auto& info = scheme.info();
  const std::size_t item = info.public_key_bytes + info.secret_key_bytes + info.ciphertext_bytes +
                           info.shared_secret_bytes + info.signature_bytes;
  return std::max<std::size_t>(1, kBytesAtOnce / item);
}

RecordOutputs::RecordOutputs(const FileOptions& options)
    : options_(options),
      out_(options.common.json.force),
      json_file_(!options.common.json.path.empty() && !json_to_stdout(options.common.json)) {}

std::size_t RecordOutputs::add(const std::string& path, RecordKind kind) {
  files_.push_back({path, kind});
  return out_.add(path, is_secret(kind) ? FileMode::kSecret : FileMode::kPublic);
}

void RecordOutputs::open() {
  const auto to_stdout =
      std::count_if(files_.begin(), files_.end(), [](const File& f) { return is_standard_output(f.path); });
  if (to_stdout + (json_to_stdout(options_.common.json) ? 1 : 0) > 1)
    throw CliError(kExitUsage, "only one result can go to standard output", "name files for the others");
  if (json_file_) out_.add(options_.common.json.path, FileMode::kPublic);
  out_.open();
}

std::uint64_t RecordOutputs::file_bytes(const Scheme& scheme, RecordKind kind) const {
  if (options_.format == "armour") return armoured_bytes(scheme, kind);
  std::uint64_t bytes = record_bytes(scheme, kind);
  if (kind == RecordKind::kSecretKey && standard_format(options_)) {
    const std::uint64_t seed = scheme.info().secret_seed_bytes;
    bytes = options_.sk_form == "seed" ? seed : options_.sk_form == "both" ? seed + bytes : bytes;
  }
  return options_.format == "pem" ? bytes / 3 * 4 : bytes;
}

void RecordOutputs::expect(const Scheme& scheme, std::uint64_t count) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 60;  // sums of these do not overflow
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::uint64_t each = file_bytes(scheme, files_[i].kind);
    out_.expect(i, count < kMax / each ? count * each : kMax);
  }
  out_.check_room();
}

SecretBytes RecordOutputs::key_der(const Scheme& scheme, RecordKind kind, ByteView bytes, ByteView seed) const {
  if (kind == RecordKind::kPublicKey) return formats::write_public_key(scheme, bytes);
  const auto copy = [](ByteView view) { return SecretBytes(view.data(), view.data() + view.size()); };
  return formats::write_private_key({scheme, form_of(options_.sk_form), copy(seed), copy(bytes), {}});
}

void RecordOutputs::write(std::size_t file, const Scheme& scheme, ByteView bytes, ByteView seeds) {
  const RecordKind kind = files_[file].kind;
  const std::size_t size = record_bytes(scheme, kind);
  files_[file].records += bytes.size() / size;
  if (options_.format == "raw") return out_.write(file, bytes);
  const bool standard = standard_format(options_);
  const std::string label =
      standard ? std::string(kind == RecordKind::kPublicKey ? formats::kPublicKeyLabel : formats::kPrivateKeyLabel)
               : armour_label(scheme.name(), kind);
  const auto flush = [&] { out_.write(file, {text_.data(), std::exchange(used_, 0)}); };
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    const ByteView record(bytes.data() + i, size);
    const std::size_t seed_bytes = seeds.size() == 0 ? 0 : scheme.info().secret_seed_bytes;
    const ByteView seed(seeds.data() + i / size * seed_bytes, seed_bytes);
    const SecretBytes der = standard ? key_der(scheme, kind, record, seed) : SecretBytes();
    const ByteView content = standard ? ByteView(der) : record;
    const bool text = options_.format != "der";
    const std::size_t length = text ? formats::pem_bytes(label, content.size()) : content.size();
    if (text_.size() - used_ < length) flush();
    if (text_.size() < length) text_.resize(std::max(length, kTextAtOnce));
    if (text) {
      formats::write_pem(text_.data() + used_, label, content);
    } else {
      std::memcpy(text_.data() + used_, content.data(), content.size());
    }
    used_ += length;
  }
  flush();
}

Json RecordOutputs::result(const char* command, const Scheme& scheme, std::uint64_t count,
                           const std::string& backend) const {
  Json out = json_header(fmt::format("polykem-{}-1", command));
  out["scheme"] = scheme.name();
  out["backend"] = backend;
  out["count"] = count;
  out["format"] = options_.format;
  if (standard_format(options_)) out["sk_form"] = options_.sk_form;
  out["files"] = Json::array();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    out["files"].push_back({{"path", files_[i].path},
                            {"kind", kind_name(files_[i].kind)},
                            {"records", files_[i].records},
                            {"record_bytes", record_bytes(scheme, files_[i].kind)},
                            {"file_bytes", out_.written(i)}});
  }
  return out;
}

void RecordOutputs::commit(const char* command, const Scheme& scheme, std::uint64_t count, const std::string& backend) {
  const Json json = result(command, scheme, count, backend);
  if (json_file_) {
    const std::string text = json_text(json);
    out_.write(files_.size(), ByteView(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }
  out_.commit();
  try {
    print_summary(json, scheme);
    flush_output();
  } catch (const CliError& e) {
    throw CliError(e.code(), e.what(), "the files are complete");
  }
}

void RecordOutputs::print_summary(const Json& json, const Scheme& scheme) const {
  if (json_to_stdout(options_.common.json)) return write_json(options_.common.json, json);
  const bool data_on_stdout =
      std::any_of(files_.begin(), files_.end(), [](const File& f) { return is_standard_output(f.path); });
  if (data_on_stdout || options_.common.quiet) return;
  for (const File& file : files_) {
    print_out("{}: {} {}{}, {}{}\n", without_controls(file.path), with_commas(file.records), kind_name(file.kind),
              file.records == 1 ? "" : "s", scheme.name(), is_secret(file.kind) ? ", readable by you alone" : "");
  }
}

void refuse_bad_keys(const std::vector<polykem_status>& items, std::uint64_t first, KeyMode mode, RecordKind kind,
                     const std::string& path) {
  const auto is_bad = [](polykem_status s) { return s != POLYKEM_OK; };
  const auto bad = std::find_if(items.begin(), items.end(), is_bad);
  if (bad == items.end()) return;
  const bool shared = mode == KeyMode::kShared;
  const auto others = shared ? 0 : std::count_if(items.begin(), items.end(), is_bad) - 1;
  const std::uint64_t number = shared ? 1 : first + static_cast<std::uint64_t>(bad - items.begin()) + 1;
  throw CliError(
      kExitBadInput,
      fmt::format("'{}': {} {}: {}{}", path, kind_name(kind), number, polykem_status_text(*bad),
                  others > 0 ? fmt::format(" (and {} more up to number {})", others, first + items.size()) : ""),
      "nothing was written");
}

}  // namespace polykem::cli
