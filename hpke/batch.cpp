// SPDX-License-Identifier: Apache-2.0
#include <openssl/rand.h>

#include <cstring>

#include "hpke/ending.hpp"
#include "hpke/hpke.hpp"
#include "hpke/hybrid.hpp"
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

/// Records [first, first + items) of `from`, cut to `bytes` from `at` on, one behind the other.
template <class Out>
void gather(const std::uint8_t* from, std::size_t record, std::size_t at, std::size_t bytes, std::size_t items,
            Out& out) {
  out.resize(items * bytes);
  if (bytes == 0) return;
  for (std::size_t i = 0; i < items; ++i)
    std::memcpy(out.data() + i * bytes, from + i * record + at, bytes);
}

polykem_request lattice_request(const Batch& batch, polykem_op op, std::size_t items) {
  polykem_request request{};
  request.struct_size = sizeof request;
  request.op = op;
  request.scheme = batch.suite.scheme().handle();
  request.count = items;
  return request;
}

void run(polykem_context* context, const polykem_request& request) {
  const polykem_status status = polykem_run(context, &request);
  if (status != POLYKEM_ERR_ITEMS) check(status, "ML-KEM of HPKE");
}

/// A key that all items of several batches use is expanded once.
KeySetPtr import_shared(const Batch& batch, polykem_key_kind kind, const std::uint8_t* key) {
  polykem_keyset* keyset = nullptr;
  check(polykem_keyset_import(batch.context, batch.suite.scheme().handle(), kind, 1, key, &keyset), "shared key");
  return KeySetPtr(keyset);
}

/// What a thread needs, and the items it found wanting.
struct Worker {
  explicit Worker(const Suite& suite) : hybrid(suite.hybrid() ? std::make_unique<Hybrid>(suite) : nullptr) {}
  ErrorMark mark;
  std::unique_ptr<Hybrid> hybrid;
};

/// `item(worker, i)` for all i < items, over threads; `make()` makes a thread's worker.
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

/// `malformed` says what is wrong with an item whose key or point is malformed.
ItemStatus status_of(Outcome outcome, ItemStatus malformed) {
  if (outcome == Outcome::kDone) return ItemStatus::kOk;
  return outcome == Outcome::kMalformed ? malformed : ItemStatus::kInternal;
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
          batch_, items, [&] { return SealWorker(suite_, schedule_); },
          [&](SealWorker& worker, std::size_t i) { finish(worker, first, i); });
    }
    return failed_;
  }

 private:
  struct SealWorker : Worker {
    SealWorker(const Suite& suite, const KeySchedule& schedule) : Worker(suite), cipher(schedule) {}
    MessageCipher cipher;
  };

  /// The lattice's half: shared secrets, and ciphertexts in `enc` or, of a hybrid, in `ct_`.
  void encapsulate(std::size_t first, std::size_t items) {
    const Scheme& scheme = suite_.scheme();
    const std::size_t pk_bytes = suite_.public_key_bytes(), m_bytes = scheme.info().encaps_coin_bytes;
    polykem_request request = lattice_request(batch_, POLYKEM_ENCAPS, items);
    if (keyset_) {
      request.keyset = keyset_.get();
      request.key_mode = POLYKEM_KEY_SHARED;
    } else {
      request.pk = request_.pk.data + first * pk_bytes;
      if (suite_.hybrid()) {
        gather(request.pk, pk_bytes, 0, scheme.public_key_bytes(), items, pk_);
        request.pk = pk_.data();
      }
    }
    if (request_.coins) {
      const std::uint8_t* coins = request_.coins + first * suite_.coin_bytes();
      gather(coins, suite_.coin_bytes(), 0, m_bytes, items, m_);
      gather(coins, suite_.coin_bytes(), m_bytes, suite_.kem().seed_bytes, items, scalar_seeds_);
      request.coins = m_.data();
    } else if (suite_.hybrid()) {
      scalar_seeds_.resize(items * suite_.kem().seed_bytes);
      random_bytes(scalar_seeds_);
    }
    shared_.resize(items * kSharedSecretBytes);
    status_.resize(items);
    if (suite_.hybrid()) ct_.resize(items * scheme.ciphertext_bytes());
    request.ct_out = suite_.hybrid() ? ct_.data() : request_.enc + first * suite_.enc_bytes();
    request.ss_out = shared_.data();
    request.item_status = status_.data();
    run(batch_.context, request);
  }

  void finish(SealWorker& worker, std::size_t first, std::size_t i) {
    const std::size_t item = first + i;
    const ByteView plaintext = request_.plaintexts.at(item);
    std::uint8_t* enc = request_.enc + item * suite_.enc_bytes();
    std::uint8_t* out = place(request_.ciphertexts, plaintext.size() + kTagBytes, item);
    std::uint8_t* shared = shared_.data() + i * kSharedSecretBytes;
    ItemStatus status = ItemStatus::kPublicKey;
    if (status_[i] == POLYKEM_OK)
      status = status_of(finish_encaps(worker, item, i, enc, shared), ItemStatus::kPublicKey);
    if (status == ItemStatus::kOk && !worker.cipher.seal(shared, request_.aad, plaintext, out))
      status = ItemStatus::kInternal;
    if (status != ItemStatus::kOk) {
      std::memset(enc, 0, suite_.enc_bytes());
      std::memset(out, 0, plaintext.size() + kTagBytes);
    }
    put_status(request_.status, item, status, failed_);
  }

  /// The group's half, if there is one.
  Outcome finish_encaps(SealWorker& worker, std::size_t item, std::size_t i, std::uint8_t* enc, std::uint8_t* shared) {
    if (!suite_.hybrid()) return Outcome::kDone;
    const std::size_t ct_bytes = suite_.scheme().ciphertext_bytes();
    const std::uint8_t* pk = request_.pk.data + (request_.pk.shared ? 0 : item * suite_.public_key_bytes());
    std::memcpy(enc, ct_.data() + i * ct_bytes, ct_bytes);
    return worker.hybrid->encaps(scalar_seeds_.data() + i * suite_.kem().seed_bytes,
                                 pk + suite_.scheme().public_key_bytes(), enc + ct_bytes, shared);
  }

  Batch batch_;
  const Suite& suite_;
  const SealRequest& request_;
  KeySchedule schedule_;
  KeySetPtr keyset_;
  Bytes pk_, ct_;
  SecretBytes m_, scalar_seeds_, shared_;
  std::vector<polykem_status> status_;
  std::atomic<std::size_t> failed_{0};
};

