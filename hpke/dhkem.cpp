// SPDX-License-Identifier: Apache-2.0
// DHKEM(X25519, HKDF-SHA256) [RFC9180, 4.1], an item at a time. It is not post-quantum; it is here to open messages
// that were sealed with it before.
#include <openssl/rand.h>

#include <array>
#include <cstring>

#include "hpke/hkdf.hpp"
#include "hpke/items.hpp"
#include "hpke/kem.hpp"

namespace polykem::hpke {
namespace {

constexpr std::size_t kBytes = 32;  ///< of scalars, points, hashes and coins
constexpr const char* kCurve = "X25519";

using Record = std::array<std::uint8_t, kBytes>;

const KdfInfo& hkdf_sha256() {
  return kdfs().front();
}

/// A key pair or a public key as OpenSSL's object, and the public key's bytes.
struct Party final : KemFunctions::SharedKey {
  KeyPtr key;
  Record pk{};
};

/// Secret keys are stored unclamped, and clamped by X25519 itself. RFC 9180's vectors are like that, although its
/// section 7.1.2 asks for clamping.
bool set_secret(Party& party, const std::uint8_t* sk) {
  std::size_t bytes = kBytes;
  party.key.reset(EVP_PKEY_new_raw_private_key_ex(nullptr, kCurve, nullptr, sk, kBytes));
  return party.key && EVP_PKEY_get_raw_public_key(party.key.get(), party.pk.data(), &bytes) == 1;
}

bool set_public(Party& party, const std::uint8_t* pk) {
  std::memcpy(party.pk.data(), pk, kBytes);
  party.key.reset(EVP_PKEY_new_raw_public_key_ex(nullptr, kCurve, nullptr, pk, kBytes));
  return party.key != nullptr;
}

struct Secrets {
  ~Secrets() { polykem_zeroize(this, sizeof *this); }
  Record coins{}, ephemeral{}, dh{}, prk{};
};

/// The state of a thread.
class Worker {
 public:
  explicit Worker(const EVP_MD* sha256) : digest_(digest_context(sha256)) {
    add(suite_id_, "KEM");
    add_number(suite_id_, static_cast<std::size_t>(Kem::kDhkemX25519));
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The secret key of DeriveKeyPair [RFC9180, 7.1.3].
  bool derive_secret_key(ByteView ikm, std::uint8_t* sk) { return extract_and_expand("dkp_prk", ikm, "sk", {}, sk); }

  /// ExtractAndExpand of the Diffie-Hellman result [RFC9180, 4.1]. malformed: the status if that is zero
  /// [RFC9180, 7.1.4], which is the only reason for which OpenSSL refuses two valid keys.
  ItemStatus shared_secret(const Party& own, const Party& peer, const std::uint8_t* enc, const Record& recipient,
                           ItemStatus malformed, std::uint8_t* out) {
    const KeyContextPtr context(EVP_PKEY_CTX_new_from_pkey(nullptr, own.key.get(), nullptr));
    if (!context || EVP_PKEY_derive_init(context.get()) != 1 ||
        EVP_PKEY_derive_set_peer_ex(context.get(), peer.key.get(), 0) != 1)
      return ItemStatus::kInternal;
    std::size_t bytes = kBytes;
    if (EVP_PKEY_derive(context.get(), secrets.dh.data(), &bytes) != 1) return malformed;
    std::array<std::uint8_t, 2 * kBytes> both;
    std::memcpy(both.data(), enc, kBytes);
    std::memcpy(both.data() + kBytes, recipient.data(), kBytes);
    const bool done =
        extract_and_expand("eae_prk", {secrets.dh.data(), kBytes}, "shared_secret", {both.data(), both.size()}, out);
    return done ? ItemStatus::kOk : ItemStatus::kInternal;
  }

  Secrets secrets;

 private:
  /// LabeledExtract without salt, then LabeledExpand to the length of a hash.
  bool extract_and_expand(std::string_view extract_label, ByteView ikm, std::string_view expand_label, ByteView context,
                          std::uint8_t* out) {
    Bytes message = expand_message(suite_id_, expand_label, context, kBytes);
    message.push_back(1);  // the counter of HKDF's only block [RFC5869, 2.3]
    return hmac(hkdf_sha256(), digest_.get(), room_, {}, extract_message(suite_id_, extract_label, ikm),
                secrets.prk.data()) &&
           hmac(hkdf_sha256(), digest_.get(), room_, {secrets.prk.data(), kBytes}, message, out);
  }

  DigestContextPtr digest_;
  Bytes suite_id_;
  SecretBytes room_;
};

class Dhkem final : public KemFunctions {
 public:
  Dhkem() : KemFunctions({kBytes, kBytes, kBytes, kBytes}), sha256_(fetch_digest(hkdf_sha256().digest)) {
    const KeyExchangePtr exchange(EVP_KEYEXCH_fetch(nullptr, kCurve, nullptr));
    if (!exchange) throw Error(POLYKEM_ERR_BACKEND_UNAVAILABLE, kCurve);
  }

