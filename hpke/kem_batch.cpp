// SPDX-License-Identifier: Apache-2.0
#include "hpke/kem_batch.hpp"

namespace polykem::hpke {

polykem_request kem_request(const Suite& suite, polykem_op op, std::size_t items) {
  polykem_request request{};
  request.struct_size = sizeof request;
  request.op = op;
  request.scheme = suite.scheme().handle();
  request.count = items;
  return request;
}

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

KemBatch::KemBatch(polykem_context* context, const Suite& suite, const Records& pk, const std::uint8_t* coins,
                   std::uint8_t* enc)
    : context_(context), suite_(suite), keys_(pk), coins_(coins), enc_out_(enc) {
  require(context && pk.data && enc, "a pointer of HPKE's sender");
  if (pk.shared) import_shared(POLYKEM_PUBLIC_KEYS);
}

KemBatch::KemBatch(polykem_context* context, const Suite& suite, const Records& sk, const std::uint8_t* enc)
    : context_(context), suite_(suite), keys_(sk), enc_in_(enc) {
  require(context && sk.data && enc, "a pointer of HPKE's recipient");
  if (sk.shared) import_shared(suite.secret_key_is_seed() ? POLYKEM_SECRET_SEEDS : POLYKEM_SECRET_KEYS);
}

void KemBatch::import_shared(polykem_key_kind kind) {
  polykem_keyset* keyset = nullptr;
  check(polykem_keyset_import(context_, suite_.scheme().handle(), kind, 1, keys_.data, &keyset), "shared key");
  keyset_.reset(keyset);
}

void KemBatch::compute(std::size_t first, std::size_t items) {
  const bool sender = enc_out_ != nullptr;
  polykem_request request = kem_request(suite_, sender ? POLYKEM_ENCAPS : POLYKEM_DECAPS, items);
  if (keyset_) {
    request.keyset = keyset_.get();
    request.key_mode = POLYKEM_KEY_SHARED;
  } else if (sender) {
    request.pk = keys_.data + first * suite_.public_key_bytes();
  } else {
    request.sk = keys_.data + first * suite_.secret_key_bytes();
    if (suite_.secret_key_is_seed()) request.secret_form = POLYKEM_SECRET_SEED;
  }
  if (sender) {
    if (coins_) request.coins = coins_ + first * suite_.coin_bytes();
    request.ct_out = enc_out_ + first * suite_.enc_bytes();
  } else {
    request.ct = enc_in_ + first * suite_.enc_bytes();
  }
  shared_.resize(items * kSharedSecretBytes);
  status_.resize(items);
  request.ss_out = shared_.data();
  request.item_status = status_.data();
  run(context_, request);
}

Schedules::Schedules(const Suite& suite, std::size_t count, const Messages& info, const Psk& psk)
    : suite_(suite), info_(info), psk_(psk) {
  check_readable(count, info, "info of HPKE");
  check_readable(count, psk.key, "pre-shared keys of HPKE");
  check_readable(count, psk.id, "identities of pre-shared keys");
  const bool one = info.is_one() && psk.key.is_one() && psk.id.is_one();
  const bool some = psk.key.data || psk.id.data;
  for (std::size_t i = 0; some && i < (one ? 1 : count); ++i) {
    require(psk.key.at(i).size() > 0, "an identity without a pre-shared key");
    require(psk.id.at(i).size() > 0, "a pre-shared key without an identity");
    require(psk.key.at(i).size() >= kMinPskBytes, "a pre-shared key of less than 32 bytes");
  }
  if (one) shared_.emplace(suite, binding(0));
}

void check_readable(std::size_t count, const Messages& in, const char* what) {
  for (std::size_t i = 0; in.offsets && i < count; ++i)
    require(in.offsets[i] <= in.offsets[i + 1], what);
  const std::size_t bytes = in.offsets ? static_cast<std::size_t>(in.offsets[count]) : in.width;
  require(in.data || bytes == 0, what);
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

ItemStatus seal_item(ItemStatus status, MessageCipher& cipher, const ContextSecrets& secrets, std::uint64_t number,
                     ByteView aad, ByteView plaintext, std::uint8_t* out) {
  if (status == ItemStatus::kOk && !cipher.seal(secrets, number, aad, plaintext, out)) status = ItemStatus::kInternal;
  if (status != ItemStatus::kOk) std::memset(out, 0, plaintext.size() + kTagBytes);
  return status;
}

ItemStatus open_item(ItemStatus status, MessageCipher& cipher, const ContextSecrets& secrets, std::uint64_t number,
                     ByteView aad, ByteView ciphertext, std::uint8_t* out) {
  const std::size_t bytes = opened_bytes(ciphertext.size());
  if (status != ItemStatus::kOk) {
    if (bytes > 0) std::memset(out, 0, bytes);
    return status;
  }
  switch (cipher.open(secrets, number, aad, ciphertext, out)) {
    case MessageCipher::Opened::kYes:
      return ItemStatus::kOk;
    case MessageCipher::Opened::kNo:
      return ItemStatus::kOpen;
    default:
      return ItemStatus::kInternal;
  }
}

}  // namespace polykem::hpke
