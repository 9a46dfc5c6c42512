// SPDX-License-Identifier: Apache-2.0
#include <openssl/rand.h>

#include <cstring>

#include "hpke/ending.hpp"
#include "hpke/hpke.hpp"
#include "hpke/key_schedule.hpp"
#include "hpke/parallel.hpp"

namespace polykem::hpke {
namespace {

/// Items that are computed together: what is kept beside the caller's arrays is bounded by it, 20 MB.
constexpr std::size_t kBatchItems = 8192;

using KeySetPtr = std::unique_ptr<polykem_keyset, Freed<polykem_keyset_free>>;

struct Batch {
  polykem_context* context;
  const Suite& suite;
  std::size_t count;
};

void require(bool condition, const char* what) {
  if (!condition) throw Error(POLYKEM_ERR_ARGUMENT, what);
}

void random_bytes(SecretBytes& out) {
  constexpr std::size_t kAtOnce = 1 << 30;
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t bytes = std::min(kAtOnce, out.size() - done);
    if (RAND_priv_bytes(out.data() + done, static_cast<int>(bytes)) != 1)
      throw Error(POLYKEM_ERR_RANDOM, "random bytes of HPKE");
    done += bytes;
  }
}

polykem_request kem_request(const Batch& batch, polykem_op op, std::size_t items) {
  polykem_request request{};
  request.struct_size = sizeof request;
  request.op = op;
  request.scheme = batch.suite.scheme().handle();
  request.count = items;
  return request;
}

void run(polykem_context* context, const polykem_request& request) {
  const polykem_status status = polykem_run(context, &request);
  if (status != POLYKEM_ERR_ITEMS) check(status, "KEM of HPKE");
}

/// A key that all items of several batches use is expanded once.
KeySetPtr import_shared(const Batch& batch, polykem_key_kind kind, const std::uint8_t* key) {
  polykem_keyset* keyset = nullptr;
  check(polykem_keyset_import(batch.context, batch.suite.scheme().handle(), kind, 1, key, &keyset), "shared key");
  return KeySetPtr(keyset);
}

/// `item(worker, i)` for all i < items, over threads; `make()` makes what a thread needs.
template <class Make, class Item>
void for_items(const Batch& batch, std::size_t items, const Make& make, const Item& item) {
  over_threads(polykem_context_threads(batch.context), items, [&](const auto& claim) {
    auto worker = make();
    for (std::size_t first = 0, last = 0; claim(first, last);) {
      for (std::size_t i = first; i < last; ++i) {
        OpensslCall::go_on();
        item(worker, i);
      }
    }
  });
}

void check_messages(std::size_t count, const Messages& in, const MessagesOut& out, std::ptrdiff_t difference) {
  require((in.offsets == nullptr) == (out.offsets == nullptr), "offsets for one side of a batch");
  if (!in.offsets) {
    const std::size_t least = difference < 0 ? static_cast<std::size_t>(-difference) : 0;
    require(out.data || in.width <= least, "nowhere to write messages");
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    require(in.offsets[i] <= in.offsets[i + 1], "offsets that do not ascend");
    const auto bytes = static_cast<std::ptrdiff_t>(in.at(i).size()) + difference;
    const auto room = static_cast<std::ptrdiff_t>(out.offsets[i + 1] - out.offsets[i]);
    require(room == std::max<std::ptrdiff_t>(bytes, 0), "offsets that do not fit the messages' sizes");
  }
  require(out.data || out.offsets[0] == out.offsets[count], "nowhere to write messages");
}

/// Where item i is written, if every item has `width` bytes where there are no offsets.
std::uint8_t* place(const MessagesOut& out, std::size_t width, std::size_t i) {
  return out.data + (out.offsets ? out.offsets[i] : i * width);
}

/// What the KEM says of an item.
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

void put_status(ItemStatus* all, std::size_t i, ItemStatus status, std::atomic<std::size_t>& failed) {
  if (all) all[i] = status;
  if (status != ItemStatus::kOk) failed.fetch_add(1, std::memory_order_relaxed);
}

class Sealing {
 public:
  Sealing(const Batch& batch, const SealRequest& request)
      : batch_(batch), suite_(batch.suite), request_(request), schedule_(suite_, request.info) {
    if (request.pk.shared) keyset_ = import_shared(batch, POLYKEM_PUBLIC_KEYS, request.pk.data);
  }

  std::size_t run_all() {
    for (std::size_t first = 0; first < batch_.count; first += kBatchItems) {
      const std::size_t items = std::min(kBatchItems, batch_.count - first);
      encapsulate(first, items);
      for_items(
          batch_, items, [&] { return MessageCipher(schedule_); },
          [&](MessageCipher& cipher, std::size_t i) { finish(cipher, first, i); });
    }
    return failed_;
  }

