// SPDX-License-Identifier: Apache-2.0
// Tests contexts of HPKE with every allocation, every start of a thread and every call for entropy failing once: no
// nonce is used twice, no message is lost, and contexts remain usable.
#define OPENSSL_SUPPRESS_DEPRECATED  // for a RAND_METHOD that fails
#include <gtest/gtest.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>

#include "hpke/hpke.hpp"
#include "sweep.hpp"

namespace polykem::hpke::test {
namespace {

using polykem::test::Call;
using polykem::test::Scenario;
using polykem::test::sweep;

constexpr std::size_t kWidth = 24, kSealed = kWidth + kTagBytes, kExported = 40;
constexpr std::uint8_t kUntouched = 0xee;

enum class Step { kSender, kRecipient, kSeal, kOpen, kExport };

struct Shape {
  Kem kem;
  Kdf kdf;
  bool psk;
  std::size_t count = 3;
  unsigned threads = 1;
};

bool all(const Bytes& bytes, std::uint8_t value) {
  return std::all_of(bytes.begin(), bytes.end(), [value](std::uint8_t byte) { return byte == value; });
}

Bytes record(const Bytes& records, std::size_t i, std::size_t bytes) {
  return Bytes(records.begin() + i * bytes, records.begin() + (i + 1) * bytes);
}

/// The contexts of a batch and their expected results, made without faults from fixed coins; then a call. Without coins
/// nothing is made before, so that the call is the first to need random bytes.
class WatchedContexts {
 public:
  explicit WatchedContexts(const Shape& shape, bool with_coins = true)
      : suite_(shape.kem, shape.kdf, Aead::kAes128Gcm),
        context_(shape.threads),
        count_(shape.count),
        psk_(shape.psk ? kMinPskBytes : 0, 9),
        pk_(count_ * suite_.public_key_bytes()),
        sk_(count_ * suite_.secret_key_bytes()),
        coins_(with_coins ? count_ * suite_.coin_bytes() : 0, 3),
        enc_(count_ * suite_.enc_bytes()) {
    generate(context_.handle(), suite_, count_, pk_.data(), sk_.data());
    if (!with_coins) return;
    make_sender();
    expected_enc_ = enc_;
    for (Bytes& messages : expected_)
      seal(messages);
    export_from(*sender_, expected_secrets_);
    make_sender();
    make_recipient();
  }

  polykem_status act(Step step) {
    whole_ = false;
    if (step == Step::kSender) sender_.reset();
    if (step == Step::kRecipient) recipient_.reset();
    try {
      const std::size_t failed = call(step);
      whole_ = true;
      return failed == 0 ? POLYKEM_OK : POLYKEM_ERR_INTERNAL;
    } catch (const Error& error) {
      return error.status();
    } catch (const std::bad_alloc&) {
      return POLYKEM_ERR_OUT_OF_MEMORY;
    }
  }

  /// Returns an error in the outputs, or in what the contexts do next.
  std::string check(Step step) {
    std::string problem = step == Step::kOpen     ? check_items(out_, opened_text(), kWidth)
                          : step == Step::kSeal   ? check_items(out_, expected_[0], kSealed)
                          : step == Step::kExport ? check_items(out_, expected_secrets_, kExported)
                                                  : check_set_up(step);
    if (problem.empty() && step == Step::kSeal) problem = check_sealed_numbers();
    if (problem.empty() && step == Step::kOpen) problem = check_opened_numbers();
    if (problem.empty() && sender_) problem = check_sender();
    if (problem.empty() && recipient_) problem = check_recipient();
    return problem;
  }

  /// Returns whether a recipient of the sender's encapsulations opens its next message.
  bool agrees() {
    make_recipient();
    seal(expected_[0]);
    Bytes out;
    return open(out) == 0 && out == opened_text();
  }

 private:
  Psk psk() const {
    return {for_all({psk_.data(), psk_.size()}), for_all({psk_.data(), std::min<std::size_t>(psk_.size(), 1)})};
  }
  Bytes opened_text() const { return Bytes(count_ * kWidth, 5); }

  void make_sender() {
    SenderRequest request;
    request.count = count_;
    request.pk.data = pk_.data();
    request.psk = psk();
    request.coins = coins_.empty() ? nullptr : coins_.data();
    request.enc = enc_.data();
    sender_.emplace(context_.handle(), suite_, request);
  }

  void make_recipient() {
    RecipientRequest request;
    request.count = count_;
    request.sk.data = sk_.data();
    request.psk = psk();
    request.enc = enc_.data();
    recipient_.emplace(context_.handle(), suite_, request);
  }

  std::size_t call(Step step) {
    switch (step) {
      case Step::kSender:
        make_sender();
        return sender_->failed();
      case Step::kRecipient:
        make_recipient();
        return recipient_->failed();
      case Step::kSeal:
        return seal(out_);
      case Step::kOpen:
        return open(out_);
      default:
        return export_from(*recipient_, out_);
    }
  }

