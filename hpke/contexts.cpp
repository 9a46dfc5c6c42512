// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "hpke/hpke.hpp"
#include "hpke/kem_batch.hpp"

namespace polykem::hpke {

struct Contexts::State {
  State(const Suite& of, std::size_t count, unsigned at_most)
      : suite(of), threads(at_most), secrets(count), numbers(count), status(count) {}

  ItemStatus number_status(std::size_t i, std::uint64_t number) const {
    return status[i] == ItemStatus::kOk && number == kMaxMessages ? ItemStatus::kNumber : status[i];
  }

  /// Keeps what set_up() made of item i.
  void take(std::size_t i, const ContextSecrets& made, ItemStatus how) {
    if (how == ItemStatus::kOk) secrets[i] = made;
    status[i] = how;
    if (how != ItemStatus::kOk) failed.fetch_add(1, std::memory_order_relaxed);
  }

  const Suite suite;
  const unsigned threads;
  std::vector<ContextSecrets> secrets;
  std::vector<std::uint64_t> numbers;  ///< of each item's next message
  std::vector<ItemStatus> status;      ///< of its setup
  std::atomic<std::size_t> failed{0};
  std::atomic<bool> in_use{false};
  const pid_t process = getpid();
};

namespace {

/// A call of one thread; a second one at the same time throws.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& in_use) : in_use_(in_use) {
    if (in_use.exchange(true)) throw Error(POLYKEM_ERR_BUSY, "contexts of HPKE on two threads");
  }
  ~Turn() { in_use_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& in_use_;
};

void check_range(std::size_t first, std::size_t count, std::size_t all) {
  require(first <= all && count <= all - first, "more items than HPKE's contexts");
}

}  // namespace

Contexts::Contexts(std::unique_ptr<State> state) : state_(std::move(state)) {}
Contexts::Contexts(Contexts&&) noexcept = default;
Contexts& Contexts::operator=(Contexts&&) noexcept = default;
Contexts::~Contexts() = default;

std::size_t Contexts::count() const {
  return state_->secrets.size();
}
std::size_t Contexts::failed() const {
  return state_->failed;
}
ItemStatus Contexts::status(std::size_t i) const {
  return state_->status[i];
}
std::uint64_t Contexts::number(std::size_t i) const {
  return state_->numbers[i];
}

void Contexts::skip_to(std::uint64_t number) {
  const Turn turn(state_->in_use);
  for (std::uint64_t& one : state_->numbers)
    one = std::max(one, number);
}

std::size_t Contexts::export_secrets(const ExportRequest& request) {
  const Turn turn(state_->in_use);
  const OpensslCall call;
  check_range(request.first, request.count, count());
  check_readable(request.count, request.contexts, "exporter contexts");
  require(request.bytes <= state_->suite.max_export_bytes(), "more bytes than a context exports");
  require(request.out || request.bytes == 0, "nowhere to export to");
  std::atomic<std::size_t> failed{0};
  for_items(
      state_->threads, request.count, [&] { return Deriver(state_->suite); },
      [&](Deriver& deriver, std::size_t i) {
        ItemStatus status = state_->status[request.first + i];
        std::uint8_t* out = request.out + i * request.bytes;
        const ContextSecrets& secrets = state_->secrets[request.first + i];
        if (status == ItemStatus::kOk && !deriver.export_secret(secrets, request.contexts.at(i), request.bytes, out))
          status = ItemStatus::kInternal;
        if (status != ItemStatus::kOk && request.bytes > 0) polykem_zeroize(out, request.bytes);
        put_status(request.status, i, status, failed);
      });
  return failed;
}

Sender::Sender(polykem_context* context, const Suite& suite, const SenderRequest& request)
    : Contexts(std::make_unique<State>(suite, request.count, polykem_context_threads(context))) {
  if (request.count == 0) return;
  const OpensslCall call;
  KemBatch kem(context, suite, request.pk, request.coins, request.enc);
  const Schedules schedules(suite, request.count, request.info, request.psk);
  set_up(kem, suite, schedules, request.count, true, [&](ItemWorker& worker, std::size_t i, ItemStatus status) {
    if (status != ItemStatus::kOk) std::memset(request.enc + i * suite.enc_bytes(), 0, suite.enc_bytes());
    state_->take(i, worker.secrets, status);
  });
}

std::size_t Sender::seal(const ContextSealRequest& request) {
  const Turn turn(state_->in_use);
  const OpensslCall call;
  require(state_->suite.aead().cipher, "a message with a suite that only exports");
  require(state_->process == getpid(), "a sender's contexts in a forked process, which would use nonces twice");
  check_range(request.first, request.count, count());
  check_messages(request.count, request.plaintexts, request.ciphertexts, kTagBytes);
  check_readable(request.count, request.aad, "additional data of HPKE");
  std::atomic<std::size_t> failed{0};
  for_items(
      state_->threads, request.count, [&] { return MessageCipher(state_->suite); },
      [&](MessageCipher& cipher, std::size_t i) {
        const std::size_t item = request.first + i;
        const ByteView plaintext = request.plaintexts.at(i);
        std::uint64_t& number = state_->numbers[item];
        const std::uint64_t mine = number;
        ItemStatus status = state_->number_status(item, mine);
        if (status == ItemStatus::kOk) ++number;  // before the nonce is used, whatever becomes of the message
        status = seal_item(status, cipher, state_->secrets[item], mine, request.aad.at(i), plaintext,
                           place(request.ciphertexts, plaintext.size() + kTagBytes, i));
        put_status(request.status, i, status, failed);
      });
  return failed;
}

Recipient::Recipient(polykem_context* context, const Suite& suite, const RecipientRequest& request)
    : Contexts(std::make_unique<State>(suite, request.count, polykem_context_threads(context))) {
  if (request.count == 0) return;
  const OpensslCall call;
  KemBatch kem(context, suite, request.sk, request.enc);
  const Schedules schedules(suite, request.count, request.info, request.psk);
  set_up(kem, suite, schedules, request.count, true,
         [&](ItemWorker& worker, std::size_t i, ItemStatus status) { state_->take(i, worker.secrets, status); });
}

std::size_t Recipient::open(const ContextOpenRequest& request) {
  const Turn turn(state_->in_use);
  const OpensslCall call;
  require(state_->suite.aead().cipher, "a message with a suite that only exports");
  check_range(request.first, request.count, count());
  check_messages(request.count, request.ciphertexts, request.plaintexts, -static_cast<std::ptrdiff_t>(kTagBytes));
  check_readable(request.count, request.aad, "additional data of HPKE");
  std::atomic<std::size_t> failed{0};
  for_items(
      state_->threads, request.count, [&] { return MessageCipher(state_->suite); },
      [&](MessageCipher& cipher, std::size_t i) {
        const std::size_t item = request.first + i;
        const ByteView ciphertext = request.ciphertexts.at(i);
        std::uint64_t& next = state_->numbers[item];
        const std::uint64_t number = request.numbers ? request.numbers[i] : next;
        const ItemStatus status =
            open_item(state_->number_status(item, number), cipher, state_->secrets[item], number, request.aad.at(i),
                      ciphertext, place(request.plaintexts, opened_bytes(ciphertext.size()), i));
        if (status == ItemStatus::kOk && !request.numbers) ++next;
        put_status(request.status, i, status, failed);
      });
  return failed;
}

}  // namespace polykem::hpke
