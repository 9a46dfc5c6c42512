// SPDX-License-Identifier: Apache-2.0
// Arbitrary files of keys, ciphertexts and secrets are refused with an error or read, with the same result for every
// batch size. What is read can be written and read again.
#include <algorithm>
#include <optional>

#include "common.hpp"
#include "common/exit_codes.hpp"
#include "files/armour.hpp"
#include "files/records.hpp"
#include "formats/error.hpp"

using namespace polykem;
using namespace polykem::cli;

namespace {

/// Returns all records, read in batches of `at_once`; nothing if the content is refused. Secret keys are those of any
/// set that the content names.
std::optional<SecretBytes> records_of(ByteView content, RecordKind kind, std::size_t at_once) {
  try {
    InputFile file(content, "input");
    const char* const scheme = kind == RecordKind::kSecretKey ? "" : "ntruhps2048509";
    RecordReader reader(file, kind, scheme, fuzz::context());
    SecretBytes all;
    SecretBytes batch;
    while (const std::size_t n = reader.read(batch, at_once)) {
      fuzz::require(batch.size() == n * record_bytes(reader.scheme(), kind), "whole records");
      all.insert(all.end(), batch.begin(), batch.end());
    }
    return all;
  } catch (const CliError&) {
    return std::nullopt;
  }
}

void read_as_records(ByteView content, RecordKind kind) {
  fuzz::require(records_of(content, kind, 1) == records_of(content, kind, 1000), "the same in batches of any size");
}

std::vector<NamedRecord> records_of(ByteView content) {
  InputFile file(content, "input");
  ArmourReader reader;
  std::vector<NamedRecord> out;
  std::string_view line;
  while (file.line(line)) {
    if (reader.line(line)) out.push_back(reader.record());
  }
  reader.finish();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView content(data, size);
  read_as_records(content, RecordKind::kPublicKey);
  read_as_records(content, RecordKind::kSecretKey);
  read_as_records(content, RecordKind::kSharedSecret);
  try {
    const auto records = records_of(content);
    SecretBytes again;
    for (const auto& record : records)
      formats::append_pem(again, armour_label(record.scheme, record.kind), record.bytes);
    const auto same = records_of(again);
    fuzz::require(same.size() == records.size(), "as many records after writing and reading");
    for (size_t i = 0; i < same.size(); ++i)
      fuzz::require(same[i].bytes == records[i].bytes, "the same bytes");
  } catch (const CliError&) {
  } catch (const formats::FormatError&) {
  }
  return 0;
}