  /// Checks the sender's contexts from `first` on.
  std::size_t seal(Bytes& out, std::size_t first, std::size_t count) {
    out.assign(count * kSealed, kUntouched);
    status_.assign(count, ItemStatus::kNumber);
    ContextSealRequest request;
    request.first = first;
    request.count = count;
    request.plaintexts = for_all({text_.data(), kWidth});
    request.ciphertexts.data = out.data();
    request.status = status_.data();
    return sender_->seal(request);
  }
  std::size_t seal(Bytes& out) { return seal(out, 0, count_); }

  /// Opens what was sealed with `number`, in the recipient's contexts from `first` on.
  std::size_t open(Bytes& out, std::uint64_t number, std::size_t first, std::size_t count) {
    out.assign(count * kWidth, kUntouched);
    status_.assign(count, ItemStatus::kNumber);
    ContextOpenRequest request;
    request.first = first;
    request.count = count;
    request.ciphertexts = {expected_[number].data() + first * kSealed, kSealed};
    request.plaintexts.data = out.data();
    request.status = status_.data();
    return recipient_->open(request);
  }
  std::size_t open(Bytes& out) { return open(out, 0, 0, count_); }

  std::size_t export_from(Contexts& contexts, Bytes& out) {
    out.assign(count_ * kExported, kUntouched);
    status_.assign(count_, ItemStatus::kNumber);
    ExportRequest request;
    request.count = count_;
    request.bytes = kExported;
    request.out = out.data();
    request.status = status_.data();
    return contexts.export_secrets(request);
  }

  /// Checks that after a call that returned each item is right, or zero because OpenSSL failed.
  std::string check_items(const Bytes& out, const Bytes& right, std::size_t bytes) const {
    for (std::size_t i = 0; whole_ && i < count_; ++i) {
      const Bytes item = record(out, i, bytes);
      const bool fits = status_[i] == ItemStatus::kOk ? item == record(right, i, bytes)
                                                      : status_[i] == ItemStatus::kInternal && all(item, 0);
      if (!fits) return "item " + std::to_string(i) + ", with status " + item_status_text(status_[i]) + ", is wrong";
    }
    return "";
  }

  std::string check_set_up(Step step) {
    if (!whole_) return sender_ && recipient_ ? "contexts of a failed setup" : "";
    Contexts& made = step == Step::kSender ? static_cast<Contexts&>(*sender_) : *recipient_;
    status_.clear();
    for (std::size_t i = 0; i < count_; ++i)
      status_.push_back(made.status(i));
    return step == Step::kSender ? check_items(enc_, expected_enc_, suite_.enc_bytes()) : "";
  }

  /// Checks that used numbers are counted, and that nothing was sealed with others.
  std::string check_sealed_numbers() {
    for (std::size_t i = 0; i < count_; ++i) {
      const bool counted = sender_->number(i) == 1;
      if (whole_ && !counted) return "a message without a number";
      if (!counted && !out_.empty() && !all(record(out_, i, kSealed), kUntouched)) return "a nonce may be used twice";
    }
    return "";
  }

  /// Checks that a message that did not open is the next one again.
  std::string check_opened_numbers() {
    for (std::size_t i = 0; whole_ && i < count_; ++i)
      if (recipient_->number(i) != (status_[i] == ItemStatus::kOk ? 1u : 0u)) return "a message is lost";
    return "";
  }

  /// Checks that each context seals its next message as without faults, and that one that was not set up keeps its
  /// status.
  std::string check_sender() {
    Bytes out;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint64_t number = sender_->number(i);
      seal(out, i, 1);
      if (status_[0] != sender_->status(i)) return "a context changed its status";
      const bool right = status_[0] == ItemStatus::kOk ? out == record(expected_[number], i, kSealed) : all(out, 0);
      if (!right) return "the sender's next message is wrong";
    }
    return "";
  }

  std::string check_recipient() {
    Bytes out;
    for (std::size_t i = 0; i < count_; ++i) {
      open(out, recipient_->number(i), i, 1);
      if (status_[0] != recipient_->status(i)) return "a context changed its status";
      if (!all(out, status_[0] == ItemStatus::kOk ? text_[0] : 0)) return "the recipient's next message is wrong";
    }
    return "";
  }