/// Secret keys of a hybrid as ML-KEM and the group take them. Of a pure KEM nothing is done.
class ExpandedKeys {
 public:
  explicit ExpandedKeys(const Suite& suite) : suite_(suite) {}

  void expand(const Batch& batch, const std::uint8_t* sk, std::size_t items) {
    if (!suite_.hybrid()) return;
    lattice_.assign(items * kLatticeSeedBytes, 0);
    scalars_.resize(items * suite_.kem().scalar_bytes);
    outcomes_.resize(items);
    for_items(
        batch, items, [&] { return Worker(suite_); },
        [&](Worker& worker, std::size_t i) {
          outcomes_[i] =
              worker.hybrid->expand(sk + i * suite_.secret_key_bytes(), lattice_.data() + i * kLatticeSeedBytes,
                                    scalars_.data() + i * suite_.kem().scalar_bytes);
        });
  }

  /// d, z of the records that expand() was given last; `sk` are those.
  const std::uint8_t* lattice(const std::uint8_t* sk) const { return suite_.hybrid() ? lattice_.data() : sk; }
  Outcome outcome(std::size_t i) const { return suite_.hybrid() ? outcomes_[i] : Outcome::kDone; }
  const std::uint8_t* scalar(std::size_t i) const { return scalars_.data() + i * suite_.kem().scalar_bytes; }

 private:
  static constexpr std::size_t kLatticeSeedBytes = 64;
  const Suite& suite_;
  SecretBytes lattice_, scalars_;
  std::vector<Outcome> outcomes_;
};

class Opening {
 public:
  Opening(const Batch& batch, const OpenRequest& request)
      : batch_(batch), suite_(batch.suite), request_(request), schedule_(suite_, request.info), keys_(suite_) {
    if (!request.sk.shared) return;
    keys_.expand(batch, request.sk.data, 1);
    keyset_ = import_shared(batch, POLYKEM_SECRET_SEEDS, keys_.lattice(request.sk.data));
    if (!suite_.hybrid()) return;
    shared_point_.resize(suite_.kem().point_bytes);
    Worker worker(suite_);
    shared_outcome_ = public_point(worker, 0, shared_point_);
  }

  std::size_t run_all() {
    for (std::size_t first = 0; first < batch_.count; first += kBatchItems) {
      const std::size_t items = std::min(kBatchItems, batch_.count - first);
      decapsulate(first, items);
      for_items(
          batch_, items, [&] { return OpenWorker(suite_, schedule_); },
          [&](OpenWorker& worker, std::size_t i) { finish(worker, first, i); });
    }
    return failed_;
  }

 private:
  struct OpenWorker : Worker {
    OpenWorker(const Suite& suite, const KeySchedule& schedule)
        : Worker(suite), cipher(schedule), point(suite.kem().point_bytes) {}
    MessageCipher cipher;
    Bytes point;
  };

