// SPDX-License-Identifier: Apache-2.0
// Hybrid public key encryption [HPKE] in batches, in the modes base and PSK. Every item has its own encapsulation, with
// one message (seal, open) or a context for many messages and exported secrets (Sender, Recipient). The context
// computes the KEM over the batch, on a GPU if it uses one. DHKEM, key schedule and ciphers are OpenSSL's, an item at a
// time, on as many threads as the context has.
//
//  - Records (keys, encapsulations, coins) are contiguous and of fixed size, which Suite gives.
//  - An item that fails does not fail the batch: its status says why, its outputs are zero, the others are done.
//  - A call that fails as a whole throws polykem::Error; its outputs must not be used.
//  - Outputs must not overlap inputs or each other.
#pragma once

#include <functional>
#include <memory>

#include "hpke/suite.hpp"

namespace polykem::hpke {

enum class ItemStatus : std::int32_t {
  kOk = POLYKEM_OK,
  kPublicKey = POLYKEM_ERR_PUBLIC_KEY,  ///< malformed: a coefficient that is not reduced, a point off its curve or of
                                        ///< small order
  kSecretKey = POLYKEM_ERR_SECRET_KEY,  ///< a seed that yields no scalar; does not happen by chance
  kInternal = POLYKEM_ERR_INTERNAL,     ///< OpenSSL failed
  kEncapsulation = 101,                 ///< malformed: a point off its curve or of small order
  kOpen = 102,    ///< the ciphertext does not authenticate: another key, info or aad, or changed bytes
  kNumber = 103,  ///< the context has no message number left
};

/// A short English sentence, static storage.
const char* item_status_text(ItemStatus status);

/// Computes a piece of a call: `items` items from item `first` on.
using ComputePiece = std::function<void(std::size_t first, std::size_t items)>;
/// Splits a call into pieces: calls compute(first, items) on its own thread until all `count` items are done. If it
/// throws in between, the call ends as if it had failed as a whole.
using Pieces = std::function<void(std::size_t count, const ComputePiece& compute)>;

inline void in_one_piece(std::size_t count, const ComputePiece& compute) {
  compute(0, count);
}

/// Records of fixed size, one for each item or one for all.
struct Records {
  const std::uint8_t* data = nullptr;
  bool shared = false;
};

/// Messages of `width` bytes each; or, with offsets, from offsets[i] to offsets[i + 1] for item i; or one message of
/// `width` bytes for all items.
struct Messages {
  const std::uint8_t* data = nullptr;
  std::size_t width = 0;
  const std::uint64_t* offsets = nullptr;  ///< count + 1, ascending
  bool shared = false;

  ByteView at(std::size_t i) const {
    if (offsets) return {data + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    return {data + (shared ? 0 : i * width), width};
  }
  /// True if at() is the same for all items.
  bool is_one() const { return !offsets && (shared || width == 0); }
};

/// One byte string for all items.
inline Messages for_all(ByteView bytes) {
  return {bytes.data(), bytes.size(), nullptr, true};
}

/// Pre-shared keys of at least kMinPskBytes with their identities [HPKE, 5.1.2]: both or neither, for the mode PSK.
struct Psk {
  Messages key, id;
};

/// The destination of messages: contiguous or, if the inputs have offsets, from offsets[i] to offsets[i + 1]. The room
/// must be exact: a tag more than item i's plaintext; a tag less than its ciphertext, or nothing if that is shorter
/// than a tag.
struct MessagesOut {
  std::uint8_t* data = nullptr;
  const std::uint64_t* offsets = nullptr;  ///< count + 1
};

/// The inputs and outputs of a sender's setup.
struct SenderRequest {
  std::size_t count = 0;
  Records pk;
  Messages info;  ///< an item each, or for_all()
  Psk psk;
  const std::uint8_t* coins = nullptr;  ///< for tests: count records of coin_bytes() instead of random bytes
  std::uint8_t* enc = nullptr;
};

struct RecipientRequest {
  std::size_t count = 0;
  Records sk;
  Messages info;  ///< an item each, or for_all()
  Psk psk;
  const std::uint8_t* enc = nullptr;
};

struct SealRequest : SenderRequest {
  Messages aad, plaintexts;  ///< an item each, or for_all()
  MessagesOut ciphertexts;
  ItemStatus* status = nullptr;  ///< count entries, or nullptr
};

struct OpenRequest : RecipientRequest {
  Messages aad, ciphertexts;  ///< an item each, or for_all()
  MessagesOut plaintexts;
  ItemStatus* status = nullptr;  ///< count entries, or nullptr
};

/// Both return how many items failed.
std::size_t seal(polykem_context* context, const Suite& suite, const SealRequest& request,
                 const Pieces& pieces = in_one_piece);
std::size_t open(polykem_context* context, const Suite& suite, const OpenRequest& request,
                 const Pieces& pieces = in_one_piece);

/// The number of messages of a context, which have the numbers 0 to kMaxMessages - 1.
inline constexpr std::uint64_t kMaxMessages = UINT64_MAX;

struct ExportRequest {
  std::size_t first = 0, count = 0;  ///< the range of contexts
  Messages contexts;                 ///< the exporter contexts [HPKE, 5.3], an item each, or for_all()
  std::size_t bytes = 0;             ///< of a secret, at most Suite::max_export_bytes()
  std::uint8_t* out = nullptr;       ///< count secrets
  ItemStatus* status = nullptr;      ///< count entries, or nullptr
};

/// The contexts of a batch: keys, base nonces, exporter secrets and message numbers, zeroized at the end. One call at a
/// time may use them, however many pieces it has; a second one gets POLYKEM_ERR_BUSY.
class Contexts {
 public:
  Contexts(Contexts&&) noexcept;
  Contexts& operator=(Contexts&&) noexcept;

