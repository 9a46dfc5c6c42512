// SPDX-License-Identifier: Apache-2.0
// Tests boundaries: values just beyond the last valid one, wrong lengths and types, and what a failure leaves. It uses
// EVP, or the provider's own functions where libcrypto would refuse a call before the provider.
#include <dlfcn.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/x509.h>
#include <sys/resource.h>

#include "provider/slow_device.hpp"
#include "provider/support.hpp"

namespace polykem::provider::test {
namespace {

constexpr const char* kSets[] = {"mlkem512",         "mlkem768",           "ntruhps2048509",
                                 "frodokem640shake", "x25519_frodo640aes", "p256_frodo640aes"};

/// Returns a function of the provider, by one of the algorithm's names.
template <class Function>
Function* function_of(const Library& library, int operation, const std::string& name, int id) {
  int no_cache = 0;
  for (const OSSL_ALGORITHM* a = OSSL_PROVIDER_query_operation(library.provider(), operation, &no_cache);
       a != nullptr && a->algorithm_names != nullptr; ++a) {
    const std::string names = std::string(":") + a->algorithm_names + ":";
    if (names.find(":" + name + ":") == std::string::npos) continue;
    for (const OSSL_DISPATCH* each = a->implementation; each->function_id != 0; ++each) {
      if (each->function_id == id) return reinterpret_cast<Function*>(each->function);
    }
  }
  throw std::runtime_error("no such function of " + name);
}

#define MANAGER(library, name, function, id) \
  function_of<OSSL_FUNC_keymgmt_##function##_fn>(library, OSSL_OP_KEYMGMT, name, OSSL_FUNC_KEYMGMT_##id)
#define KEM(library, name, function, id) \
  function_of<OSSL_FUNC_kem_##function##_fn>(library, OSSL_OP_KEM, name, OSSL_FUNC_KEM_##id)

// ---- public keys

constexpr unsigned kQ = 3329;

/// Puts a coefficient of 12 bits into an encoded vector.
void set_coefficient(Bytes& key, std::size_t index, unsigned value) {
  std::uint8_t* p = key.data() + index / 2 * 3;
  if (index % 2 == 0) {
    p[0] = static_cast<std::uint8_t>(value);
    p[1] = static_cast<std::uint8_t>((p[1] & 0xF0U) | value >> 8);
  } else {
    p[1] = static_cast<std::uint8_t>((p[1] & 0x0FU) | value << 4);
    p[2] = static_cast<std::uint8_t>(value >> 4);
  }
}

TEST(PublicKey, CoefficientsAreBelowQ) {
  const Library library;
  for (const auto& [name, k] : {std::pair("mlkem512", 2U), std::pair("mlkem768", 3U), std::pair("mlkem1024", 4U)}) {
    const Bytes right = get(generate(library, name).get(), "pub");
    for (const std::size_t index :
         {std::size_t{0}, std::size_t{1}, std::size_t{k * 256 - 2}, std::size_t{k * 256 - 1}}) {
      for (const unsigned value : {kQ - 1, kQ, kQ + 1, 4095U}) {
        Bytes pub = right;
        set_coefficient(pub, index, value);
        EXPECT_EQ(import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", pub}}) != nullptr, value < kQ)
            << name << " " << index << " " << value;
      }
    }
    Bytes pub = right;
    std::fill(pub.end() - 32, pub.end(), 0xFF);  // rho is no coefficient
    EXPECT_NE(import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", pub}}), nullptr) << name;
  }
  errors();
}

struct Hybrid {
  const char* name;
  std::size_t share_bytes;
};
const std::vector<Hybrid>& hybrids_with_points() {
  static const std::vector<Hybrid> list{
      {"p256_frodo640aes", 65}, {"p384_frodo976shake", 97}, {"p521_ntru_hps4096821", 133}};
  return list;
}

/// The other form of an uncompressed point, which libcrypto reads: 6 or 7, by the parity of y.
Bytes with_hybrid_point(Bytes bytes, std::size_t share_bytes) {
  bytes[0] = static_cast<std::uint8_t>(6 | (bytes[share_bytes - 1] & 1));
  return bytes;
}

TEST(PublicKey, PointsHaveOneForm) {
  const Library library;
  for (const auto& [name, share_bytes] : hybrids_with_points()) {
    const KeyPtr key = generate(library, name);
    const Bytes pub = get(key.get(), "pub"), other = with_hybrid_point(pub, share_bytes);
    ASSERT_EQ(pub[0], 4) << name;
    EXPECT_NE(import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", pub}}), nullptr) << name << errors();
    EXPECT_EQ(import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", other}}), nullptr) << name;
    EXPECT_NE(errors().find("malformed public key"), std::string::npos);
    const auto sent = encapsulate(library, key.get());
    ASSERT_TRUE(sent);
    EXPECT_TRUE(decapsulate(library, key.get(), with_hybrid_point(sent->ciphertext, share_bytes)).empty()) << name;
    EXPECT_NE(errors().find("the classical part of a hybrid failed"), std::string::npos);
  }
}

/// Points whose multiples by a private key are all zero, so that results do not depend on the key.
std::vector<Bytes> of_small_order(std::size_t bytes) {
  Bytes one(bytes), p(bytes, 0xFF);
  one[0] = 1;
  if (bytes == 32) {
    p.front() = 0xED, p.back() = 0x7F;
  } else {
    p[28] = 0xFE;
  }
  Bytes below = p, above = p;
  below[0] -= 1;
  for (std::size_t i = 0; ++above[i] == 0; ++i) {
  }
  std::vector<Bytes> points{Bytes(bytes), one, below, p, above};
  if (bytes != 32) return points;
  for (const char* order8 : {"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                             "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"}) {
    long size = 0;
    unsigned char* point = OPENSSL_hexstr2buf(order8, &size);
    points.emplace_back(point, point + size);
    OPENSSL_free(point);
  }
  for (std::size_t i = 0, count = points.size(); i < count; ++i) {
    points.push_back(points[i]);
    points.back().back() |= 0x80;  // the bit is ignored
  }
  return points;
}

/// Uses them as public keys and in ciphertexts. In hybrids of the registry they are the end of a public key.
TEST(PublicKey, PointsOfSmallOrder) {
  const Library library;
  for (const auto& [name, share_bytes, at_the_end] :
       {std::tuple("x25519_frodo640aes", 32, false), std::tuple("x448_frodo976shake", 56, false),
        std::tuple("x25519mlkem768", 32, true), std::tuple("mlkem768x25519", 32, true)}) {
    const KeyPtr key = generate(library, name);
    ASSERT_NE(key, nullptr) << name << errors();
    const Bytes pub = get(key.get(), "pub");
    const auto sent = encapsulate(library, key.get());
    ASSERT_TRUE(sent) << errors();
    const auto with = [&, from_end = at_the_end, bytes = share_bytes](Bytes record, const Bytes& point) {
      std::copy(point.begin(), point.end(), from_end ? record.end() - bytes : record.begin());
      return record;
    };
    for (const Bytes& point : of_small_order(static_cast<std::size_t>(share_bytes))) {
      const KeyPtr peer = import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", pub}});
      ASSERT_NE(peer, nullptr) << name << errors();
      EXPECT_EQ(import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", with(pub, point)}}), nullptr) << name;
      EXPECT_NE(errors().find("malformed public key"), std::string::npos);
      EXPECT_EQ(EVP_PKEY_set1_encoded_public_key(peer.get(), with(pub, point).data(), pub.size()), 0) << name;
      EXPECT_TRUE(decapsulate(library, key.get(), with(sent->ciphertext, point)).empty()) << name;
      EXPECT_NE(errors().find("the classical part of a hybrid failed"), std::string::npos);
    }
    Bytes two(static_cast<std::size_t>(share_bytes));
    two[0] = 2;  // of large order
    EXPECT_NE(import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", with(pub, two)}}), nullptr) << name << errors();
  }
}

TEST(PublicKey, OfAPairIsNotExchanged) {
  const Library library;
  for (const char* name : kSets) {
    const KeyPtr key = generate(library, name);
    const Bytes own = get(key.get(), "pub"), other = get(generate(library, name).get(), "pub");
    EXPECT_EQ(EVP_PKEY_set1_encoded_public_key(key.get(), own.data(), own.size()), 1) << name << errors();
    EXPECT_EQ(EVP_PKEY_set1_encoded_public_key(key.get(), other.data(), other.size()), 0) << name;
    EXPECT_NE(errors().find("not match"), std::string::npos) << name;
    EXPECT_EQ(get(key.get(), "pub"), own);
  }
}

// ---- import and export

TEST(Import, TheSeedBelongsToTheKey) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem512");
  const Bytes pub = get(key.get(), "pub"), seed = get(key.get(), "seed"), priv = get(key.get(), "priv");
  const Bytes other = get(generate(library, "mlkem512").get(), "pub");
  EXPECT_NE(import(library, "mlkem512", EVP_PKEY_KEYPAIR, {{"pub", pub}, {"priv", priv}, {"seed", seed}}), nullptr);
  EXPECT_EQ(import(library, "mlkem512", EVP_PKEY_KEYPAIR, {{"pub", other}, {"seed", seed}}), nullptr);
  EXPECT_NE(errors().find("not match"), std::string::npos);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{63}, std::size_t{65}, std::size_t{128}}) {
    EXPECT_EQ(import(library, "mlkem512", EVP_PKEY_KEYPAIR, {{"seed", Bytes(bytes, 1)}}), nullptr) << bytes;
    EXPECT_NE(errors().find("wrong length"), std::string::npos) << bytes;
  }
}

/// The last 32 bytes of the expanded key are used for rejections alone, and are in no public key.
TEST(Import, TheSeedBelongsToTheRejectionsToo) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem512");
  const Bytes seed = get(key.get(), "seed");
  Bytes priv = get(key.get(), "priv");
  priv.back() ^= 1;
  EXPECT_NE(import(library, "mlkem512", EVP_PKEY_KEYPAIR, {{"priv", priv}}), nullptr) << errors();
  EXPECT_EQ(import(library, "mlkem512", EVP_PKEY_KEYPAIR, {{"priv", priv}, {"seed", seed}}), nullptr);
  EXPECT_NE(errors().find("not match"), std::string::npos);
}

TEST(Import, HybridsHaveNoPrivateForm) {
  const Library library;
  for (const char* name : {"x25519_frodo640aes", "p256_frodo640aes"}) {
    const Bytes pub = get(generate(library, name).get(), "pub");
    const std::size_t secret_bytes = Scheme::find("frodokem640aes").secret_key_bytes();
    for (const char* part : {"priv", "seed"}) {
      EXPECT_EQ(import(library, name, EVP_PKEY_KEYPAIR, {{"pub", pub}, {part, Bytes(secret_bytes, 1)}}), nullptr);
      EXPECT_NE(errors().find("bad parameter"), std::string::npos) << name << part;
    }
  }
}

/// If only a public key is requested, a private one is not accepted.
TEST(Import, TakesWhatWasAskedFor) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem512");
  const Bytes pub = get(key.get(), "pub"), priv = get(key.get(), "priv");
  const KeyPtr only = import(library, "mlkem512", EVP_PKEY_PUBLIC_KEY, {{"pub", pub}, {"priv", priv}});
  ASSERT_NE(only, nullptr) << errors();
  EXPECT_EQ(get(only.get(), "priv"), Bytes());
  EXPECT_EQ(import(library, "mlkem512", EVP_PKEY_KEY_PARAMETERS, {{"pub", pub}}), nullptr);
  errors();
}

TEST(Import, PartsAreOctets) {
  const Library library;
  char text[] = "text";
  for (const char* part : {"pub", "priv", "seed"}) {
    const ContextPtr context = context_of(library, std::string("mlkem512"));
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(part, text, 0), OSSL_PARAM_construct_end()};
    EVP_PKEY* made = nullptr;
    ASSERT_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
    EXPECT_NE(EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, params), 1) << part;
    EXPECT_NE(errors().find("is not an octet string"), std::string::npos) << part;
  }
}

/// Returns which parts of a key are exported.
std::string exported(const KeyPtr& key, int selection) {
  OSSL_PARAM* params = nullptr;
  std::string out;
  if (EVP_PKEY_todata(key.get(), selection, &params) != 1) return "refused";
  for (const OSSL_PARAM* each = params; each->key != nullptr; ++each)
    out.append(each->key).append(" ");
  OSSL_PARAM_free(params);
  return out;
}

TEST(Export, GivesWhatWasAskedFor) {
  const Library library;
  const KeyPtr mlkem = generate(library, "mlkem512"), frodo = generate(library, "frodokem640shake");
  const KeyPtr hybrid = generate(library, "x25519_frodo640aes");
  EXPECT_EQ(exported(mlkem, EVP_PKEY_PUBLIC_KEY), "pub ");
  EXPECT_EQ(exported(mlkem, EVP_PKEY_KEYPAIR), "pub priv seed ");
  EXPECT_EQ(exported(frodo, EVP_PKEY_KEYPAIR), "pub priv ");
  EXPECT_EQ(exported(hybrid, EVP_PKEY_PUBLIC_KEY), "pub ");
  EXPECT_EQ(exported(hybrid, EVP_PKEY_KEYPAIR), "refused");
  errors();
}

// ---- keys

/// A key of the provider by its own functions.
class RawKey {
 public:
  RawKey(const Library& library, const std::string& name, int selection,
         std::vector<std::pair<const char*, Bytes>> parts)
      : data(MANAGER(library, name, new, NEW)(OSSL_PROVIDER_get0_provider_ctx(library.provider()))),
        free_(MANAGER(library, name, free, FREE)) {
    std::vector<OSSL_PARAM> params;
    for (const auto& [key, bytes] : parts)
      params.push_back(octets(key, bytes));
    params.push_back(OSSL_PARAM_construct_end());
    if (!parts.empty()) taken = MANAGER(library, name, import, IMPORT)(data, selection, params.data()) == 1;
  }
  ~RawKey() { free_(data); }
  RawKey(const RawKey&) = delete;
  RawKey& operator=(const RawKey&) = delete;

