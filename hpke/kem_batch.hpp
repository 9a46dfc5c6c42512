// SPDX-License-Identifier: Apache-2.0
// The first half of HPKE's calls: encapsulation over a batch, then each item's key schedule.
#pragma once

#include <cstring>
#include <optional>

#include "hpke/items.hpp"
#include "hpke/kem.hpp"
#include "hpke/message_cipher.hpp"

namespace polykem::hpke {

/// Computes the shared secrets of some items of a request, by encapsulation or decapsulation.
class KemBatch {
 public:
  /// Encapsulates to `pk`; writes to `enc`.
  KemBatch(polykem_context* context, const Suite& suite, const Records& pk, const std::uint8_t* coins,
           std::uint8_t* enc);
  /// Decapsulates `enc`.
  KemBatch(polykem_context* context, const Suite& suite, const Records& sk, const std::uint8_t* enc);

  /// Computes the `items` items from `first` on.
  void compute(std::size_t first, std::size_t items);
  /// The secret and the status of item first + i.
  const std::uint8_t* shared_secret(std::size_t i) const { return shared_.data() + i * kSharedSecretBytes; }
  ItemStatus status(std::size_t i) const { return status_[i]; }
  unsigned threads() const { return polykem_context_threads(context_); }

 private:
  polykem_context* context_;
  const Suite& suite_;
  Records keys_;
  const std::uint8_t *coins_ = nullptr, *enc_in_ = nullptr;
  std::uint8_t* enc_out_ = nullptr;
  std::unique_ptr<KemFunctions::SharedKey> shared_key_;
  SecretBytes shared_;
  std::vector<ItemStatus> status_;
};

/// The key schedules of a batch: one if all items have the same info and pre-shared key.
class Schedules {
 public:
  /// Throws Error for arguments that HPKE does not allow.
  Schedules(const Suite& suite, std::size_t count, const Messages& info, const Psk& psk);

  /// Item i's key schedule, which is `own` if items differ.
  const KeySchedule& of(std::size_t i, std::optional<KeySchedule>& own) const {
    return shared_ ? *shared_ : own.emplace(suite_, binding(i));
  }

 private:
  Binding binding(std::size_t i) const { return {info_.at(i), psk_.key.at(i), psk_.id.at(i)}; }

  const Suite& suite_;
  Messages info_;
  Psk psk_;
  std::optional<KeySchedule> shared_;
};

/// The state of a thread.
struct ItemWorker {
  explicit ItemWorker(const Suite& suite) : deriver(suite), cipher(suite) {}
  Deriver deriver;
  MessageCipher cipher;
  std::optional<KeySchedule> schedule;
  ContextSecrets secrets;
};

/// Calls compute(first, items) for all `count` items, at most kBatchItems at a time.
inline void in_batches(const Pieces& pieces, std::size_t count, const ComputePiece& compute) {
  pieces(count, [&](std::size_t first, std::size_t items) {
    for (const std::size_t end = first + items; first < end; first += kBatchItems)
      compute(first, std::min(kBatchItems, end - first));
  });
}

/// Sets up the contexts of a request and calls use(worker, i, status) for each, with its secrets in the worker.
template <class Request, class Use>
void set_up(KemBatch& kem, const Suite& suite, const Request& request, bool exporter, const Pieces& pieces,
            const Use& use) {
  const Schedules schedules(suite, request.count, request.info, request.psk);
  in_batches(pieces, request.count, [&](std::size_t first, std::size_t items) {
    kem.compute(first, items);
    for_items(
        kem.threads(), items, [&] { return ItemWorker(suite); },
        [&](ItemWorker& worker, std::size_t i) {
          ItemStatus status = kem.status(i);
          if (status == ItemStatus::kOk) {
            const KeySchedule& schedule = schedules.of(first + i, worker.schedule);
            if (!worker.deriver.derive(schedule, kem.shared_secret(i), exporter, worker.secrets))
              status = ItemStatus::kInternal;
          }
          use(worker, first + i, status);
        });
  });
}

/// Throws Error unless the suite has a cipher and the messages are valid, with room for `difference` bytes more in each
/// output.
void check_messages(const Suite& suite, std::size_t count, const Messages& aad, const Messages& in,
                    const MessagesOut& out, std::ptrdiff_t difference);
/// The same for messages that are only read.
void check_readable(std::size_t count, const Messages& in, const char* what);

/// The address at which item i is written. Without offsets, every item has `width` bytes.
inline std::uint8_t* output_at(const MessagesOut& out, std::size_t width, std::size_t i) {
  return out.data + (out.offsets ? out.offsets[i] : i * width);
}

/// Seals or opens message `number` of a context into `out`; writes zeros if `status` is a failure or the cipher fails.
/// Returns the item's status.
ItemStatus seal_item(ItemStatus status, MessageCipher& cipher, const ContextSecrets& secrets, std::uint64_t number,
                     ByteView aad, ByteView plaintext, std::uint8_t* out);
ItemStatus open_item(ItemStatus status, MessageCipher& cipher, const ContextSecrets& secrets, std::uint64_t number,
                     ByteView aad, ByteView ciphertext, std::uint8_t* out);

/// The plaintext's size for a ciphertext.
constexpr std::size_t opened_bytes(std::size_t ciphertext_bytes) {
  return ciphertext_bytes < kTagBytes ? 0 : ciphertext_bytes - kTagBytes;
}

}  // namespace polykem::hpke