  std::size_t count() const;
  /// The number of setups that failed, and the status of each. Later calls give a failed item the same status, and
  /// zeros.
  std::size_t failed() const;
  ItemStatus status(std::size_t i) const;
  /// The number of item i's next message, and those of all count() items. Not during another call.
  std::uint64_t number(std::size_t i) const;
  void numbers(std::uint64_t* out) const;
  /// Skips messages before `number`: contexts that are before it continue there. Other contexts do not change.
  void skip_to(std::uint64_t number);
  /// Context.Export. Returns how many items failed.
  std::size_t export_secrets(const ExportRequest& request, const Pieces& pieces = in_one_piece);

 protected:
  struct State;
  explicit Contexts(std::unique_ptr<State> state);
  ~Contexts();
  std::unique_ptr<State> state_;
};

struct ContextSealRequest {
  std::size_t first = 0, count = 0;  ///< the range of contexts
  Messages aad, plaintexts;
  MessagesOut ciphertexts;
  ItemStatus* status = nullptr;  ///< count entries, or nullptr
};

struct ContextOpenRequest {
  std::size_t first = 0, count = 0;  ///< the range of contexts
  Messages aad, ciphertexts;
  const std::uint64_t* numbers = nullptr;  ///< count message numbers to open, instead of each context's next
  MessagesOut plaintexts;
  ItemStatus* status = nullptr;  ///< count entries, or nullptr
};

/// Senders' contexts. They do not seal in a copy of the process made by fork() or clone(), because both would use the
/// same nonces. A virtual machine that is resumed twice from one snapshot does repeat nonces.
class Sender : public Contexts {
 public:
  Sender(polykem_context* context, const Suite& suite, const SenderRequest& request,
         const Pieces& pieces = in_one_piece);
  /// Seals the next message of every item. Returns how many items failed; their numbers are used up too. So are those
  /// of a call that ends early, whose ciphertexts are lost. Contexts then have different numbers, and both sides
  /// continue after skip_to(the highest of numbers()).
  std::size_t seal(const ContextSealRequest& request, const Pieces& pieces = in_one_piece);
};

/// Recipients' contexts.
class Recipient : public Contexts {
 public:
  Recipient(polykem_context* context, const Suite& suite, const RecipientRequest& request,
            const Pieces& pieces = in_one_piece);
  /// Opens the next message of every item, or those with the given numbers, which do not change the contexts' own
  /// numbers. A message that does not open is not counted, nor is any of a call that ends early. Returns how many items
  /// failed.
  std::size_t open(const ContextOpenRequest& request, const Pieces& pieces = in_one_piece);
};

/// Makes `count` key pairs from random bytes.
void generate(polykem_context* context, const Suite& suite, std::size_t count, std::uint8_t* pk, std::uint8_t* sk,
              const Pieces& pieces = in_one_piece);
/// DeriveKeyPair for `count` records of ikm_bytes; [HPKE, 4.1] asks for at least secret_key_bytes() of entropy. Returns
/// how many items failed.
std::size_t derive_key_pairs(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* ikm,
                             std::size_t ikm_bytes, std::uint8_t* pk, std::uint8_t* sk, ItemStatus* status = nullptr,
                             const Pieces& pieces = in_one_piece);
/// Computes the public keys of secret keys. Returns how many items failed.
std::size_t public_keys(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* sk,
                        std::uint8_t* pk, ItemStatus* status = nullptr, const Pieces& pieces = in_one_piece);

}  // namespace polykem::hpke
