// SPDX-License-Identifier: Apache-2.0
// The functions of polykem/ckks.h for OpenFHE's files.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ckks/tests/handles.hpp"
#include "ckks/tests/openfhe/support.hpp"

namespace polykem::openfhe::test {
namespace {

using namespace ckks::test;
using FileHandle = std::unique_ptr<polykem_ckks_file, Free<polykem_ckks_file_free>>;

std::string answer(const char* name) {
  return file(std::string("../openfhe_answers/manual/") + name + ".bin");
}

/// Returns the same ciphertext as it is written where all equal moduli are shared.
std::string shared(const std::string& bytes) {
  auto ciphertext = parse<Ciphertext>(bytes);
  ciphertext.sharing = {};
  return bytes_of(ciphertext, Form::kBinary);
}

FileHandle opened(polykem_ckks_kind kind, const std::string& bytes) {
  polykem_ckks_file* out = nullptr;
  EXPECT_EQ(polykem_ckks_file_read(kind, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &out),
            POLYKEM_CKKS_OK)
      << polykem_ckks_error_text();
  return FileHandle(out);
}

template <class Handle, class Make, class... Arguments>
Handle made(const Make& make, Arguments... arguments) {
  typename Handle::pointer out = nullptr;
  EXPECT_EQ(make(arguments..., &out), POLYKEM_CKKS_OK) << polykem_ckks_error_text();
  return Handle(out);
}

/// A server with OpenFHE's files of two ciphertexts and of evaluation keys.
struct Server {
  FileHandle keys = opened(POLYKEM_CKKS_RELINEARISATION_KEYS, answer("mult"));
  FileHandle a = opened(POLYKEM_CKKS_CIPHERTEXT, answer("a")), b = opened(POLYKEM_CKKS_CIPHERTEXT, answer("b"));
  ContextHandle context = made<ContextHandle>(polykem_ckks_file_context, keys.get(), 1U, 1);