  void* const data;
  bool taken = true;

 private:
  OSSL_FUNC_keymgmt_free_fn* free_;
};

constexpr int kPublic = OSSL_KEYMGMT_SELECT_PUBLIC_KEY, kPrivate = OSSL_KEYMGMT_SELECT_PRIVATE_KEY,
              kPair = OSSL_KEYMGMT_SELECT_KEYPAIR, kDomain = OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS;

TEST(Key, HasWhatItHas) {
  const Library library;
  const std::string name = "NTRU-HPS-2048-509";  // whose secret keys do not contain the public key
  const KeyPtr key = generate(library, name);
  const Bytes pub = get(key.get(), "pub"), priv = get(key.get(), "priv");
  const RawKey none(library, name, 0, {}), one(library, name, kPublic, {{"pub", pub}}),
      two(library, name, kPair, {{"priv", priv}}), both(library, name, kPair, {{"pub", pub}, {"priv", priv}});
  ASSERT_TRUE(one.taken && two.taken && both.taken) << errors();
  auto* const has = MANAGER(library, name, has, HAS);
  const auto row = [&](const RawKey& raw) {
    return std::vector<int>{has(raw.data, 0), has(raw.data, kPublic), has(raw.data, kPrivate), has(raw.data, kPair)};
  };
  EXPECT_EQ(row(none), (std::vector<int>{1, 0, 0, 0}));
  EXPECT_EQ(row(one), (std::vector<int>{1, 1, 0, 0}));
  EXPECT_EQ(row(two), (std::vector<int>{1, 0, 1, 0}));
  EXPECT_EQ(row(both), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(has(nullptr, 0), 0);
}

TEST(Key, IsValidIfItHasWhatIsAskedFor) {
  const Library library;
  const std::string name = "NTRU-HPS-2048-509";
  const KeyPtr key = generate(library, name), other = generate(library, name);
  const Bytes pub = get(key.get(), "pub"), priv = get(key.get(), "priv");
  const RawKey none(library, name, 0, {}), one(library, name, kPublic, {{"pub", pub}}),
      two(library, name, kPair, {{"priv", priv}}), both(library, name, kPair, {{"pub", pub}, {"priv", priv}});
  auto* const validate = MANAGER(library, name, validate, VALIDATE);
  const auto row = [&](const RawKey& raw) {
    return std::vector<int>{validate(raw.data, kPublic, 0), validate(raw.data, kPrivate, 0),
                            validate(raw.data, kPair, 0)};
  };
  EXPECT_EQ(row(none), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(row(one), (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(row(two), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(row(both), (std::vector<int>{1, 1, 1}));
  EXPECT_NE(errors().find("no public key"), std::string::npos);
}

TEST(Key, Matches) {
  const Library library;
  const std::string name = "NTRU-HPS-2048-509";
  const KeyPtr key = generate(library, name), other = generate(library, name);
  const Bytes pub = get(key.get(), "pub"), priv = get(key.get(), "priv");
  const Bytes other_pub = get(other.get(), "pub"), other_priv = get(other.get(), "priv");
  const RawKey one(library, name, kPublic, {{"pub", pub}}), another(library, name, kPublic, {{"pub", other_pub}});
  const RawKey two(library, name, kPair, {{"priv", priv}}), same(library, name, kPair, {{"priv", priv}}),
      differs(library, name, kPair, {{"priv", other_priv}});
  const RawKey of_other_set(library, "mlkem512", 0, {});
  auto* const match = MANAGER(library, name, match, MATCH);
  EXPECT_EQ(match(one.data, another.data, kDomain), 1);
  EXPECT_EQ(match(one.data, of_other_set.data, kDomain), 0);
  EXPECT_EQ(match(one.data, one.data, kPublic), 1);
  EXPECT_EQ(match(one.data, another.data, kPublic), 0);
  EXPECT_EQ(match(two.data, same.data, kPair), 1) << "by the private keys, where there is nothing else";
  EXPECT_EQ(match(two.data, differs.data, kPair), 0);
  EXPECT_EQ(match(two.data, same.data, kPublic), 0);
  EXPECT_EQ(match(one.data, two.data, kPair), 0);
}

TEST(Key, CopiesWhatWasAskedFor) {
  const Library library;
  for (const std::string name : {"MLKEM512", "x25519_frodo640aes"}) {
    const bool is_hybrid = name[0] == 'x';
    auto* const duplicate = MANAGER(library, is_hybrid ? name : "ML-KEM-512", dup, DUP);
    auto* const has = MANAGER(library, is_hybrid ? name : "ML-KEM-512", has, HAS);
    auto* const release = MANAGER(library, is_hybrid ? name : "ML-KEM-512", free, FREE);
    auto* const begin = MANAGER(library, is_hybrid ? name : "ML-KEM-512", gen_init, GEN_INIT);
    void* generation = begin(OSSL_PROVIDER_get0_provider_ctx(library.provider()), kPair, nullptr);
    void* key = MANAGER(library, is_hybrid ? name : "ML-KEM-512", gen, GEN)(generation, nullptr, nullptr);
    MANAGER(library, is_hybrid ? name : "ML-KEM-512", gen_cleanup, GEN_CLEANUP)(generation);
    ASSERT_NE(key, nullptr);
    for (const int selection : {0, kPublic, kPrivate, kPair}) {
      void* copy = duplicate(key, selection);
      ASSERT_NE(copy, nullptr);
      EXPECT_EQ(has(copy, kPublic), (selection & kPublic) != 0 ? 1 : 0) << name << selection;
      EXPECT_EQ(has(copy, kPrivate), (selection & kPrivate) != 0 ? 1 : 0) << name << selection;
      release(copy);
    }
    release(key);
  }
  const KeyPtr key = generate(library, "mlkem512"), copy(EVP_PKEY_dup(key.get()));
  EXPECT_EQ(get(copy.get(), "seed"), get(key.get(), "seed"));
}

TEST(Key, SaysItsSizes) {
  const Library library;
  struct Row {
    const char* name;
    int security_bits;
  };
  for (const auto& [name, security_bits] : {Row{"mlkem512", 128}, Row{"mlkem768", 192}, Row{"mlkem1024", 256},
                                            Row{"frodokem976shake", 192}, Row{"x25519_frodo640aes", 128}}) {
    const KeyPtr key = generate(library, name);
    EXPECT_EQ(static_cast<std::size_t>(EVP_PKEY_get_bits(key.get())), 8 * get(key.get(), "pub").size()) << name;
    EXPECT_EQ(EVP_PKEY_get_security_bits(key.get()), security_bits) << name;
    const Bytes pub = get(key.get(), "pub");
    Bytes room(pub.size());
    std::size_t bytes = 0;
    EXPECT_EQ(EVP_PKEY_get_octet_string_param(key.get(), "pub", room.data(), room.size(), &bytes), 1);
    EXPECT_EQ(room, pub);
    EXPECT_NE(EVP_PKEY_get_octet_string_param(key.get(), "pub", room.data(), room.size() - 1, &bytes), 1) << name;
    errors();
  }
}

TEST(Key, ParametersHaveTheirType) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem512");
  char text[] = "text";
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, text, 0),
                         OSSL_PARAM_construct_end()};
  EXPECT_NE(EVP_PKEY_set_params(key.get(), params), 1);
  EXPECT_NE(errors().find("is not an octet string"), std::string::npos);
  const ContextPtr context = context_of(library, std::string("mlkem512"));
  int number = 1;
  OSSL_PARAM seed[] = {OSSL_PARAM_construct_utf8_string("seed", text, 0), OSSL_PARAM_construct_end()};
  OSSL_PARAM group[] = {OSSL_PARAM_construct_int(OSSL_PKEY_PARAM_GROUP_NAME, &number), OSSL_PARAM_construct_end()};
  ASSERT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
  for (OSSL_PARAM* wrong : {seed, group})
    EXPECT_NE(EVP_PKEY_CTX_set_params(context.get(), wrong), 1) << wrong->key;
  errors();
}

/// Parameters may be passed to the call that begins.
TEST(Generation, TakesParametersAtItsBeginning) {
  const Library library;
  const std::string name = "ML-KEM-512";
  void* const provider = OSSL_PROVIDER_get0_provider_ctx(library.provider());
  auto* const begin = MANAGER(library, name, gen_init, GEN_INIT);
  const Bytes seed(64, 3);
  const OSSL_PARAM right[] = {octets("seed", seed), OSSL_PARAM_construct_end()};
  const OSSL_PARAM wrong[] = {octets("seed", {seed.data(), 63}), OSSL_PARAM_construct_end()};
  void* generation = begin(provider, kPair, right);
  ASSERT_NE(generation, nullptr);
  MANAGER(library, name, gen_cleanup, GEN_CLEANUP)(generation);
  EXPECT_EQ(begin(provider, kPair, wrong), nullptr);
  EXPECT_NE(errors().find("wrong length"), std::string::npos);
}

TEST(Key, IsLoadedByAReferenceOfItsSize) {
  const Library library;
  const std::string name = "ML-KEM-512";
  const KeyPtr key = generate(library, name);
  const RawKey raw(library, name, kPublic, {{"pub", get(key.get(), "pub")}});
  auto* const load = MANAGER(library, name, load, LOAD);
  void* reference[2] = {raw.data, nullptr};
  EXPECT_EQ(load(static_cast<void*>(reference), sizeof(void*) - 1), nullptr);
  EXPECT_EQ(load(static_cast<void*>(reference), sizeof reference), nullptr);
  EXPECT_EQ(reference[0], raw.data);
  EXPECT_EQ(load(static_cast<void*>(reference), sizeof(void*)), raw.data);
  EXPECT_EQ(reference[0], nullptr) << "it has moved to the caller";
}

// ---- forms

/// Returns how many keys the decoder of that structure alone finds.
int keys_found(const Library& library, const Bytes& der, const std::string& structure) {
  const std::string properties = "provider=polykem,input=der,structure=" + structure;
  OSSL_DECODER* decoder = OSSL_DECODER_fetch(library.get(), "ML-KEM-512", properties.c_str());
  OSSL_DECODER_CTX* context = OSSL_DECODER_CTX_new();
  EXPECT_EQ(OSSL_DECODER_CTX_add_decoder(context, decoder), 1) << errors();
  int found = 0;
  OSSL_DECODER_CTX_set_construct(
      context, [](OSSL_DECODER_INSTANCE*, const OSSL_PARAM*, void* count) { return ++*static_cast<int*>(count); });
  OSSL_DECODER_CTX_set_construct_data(context, &found);
  const unsigned char* in = der.data();
  std::size_t bytes = der.size();
  OSSL_DECODER_from_data(context, &in, &bytes);
  OSSL_DECODER_CTX_free(context);
  OSSL_DECODER_free(decoder);
  return found;
}

Bytes der_of(EVP_PKEY* key, int (*write)(const EVP_PKEY*, unsigned char**)) {
  unsigned char* out = nullptr;
  const int bytes = write(key, &out);
  const Bytes der(out, out + std::max(bytes, 0));
  OPENSSL_free(out);
  return der;
}

TEST(Forms, ADecoderReadsItsStructure) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem512");
  const Bytes pub = der_of(key.get(), i2d_PUBKEY), priv = der_of(key.get(), i2d_PrivateKey);
  EXPECT_EQ(keys_found(library, pub, "SubjectPublicKeyInfo"), 1) << errors();
  EXPECT_EQ(keys_found(library, priv, "PrivateKeyInfo"), 1) << errors();
  EXPECT_EQ(keys_found(library, pub, "PrivateKeyInfo"), 0);
  EXPECT_EQ(keys_found(library, priv, "SubjectPublicKeyInfo"), 0);
  errors();
}

TEST(Forms, APublicKeyIsNotWrittenAsAPrivateOne) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem512");
  const KeyPtr only = import(library, "mlkem512", EVP_PKEY_PUBLIC_KEY, {{"pub", get(key.get(), "pub")}});
  EXPECT_TRUE(der_of(only.get(), i2d_PrivateKey).empty());
  EXPECT_NE(errors().find("no private key"), std::string::npos);
  EXPECT_EQ(der_of(only.get(), i2d_PUBKEY), der_of(key.get(), i2d_PUBKEY));
}

std::size_t most_resident_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss);
}

