// SPDX-License-Identifier: Apache-2.0
// Tests contexts of several messages and exported secrets, pre-shared keys, and info and additional data for each item.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include "support.hpp"

namespace {

/// The result of getpid(), unless 0.
pid_t used_again = 0;

}  // namespace

/// Replaces the C library's function.
extern "C" pid_t getpid() {
  return used_again != 0 ? used_again : static_cast<pid_t>(syscall(SYS_getpid));
}

namespace polykem::hpke::test {
namespace {

constexpr std::size_t kCount = 70, kBad = 33, kWidth = 24;

const Suite& usual() {
  static const Suite suite(Kem::kMlKem768, Kdf::kHkdfSha256, Aead::kAes128Gcm);
  return suite;
}

/// Both sides of a batch.
struct Both {
  explicit Both(const Suite& suite, std::size_t count = kCount, const How& how = {})
      : keys(pairs(suite, count)),
        sender(sender_of(suite, keys.pk, count, enc, how)),
        recipient(recipient_of(suite, keys.sk, count, enc, how)) {}
  Pairs keys;
  Bytes enc;
  Sender sender;
  Recipient recipient;
};

Bytes record(const Bytes& all, std::size_t i, std::size_t bytes) {
  return Bytes(all.begin() + i * bytes, all.begin() + (i + 1) * bytes);
}

polykem_status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return POLYKEM_OK;
}

TEST(Contexts, OpenMessagesInOrder) {
  for (const KdfInfo& kdf : kdfs()) {
    for (const AeadInfo& aead : ciphers()) {
      Both both(Suite(Kem::kMlKem512, kdf.id, aead.id));
      Bytes before;
      for (std::uint64_t number = 0; number < 3; ++number) {
        const Bytes plaintexts = messages(kCount, kWidth), aad = bytes_of("aad");
        const Sealed sealed = seal_next(both.sender, plaintexts, aad);
        EXPECT_EQ(0u, sealed.failed);
        EXPECT_NE(before, sealed.ct);
        before = sealed.ct;
        EXPECT_EQ(kCount, open_next(both.recipient, sealed, bytes_of("other")).failed);
        EXPECT_EQ(number, both.recipient.number(0));
        EXPECT_EQ(plaintexts, open_next(both.recipient, sealed, aad).plaintexts);
        EXPECT_EQ(kCount, open_next(both.recipient, sealed, aad).failed) << "opened twice";
        EXPECT_EQ(number + 1, both.recipient.number(kCount - 1));
        EXPECT_EQ(number + 1, both.sender.number(kCount - 1));
      }
    }
  }
}

TEST(Contexts, OpenByNumber) {
  Both both(usual());
  const Bytes aad;
  std::vector<Sealed> sealed;
  for (int i = 0; i < 3; ++i)
    sealed.push_back(seal_next(both.sender, messages(kCount, kWidth + i), aad));
  EXPECT_EQ(kCount, open_next(both.recipient, sealed[2], aad).failed);
  const std::vector<std::uint64_t> last(kCount, 2);
  EXPECT_EQ(messages(kCount, kWidth + 2), open_next(both.recipient, sealed[2], aad, last).plaintexts);
  EXPECT_EQ(0u, both.recipient.number(0));
  both.recipient.skip_to(1);
  EXPECT_EQ(messages(kCount, kWidth + 1), open_next(both.recipient, sealed[1], aad).plaintexts);
  both.recipient.skip_to(0);
  EXPECT_EQ(2u, both.recipient.number(0));
}

TEST(Contexts, EndAtTheLastNumber) {
  Both both(usual());
  both.sender.skip_to(kMaxMessages - 1);
  both.recipient.skip_to(kMaxMessages - 1);
  const Bytes aad, plaintexts = messages(kCount, kWidth);
  const Sealed last = seal_next(both.sender, plaintexts, aad);
  EXPECT_EQ(plaintexts, open_next(both.recipient, last, aad).plaintexts);
  const Sealed none = seal_next(both.sender, plaintexts, aad);
  EXPECT_EQ(std::vector<ItemStatus>(kCount, ItemStatus::kNumber), none.status);
  EXPECT_TRUE(all_zero(none.ct, 0, none.ct.size()));
  EXPECT_EQ(kMaxMessages, both.sender.number(0));
  EXPECT_EQ(ItemStatus::kNumber, open_next(both.recipient, last, aad).status[0]);
  EXPECT_EQ(ItemStatus::kNumber,
            open_next(both.recipient, last, aad, std::vector<std::uint64_t>(kCount, kMaxMessages)).status[0]);
}

TEST(Contexts, BeginWithTheMessageOfTheSingleShot) {
  const Bytes coins = messages(kCount, usual().coin_bytes()), plaintexts = messages(kCount, kWidth);
  const Pairs keys = pairs(usual(), kCount);
  How how;
  how.coins = &coins;
  const Sealed single = seal_all(usual(), keys.pk, plaintexts, kCount, how);
  Bytes enc;
  Sender sender = sender_of(usual(), keys.pk, kCount, enc, how);
  EXPECT_EQ(single.enc, enc);
  EXPECT_EQ(single.ct, seal_next(sender, plaintexts, how.aad).ct);
}

TEST(Contexts, OfMalformedKeysFailAlone) {
  Pairs keys = pairs(usual(), kCount);
  keys.pk[kBad * usual().public_key_bytes()] = 0xff;
  keys.pk[kBad * usual().public_key_bytes() + 1] |= 0x0f;
  Bytes enc;
  Sender sender = sender_of(usual(), keys.pk, kCount, enc);
  EXPECT_EQ(1u, sender.failed());
  EXPECT_EQ(ItemStatus::kPublicKey, sender.status(kBad));
  EXPECT_TRUE(all_zero(enc, kBad * usual().enc_bytes(), usual().enc_bytes()));
  const Sealed sealed = seal_next(sender, messages(kCount, kWidth), {});
  EXPECT_EQ(1u, sealed.failed);
  EXPECT_EQ(ItemStatus::kPublicKey, sealed.status[kBad]);
  EXPECT_TRUE(all_zero(sealed.ct, kBad * (kWidth + kTagBytes), kWidth + kTagBytes));
  EXPECT_EQ(0u, sender.number(kBad));
  EXPECT_TRUE(all_zero(exported(sender, {}, 16), kBad * 16, 16));
}

TEST(Contexts, OfAFewItems) {
  Both both(usual());
  const Bytes plaintexts = messages(3, kWidth);
  Bytes ct(3 * (kWidth + kTagBytes)), opened(plaintexts.size());
  ContextSealRequest request;
  request.first = kBad;
  request.count = 3;
  request.plaintexts = {plaintexts.data(), kWidth};
  request.ciphertexts = {ct.data()};
  EXPECT_EQ(0u, both.sender.seal(request));
  EXPECT_EQ(0u, both.sender.number(kBad - 1));
  EXPECT_EQ(1u, both.sender.number(kBad));
  ContextOpenRequest opening;
  opening.first = kBad;
  opening.count = 3;
  opening.ciphertexts = {ct.data(), kWidth + kTagBytes};
  opening.plaintexts = {opened.data()};
  EXPECT_EQ(0u, both.recipient.open(opening));
  EXPECT_EQ(plaintexts, opened);
  request.count = kCount;
  EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status_of([&] { both.sender.seal(request); }));
}