  std::unique_ptr<SharedKey> share_public_key(polykem_context*, const std::uint8_t* pk) const override {
    return prepared(set_public, pk);
  }

  std::unique_ptr<SharedKey> share_secret_key(polykem_context*, const std::uint8_t* sk) const override {
    return prepared(set_secret, sk);
  }

  void derive_secret_keys(polykem_context* context, std::size_t count, const std::uint8_t* ikm, std::size_t ikm_bytes,
                          std::uint8_t* sk) const override {
    each(context, count, [&](Worker& worker, std::size_t i) {
      if (!worker.derive_secret_key({ikm + i * ikm_bytes, ikm_bytes}, sk + i * kBytes))
        throw Error(POLYKEM_ERR_INTERNAL, "hash of HPKE");
    });
  }

  std::size_t public_keys(polykem_context* context, std::size_t count, const std::uint8_t* sk, std::uint8_t* pk,
                          ItemStatus* status) const override {
    std::atomic<std::size_t> failed{0};
    each(context, count, [&](Worker&, std::size_t i) {
      Party own;
      const bool done = set_secret(own, sk + i * kBytes);
      if (done) std::memcpy(pk + i * kBytes, own.pk.data(), kBytes);
      put_status(status, i, done ? ItemStatus::kOk : ItemStatus::kInternal, failed);
    });
    return failed;
  }

  void encapsulate(polykem_context* context, std::size_t count, const Keys& pk, const std::uint8_t* coins,
                   std::uint8_t* enc, std::uint8_t* shared_secrets, ItemStatus* status) const override {
    each(context, count, [&](Worker& worker, std::size_t i) {
      Party own, ephemeral;
      const Party* const recipient = party(pk, i, set_public, own);
      const ByteView ikm(coins ? coins + i * kBytes : random_coins(worker.secrets.coins), kBytes);
      std::uint8_t* const scalar = worker.secrets.ephemeral.data();
      const bool ready = recipient && worker.derive_secret_key(ikm, scalar) && set_secret(ephemeral, scalar);
      status[i] = !ready ? ItemStatus::kInternal
                         : worker.shared_secret(ephemeral, *recipient, ephemeral.pk.data(), recipient->pk,
                                                ItemStatus::kPublicKey, shared_secrets + i * kSharedSecretBytes);
      std::memcpy(enc + i * kBytes, ephemeral.pk.data(), kBytes);
    });
  }

  void decapsulate(polykem_context* context, std::size_t count, const Keys& sk, const std::uint8_t* enc,
                   std::uint8_t* shared_secrets, ItemStatus* status) const override {
    each(context, count, [&](Worker& worker, std::size_t i) {
      Party own, ephemeral;
      const Party* const recipient = party(sk, i, set_secret, own);
      const bool ready = recipient && set_public(ephemeral, enc + i * kBytes);
      status[i] = !ready ? ItemStatus::kInternal
                         : worker.shared_secret(*recipient, ephemeral, enc + i * kBytes, recipient->pk,
                                                ItemStatus::kEncapsulation, shared_secrets + i * kSharedSecretBytes);
    });
  }

 private:
  using Set = bool(Party& party, const std::uint8_t* key);

  template <class Item>
  void each(polykem_context* context, std::size_t count, const Item& item) const {
    for_items(
        polykem_context_threads(context), count, [&] { return Worker(sha256_.get()); },
        [&](Worker& worker, std::size_t i) {
          const ErrorMark mark;
          item(worker, i);
        });
  }

  static std::unique_ptr<SharedKey> prepared(Set* set, const std::uint8_t* key) {
    const ErrorMark mark;
    auto made = std::make_unique<Party>();
    if (!set(*made, key)) throw Error(POLYKEM_ERR_OUT_OF_MEMORY, "shared key");
    return made;
  }

  /// Item i's key: the shared one, or `own`, which this sets. Null if OpenSSL failed.
  static const Party* party(const Keys& keys, std::size_t i, Set* set, Party& own) {
    if (keys.shared) return static_cast<const Party*>(keys.shared);
    return set(own, keys.each + i * kBytes) ? &own : nullptr;
  }

  static const std::uint8_t* random_coins(Record& out) {
    if (RAND_priv_bytes(out.data(), kBytes) != 1) throw Error(POLYKEM_ERR_RANDOM, "random bytes of HPKE");
    return out.data();
  }

  const DigestPtr sha256_;
};

}  // namespace

std::shared_ptr<const KemFunctions> dhkem_x25519(const KemInfo&) {
  return std::make_shared<Dhkem>();
}

}  // namespace polykem::hpke