/// A stream that announces more bytes than any key has causes no allocation.
TEST(Forms, ALengthIsNoReasonToTakeMemory) {
  const Library library;
  const std::size_t before = most_resident_kilobytes();
  EXPECT_EQ(keys_found(library, {0x30, 0x84, 0x10, 0, 0, 0, 0x30, 0x0B}, "PrivateKeyInfo"), 0);  // 256 MB
  EXPECT_LT(most_resident_kilobytes(), before + 128 * 1024);
  errors();
}

// ---- a program with another libcrypto

void* malloc_of_another(std::size_t bytes, const char* file, int line) {
  return CRYPTO_malloc(bytes, file, line);
}

/// Initialises the module with functions of which one is not this libcrypto's.
int begin_from_another(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* in, const OSSL_DISPATCH** out,
                       void** context) {
  std::vector<OSSL_DISPATCH> core;
  for (; in->function_id != 0; ++in) {
    core.push_back(*in);
    if (in->function_id == OSSL_FUNC_CRYPTO_MALLOC)
      core.back().function = reinterpret_cast<void (*)()>(malloc_of_another);
  }
  core.push_back({0, nullptr});
  void* module = dlopen(POLYKEM_MODULES "/polykem.so", RTLD_NOW);
  auto* const begin = reinterpret_cast<OSSL_provider_init_fn*>(dlsym(module, "OSSL_provider_init"));
  return begin(handle, core.data(), out, context);
}