using MakeProcess = pid_t (*)();

pid_t raw_clone() {  // bypasses the C library: no handler of pthread_atfork runs
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

/// Returns whether `check` holds in a child process that `make` makes. With the parent's id, the child is like one to
/// which the kernel gives that id, in another namespace or after the parent's end.
bool holds_in_a_child(MakeProcess make, bool with_the_parents_id, const std::function<bool()>& check) {
  const pid_t parent = getpid(), child = make();
  if (child == 0) {
    if (with_the_parents_id) used_again = parent;
    _exit(check() ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

TEST(Contexts, DoNotSealInAForkedProcess) {
  Both both(usual(), 1);
  const auto refuses = [&] { return status_of([&] { seal_next(both.sender, Bytes(1), {}); }) == POLYKEM_ERR_ARGUMENT; };
  for (const MakeProcess make : {MakeProcess{fork}, MakeProcess{raw_clone}}) {
    for (const bool with_the_parents_id : {false, true}) {
      EXPECT_TRUE(holds_in_a_child(make, with_the_parents_id, refuses));
      const auto below = [&] { return holds_in_a_child(make, with_the_parents_id, refuses); };
      EXPECT_TRUE(holds_in_a_child(make, with_the_parents_id, below));
    }
  }
  EXPECT_EQ(0u, seal_next(both.sender, Bytes(1), {}).failed);
}

TEST(Contexts, SealInTheProcessThatMadeThem) {
  for (const MakeProcess make : {MakeProcess{fork}, MakeProcess{raw_clone}}) {
    EXPECT_TRUE(holds_in_a_child(make, true, [] {
      Both both(usual(), 1);
      const auto seals = [&] { return seal_next(both.sender, Bytes(1), {}).failed == 0; };
      const auto refuses = [&] {
        return status_of([&] { seal_next(both.sender, Bytes(1), {}); }) == POLYKEM_ERR_ARGUMENT;
      };
      return seals() && holds_in_a_child(raw_clone, true, refuses) && seals();
    }));
  }
}

/// A call during another thread's call is refused; other calls have numbers of their own.
TEST(Contexts, AreOfOneThreadAtATime) {
  Both both(usual(), 1);
  std::atomic<bool> refused{false};
  std::atomic<std::uint64_t> done{0};
  const auto seal_often = [&] {
    const Bytes plaintext(100000);
    while (!refused) {
      const polykem_status status = status_of([&] { seal_next(both.sender, plaintext, {}); });
      if (status == POLYKEM_OK) ++done;
      if (status == POLYKEM_ERR_BUSY) refused = true;
    }
  };
  std::thread other(seal_often);
  seal_often();
  other.join();
  EXPECT_EQ(done, both.sender.number(0));
}

/// Computes seven items at a time, and calls `between` after each piece.
Pieces in_sevens(const std::function<void()>& between) {
  return [=](std::size_t count, const ComputePiece& compute) {
    for (std::size_t first = 0; first < count; first += 7) {
      compute(first, std::min<std::size_t>(7, count - first));
      between();
    }
  };
}

TEST(Contexts, HaveTheirTurnUntilTheLastPiece) {
  Both both(usual());
  const Bytes plaintexts = messages(kCount, kWidth);
  Bytes ct(kCount * (kWidth + kTagBytes));
  ContextSealRequest request;
  request.count = kCount;
  request.plaintexts = {plaintexts.data(), kWidth};
  request.ciphertexts = {ct.data()};
  std::vector<std::uint64_t> numbers(kCount);
  std::size_t pieces = 0;
  const auto between = [&] {
    ++pieces;
    EXPECT_EQ(POLYKEM_ERR_BUSY, status_of([&] { both.sender.seal(request); }));
    EXPECT_EQ(POLYKEM_ERR_BUSY, status_of([&] { exported(both.sender, {}, 16); }));
    EXPECT_EQ(POLYKEM_ERR_BUSY, status_of([&] { both.sender.skip_to(9); }));
    EXPECT_EQ(POLYKEM_ERR_BUSY, status_of([&] { both.sender.numbers(numbers.data()); }));
  };
  EXPECT_EQ(0u, both.sender.seal(request, in_sevens(between)));
  EXPECT_EQ(kCount / 7, pieces);
  both.sender.numbers(numbers.data());
  EXPECT_EQ(std::vector<std::uint64_t>(kCount, 1), numbers);
  const Sealed sealed{kCount, kWidth, {}, ct, std::vector<ItemStatus>(kCount), 0};
  EXPECT_EQ(plaintexts, open_next(both.recipient, sealed, {}).plaintexts);
}

/// Ends a call after its first piece.
void end_call() {
  throw Error(POLYKEM_ERR_RANDOM, "for a test");
}

TEST(Contexts, GoOnAfterASealThatEndedEarly) {
  Both both(usual());
  const Bytes plaintexts = messages(kCount, kWidth);
  Bytes ct(kCount * (kWidth + kTagBytes));
  ContextSealRequest request;
  request.count = kCount;
  request.plaintexts = {plaintexts.data(), kWidth};
  request.ciphertexts = {ct.data()};
  EXPECT_EQ(POLYKEM_ERR_RANDOM, status_of([&] { both.sender.seal(request, in_sevens(end_call)); }));
  EXPECT_EQ(1u, both.sender.number(6)) << "its nonce is used";
  EXPECT_EQ(0u, both.sender.number(7));
  std::vector<std::uint64_t> numbers(kCount);
  both.sender.numbers(numbers.data());
  const std::uint64_t highest = *std::max_element(numbers.begin(), numbers.end());
  both.sender.skip_to(highest);
  both.recipient.skip_to(highest);
  EXPECT_EQ(0u, both.sender.seal(request));
  const Sealed sealed{kCount, kWidth, {}, ct, std::vector<ItemStatus>(kCount), 0};
  EXPECT_EQ(plaintexts, open_next(both.recipient, sealed, {}).plaintexts);
}

TEST(Contexts, OpenAgainAfterAnOpenThatEndedEarly) {
  Both both(usual());
  const Bytes plaintexts = messages(kCount, kWidth);
  const Sealed sealed = seal_next(both.sender, plaintexts, {});
  Bytes opened(plaintexts.size());
  ContextOpenRequest request;
  request.count = kCount;
  request.ciphertexts = {sealed.ct.data(), kWidth + kTagBytes};
  request.plaintexts = {opened.data()};
  EXPECT_EQ(POLYKEM_ERR_RANDOM, status_of([&] { both.recipient.open(request, in_sevens(end_call)); }));
  EXPECT_EQ(0u, both.recipient.number(0));
  EXPECT_EQ(plaintexts, open_next(both.recipient, sealed, {}).plaintexts);
}

TEST(Exporter, GivesBothSidesTheSame) {
  for (const KdfInfo& kdf : kdfs()) {
    const Suite suite(Kem::kMlKem512, kdf.id, Aead::kAes256Gcm);
    Both both(suite);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{32}, std::size_t{200}, suite.max_export_bytes()}) {
      const Bytes secrets = exported(both.sender, bytes_of("for this"), bytes);
      EXPECT_EQ(secrets, exported(both.recipient, bytes_of("for this"), bytes));
      if (bytes == 1) continue;
      EXPECT_NE(record(secrets, 0, bytes), record(secrets, 1, bytes));
      EXPECT_NE(secrets, exported(both.sender, bytes_of("for that"), bytes));
    }
    EXPECT_TRUE(exported(both.sender, {}, 0).empty());
    EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status_of([&] { exported(both.sender, {}, suite.max_export_bytes() + 1); }));
  }
}

TEST(Exporter, NeedsNoCipher) {
  for (const Kdf kdf : {Kdf::kHkdfSha256, Kdf::kShake128}) {
    const Suite suite(Kem::kMlKem512, kdf, Aead::kExportOnly);
    Both both(suite);
    EXPECT_EQ(exported(both.sender, {}, 32), exported(both.recipient, {}, 32));
    EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status_of([&] { seal_next(both.sender, messages(kCount, 1), {}); }));
    EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status_of([&] { seal_all(suite, both.keys.pk, messages(kCount, 1), kCount); }));
  }
}

