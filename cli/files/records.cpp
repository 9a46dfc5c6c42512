// SPDX-License-Identifier: Apache-2.0
#include "files/records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/table.hpp"

namespace polykem::cli {
namespace {

/** The set named inside a file; an unknown one is bad input, not bad usage. */
Scheme scheme_of_block(const std::string& name, const std::string& where) {
  const polykem_scheme* handle = nullptr;
  if (polykem_scheme_find(name.c_str(), &handle) == POLYKEM_OK) return Scheme(handle);
  throw CliError(kExitBadInput, fmt::format("{}: this build has no parameter set '{}'", where, name),
                 fmt::format("the nearest is '{}'; 'polykem list' shows all", polykem_scheme_suggest(name.c_str())));
}

/** What else a raw file of that size could be: the best hint after a mix-up. One record is likelier than several,
 * the set that was asked for likelier than another. */
std::string guess_by_size(std::size_t size, const Scheme& asked) {
  std::vector<Scheme> schemes = Scheme::all();
  std::stable_partition(schemes.begin(), schemes.end(), [&](const Scheme& scheme) { return scheme == asked; });
  for (const bool single : {true, false}) {
    for (const Scheme& scheme : schemes) {
      for (const RecordKind kind : {RecordKind::kPublicKey, RecordKind::kSecretKey, RecordKind::kCiphertext}) {
        const std::size_t record = record_bytes(scheme, kind);
        if (single && size == record) return fmt::format("it has the size of a {} {}", scheme.name(), kind_name(kind));
        if (single || size % record != 0) continue;
        return fmt::format("it has the size of {} {} {}s", size / record, scheme.name(), kind_name(kind));
      }
    }
  }
  return "the file may be cut off or not be raw";
}

void check_block(const ArmouredRecord& block, const Scheme& scheme, RecordKind kind, const std::string& where) {
  if (block.kind != kind) {
    throw CliError(kExitBadInput,
                   fmt::format("{}: holds a {} where a {} belongs", where, kind_name(block.kind), kind_name(kind)));
  }
  const std::size_t size = record_bytes(scheme, kind);
  if (block.bytes.size() != size) {
    throw CliError(kExitBadInput, fmt::format("{}: the {} has {} bytes, {} of {} has {}", where, kind_name(kind),
                                              block.bytes.size(), kind_name(kind), scheme.name(), size));
  }
}

Records parse_armoured(ByteView content, RecordKind kind, const std::string& scheme_name, const std::string& where) {
  std::vector<ArmouredRecord> blocks;
  try {
    blocks = parse_armour(content);
  } catch (const CliError& e) {
    throw CliError(e.code(), fmt::format("{}: {}", where, e.what()), e.hint());
  }
  Records out{scheme_of_block(blocks.front().scheme, where), blocks.size(), {}};
  const Scheme wanted = scheme_name.empty() ? out.scheme : open_scheme(scheme_name);
  for (const ArmouredRecord& block : blocks) {
    const Scheme found = scheme_of_block(block.scheme, where);
    if (found != wanted) {
      throw CliError(kExitBadInput,
                     fmt::format("{}: is of set {}, but {} is expected", where, found.name(), wanted.name()),
                     "use keys and ciphertexts of one set together");
    }
    check_block(block, found, kind, where);
    out.bytes.insert(out.bytes.end(), block.bytes.begin(), block.bytes.end());
  }
  return out;
}

Records parse_raw(ByteView content, RecordKind kind, const std::string& scheme_name, const std::string& where) {
  if (scheme_name.empty()) {
    throw CliError(kExitUsage, fmt::format("{}: is not armoured, so it does not say its set", where),
                   "name it with --scheme; 'polykem list' shows all");
  }
  const Scheme scheme = open_scheme(scheme_name);
  const std::size_t size = record_bytes(scheme, kind);
  if (content.size() % size != 0) {
    throw CliError(
        kExitBadInput,
        fmt::format("{}: has {} bytes, a {} of {} has {}", where, content.size(), kind_name(kind), scheme.name(), size),
        guess_by_size(content.size(), scheme));
  }
  return {scheme, content.size() / size, SecretBytes(content.data(), content.data() + content.size())};
}

bool is_secret(RecordKind kind) {
  return kind == RecordKind::kSecretKey || kind == RecordKind::kSharedSecret;
}

}  // namespace

Records parse_records(ByteView content, RecordKind kind, const std::string& scheme_name, const std::string& where) {
  if (content.size() == 0) throw CliError(kExitBadInput, fmt::format("{}: is empty", where));
  return is_armour(content) ? parse_armoured(content, kind, scheme_name, where)
                            : parse_raw(content, kind, scheme_name, where);
}

Records load_records(const std::string& path, RecordKind kind, const std::string& scheme_name) {
  const std::string where = path == "-" ? "standard input" : fmt::format("'{}'", path);
  return parse_records(read_file(path), kind, scheme_name, where);
}

void add_file_options(CLI::App& app, FileOptions& options) {
  app.add_option("--format", options.format, "Output format: armour (text that names its set, default) or raw")
      ->check(CLI::IsMember({"armour", "raw"}))
      ->type_name("F");
  app.add_flag("-f,--force", options.force, "Replace output files that exist");
  add_backend(app, options.common);
  add_threads(app, options.common, 0);
  add_json(app, options.common);
  add_quiet(app, options.common);
}

RecordOutputs::RecordOutputs(const FileOptions& options, const Scheme& scheme) : options_(options), scheme_(scheme) {}

void RecordOutputs::check_places(const FileOptions& options, const std::vector<std::string>& paths) {
  OutputFiles probe;
  for (const std::string& path : paths)
    probe.add(path, {}, FileMode::kPublic);
  probe.check(options.force);
  const auto to_stdout = std::count(paths.begin(), paths.end(), "-") + (json_to_stdout(options.common.json) ? 1 : 0);
  if (to_stdout > 1)
    throw CliError(kExitUsage, "only one result can go to standard output", "name files for the others");
}

void RecordOutputs::add(const std::string& path, RecordKind kind, ByteView bytes) {
  SecretBytes content;
  if (options_.format == "raw") {
    content.assign(bytes.data(), bytes.data() + bytes.size());
  } else {
    const std::size_t size = record_bytes(scheme_, kind);
    content.reserve(bytes.size() / 3 * 4 + bytes.size() / 48 + (bytes.size() / size) * 160);
    for (std::size_t i = 0; i < bytes.size(); i += size) {
      append_armour(content, scheme_.name(), kind, ByteView(bytes.data() + i, size));
    }
  }
  files_.push_back({path, kind, std::move(content)});
}

void RecordOutputs::commit(const char* command, std::size_t count, const std::string& backend) {
  OutputFiles out;
  bool to_stdout = json_to_stdout(options_.common.json);
  for (const File& file : files_) {
    out.add(file.path, file.content, is_secret(file.kind) ? FileMode::kSecret : FileMode::kPublic);
    to_stdout = to_stdout || file.path == "-";
  }
  out.commit(options_.force);
  Json result = json_header(fmt::format("polykem-{}-1", command));
  result["scheme"] = scheme_.name();
  result["backend"] = backend;
  result["count"] = count;
  result["format"] = options_.format;
  result["files"] = Json::array();
  for (const File& file : files_) {
    result["files"].push_back({{"path", file.path},
                               {"kind", kind_name(file.kind)},
                               {"record_bytes", record_bytes(scheme_, file.kind)},
                               {"file_bytes", file.content.size()}});
    if (to_stdout || options_.common.quiet) continue;
    fmt::print("{}: {} {}{}, {}{}\n", file.path, with_commas(count), kind_name(file.kind), count == 1 ? "" : "s",
               scheme_.name(), is_secret(file.kind) ? ", readable by you alone" : "");
  }
  write_json(options_.common.json, result);
}

void refuse_bad_items(const std::vector<polykem_status>& items, RecordKind kind, const std::string& path) {
  const auto bad = std::find_if(items.begin(), items.end(), [](polykem_status s) { return s != POLYKEM_OK; });
  if (bad == items.end()) return;
  const auto others = std::count_if(items.begin(), items.end(), [](polykem_status s) { return s != POLYKEM_OK; }) - 1;
  throw CliError(kExitBadInput,
                 fmt::format("'{}': {} {} of {}: {}{}", path, kind_name(kind), bad - items.begin() + 1, items.size(),
                             polykem_status_text(*bad), others > 0 ? fmt::format(" (and {} more)", others) : ""),
                 "nothing was written");
}

}  // namespace polykem::cli