TEST(AnotherLibcrypto, HasTheClassicalPartsAndTheForms) {
  const Library library("", begin_from_another);
  for (const char* name : {"mlkem768", "x25519_frodo640aes", "p256_frodo640aes"}) {
    const KeyPtr key = generate(library, name);
    ASSERT_NE(key, nullptr) << errors();
    const auto sent = encapsulate(library, key.get());
    ASSERT_TRUE(sent) << errors();
    EXPECT_EQ(decapsulate(library, key.get(), sent->ciphertext), sent->secret);
  }
  const KeyPtr key = generate(library, "mlkem768");
  unsigned char* der = nullptr;
  const int bytes = i2d_PrivateKey(key.get(), &der);
  ASSERT_GT(bytes, 0) << errors();
  const unsigned char* in = der;
  const KeyPtr again(d2i_AutoPrivateKey_ex(nullptr, &in, bytes, library.get(), nullptr));
  EXPECT_EQ(EVP_PKEY_eq(again.get(), key.get()), 1) << errors();
  OPENSSL_clear_free(der, static_cast<std::size_t>(bytes));
}

// ---- encapsulation and decapsulation

class Kem : public testing::TestWithParam<const char*> {
 protected:
  ContextPtr begin(bool encapsulates) {
    ContextPtr context = context_of(library, key.get());
    EXPECT_EQ(encapsulates ? EVP_PKEY_encapsulate_init(context.get(), nullptr)
                           : EVP_PKEY_decapsulate_init(context.get(), nullptr),
              1);
    return context;
  }

