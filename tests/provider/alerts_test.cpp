// SPDX-License-Identifier: Apache-2.0
// Tests the alerts for malformed key shares of RFC 10024's hybrids, in both roles, from polykem and, if it has these
// groups, from OpenSSL itself.
#include <dlfcn.h>

#include <functional>

#include "provider/support.hpp"
#include "provider/tls_pair.hpp"

namespace {

using Change = std::function<void(polykem::Bytes&)>;

/// Changes what libssl is about to send.
struct Sabotage {
  Change of_client, of_server;
  std::string computed_by;
};
Sabotage& sabotage() {
  static Sabotage one;
  return one;
}

constexpr std::size_t kRoom = 16;  // for longer ciphertexts

}  // namespace

/// These replace libcrypto's functions for libssl.
extern "C" [[gnu::visibility("default")]] std::size_t EVP_PKEY_get1_encoded_public_key(EVP_PKEY* key,
                                                                                       unsigned char** share) {
  static const auto real = reinterpret_cast<decltype(&EVP_PKEY_get1_encoded_public_key)>(
      dlsym(RTLD_NEXT, "EVP_PKEY_get1_encoded_public_key"));
  const std::size_t bytes = real(key, share);
  if (!sabotage().of_client || bytes == 0) return bytes;
  polykem::Bytes changed(*share, *share + bytes);
  sabotage().of_client(changed);
  sabotage().computed_by = OSSL_PROVIDER_get0_name(EVP_PKEY_get0_provider(key));
  OPENSSL_free(*share);
  *share = static_cast<unsigned char*>(OPENSSL_memdup(changed.data(), changed.size()));
  return changed.size();
}
extern "C" [[gnu::visibility("default")]] int EVP_PKEY_encapsulate(EVP_PKEY_CTX* context, unsigned char* out,
                                                                   std::size_t* bytes, unsigned char* secret,
                                                                   std::size_t* secret_bytes) {
  static const auto real = reinterpret_cast<decltype(&EVP_PKEY_encapsulate)>(dlsym(RTLD_NEXT, "EVP_PKEY_encapsulate"));
  const int result = real(context, out, bytes, secret, secret_bytes);
  if (!sabotage().of_server || result != 1) return result;
  if (out == nullptr) {
    *bytes += kRoom;
    return result;
  }
  polykem::Bytes changed(out, out + *bytes);
  sabotage().of_server(changed);
  sabotage().computed_by = OSSL_PROVIDER_get0_name(EVP_PKEY_CTX_get0_provider(context));
  std::copy(changed.begin(), changed.end(), out);
  *bytes = changed.size();
  return result;
}

namespace polykem::provider::test {
namespace {

struct Group {
  const char* name;
  std::size_t point_bytes;
  bool point_first;

  std::size_t point_at(const Bytes& share) const { return point_first ? 0 : share.size() - point_bytes; }
};

void PrintTo(const Group& group, std::ostream* out) {
  *out << group.name;
}

struct Fault {
  const char* what;
  Change change;
};

/// Returns faults of a share, which is a public key or a ciphertext.
std::vector<Fault> faults(const Group& group) {
  std::vector<Fault> out{{"short", [](Bytes& share) { share.pop_back(); }},
                         {"long", [](Bytes& share) { share.push_back(0); }}};
  const auto point = [group](Bytes& share) { return share.begin() + static_cast<long>(group.point_at(share)); };
  if (group.point_bytes == 32) {
    out.push_back({"small order", [=](Bytes& share) { std::fill_n(point(share), 32, 0); }});
  } else {
    out.push_back({"off the curve", [=](Bytes& share) { point(share)[40] ^= 1; }});
    out.push_back({"another first byte", [=](Bytes& share) { point(share)[0] = 5; }});
  }
  return out;
}

Fault not_reduced(const Group& group) {
  return {"a coefficient of 4095", [at = group.point_first ? group.point_bytes : 0](Bytes& share) {
            share[at] = 0xFF;
            share[at + 1] |= 0x0F;
          }};
}

/// Returns the alert that a side sent last, or -1.
int& last_alert(const SSL* side) {
  static int of_server, of_client;
  return SSL_is_server(side) == 1 ? of_server : of_client;
}

class Alerts : public testing::TestWithParam<Group> {
 protected:
  ~Alerts() override { sabotage() = {}; }

  /// Returns the alerts of server and client in a handshake.
  std::pair<int, int> shake(const char* properties) const {
    const Group& group = GetParam();
    Pair pair(library.get(), group.name, group.name, 0, properties);
    for (SSL* side : {pair.server.get(), pair.client.get()}) {
      last_alert(side) = -1;
      SSL_set_info_callback(side, [](const SSL* ssl, int where, int alert) {
        if ((where & SSL_CB_WRITE_ALERT) == SSL_CB_WRITE_ALERT) last_alert(ssl) = alert & 0xFF;
      });
    }
    EXPECT_FALSE(pair.handshake());
    errors();
    return {last_alert(pair.server.get()), last_alert(pair.client.get())};
  }

  /// Returns polykem's alert, which must equal OpenSSL's if that has the group.
  void expect(const std::pair<int, int>& alerts, const char* what) const {
    EXPECT_EQ(shake("?provider=polykem"), alerts) << what;
    EXPECT_EQ(sabotage().computed_by, "polykem");
    if (!openssl_has_mlkem()) return;
    EXPECT_EQ(shake("?provider=default"), alerts) << what << ", by OpenSSL itself";
    EXPECT_EQ(sabotage().computed_by, "default");
  }

  const Library library;
};

TEST_P(Alerts, OfServers) {
  std::vector<Fault> all = faults(GetParam());
  all.push_back(not_reduced(GetParam()));
  for (const Fault& fault : all) {
    sabotage().of_client = fault.change;
    expect({SSL_AD_ILLEGAL_PARAMETER, -1}, fault.what);
  }
}

/// libssl sends this alert itself, whatever the provider's error is.
TEST_P(Alerts, OfClients) {
  for (const Fault& fault : faults(GetParam())) {
    sabotage().of_server = fault.change;
    expect({-1, SSL_AD_INTERNAL_ERROR}, fault.what);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Alerts,
                         testing::Values(Group{"X25519MLKEM768", 32, false}, Group{"SecP256r1MLKEM768", 65, true},
                                         Group{"SecP384r1MLKEM1024", 97, true}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace polykem::provider::test
