// SPDX-License-Identifier: Apache-2.0
// ML-KEM and its hybrids as KEMs of HPKE [HPKEPQ].
#include "hpke/items.hpp"
#include "hpke/kem.hpp"
#include "hpke/openssl.hpp"

namespace polykem::hpke {
namespace {

void run(polykem_context* context, const polykem_request& request) {
  const polykem_status status = polykem_run(context, &request);
  if (status != POLYKEM_ERR_ITEMS) check(status, "KEM of HPKE");
}

ItemStatus status_of(polykem_status status) {
  switch (status) {
    case POLYKEM_OK:
      return ItemStatus::kOk;
    case POLYKEM_ERR_PUBLIC_KEY:
      return ItemStatus::kPublicKey;
    case POLYKEM_ERR_SECRET_KEY:
      return ItemStatus::kSecretKey;
    case POLYKEM_ERR_CIPHERTEXT:
      return ItemStatus::kEncapsulation;
    default:
      return ItemStatus::kInternal;
  }
}

KemSizes sizes_of(const Scheme& scheme) {
  return {scheme.public_key_bytes(), scheme.info().keygen_coin_bytes, scheme.ciphertext_bytes(),
          scheme.info().encaps_coin_bytes};
}

/// A key set with one key, which is expanded once.
struct KeySet final : KemFunctions::SharedKey {
  std::unique_ptr<polykem_keyset, Freed<polykem_keyset_free>> handle;
};

class ParameterSetKem final : public KemFunctions {
 public:
  ParameterSetKem(const KemInfo& kem, const Scheme& scheme)
      : KemFunctions(sizes_of(scheme)), id_(kem.id), scheme_(scheme), shake256_(fetch_digest("SHAKE256")) {}

  std::unique_ptr<SharedKey> share_public_key(polykem_context* context, const std::uint8_t* pk) const override {
    return import_key(context, POLYKEM_PUBLIC_KEYS, pk);
  }

  std::unique_ptr<SharedKey> share_secret_key(polykem_context* context, const std::uint8_t* sk) const override {
    return import_key(context, secret_key_is_seed() ? POLYKEM_SECRET_SEEDS : POLYKEM_SECRET_KEYS, sk);
  }

  void derive_secret_keys(polykem_context* context, std::size_t count, const std::uint8_t* ikm, std::size_t ikm_bytes,
                          std::uint8_t* sk) const override {
    for_items(
        polykem_context_threads(context), count, [] { return DigestContextPtr(EVP_MD_CTX_new()); },
        [&](DigestContextPtr& digest, std::size_t i) {
          const ByteView record(ikm + i * ikm_bytes, ikm_bytes);
          if (!digest || !derive_seed(digest.get(), record, sk + i * sizes().secret_key))
            throw Error(POLYKEM_ERR_INTERNAL, "hash of HPKE");
        });
  }

  std::size_t public_keys(polykem_context* context, std::size_t count, const std::uint8_t* sk, std::uint8_t* pk,
                          ItemStatus* status) const override {
    // A hybrid's secret key is its coins; ML-KEM's expanded key is not kept.
    SecretBytes expanded(std::min(kBatchItems, count) * scheme_.secret_key_bytes());
    std::vector<polykem_status> found(std::min(kBatchItems, count));
    std::atomic<std::size_t> failed{0};
    for (std::size_t first = 0; first < count; first += kBatchItems) {
      const std::size_t items = std::min(kBatchItems, count - first);
      polykem_request request = request_of(POLYKEM_KEYGEN, items);
      request.coins = sk + first * sizes().secret_key;
      request.pk_out = pk + first * sizes().public_key;
      request.sk_out = expanded.data();
      request.item_status = found.data();
      run(context, request);
      for (std::size_t i = 0; i < items; ++i)
        put_status(status, first + i, status_of(found[i]), failed);
    }
    return failed;
  }