  const std::string name = GetParam();
  Library library;
  KeyPtr key = generate(library, name);
  Encapsulated sent = encapsulate(library, key.get()).value();
  const std::size_t bytes = sent.ciphertext.size(), secret_bytes = sent.secret.size();
};

TEST_P(Kem, AnswersQueries) {
  std::size_t a = 1, b = 2;
  const ContextPtr sender = begin(true), receiver = begin(false);
  EXPECT_EQ(EVP_PKEY_encapsulate(sender.get(), nullptr, &a, nullptr, &b), 1);
  EXPECT_EQ(a, bytes);
  EXPECT_EQ(b, secret_bytes);
  EXPECT_EQ(EVP_PKEY_decapsulate(receiver.get(), nullptr, &b, sent.ciphertext.data(), bytes), 1);
  EXPECT_EQ(b, secret_bytes);
}

TEST_P(Kem, WritesItsLengthIntoMoreRoom) {
  Bytes ciphertext(bytes + 9, 0xAA), secret(secret_bytes + 9, 0xAA), again(secret_bytes + 9, 0xAA);
  std::size_t a = ciphertext.size(), b = secret.size(), c = again.size();
  ASSERT_EQ(EVP_PKEY_encapsulate(begin(true).get(), ciphertext.data(), &a, secret.data(), &b), 1) << errors();
  ASSERT_EQ(EVP_PKEY_decapsulate(begin(false).get(), again.data(), &c, ciphertext.data(), a), 1) << errors();
  EXPECT_EQ(a, bytes);
  EXPECT_EQ(b, secret_bytes);
  EXPECT_EQ(c, secret_bytes);
  EXPECT_EQ(secret, again);
  const Bytes untouched(9, 0xAA);
  EXPECT_TRUE(std::equal(untouched.begin(), untouched.end(), ciphertext.begin() + static_cast<std::ptrdiff_t>(a)));
  EXPECT_TRUE(std::equal(untouched.begin(), untouched.end(), secret.begin() + static_cast<std::ptrdiff_t>(b)));
}

