// SPDX-License-Identifier: Apache-2.0
#include "hpke/kem_batch.hpp"

namespace polykem::hpke {

std::size_t fitting(std::size_t count, const Suite& suite) {
  return fitting(count, suite.public_key_bytes() + suite.secret_key_bytes() + suite.enc_bytes() + suite.coin_bytes() +
                            sizeof(ContextSecrets));
}

KemBatch::KemBatch(polykem_context* context, const Suite& suite, const Records& pk, const std::uint8_t* coins,
                   std::uint8_t* enc)
    : context_(context), suite_(suite), keys_(pk), coins_(coins), enc_out_(enc) {
  require(context && pk.data && enc, "a pointer of HPKE's sender");
  if (pk.shared) shared_key_ = suite.kem_functions().share_public_key(context, pk.data);
}

KemBatch::KemBatch(polykem_context* context, const Suite& suite, const Records& sk, const std::uint8_t* enc)
    : context_(context), suite_(suite), keys_(sk), enc_in_(enc) {
  require(context && sk.data && enc, "a pointer of HPKE's recipient");
  if (sk.shared) shared_key_ = suite.kem_functions().share_secret_key(context, sk.data);
}

void KemBatch::compute(std::size_t first, std::size_t items) {
  const KemFunctions& kem = suite_.kem_functions();
  const bool sender = enc_out_ != nullptr;
  const std::size_t key_bytes = sender ? suite_.public_key_bytes() : suite_.secret_key_bytes();
  const KemFunctions::Keys keys{keys_.data + first * key_bytes, shared_key_.get()};
  shared_.resize(items * kSharedSecretBytes);
  status_.resize(items);
  if (sender) {
    const std::uint8_t* const coins = coins_ ? coins_ + first * suite_.coin_bytes() : nullptr;
    kem.encapsulate(context_, items, keys, coins, enc_out_ + first * suite_.enc_bytes(), shared_.data(),
                    status_.data());
  } else {
    kem.decapsulate(context_, items, keys, enc_in_ + first * suite_.enc_bytes(), shared_.data(), status_.data());
  }
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
  if (!in.offsets && !in.shared) fitting(count, in.width);
  const std::size_t bytes = in.offsets ? static_cast<std::size_t>(in.offsets[count]) : in.width;
  require(in.data || bytes == 0, what);
}

void check_messages(const Suite& suite, std::size_t count, const Messages& aad, const Messages& in,
                    const MessagesOut& out, std::ptrdiff_t difference) {
  require(suite.aead().cipher, "a message with a suite that only exports");
  check_readable(count, aad, "additional data of HPKE");
  require((in.offsets == nullptr) == (out.offsets == nullptr), "offsets for one side of a batch");
  if (!in.offsets) {
    const std::size_t least = difference < 0 ? static_cast<std::size_t>(-difference) : 0;
    require(out.data || in.width <= least, "nowhere to write messages");
    require(in.width <= PTRDIFF_MAX - kTagBytes, "a message longer than memory");
    fitting(count, in.width + kTagBytes);
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