 private:
  void encapsulate(std::size_t first, std::size_t items) {
    polykem_request request = kem_request(batch_, POLYKEM_ENCAPS, items);
    if (keyset_) {
      request.keyset = keyset_.get();
      request.key_mode = POLYKEM_KEY_SHARED;
    } else {
      request.pk = request_.pk.data + first * suite_.public_key_bytes();
    }
    if (request_.coins) request.coins = request_.coins + first * suite_.coin_bytes();
    shared_.resize(items * kSharedSecretBytes);
    status_.resize(items);
    request.ct_out = request_.enc + first * suite_.enc_bytes();
    request.ss_out = shared_.data();
    request.item_status = status_.data();
    run(batch_.context, request);
  }

  void finish(MessageCipher& cipher, std::size_t first, std::size_t i) {
    const std::size_t item = first + i;
    const ByteView plaintext = request_.plaintexts.at(item);
    std::uint8_t* out = place(request_.ciphertexts, plaintext.size() + kTagBytes, item);
    ItemStatus status = status_of(status_[i]);
    if (status == ItemStatus::kOk &&
        !cipher.seal(shared_.data() + i * kSharedSecretBytes, request_.aad, plaintext, out))
      status = ItemStatus::kInternal;
    if (status != ItemStatus::kOk) {
      std::memset(request_.enc + item * suite_.enc_bytes(), 0, suite_.enc_bytes());
      std::memset(out, 0, plaintext.size() + kTagBytes);
    }
    put_status(request_.status, item, status, failed_);
  }

  Batch batch_;
  const Suite& suite_;
  const SealRequest& request_;
  KeySchedule schedule_;
  KeySetPtr keyset_;
  SecretBytes shared_;
  std::vector<polykem_status> status_;
  std::atomic<std::size_t> failed_{0};
};

class Opening {
 public:
  Opening(const Batch& batch, const OpenRequest& request)
      : batch_(batch), suite_(batch.suite), request_(request), schedule_(suite_, request.info) {
    const auto kind = suite_.secret_key_is_seed() ? POLYKEM_SECRET_SEEDS : POLYKEM_SECRET_KEYS;
    if (request.sk.shared) keyset_ = import_shared(batch, kind, request.sk.data);
  }

  std::size_t run_all() {
    for (std::size_t first = 0; first < batch_.count; first += kBatchItems) {
      const std::size_t items = std::min(kBatchItems, batch_.count - first);
      decapsulate(first, items);
      for_items(
          batch_, items, [&] { return MessageCipher(schedule_); },
          [&](MessageCipher& cipher, std::size_t i) { finish(cipher, first, i); });
    }
    return failed_;
  }

 private:
  void decapsulate(std::size_t first, std::size_t items) {
    polykem_request request = kem_request(batch_, POLYKEM_DECAPS, items);
    if (keyset_) {
      request.keyset = keyset_.get();
      request.key_mode = POLYKEM_KEY_SHARED;
    } else {
      request.sk = request_.sk.data + first * suite_.secret_key_bytes();
      if (suite_.secret_key_is_seed()) request.secret_form = POLYKEM_SECRET_SEED;
    }
    request.ct = request_.enc + first * suite_.enc_bytes();
    shared_.resize(items * kSharedSecretBytes);
    status_.resize(items);
    request.ss_out = shared_.data();
    request.item_status = status_.data();
    run(batch_.context, request);
  }

  void finish(MessageCipher& cipher, std::size_t first, std::size_t i) {
    const std::size_t item = first + i;
    const ByteView ciphertext = request_.ciphertexts.at(item);
    const std::size_t bytes = ciphertext.size() < kTagBytes ? 0 : ciphertext.size() - kTagBytes;
    std::uint8_t* out = place(request_.plaintexts, bytes, item);
    ItemStatus status = status_of(status_[i]);
    if (status == ItemStatus::kOk) {
      const auto opened = cipher.open(shared_.data() + i * kSharedSecretBytes, request_.aad, ciphertext, out);
      if (opened == MessageCipher::Opened::kNo) status = ItemStatus::kOpen;
      if (opened == MessageCipher::Opened::kFailed) status = ItemStatus::kInternal;
    } else if (bytes > 0) {
      std::memset(out, 0, bytes);
    }
    put_status(request_.status, item, status, failed_);
  }

