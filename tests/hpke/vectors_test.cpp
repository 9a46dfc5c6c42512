// SPDX-License-Identifier: Apache-2.0
// The vectors of draft-ietf-hpke-pq [HPKEPQ, A] and RFC 9180 [RFC9180, A]: key derivation, encapsulation, messages and
// exported secrets.
#include <fstream>
#include <nlohmann/json.hpp>

#include "support.hpp"

namespace polykem::hpke::test {
namespace {

Bytes from_hex(const std::string& hex) {
  Bytes out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return out;
}

nlohmann::json vectors(const char* name) {
  std::ifstream file(std::string(POLYKEM_HPKE_VECTORS "/") + name);
  return nlohmann::json::parse(file);
}

template <class Info, class Id>
bool known(const std::vector<Info>& list, Id id) {
  return std::any_of(list.begin(), list.end(), [id](const Info& info) { return info.id == id; });
}

void check_key_pair(const Suite& suite, const nlohmann::json& vector) {
  const Bytes ikm = from_hex(vector["ikmR"]);
  Bytes pk(suite.public_key_bytes()), sk(suite.secret_key_bytes());
  EXPECT_EQ(0u, derive_key_pairs(context(), suite, 1, ikm.data(), ikm.size(), pk.data(), sk.data()));
  EXPECT_EQ(from_hex(vector["skRm"]), sk);
  EXPECT_EQ(from_hex(vector["pkRm"]), pk);
}

/// The inputs of a vector to which messages are bound, other than their additional data.
How how_of(const nlohmann::json& vector, const Bytes& coins) {
  How how{from_hex(vector["info"]), {}};
  how.coins = &coins;
  how.psk = from_hex(vector.value("psk", ""));
  how.psk_id = from_hex(vector.value("psk_id", ""));
  return how;
}

void check_message(const Suite& suite, const nlohmann::json& vector) {
  const nlohmann::json& first = vector["encryptions"][0];
  const Bytes coins = from_hex(vector["ikmE"]), plaintext = from_hex(first["pt"]), sk = from_hex(vector["skRm"]);
  ASSERT_EQ(suite.coin_bytes(), coins.size());
  How how = how_of(vector, coins);
  how.aad = from_hex(first["aad"]);
  const Sealed sealed = seal_all(suite, from_hex(vector["pkRm"]), plaintext, 1, how);
  EXPECT_EQ(0u, sealed.failed);
  EXPECT_EQ(from_hex(vector["enc"]), sealed.enc);
  EXPECT_EQ(from_hex(first["ct"]), sealed.ct);
  EXPECT_EQ(plaintext, open_all(suite, SecretBytes(sk.begin(), sk.end()), sealed, how).plaintexts);
}

void check_context(const Suite& suite, const nlohmann::json& vector) {
  const Bytes coins = from_hex(vector["ikmE"]), sk = from_hex(vector["skRm"]);
  const How how = how_of(vector, coins);
  Bytes enc;
  Sender sender = sender_of(suite, from_hex(vector["pkRm"]), 1, enc, how);
  Recipient recipient = recipient_of(suite, SecretBytes(sk.begin(), sk.end()), 1, enc, how);
  std::uint64_t number = 0;
  for (const nlohmann::json& one : vector["encryptions"]) {
    number = one.value("number", number);
    sender.skip_to(number);
    recipient.skip_to(number);
    const Bytes plaintext = from_hex(one["pt"]), aad = from_hex(one["aad"]);
    const Sealed sealed = seal_next(sender, plaintext, aad);
    EXPECT_EQ(from_hex(one["ct"]), sealed.ct);
    EXPECT_EQ(plaintext, open_next(recipient, sealed, aad, {number}).plaintexts);
    EXPECT_EQ(plaintext, open_next(recipient, sealed, aad).plaintexts);
    EXPECT_EQ(++number, recipient.number(0));
  }
  for (const nlohmann::json& one : vector["exports"]) {
    const Bytes exporter_context = from_hex(one["exporter_context"]), value = from_hex(one["exported_value"]);
    EXPECT_EQ(value, exported(sender, exporter_context, value.size()));
    EXPECT_EQ(value, exported(recipient, exporter_context, value.size()));
  }
}

TEST(Vectors, OfTheWorkingGroup) {
  int checked = 0;
  for (const nlohmann::json& vector : vectors("test-vectors.json")) {
    const auto kem = static_cast<Kem>(vector["kem_id"].get<int>());
    const auto kdf = static_cast<Kdf>(vector["kdf_id"].get<int>());
    if (!known(kems(), kem)) continue;
    SCOPED_TRACE(vector["suite_id"].get<std::string>());
    // The KEM's own functions do not depend on the KDF; TurboSHAKE is not in OpenSSL.
    const Suite suite(kem, known(kdfs(), kdf) ? kdf : Kdf::kShake256, static_cast<Aead>(vector["aead_id"].get<int>()));
    check_key_pair(suite, vector);
    if (!known(kdfs(), kdf)) continue;
    check_message(suite, vector);
    check_context(suite, vector);
    ++checked;
  }
  EXPECT_EQ(8, checked);
}

TEST(Vectors, OfRfc9180) {
  int checked = 0;
  for (const nlohmann::json& vector : vectors("rfc9180.json")) {
    const Suite suite(static_cast<Kem>(vector["kem_id"].get<int>()), static_cast<Kdf>(vector["kdf_id"].get<int>()),
                      static_cast<Aead>(vector["aead_id"].get<int>()));
    SCOPED_TRACE(std::string(suite.aead().name) + ", mode " + vector["mode"].dump());
    check_key_pair(suite, vector);
    if (suite.aead().cipher) check_message(suite, vector);
    check_context(suite, vector);
    ++checked;
  }
  EXPECT_EQ(6, checked);
}

}  // namespace
}  // namespace polykem::hpke::test
