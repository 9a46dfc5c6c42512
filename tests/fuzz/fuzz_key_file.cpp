// SPDX-License-Identifier: Apache-2.0
// Key, ciphertext and secret files: arbitrary content is refused with an error or read; what is read can be written and
// read again.
#include "common.hpp"
#include "common/exit_codes.hpp"
#include "files/armour.hpp"
#include "files/records.hpp"

using namespace polykem;
using namespace polykem::cli;

namespace {

void parse_as_records(ByteView content, RecordKind kind) {
  try {
    const Records records = parse_records(content, kind, "ntruhps2048509", "input");
    fuzz::require(records.bytes.size() == records.count * record_bytes(records.scheme, kind), "whole records");
  } catch (const CliError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView content(data, size);
  parse_as_records(content, RecordKind::kPublicKey);
  parse_as_records(content, RecordKind::kSharedSecret);
  try {
    const auto blocks = parse_armour(content);
    SecretBytes again;
    for (const auto& block : blocks)
      append_armour(again, block.scheme, block.kind, block.bytes);
    const auto same = parse_armour(again);
    fuzz::require(same.size() == blocks.size(), "as many blocks after writing and reading");
    for (size_t i = 0; i < same.size(); ++i)
      fuzz::require(same[i].bytes == blocks[i].bytes, "the same bytes");
  } catch (const CliError&) {
  }
  return 0;
}