TEST_P(Kem, WritesNothingWithoutRoom) {
  for (const std::size_t missing : {std::size_t{1}, secret_bytes}) {
    Bytes ciphertext(bytes, 0xAA), secret(secret_bytes, 0xAA);
    const Bytes before = ciphertext, secret_before = secret;
    std::size_t a = bytes, b = secret_bytes - missing;
    EXPECT_NE(EVP_PKEY_encapsulate(begin(true).get(), ciphertext.data(), &a, secret.data(), &b), 1);
    EXPECT_NE(EVP_PKEY_decapsulate(begin(false).get(), secret.data(), &b, sent.ciphertext.data(), bytes), 1);
    b = secret_bytes;
    a = bytes - missing;
    EXPECT_NE(EVP_PKEY_encapsulate(begin(true).get(), ciphertext.data(), &a, secret.data(), &b), 1);
    for (const std::size_t length : {std::size_t{0}, bytes - 1, bytes + 1})
      EXPECT_NE(EVP_PKEY_decapsulate(begin(false).get(), secret.data(), &b, sent.ciphertext.data(), length), 1);
    EXPECT_EQ(ciphertext, before);
    EXPECT_EQ(secret, secret_before);
  }
  errors();
}

/// After a late failure the secret's buffer is zero, whatever was written before.
TEST_P(Kem, AFailureLeavesNoSecret) {
  const Bytes zero(secret_bytes, 0);
  Bytes ciphertext(bytes), secret(secret_bytes, 0xAA);
  std::size_t a = bytes, b = secret_bytes;
  polykem_slow_device_fail(true);
  EXPECT_NE(EVP_PKEY_encapsulate(begin(true).get(), ciphertext.data(), &a, secret.data(), &b), 1);
  EXPECT_EQ(secret, zero) << "encapsulation";
  secret.assign(secret_bytes, 0xAA);
  EXPECT_NE(EVP_PKEY_decapsulate(begin(false).get(), secret.data(), &b, sent.ciphertext.data(), bytes), 1);
  EXPECT_EQ(secret, zero) << "decapsulation";
  polykem_slow_device_fail(false);
  EXPECT_FALSE(errors().empty());
}

