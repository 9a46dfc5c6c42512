// SPDX-License-Identifier: Apache-2.0
#include "hpke/kem_batch.hpp"

namespace polykem::hpke {

std::size_t check_count(std::size_t count, const Suite& suite) {
  return check_count(count, suite.public_key_bytes() + suite.secret_key_bytes() + suite.enc_bytes() +
                                suite.coin_bytes() + sizeof(ContextSecrets));
}

KemBatch::KemBatch(polykem_context* context, const Suite& suite, const Records& pk, const std::uint8_t* coins,
                   std::uint8_t* enc)
    : context_(context), suite_(suite), keys_(pk), coins_(coins), enc_out_(enc) {
  require(context && pk.data && enc, "HPKE's sender needs context, pk and enc");
  if (pk.shared) shared_key_ = suite.kem_functions().share_public_key(context, pk.data);
}

KemBatch::KemBatch(polykem_context* context, const Suite& suite, const Records& sk, const std::uint8_t* enc)
    : context_(context), suite_(suite), keys_(sk), enc_in_(enc) {
  require(context && sk.data && enc, "HPKE's recipient needs context, sk and enc");
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
  check_readable(count, info, "HPKE's info");
  check_readable(count, psk.key, "HPKE's pre-shared keys");
  check_readable(count, psk.id, "the identities of HPKE's pre-shared keys");
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
  const auto refuse = [what](const char* problem) { throw Error(POLYKEM_ERR_ARGUMENT, std::string(what) + problem); };
  for (std::size_t i = 0; in.offsets && i < count; ++i)
    if (in.offsets[i] > in.offsets[i + 1]) refuse(": offsets that decrease");
  if (!in.offsets && !in.shared) check_count(count, in.width);
  const std::size_t bytes = in.offsets ? static_cast<std::size_t>(in.offsets[count]) : in.width;
  if (!in.data && bytes > 0) refuse(": lengths without data");
}

void check_messages(const Suite& suite, std::size_t count, const Messages& aad, const Messages& in,
                    const MessagesOut& out, std::ptrdiff_t difference) {
  require(suite.aead().cipher, "an export-only suite of HPKE cannot seal or open messages");
  check_readable(count, aad, "HPKE's additional data");
  require((in.offsets == nullptr) == (out.offsets == nullptr),
          "plaintexts and ciphertexts must both have offsets, or neither");
  if (!in.offsets) {
    const std::size_t min_width = difference < 0 ? static_cast<std::size_t>(-difference) : 0;
    require(out.data || in.width <= min_width, "no buffer for the output messages");
    require(in.width <= PTRDIFF_MAX - kTagBytes, "a message longer than memory");
    check_count(count, in.width + kTagBytes);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    require(in.offsets[i] <= in.offsets[i + 1], "offsets of messages that decrease");
    const auto bytes = static_cast<std::ptrdiff_t>(in.at(i).size()) + difference;
    const auto room = static_cast<std::ptrdiff_t>(out.offsets[i + 1] - out.offsets[i]);
    require(room == std::max<std::ptrdiff_t>(bytes, 0), "output offsets that do not fit the sizes of the messages");
  }
  require(out.data || out.offsets[0] == out.offsets[count], "no buffer for the output messages");
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
    case MessageCipher::OpenResult::kOpened:
      return ItemStatus::kOk;
    case MessageCipher::OpenResult::kRejected:
      return ItemStatus::kOpen;
    default:
      return ItemStatus::kInternal;
  }
}

}  // namespace polykem::hpke
