// SPDX-License-Identifier: Apache-2.0
//
// Signatures in batches, in C++: one key signs a thousand messages of different lengths in one call, and the holder of
// the public key verifies them in one call. One message is altered on the way.
//
//   c++ -std=c++17 sign.cpp $(pkg-config --cflags --libs polykem) -o sign && ./sign
#include <cstdio>
#include <exception>
#include <polykem/polykem.hpp>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kMessages = 1000, kAltered = 123;

bool sign_and_verify() {
  const auto set = polykem::Scheme::find_signature("ML-DSA-65");
  const polykem::Context context;
  const polykem::KeyPairs key = context.keygen(set, 1);

  std::vector<std::string> messages;
  for (std::size_t i = 0; i < kMessages; ++i)
    messages.push_back("receipt " + std::to_string(i) + std::string(i % 50, '.'));
  // The context is not secret: it makes signatures of one application invalid in another.
  const polykem::Bytes application{'r', 'e', 'c', 'e', 'i', 'p', 't', 's'};
  const auto to_sign = [&] {
    return polykem::Messages(polykem::Strings::copies(messages), polykem::Strings::shared(application));
  };

  // KeyMode::kShared: one key for all. kPerItem would take a key for each message.
  const auto made = context.sign(set, kMessages, polykem::KeyMode::kShared, key.sk, to_sign());
  messages[kAltered] += " and a million more";
  const auto found = context.verify(set, kMessages, polykem::KeyMode::kShared, key.pk, to_sign(), made.sig);

  std::size_t valid = 0;
  for (std::size_t i = 0; i < kMessages; ++i)
    valid += found.valid(i) ? 1 : 0;
  std::printf("%s on backend %s: %zu of %zu signatures verify\n", set.info().title, context.backend(set).c_str(), valid,
              kMessages);
  return valid == kMessages - 1 && !found.valid(kAltered);
}

}  // namespace

int main() {
  try {
    return sign_and_verify() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