TEST_P(Kem, ContextsAreCopied) {
  const ContextPtr sender = begin(true), receiver = begin(false);
  const ContextPtr other_sender(EVP_PKEY_CTX_dup(sender.get())), other_receiver(EVP_PKEY_CTX_dup(receiver.get()));
  ASSERT_TRUE(other_sender != nullptr && other_receiver != nullptr) << errors();
  Bytes ciphertext(bytes), secret(secret_bytes), again(secret_bytes);
  std::size_t a = bytes, b = secret_bytes;
  ASSERT_EQ(EVP_PKEY_encapsulate(other_sender.get(), ciphertext.data(), &a, secret.data(), &b), 1) << errors();
  ASSERT_EQ(EVP_PKEY_decapsulate(other_receiver.get(), again.data(), &b, ciphertext.data(), a), 1) << errors();
  EXPECT_EQ(secret, again);
}

INSTANTIATE_TEST_SUITE_P(All, Kem, testing::ValuesIn(kSets), [](const auto& info) { return identifier(info.param); });

TEST(Ikme, IsForgottenByANewBeginning) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem512");
  const Bytes ikme(32, 9);
  const Bytes known = encapsulate(library, key.get(), ikme)->ciphertext;
  const ContextPtr context = context_of(library, key.get());
  const OSSL_PARAM params[] = {octets("ikme", ikme), OSSL_PARAM_construct_end()};
  ASSERT_EQ(EVP_PKEY_encapsulate_init(context.get(), params), 1);
  const ContextPtr copy(EVP_PKEY_CTX_dup(context.get()));
  ASSERT_EQ(EVP_PKEY_encapsulate_init(context.get(), nullptr), 1);
  Bytes ciphertext(known.size()), secret(32);
  std::size_t bytes = ciphertext.size(), secret_bytes = secret.size();
  ASSERT_EQ(EVP_PKEY_encapsulate(context.get(), ciphertext.data(), &bytes, secret.data(), &secret_bytes), 1);
  EXPECT_NE(ciphertext, known);
  ASSERT_EQ(EVP_PKEY_encapsulate(copy.get(), ciphertext.data(), &bytes, secret.data(), &secret_bytes), 1);
  EXPECT_EQ(ciphertext, known) << "a copy has it";
}

