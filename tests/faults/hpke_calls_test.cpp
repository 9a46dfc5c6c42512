// SPDX-License-Identifier: Apache-2.0
// Tests HPKE with every allocation and every start of a thread failing once.
#include <gtest/gtest.h>

#include <openssl/crypto.h>

#include <memory>
#include <new>

#include "hpke/hpke.hpp"
#include "sweep.hpp"

namespace polykem::hpke::test {
namespace {

using polykem::test::Call;
using polykem::test::Scenario;
using polykem::test::sweep;

constexpr std::size_t kWidth = 32;

struct Shape {
  Kem kem;
  std::size_t count;
  unsigned threads;
};

/// One batch, sealed once without faults; the coins are fixed, so every run must yield the same bytes.
struct Run {
  explicit Run(const Shape& shape)
      : suite(shape.kem, Kdf::kHkdfSha256, Aead::kAes128Gcm),
        context(shape.threads),
        count(shape.count),
        pk(count * suite.public_key_bytes()),
        coins(count * suite.coin_bytes(), 3),
        enc(count * suite.enc_bytes()),
        plaintexts(count * kWidth, 5),
        ct(count * (kWidth + kTagBytes)),
        sk(count * suite.secret_key_bytes()),
        status(count) {
    generate(context.handle(), suite, count, pk.data(), sk.data());
    seal_into(enc, ct);
  }

  std::size_t seal_into(Bytes& enc_out, Bytes& ct_out) {
    SealRequest request;
    request.count = count;
    request.pk.data = pk.data();
    request.plaintexts = {plaintexts.data(), kWidth};
    request.coins = coins.data();
    request.enc = enc_out.data();
    request.ciphertexts.data = ct_out.data();
    request.status = status.data();
    return seal(context.handle(), suite, request);
  }

  std::size_t open_into(Bytes& out) {
    OpenRequest request;
    request.count = count;
    request.sk.data = sk.data();
    request.enc = enc.data();
    request.ciphertexts = {ct.data(), kWidth + kTagBytes};
    request.plaintexts.data = out.data();
    request.status = status.data();
    return open(context.handle(), suite, request);
  }

  Suite suite;
  Context context;
  std::size_t count;
  Bytes pk, coins, enc, plaintexts, ct;
  SecretBytes sk;
  std::vector<ItemStatus> status;
  Bytes enc_again, out;
};

/// A call that throws if the batch fails. Single items may fail only because OpenSSL did.
polykem_status status_of(Run& run, const std::function<std::size_t()>& call) {
  try {
    if (call() == 0) return POLYKEM_OK;
  } catch (const Error& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return POLYKEM_ERR_OUT_OF_MEMORY;
  }
  for (const ItemStatus status : run.status)
    if (status != ItemStatus::kOk && status != ItemStatus::kInternal) return POLYKEM_ERR_ITEMS;
  return POLYKEM_ERR_INTERNAL;
}

bool allows(Call call, polykem_status status) {
  return call == Call::kMemory && (status == POLYKEM_ERR_OUT_OF_MEMORY || status == POLYKEM_ERR_INTERNAL);
}

/// Seals or opens. Successful results must equal those without faults.
Scenario scenario(const Shape& shape, bool sealing) {
  auto held = std::make_shared<std::unique_ptr<Run>>();
  return {.begin =
              [held, shape, sealing] {
                *held = std::make_unique<Run>(shape);
                Run& run = **held;
                run.enc_again.resize(run.enc.size());
                run.out.resize(sealing ? run.ct.size() : run.plaintexts.size());
              },
          .act =
              [held, sealing] {
                Run& run = **held;
                return status_of(
                    run, [&] { return sealing ? run.seal_into(run.enc_again, run.out) : run.open_into(run.out); });
              },
          .check = [held, sealing](polykem_status status) -> std::string {
            const Run& run = **held;
            if (status != POLYKEM_OK) return "";
            if (sealing) return run.enc_again == run.enc && run.out == run.ct ? "" : "other bytes than without faults";
            return run.out == run.plaintexts ? "" : "another plaintext";
          },
          .end =
              [held] {
                held->reset();
                OPENSSL_thread_stop();  // frees its last errors
              },
          .allows = allows};
}

class HpkeOf : public testing::TestWithParam<Kem> {};

TEST_P(HpkeOf, MemoryFails) {
  for (const bool sealing : {true, false})
    EXPECT_GT(sweep(Call::kMemory, [&] { return scenario({GetParam(), 3, 1}, sealing); }), 0);
}

TEST_P(HpkeOf, ThreadsFail) {
  for (const bool sealing : {true, false})
    EXPECT_GT(sweep(Call::kThread, [&] { return scenario({GetParam(), 65, 2}, sealing); }), 0);
}

class HpkeThreads : public HpkeOf {};

TEST_P(HpkeThreads, MemoryFails) {
  EXPECT_GT(sweep(Call::kMemory, [&] { return scenario({GetParam(), 65, 2}, false); }), 0);
}

std::string kem_name(const testing::TestParamInfo<Kem>& info) {
  switch (info.param) {
    case Kem::kDhkemX25519:
      return "Dhkem";
    case Kem::kMlKem768:
      return "MlKem768";
    case Kem::kMlKem768X25519:
      return "X25519";
    default:
      return "P256";
  }
}

INSTANTIATE_TEST_SUITE_P(Kems, HpkeOf, testing::Values(Kem::kDhkemX25519, Kem::kMlKem768, Kem::kMlKem768P256),
                         kem_name);
INSTANTIATE_TEST_SUITE_P(Full, HpkeOf, testing::Values(Kem::kMlKem768X25519), kem_name);  // a hybrid like P256's
INSTANTIATE_TEST_SUITE_P(Full, HpkeThreads, testing::Values(Kem::kMlKem768), kem_name);

}  // namespace
}  // namespace polykem::hpke::test
