// SPDX-License-Identifier: Apache-2.0
#include "hpke/hpke.hpp"
#include "hpke/kem_batch.hpp"
#include "hpke/process.hpp"

namespace polykem::hpke {

struct Contexts::State {
  class ExclusiveUse;
  class Call;

  State(const Suite& of, std::size_t count, unsigned at_most)
      : suite(of), threads(at_most), secrets(check_count(count, suite)), sequence_numbers(count), status(count) {}

  ItemStatus number_status(std::size_t i, std::uint64_t number) const {
    return status[i] == ItemStatus::kOk && number == kMaxMessages ? ItemStatus::kNumber : status[i];
  }

  /// Stores the secrets that set_up() computed for item i.
  void take(std::size_t i, const ContextSecrets& made, ItemStatus how) {
    if (how == ItemStatus::kOk) secrets[i] = made;
    status[i] = how;
    if (how != ItemStatus::kOk) failed.fetch_add(1, std::memory_order_relaxed);
  }

  const Suite suite;
  const unsigned threads;
  std::vector<ContextSecrets> secrets;
  std::vector<std::uint64_t> sequence_numbers;  ///< the number of each item's next message
  std::vector<ItemStatus> status;               ///< the status of its setup
  std::atomic<std::size_t> failed{0};
  std::atomic<bool> in_use{false};
  const Process process = this_process();
};

/// Held during a call. A second call at the same time throws.
class Contexts::State::ExclusiveUse {
 public:
  explicit ExclusiveUse(std::atomic<bool>& in_use) : in_use_(in_use) {
    if (in_use.exchange(true))
      throw Error(POLYKEM_ERR_BUSY, "another thread is using these contexts; only one at a time may");
  }
  ~ExclusiveUse() { in_use_ = false; }
  ExclusiveUse(const ExclusiveUse&) = delete;
  ExclusiveUse& operator=(const ExclusiveUse&) = delete;

 private:
  std::atomic<bool>& in_use_;
};

/// A call for some of the contexts, which uses OpenSSL.
class Contexts::State::Call {
 public:
  template <class Request>
  Call(State& state, const Request& request)
      : use_(state.in_use), state_(state), first_(request.first), count_(request.count), status_(request.status) {
    const std::size_t all = state.secrets.size();
    require(first_ <= all && count_ <= all - first_, "the items exceed the number of HPKE contexts");
  }

  /// Calls item(worker, i, context), which returns a status, for every item i of the request. make() makes the state
  /// that a thread needs. Returns how many items failed.
  template <class Make, class Item>
  std::size_t for_all(const Pieces& pieces, const Make& make, const Item& item) {
    std::atomic<std::size_t> failed{0};
    pieces(count_, [&](std::size_t begin, std::size_t items) {
      for_items(state_.threads, items, make, [&](auto& worker, std::size_t i) {
        i += begin;
        put_status(status_, i, item(worker, i, first_ + i), failed);
      });
    });
    return failed;
  }

 private:
  const ExclusiveUse use_;
  const OpensslCall openssl_;
  State& state_;
  std::size_t first_, count_;
  ItemStatus* status_;
};

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
  return state_->sequence_numbers[i];
}

void Contexts::numbers(std::uint64_t* out) const {
  const State::ExclusiveUse use(state_->in_use);
  std::copy(state_->sequence_numbers.begin(), state_->sequence_numbers.end(), out);
}

void Contexts::skip_to(std::uint64_t number) {
  const State::ExclusiveUse use(state_->in_use);
  for (std::uint64_t& one : state_->sequence_numbers)
    one = std::max(one, number);
}

