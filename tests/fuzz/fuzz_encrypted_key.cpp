// SPDX-License-Identifier: Apache-2.0
// Arbitrary encrypted private keys are decrypted or refused with an error, in little time.
#include "common.hpp"
#include "files/encrypted_key.hpp"
#include "formats/error.hpp"
#include "formats/keys.hpp"

using namespace polykem;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::uint64_t kLittleWork = 1 << 6;
  constexpr char kPassphrase[] = "correct horse";
  const ByteView passphrase(reinterpret_cast<const std::uint8_t*>(kPassphrase), sizeof kPassphrase - 1);
  try {
    const SecretBytes plain = cli::decrypted_key(ByteView(data, size), passphrase, kLittleWork);
    fuzz::require(formats::key_der_bytes(plain) == plain.size(), "what is decrypted looks like a key");
    formats::read_key(plain);
  } catch (const formats::FormatError&) {
  }
  return 0;
}