TEST(Ikme, HasOneLengthAndIsNotForHybrids) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem512"), hybrid = generate(library, "x25519_frodo640aes");
  const std::size_t coins = Scheme::find("frodokem640aes").info().encaps_coin_bytes;
  EXPECT_TRUE(encapsulate(library, key.get(), Bytes(32)));
  for (const std::size_t bytes : {1, 31, 33, 64})
    EXPECT_FALSE(encapsulate(library, key.get(), Bytes(bytes))) << bytes;
  EXPECT_FALSE(encapsulate(library, hybrid.get(), Bytes(coins)));
  EXPECT_NE(errors().find("bad parameter"), std::string::npos);
}

/// libcrypto itself refuses this call.
TEST(Ikme, ACiphertextGoesWithASecret) {
  const Library library;
  const std::string name = "ML-KEM-512";
  const KeyPtr key = generate(library, "mlkem512");
  const RawKey raw(library, name, kPublic, {{"pub", get(key.get(), "pub")}});
  void* context = KEM(library, name, newctx, NEWCTX)(OSSL_PROVIDER_get0_provider_ctx(library.provider()));
  ASSERT_EQ(KEM(library, name, encapsulate_init, ENCAPSULATE_INIT)(context, raw.data, nullptr), 1);
  Bytes ciphertext(768);
  std::size_t bytes = ciphertext.size(), secret_bytes = 32;
  EXPECT_EQ(KEM(library, name, encapsulate, ENCAPSULATE)(context, ciphertext.data(), &bytes, nullptr, &secret_bytes),
            0);
  KEM(library, name, freectx, FREECTX)(context);
  errors();
}

}  // namespace
}  // namespace polykem::provider::test