std::size_t Contexts::export_secrets(const ExportRequest& request, const Pieces& pieces) {
  State::Call call(*state_, request);
  check_readable(request.count, request.contexts, "HPKE's exporter contexts");
  require(request.bytes <= state_->suite.max_export_bytes(), "exported secrets longer than HPKE's KDF allows");
  require(request.out || request.bytes == 0, "no buffer for the exported secrets");
  return call.for_all(
      pieces, [&] { return Deriver(state_->suite); },
      [&](Deriver& deriver, std::size_t i, std::size_t context) {
        ItemStatus status = state_->status[context];
        std::uint8_t* out = request.out + i * request.bytes;
        const ContextSecrets& secrets = state_->secrets[context];
        if (status == ItemStatus::kOk && !deriver.export_secret(secrets, request.contexts.at(i), request.bytes, out))
          status = ItemStatus::kInternal;
        if (status != ItemStatus::kOk && request.bytes > 0) polykem_zeroize(out, request.bytes);
        return status;
      });
}

Sender::Sender(polykem_context* context, const Suite& suite, const SenderRequest& request, const Pieces& pieces)
    : Contexts(std::make_unique<State>(suite, request.count, polykem_context_threads(context))) {
  if (request.count == 0) return;
  const OpensslCall call;
  KemBatch kem(context, suite, request.pk, request.coins, request.enc);
  set_up(kem, suite, request, true, pieces, [&](ItemWorker& worker, std::size_t i, ItemStatus status) {
    if (status != ItemStatus::kOk) std::memset(request.enc + i * suite.enc_bytes(), 0, suite.enc_bytes());
    state_->take(i, worker.secrets, status);
  });
}

std::size_t Sender::seal(const ContextSealRequest& request, const Pieces& pieces) {
  State::Call call(*state_, request);
  require(state_->process == this_process(),
          "a sender does not seal in a forked process, where nonces would be used twice; make a new one there");
  check_messages(state_->suite, request.count, request.aad, request.plaintexts, request.ciphertexts, kTagBytes);
  return call.for_all(
      pieces, [&] { return MessageCipher(state_->suite); },
      [&](MessageCipher& cipher, std::size_t i, std::size_t context) {
        const ByteView plaintext = request.plaintexts.at(i);
        std::uint64_t& number = state_->sequence_numbers[context];
        const std::uint64_t mine = number;
        const ItemStatus status = state_->number_status(context, mine);
        if (status == ItemStatus::kOk) ++number;  // before the nonce is used, even if sealing fails
        return seal_item(status, cipher, state_->secrets[context], mine, request.aad.at(i), plaintext,
                         output_at(request.ciphertexts, plaintext.size() + kTagBytes, i));
      });
}

Recipient::Recipient(polykem_context* context, const Suite& suite, const RecipientRequest& request,
                     const Pieces& pieces)
    : Contexts(std::make_unique<State>(suite, request.count, polykem_context_threads(context))) {
  if (request.count == 0) return;
  const OpensslCall call;
  KemBatch kem(context, suite, request.sk, request.enc);
  set_up(kem, suite, request, true, pieces,
         [&](ItemWorker& worker, std::size_t i, ItemStatus status) { state_->take(i, worker.secrets, status); });
}

std::size_t Recipient::open(const ContextOpenRequest& request, const Pieces& pieces) {
  State::Call call(*state_, request);
  check_messages(state_->suite, request.count, request.aad, request.ciphertexts, request.plaintexts,
                 -static_cast<std::ptrdiff_t>(kTagBytes));
  std::vector<std::uint8_t> opened(request.count);
  const std::size_t failed = call.for_all(
      pieces, [&] { return MessageCipher(state_->suite); },
      [&](MessageCipher& cipher, std::size_t i, std::size_t context) {
        const ByteView ciphertext = request.ciphertexts.at(i);
        const std::uint64_t number = request.numbers ? request.numbers[i] : state_->sequence_numbers[context];
        const ItemStatus status =
            open_item(state_->number_status(context, number), cipher, state_->secrets[context], number,
                      request.aad.at(i), ciphertext, output_at(request.plaintexts, opened_bytes(ciphertext.size()), i));
        opened[i] = status == ItemStatus::kOk;
        return status;
      });
  for (std::size_t i = 0; !request.numbers && i < request.count; ++i)
    state_->sequence_numbers[request.first + i] += opened[i];
  return failed;
}

}  // namespace polykem::hpke