  Suite suite_;
  Context context_;
  std::size_t count_;
  Bytes psk_, pk_;
  SecretBytes sk_;
  Bytes coins_, enc_;
  const Bytes text_ = Bytes(kWidth, 5);
  Bytes expected_enc_, expected_secrets_;
  std::array<Bytes, 2> expected_;  ///< messages number 0 and 1
  std::optional<Sender> sender_;
  std::optional<Recipient> recipient_;
  bool whole_ = false;  ///< the call has returned
  Bytes out_;
  std::vector<ItemStatus> status_;
};

bool allows(Call call, polykem_status status) {
  return call == Call::kMemory && (status == POLYKEM_ERR_OUT_OF_MEMORY || status == POLYKEM_ERR_INTERNAL);
}

Scenario scenario(const Shape& shape, Step step) {
  auto run = std::make_shared<std::unique_ptr<WatchedContexts>>();
  return {.begin = [run, shape] { *run = std::make_unique<WatchedContexts>(shape); },
          .act = [run, step] { return (*run)->act(step); },
          .check = [run, step](polykem_status) { return (*run)->check(step); },
          .end =
              [run] {
                run->reset();
                OPENSSL_thread_stop();  // frees its last errors
              },
          .allows = allows};
}

/// A sender's contexts from random coins.
Scenario random_sender(const Shape& shape) {
  auto run = std::make_shared<std::unique_ptr<WatchedContexts>>();
  return {.begin = [run, shape] { *run = std::make_unique<WatchedContexts>(shape, false); },
          .act = [run] { return (*run)->act(Step::kSender); },
          .check = [run](polykem_status status) -> std::string {
            return status != POLYKEM_OK || (*run)->agrees() ? "" : "the two sides do not agree";
          },
          .end = [run] { run->reset(); },
          .allows = polykem::test::documented};
}

class HpkeContexts : public testing::TestWithParam<Shape> {};

TEST_P(HpkeContexts, MemoryFails) {
  for (const Step step : {Step::kSender, Step::kRecipient, Step::kSeal, Step::kOpen, Step::kExport})
    EXPECT_GT(sweep(Call::kMemory, [&] { return scenario(GetParam(), step); }), 0) << static_cast<int>(step);
}

TEST_P(HpkeContexts, ThreadsFail) {
  Shape shape = GetParam();
  shape.count = 65;
  shape.threads = 2;
  for (const Step step : {Step::kSender, Step::kRecipient, Step::kSeal, Step::kOpen, Step::kExport})
    EXPECT_GT(sweep(Call::kThread, [&] { return scenario(shape, step); }), 0) << static_cast<int>(step);
}

std::string shape_name(const testing::TestParamInfo<Shape>& info) {
  const Shape& shape = info.param;
  const std::string kem = shape.kem == Kem::kDhkemX25519 ? "Dhkem" : shape.kem == Kem::kMlKem768 ? "MlKem768" : "P256";
  return kem + (shape.kdf == Kdf::kHkdfSha256 ? "Hkdf" : "Shake") + (shape.psk ? "Psk" : "Base");
}

INSTANTIATE_TEST_SUITE_P(Shapes, HpkeContexts,
                         testing::Values(Shape{Kem::kMlKem768P256, Kdf::kShake256, true},
                                         Shape{Kem::kDhkemX25519, Kdf::kHkdfSha256, false}),
                         shape_name);
INSTANTIATE_TEST_SUITE_P(Full, HpkeContexts,
                         testing::Values(Shape{Kem::kMlKem768P256, Kdf::kHkdfSha256, true},
                                         Shape{Kem::kMlKem768, Kdf::kShake256, false},
                                         Shape{Kem::kDhkemX25519, Kdf::kShake256, true}),
                         shape_name);

TEST(HpkeEntropy, OfTheEngineFails) {
  for (const Kem kem : {Kem::kMlKem768, Kem::kMlKem768P256})
    EXPECT_GT(sweep(Call::kRandom, [&] { return random_sender({kem, Kdf::kHkdfSha256, false}); }), 0);
}

int draws_left = 0;

/// Returns OpenSSL's random bytes until `draws_left` is used up, then fails.
int draw(unsigned char* out, int bytes) {
  return draws_left-- > 0 ? RAND_OpenSSL()->bytes(out, bytes) : 0;
}

/// DHKEM's coins come from OpenSSL.
TEST(HpkeEntropy, OfOpensslFails) {
  const RAND_METHOD failing{nullptr, draw, nullptr, nullptr, draw, nullptr};
  WatchedContexts run({Kem::kDhkemX25519, Kdf::kHkdfSha256, false}, false);
  ASSERT_EQ(1, RAND_set_rand_method(&failing));
  int faults = 0;
  for (polykem_status status = POLYKEM_ERR_RANDOM; status != POLYKEM_OK && faults < 9; ++faults) {
    draws_left = faults;
    status = run.act(Step::kSender);
    EXPECT_EQ(faults < 3 ? POLYKEM_ERR_RANDOM : POLYKEM_OK, status) << faults;
  }
  RAND_set_rand_method(nullptr);
  EXPECT_TRUE(run.agrees());
}

}  // namespace
}  // namespace polykem::hpke::test