TEST(PreSharedKeys, AreNeededToOpen) {
  for (const Kdf kdf : {Kdf::kHkdfSha512, Kdf::kShake256}) {
    const Suite suite(Kem::kMlKem768, kdf, Aead::kAes128Gcm);
    const Pairs keys = pairs(suite, kCount);
    How how;
    how.psk = messages(1, 200);  // longer than a block of the hash
    how.psk_id = bytes_of("id");
    const Bytes plaintexts = messages(kCount, kWidth);
    const Sealed sealed = seal_all(suite, keys.pk, plaintexts, kCount, how);
    EXPECT_EQ(plaintexts, open_all(suite, keys.sk, sealed, how).plaintexts);
    How other = how;
    other.psk[199] ^= 1;
    EXPECT_EQ(kCount, open_all(suite, keys.sk, sealed, other).failed);
    other = how;
    other.psk_id[0] ^= 1;
    EXPECT_EQ(kCount, open_all(suite, keys.sk, sealed, other).failed);
    EXPECT_EQ(kCount, open_all(suite, keys.sk, sealed).failed);
  }
}

TEST(PreSharedKeys, ComeWithAnIdentityAndHave32Bytes) {
  const Pairs keys = pairs(usual(), 1);
  const auto status = [&](std::size_t psk, std::size_t id) {
    How how;
    how.psk.resize(psk, 1);
    how.psk_id.resize(id, 2);
    return status_of([&] { seal_all(usual(), keys.pk, Bytes(5), 1, how); });
  };
  EXPECT_EQ(POLYKEM_OK, status(32, 1));
  EXPECT_EQ(POLYKEM_OK, status(0, 0));
  EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status(31, 1));
  EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status(32, 0));
  EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status(0, 1));
}