  Batch batch_;
  const Suite& suite_;
  const OpenRequest& request_;
  KeySchedule schedule_;
  KeySetPtr keyset_;
  SecretBytes shared_;
  std::vector<polykem_status> status_;
  std::atomic<std::size_t> failed_{0};
};

/// LabeledDerive(ikm, "DeriveKeyPair", "", out) of a KEM [HPKE, 4.4], [HPKEPQ, 3].
bool derive_seed(const Suite& suite, EVP_MD_CTX* digest, ByteView ikm, std::uint8_t* out) {
  const auto id = static_cast<unsigned>(suite.kem().id);
  const auto low = [](std::size_t value) { return static_cast<std::uint8_t>(value); };
  constexpr std::string_view kFirst = "HPKE-v1KEM", kLabel = "DeriveKeyPair";
  const std::array<std::uint8_t, 4> numbers = {low(id >> 8), low(id), 0, low(kLabel.size())};
  const std::array<std::uint8_t, 2> bytes = {0, low(suite.secret_key_bytes())};
  return EVP_DigestInit_ex2(digest, suite.algorithms().shake256.get(), nullptr) == 1 &&
         EVP_DigestUpdate(digest, ikm.data(), ikm.size()) == 1 &&
         EVP_DigestUpdate(digest, kFirst.data(), kFirst.size()) == 1 &&
         EVP_DigestUpdate(digest, numbers.data(), numbers.size()) == 1 &&
         EVP_DigestUpdate(digest, kLabel.data(), kLabel.size()) == 1 &&
         EVP_DigestUpdate(digest, bytes.data(), bytes.size()) == 1 &&
         EVP_DigestFinalXOF(digest, out, suite.secret_key_bytes()) == 1;
}

}  // namespace

const char* item_status_text(ItemStatus status) {
  switch (status) {
    case ItemStatus::kOk:
      return "done";
    case ItemStatus::kPublicKey:
      return "the public key is malformed";
    case ItemStatus::kSecretKey:
      return "the secret key is malformed";
    case ItemStatus::kInternal:
      return "OpenSSL failed";
    case ItemStatus::kEncapsulation:
      return "the encapsulation is malformed";
    case ItemStatus::kOpen:
      return "not sealed for this key, info and additional data, or changed since";
  }
  return "unknown status";
}

std::size_t seal(polykem_context* context, const Suite& suite, const SealRequest& request) {
  if (request.count == 0) return 0;
  const OpensslCall call;
  require(context && request.pk.data && request.enc, "a pointer of HPKE's seal");
  check_messages(request.count, request.plaintexts, request.ciphertexts, kTagBytes);
  return Sealing({context, suite, request.count}, request).run_all();
}

std::size_t open(polykem_context* context, const Suite& suite, const OpenRequest& request) {
  if (request.count == 0) return 0;
  const OpensslCall call;
  require(context && request.sk.data && request.enc, "a pointer of HPKE's open");
  check_messages(request.count, request.ciphertexts, request.plaintexts, -static_cast<std::ptrdiff_t>(kTagBytes));
  return Opening({context, suite, request.count}, request).run_all();
}

std::size_t public_keys(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* sk,
                        std::uint8_t* pk, ItemStatus* status) {
  if (count == 0) return 0;
  const OpensslCall call;
  require(context && sk && pk, "a pointer of HPKE's keys");
  const Batch batch{context, suite, count};
  // A hybrid's secret key is its coins; ML-KEM's expanded key is not kept.
  SecretBytes expanded(std::min(kBatchItems, count) * suite.scheme().secret_key_bytes());
  std::vector<polykem_status> found(std::min(kBatchItems, count));
  std::atomic<std::size_t> failed{0};
  for (std::size_t first = 0; first < count; first += kBatchItems) {
    const std::size_t items = std::min(kBatchItems, count - first);
    polykem_request request = kem_request(batch, POLYKEM_KEYGEN, items);
    request.coins = sk + first * suite.secret_key_bytes();
    request.pk_out = pk + first * suite.public_key_bytes();
    request.sk_out = expanded.data();
    request.item_status = found.data();
    run(context, request);
    for (std::size_t i = 0; i < items; ++i)
      put_status(status, first + i, status_of(found[i]), failed);
  }
  return failed;
}

void generate(polykem_context* context, const Suite& suite, std::size_t count, std::uint8_t* pk, std::uint8_t* sk) {
  const OpensslCall call;
  SecretBytes seeds(count * suite.secret_key_bytes());
  random_bytes(seeds);
  if (public_keys(context, suite, count, seeds.data(), pk) != 0) throw Error(POLYKEM_ERR_INTERNAL, "keys of HPKE");
  if (count > 0) std::memcpy(sk, seeds.data(), seeds.size());
}

std::size_t derive_key_pairs(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* ikm,
                             std::size_t ikm_bytes, std::uint8_t* pk, std::uint8_t* sk, ItemStatus* status) {
  if (count == 0) return 0;
  const OpensslCall call;
  require(context && ikm && sk, "a pointer of HPKE's keys");
  for_items(
      {context, suite, count}, count, [] { return DigestContextPtr(EVP_MD_CTX_new()); },
      [&](DigestContextPtr& digest, std::size_t i) {
        const ByteView record(ikm + i * ikm_bytes, ikm_bytes);
        if (!digest || !derive_seed(suite, digest.get(), record, sk + i * suite.secret_key_bytes()))
          throw Error(POLYKEM_ERR_INTERNAL, "hash of HPKE");
      });
  return public_keys(context, suite, count, sk, pk, status);
}

}  // namespace polykem::hpke