  void encapsulate(polykem_context* context, std::size_t count, const Keys& pk, const std::uint8_t* coins,
                   std::uint8_t* enc, std::uint8_t* shared_secrets, ItemStatus* status) const override {
    polykem_request request = request_of(POLYKEM_ENCAPS, count);
    if (!use_shared(request, pk)) request.pk = pk.each;
    request.coins = coins;
    request.ct_out = enc;
    request.ss_out = shared_secrets;
    run_items(context, request, status);
  }

  void decapsulate(polykem_context* context, std::size_t count, const Keys& sk, const std::uint8_t* enc,
                   std::uint8_t* shared_secrets, ItemStatus* status) const override {
    polykem_request request = request_of(POLYKEM_DECAPS, count);
    if (!use_shared(request, sk)) {
      request.sk = sk.each;
      if (secret_key_is_seed()) request.secret_form = POLYKEM_SECRET_SEED;
    }
    request.ct = enc;
    request.ss_out = shared_secrets;
    run_items(context, request, status);
  }

 private:
  /// True if secret keys have another form than coins: for ML-KEM, not for hybrids.
  bool secret_key_is_seed() const { return scheme_.secret_key_bytes() != sizes().secret_key; }

  polykem_request request_of(polykem_op op, std::size_t items) const {
    polykem_request request{};
    request.struct_size = sizeof request;
    request.op = op;
    request.scheme = scheme_.handle();
    request.count = items;
    return request;
  }

  std::unique_ptr<SharedKey> import_key(polykem_context* context, polykem_key_kind kind,
                                        const std::uint8_t* key) const {
    polykem_keyset* keyset = nullptr;
    check(polykem_keyset_import(context, scheme_.handle(), kind, 1, key, &keyset), "shared key");
    auto held = std::make_unique<KeySet>();
    held->handle.reset(keyset);
    return held;
  }

  static bool use_shared(polykem_request& request, const Keys& keys) {
    if (!keys.shared) return false;
    request.keyset = static_cast<const KeySet*>(keys.shared)->handle.get();
    request.key_mode = POLYKEM_KEY_SHARED;
    return true;
  }

  static void run_items(polykem_context* context, polykem_request& request, ItemStatus* status) {
    std::vector<polykem_status> found(request.count);
    request.item_status = found.data();
    run(context, request);
    std::transform(found.begin(), found.end(), status, status_of);
  }

  /// LabeledDerive(ikm, "DeriveKeyPair", "", out) of a KEM [HPKE, 4.4], [HPKEPQ, 3].
  bool derive_seed(EVP_MD_CTX* digest, ByteView ikm, std::uint8_t* out) const {
    const auto id = static_cast<unsigned>(id_);
    const auto low = [](std::size_t value) { return static_cast<std::uint8_t>(value); };
    constexpr std::string_view kFirst = "HPKE-v1KEM", kLabel = "DeriveKeyPair";
    const std::array<std::uint8_t, 4> numbers = {low(id >> 8), low(id), 0, low(kLabel.size())};
    const std::array<std::uint8_t, 2> bytes = {0, low(sizes().secret_key)};
    return EVP_DigestInit_ex2(digest, shake256_.get(), nullptr) == 1 &&
           EVP_DigestUpdate(digest, ikm.data(), ikm.size()) == 1 &&
           EVP_DigestUpdate(digest, kFirst.data(), kFirst.size()) == 1 &&
           EVP_DigestUpdate(digest, numbers.data(), numbers.size()) == 1 &&
           EVP_DigestUpdate(digest, kLabel.data(), kLabel.size()) == 1 &&
           EVP_DigestUpdate(digest, bytes.data(), bytes.size()) == 1 &&
           EVP_DigestFinalXOF(digest, out, sizes().secret_key) == 1;
  }

  const Kem id_;
  const Scheme scheme_;
  const DigestPtr shake256_;
};

}  // namespace

std::shared_ptr<const KemFunctions> parameter_set_kem(const KemInfo& kem) {
  return std::make_shared<ParameterSetKem>(kem, Scheme::find(kem.name.data()));
}

}  // namespace polykem::hpke
