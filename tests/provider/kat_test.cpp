// SPDX-License-Identifier: Apache-2.0
// Tests known answers through EVP: key pairs and encapsulations from coins, rejections.
#include <fstream>
#include <nlohmann/json.hpp>

#include "provider/support.hpp"

namespace polykem::provider::test {
namespace {

using Json = nlohmann::json;

Bytes bytes_of(const std::string& hex) {
  Bytes out(hex.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return out;
}

Bytes coins_of(const Json& list) {
  std::string all;
  for (const Json& each : list)
    all += each.get<std::string>();
  return bytes_of(all);
}

class KnownAnswers : public testing::TestWithParam<std::string> {};

TEST_P(KnownAnswers, ThroughEvp) {
  const Library library;
  std::ifstream file(std::string(POLYKEM_DATA) + "/" + GetParam() + ".json");
  const Json data = Json::parse(file);
  ASSERT_EQ(data.at("counts").size(), 10U);
  for (const Json& c : data.at("counts")) {
    const KeyPtr key = generate(library, GetParam(), coins_of(c.at("keypair_draws")));
    ASSERT_NE(key, nullptr) << errors();
    EXPECT_EQ(get(key.get(), "pub"), bytes_of(c.at("pk")));
    EXPECT_EQ(get(key.get(), "priv"), bytes_of(c.at("sk")));
    const auto sent = encapsulate(library, key.get(), coins_of(c.at("encaps_draws")));
    ASSERT_TRUE(sent) << errors();
    EXPECT_EQ(sent->ciphertext, bytes_of(c.at("ct")));
    EXPECT_EQ(sent->secret, bytes_of(c.at("ss")));
    EXPECT_EQ(decapsulate(library, key.get(), sent->ciphertext), sent->secret);
    for (const Json& reject : c.at("reject")) {
      Bytes changed = sent->ciphertext;
      changed.at(reject.at("byte")) ^= reject.at("xor").get<int>();
      EXPECT_EQ(decapsulate(library, key.get(), changed), bytes_of(reject.at("ss")));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnownAnswers,
                         testing::Values("mlkem512", "mlkem768", "mlkem1024", "kyber768", "ntruhps2048509",
                                         "ntruhrss701"),
                         [](const auto& info) { return info.param; });

TEST(Ikme, IsUsedOnceAndChecked) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem768");
  const Bytes ikme(32, 9);
  EXPECT_FALSE(encapsulate(library, key.get(), Bytes(31)));
  const ContextPtr context = context_of(library, key.get());
  const OSSL_PARAM params[] = {octets("ikme", ikme), OSSL_PARAM_construct_end()};
  ASSERT_EQ(EVP_PKEY_encapsulate_init(context.get(), params), 1);
  Bytes first(1088), second(1088), secret(32);
  std::size_t bytes = first.size(), secret_bytes = secret.size();
  ASSERT_EQ(EVP_PKEY_encapsulate(context.get(), first.data(), &bytes, secret.data(), &secret_bytes), 1);
  ASSERT_EQ(EVP_PKEY_encapsulate(context.get(), second.data(), &bytes, secret.data(), &secret_bytes), 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(encapsulate(library, key.get(), ikme)->ciphertext, first);
}

}  // namespace
}  // namespace polykem::provider::test