  void decapsulate(std::size_t first, std::size_t items) {
    polykem_request request = lattice_request(batch_, POLYKEM_DECAPS, items);
    if (keyset_) {
      request.keyset = keyset_.get();
      request.key_mode = POLYKEM_KEY_SHARED;
    } else {
      const std::uint8_t* sk = request_.sk.data + first * suite_.secret_key_bytes();
      keys_.expand(batch_, sk, items);
      request.sk = keys_.lattice(sk);
      request.secret_form = POLYKEM_SECRET_SEED;
    }
    request.ct = request_.enc + first * suite_.enc_bytes();
    if (suite_.hybrid()) {
      gather(request.ct, suite_.enc_bytes(), 0, suite_.scheme().ciphertext_bytes(), items, ct_);
      request.ct = ct_.data();
    }
    shared_.resize(items * kSharedSecretBytes);
    status_.resize(items);
    request.ss_out = shared_.data();
    request.item_status = status_.data();
    run(batch_.context, request);
  }

  void finish(OpenWorker& worker, std::size_t first, std::size_t i) {
    const std::size_t item = first + i;
    const ByteView ciphertext = request_.ciphertexts.at(item);
    const std::size_t bytes = ciphertext.size() < kTagBytes ? 0 : ciphertext.size() - kTagBytes;
    std::uint8_t* out = place(request_.plaintexts, bytes, item);
    std::uint8_t* shared = shared_.data() + i * kSharedSecretBytes;
    ItemStatus status = status_[i] == POLYKEM_OK ? finish_decaps(worker, item, i, shared) : ItemStatus::kSecretKey;
    if (status == ItemStatus::kOk) {
      const auto opened = worker.cipher.open(shared, request_.aad, ciphertext, out);
      if (opened == MessageCipher::Opened::kNo) status = ItemStatus::kOpen;
      if (opened == MessageCipher::Opened::kFailed) status = ItemStatus::kInternal;
    } else if (bytes > 0) {
      std::memset(out, 0, bytes);
    }
    put_status(request_.status, item, status, failed_);
  }

  /// The group's half, if there is one.
  ItemStatus finish_decaps(OpenWorker& worker, std::size_t item, std::size_t i, std::uint8_t* shared) {
    if (!suite_.hybrid()) return ItemStatus::kOk;
    const std::size_t key = keyset_ ? 0 : i;
    const std::uint8_t* own = keyset_ ? shared_point_.data() : worker.point.data();
    const Outcome key_outcome = keyset_ ? shared_outcome_ : public_point(worker, i, worker.point);
    if (key_outcome != Outcome::kDone) return status_of(key_outcome, ItemStatus::kSecretKey);
    const std::uint8_t* point = request_.enc + item * suite_.enc_bytes() + suite_.scheme().ciphertext_bytes();
    return status_of(worker.hybrid->decaps(keys_.scalar(key), own, point, shared), ItemStatus::kEncapsulation);
  }

  /// The public point of secret key i.
  Outcome public_point(Worker& worker, std::size_t i, Bytes& point) {
    const Outcome expanded = keys_.outcome(i);
    return expanded == Outcome::kDone ? worker.hybrid->public_point(keys_.scalar(i), point.data()) : expanded;
  }

  Batch batch_;
  const Suite& suite_;
  const OpenRequest& request_;
  KeySchedule schedule_;
  ExpandedKeys keys_;
  KeySetPtr keyset_;
  Bytes shared_point_, ct_;
  Outcome shared_outcome_ = Outcome::kDone;
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
  const Scheme& scheme = suite.scheme();
  ExpandedKeys keys(suite);
  SecretBytes expanded(std::min(kBatchItems, count) * scheme.secret_key_bytes());
  Bytes lattice;
  std::atomic<std::size_t> failed{0};
  for (std::size_t first = 0; first < count; first += kBatchItems) {
    const std::size_t items = std::min(kBatchItems, count - first);
    const std::uint8_t* seeds = sk + first * suite.secret_key_bytes();
    std::uint8_t* out = pk + first * suite.public_key_bytes();
    keys.expand(batch, seeds, items);
    polykem_request request = lattice_request(batch, POLYKEM_KEYGEN, items);
    if (suite.hybrid()) lattice.resize(items * scheme.public_key_bytes());
    request.coins = keys.lattice(seeds);
    request.pk_out = suite.hybrid() ? lattice.data() : out;
    request.sk_out = expanded.data();
    run(context, request);
    for_items(
        batch, items, [&] { return Worker(suite); },
        [&](Worker& worker, std::size_t i) {
          std::uint8_t* record = out + i * suite.public_key_bytes();
          Outcome outcome = keys.outcome(i);
          if (suite.hybrid()) {
            std::memcpy(record, lattice.data() + i * scheme.public_key_bytes(), scheme.public_key_bytes());
            if (outcome == Outcome::kDone)
              outcome = worker.hybrid->public_point(keys.scalar(i), record + scheme.public_key_bytes());
          }
          if (outcome != Outcome::kDone) std::memset(record, 0, suite.public_key_bytes());
          put_status(status, first + i, status_of(outcome, ItemStatus::kSecretKey), failed);
        });
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