  CiphertextsHandle ciphertexts(const FileHandle& of) const {
    return made<CiphertextsHandle>(polykem_ckks_file_ciphertexts, of.get(), context.get());
  }
  SwitchingKeyHandle key(const FileHandle& of, size_t i, uint64_t& g) const {
    polykem_ckks_switching_key* out = nullptr;
    EXPECT_EQ(polykem_ckks_file_switching_key(of.get(), i, context.get(), &g, &out), POLYKEM_CKKS_OK);
    return SwitchingKeyHandle(out);
  }
  std::string written(const CiphertextsHandle& from, int json = 0) const {
    size_t size = 0;
    EXPECT_EQ(polykem_ckks_file_write_ciphertext(a.get(), from.get(), 0, 1, json, nullptr, &size),
              POLYKEM_CKKS_ERR_ARGUMENT);
    std::vector<uint8_t> bytes(size);
    EXPECT_EQ(polykem_ckks_file_write_ciphertext(a.get(), from.get(), 0, 1, json, bytes.data(), &size), POLYKEM_CKKS_OK)
        << polykem_ckks_error_text();
    return {bytes.begin(), bytes.end()};
  }
};

TEST(FilesOfTheCApi, AServerComputesWhatOpenfheComputes) {
  const Server server;
  const polykem_ckks_context* const c = server.context.get();
  ASSERT_EQ(polykem_ckks_file_key_count(server.keys.get()), 1U);
  EXPECT_EQ(polykem_ckks_file_degree(server.a.get()), 1U);
  uint64_t g = 7;
  const SwitchingKeyHandle square = server.key(server.keys, 0, g);
  EXPECT_EQ(g, 0U);
  const auto a = server.ciphertexts(server.a), b = server.ciphertexts(server.b);
  const auto product = made<CiphertextsHandle>(polykem_ckks_combine, c, POLYKEM_CKKS_MUL, a.get(), b.get());
  const auto two = made<CiphertextsHandle>(polykem_ckks_relinearise, c, product.get(), square.get());
  const auto rescaled = made<CiphertextsHandle>(polykem_ckks_rescale, c, two.get());
  const std::string bytes = server.written(rescaled);
  EXPECT_TRUE(bytes == shared(answer("rescaled")));

  const FileHandle automorphisms = opened(POLYKEM_CKKS_AUTOMORPHISM_KEYS, answer("auto"));
  for (size_t i = 0; i < polykem_ckks_file_key_count(automorphisms.get()); ++i) {
    const SwitchingKeyHandle key = server.key(automorphisms, i, g);
    if (g != polykem_ckks_rotation_element(c, 1)) continue;
    const auto rotated = made<CiphertextsHandle>(polykem_ckks_automorphism, c, a.get(), g, key.get());
    EXPECT_TRUE(server.written(rotated) == shared(answer("rotated_1")));
  }
  const std::string json = server.written(rescaled, 1);
  EXPECT_TRUE(server.written(server.ciphertexts(opened(POLYKEM_CKKS_CIPHERTEXT, json))) == bytes);
}

TEST(FilesOfTheCApi, AClientDecrypts) {
  const FileHandle file = opened(POLYKEM_CKKS_SECRET_KEY, answer("secret"));
  const auto context = made<ContextHandle>(polykem_ckks_file_context, file.get(), 1U, 1);
  const auto secret = made<SecretKeyHandle>(polykem_ckks_file_secret_key, file.get(), context.get());
  const FileHandle a = opened(POLYKEM_CKKS_CIPHERTEXT, answer("a"));
  const auto ciphertexts = made<CiphertextsHandle>(polykem_ckks_file_ciphertexts, a.get(), context.get());
  EXPECT_NE(made<PlaintextsHandle>(polykem_ckks_decrypt, context.get(), secret.get(), ciphertexts.get()), nullptr);
}

TEST(FilesOfTheCApi, Refusals) {
  const Server server;
  const std::string bytes = answer("a");
  const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
  polykem_ckks_file* out = nullptr;
  for (const size_t length : {size_t{0}, size_t{1}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_EQ(polykem_ckks_file_read(POLYKEM_CKKS_CIPHERTEXT, data, length, &out), POLYKEM_CKKS_ERR_FORMAT) << length;
  EXPECT_EQ(polykem_ckks_file_read(POLYKEM_CKKS_PUBLIC_KEY, data, bytes.size(), &out), POLYKEM_CKKS_ERR_FORMAT);
  EXPECT_EQ(polykem_ckks_file_read(static_cast<polykem_ckks_kind>(7), data, bytes.size(), &out),
            POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_file_read(POLYKEM_CKKS_CIPHERTEXT, nullptr, 0, &out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(out, nullptr);
  polykem_ckks_context* context = nullptr;
  EXPECT_EQ(polykem_ckks_file_context(server.keys.get(), 1, 0, &context), POLYKEM_CKKS_ERR_INSECURE);
  polykem_ckks_secret_key* secret = nullptr;
  EXPECT_EQ(polykem_ckks_file_secret_key(server.a.get(), server.context.get(), &secret), POLYKEM_CKKS_ERR_ARGUMENT);
  polykem_ckks_switching_key* key = nullptr;
  uint64_t g = 0;
  EXPECT_EQ(polykem_ckks_file_switching_key(server.keys.get(), 1, server.context.get(), &g, &key),
            POLYKEM_CKKS_ERR_ARGUMENT);
  const auto a = server.ciphertexts(server.a);
  std::array<uint8_t, 8> room{};
  size_t size = room.size();
  EXPECT_EQ(polykem_ckks_file_write_ciphertext(server.a.get(), a.get(), 0, 1, 0, room.data(), &size),
            POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(size, server.written(a).size());
  EXPECT_EQ(room, (std::array<uint8_t, 8>{}));
  EXPECT_EQ(polykem_ckks_file_write_ciphertext(server.a.get(), a.get(), 1, 1, 0, room.data(), &size),
            POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_file_write_ciphertext(server.a.get(), a.get(), 0, 2, 0, room.data(), &size),
            POLYKEM_CKKS_ERR_SCALES);
  const FileHandle other = opened(POLYKEM_CKKS_CIPHERTEXT, file("fresh.bin"));
  polykem_ckks_ciphertexts* ciphertexts = nullptr;
  EXPECT_EQ(polykem_ckks_file_ciphertexts(other.get(), server.context.get(), &ciphertexts), POLYKEM_CKKS_ERR_FORMAT);
}

}  // namespace
}  // namespace polykem::openfhe::test