/// Info and additional data of each item, in records or by offsets, give the same results as sealing it alone.
TEST(EachItem, HasItsOwnInfoAndAdditionalDataAndPreSharedKey) {
  for (const Kdf kdf : {Kdf::kHkdfSha256, Kdf::kShake128}) {
    const Suite suite(Kem::kMlKem768X25519, kdf, Aead::kChaCha20Poly1305);
    const Pairs keys = pairs(suite, kCount);
    const Bytes plaintexts = messages(kCount, kWidth), coins = messages(kCount, suite.coin_bytes());
    const Bytes info = messages(kCount, 5), psk = messages(kCount, 32);
    std::vector<std::uint64_t> begins(kCount + 1);  // item i has i bytes
    for (std::size_t i = 0; i < kCount; ++i)
      begins[i + 1] = begins[i] + i;
    const Bytes aad = messages(1, begins.back());
    Bytes enc(kCount * suite.enc_bytes()), ct(kCount * (kWidth + kTagBytes)), opened(plaintexts.size());
    SealRequest request;
    request.count = kCount;
    request.pk = {keys.pk.data()};
    request.info = {info.data(), 5};
    request.aad = {aad.data(), 0, begins.data()};
    const Bytes id = bytes_of("of all");
    request.psk = {{psk.data(), 32}, for_all(id)};
    request.plaintexts = {plaintexts.data(), kWidth};
    request.coins = coins.data();
    request.enc = enc.data();
    request.ciphertexts = {ct.data()};
    EXPECT_EQ(0u, seal(context(3), suite, request));
    for (std::size_t i = 0; i < kCount; ++i) {
      const Bytes coin = record(coins, i, suite.coin_bytes());
      How how{record(info, i, 5), Bytes(aad.begin() + begins[i], aad.begin() + begins[i + 1])};
      how.coins = &coin;
      how.psk = record(psk, i, 32);
      how.psk_id = id;
      const Sealed alone =
          seal_all(suite, record(keys.pk, i, suite.public_key_bytes()), record(plaintexts, i, kWidth), 1, how);
      EXPECT_EQ(record(ct, i, kWidth + kTagBytes), alone.ct) << i;
    }
    OpenRequest opening;
    opening.count = kCount;
    opening.sk = {keys.sk.data()};
    opening.info = request.info;
    opening.aad = request.aad;
    opening.psk = request.psk;
    opening.enc = enc.data();
    opening.ciphertexts = {ct.data(), kWidth + kTagBytes};
    opening.plaintexts = {opened.data()};
    EXPECT_EQ(0u, open(context(3), suite, opening));
    EXPECT_EQ(plaintexts, opened);
    opening.info.data = psk.data() + 1;
    EXPECT_EQ(kCount, open(context(3), suite, opening));
  }
}

TEST(EachItem, IsRefusedIfOneOfThemMayNotBe) {
  const Pairs keys = pairs(usual(), 2);
  const Bytes psk(63, 1), id(2, 1), plaintext(1);
  Bytes enc(2 * usual().enc_bytes()), ct(2 * (1 + kTagBytes));
  const std::vector<std::uint64_t> short_psk = {0, 32, 63}, no_id = {0, 2, 2}, down = {5, 0, 0};
  SealRequest request;
  request.count = 2;
  request.pk = {keys.pk.data()};
  request.plaintexts = for_all(plaintext);
  request.enc = enc.data();
  request.ciphertexts = {ct.data()};
  const auto status = [&] { return status_of([&] { seal(context(), usual(), request); }); };
  request.psk = {{psk.data(), 0, short_psk.data()}, for_all(id)};
  EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status());
  request.psk = {{psk.data(), 32, nullptr, true}, {id.data(), 0, no_id.data()}};
  EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status());
  request.psk = {};
  EXPECT_EQ(POLYKEM_OK, status());
  request.info = {id.data(), 0, down.data()};
  EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status());
  request.info = {};
  request.aad = {nullptr, 3};
  EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status());
}

}  // namespace
}  // namespace polykem::hpke::test
