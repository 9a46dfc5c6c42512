// SPDX-License-Identifier: Apache-2.0
// Tests how the engine uses an accelerator, with one that has no device: NTRU and ML-KEM, and limits of ML-DSA.
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "schemes/registry.hpp"
#include "test_accelerator.hpp"

namespace polykem {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t kCount = 100;

Bytes noise(size_t bytes, uint32_t seed) {
  Bytes out(bytes);
  for (uint8_t& b : out)
    b = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
  return out;
}

std::unique_ptr<Engine> engine(const char* backend, std::span<Accelerator* const> accelerators = {}) {
  std::unique_ptr<Engine> made;
  EXPECT_EQ(Engine::create({.threads = 2, .backend = backend, .accelerators = accelerators}, made), Status::kOk);
  return made;
}

/// The records of an exchange, made by the reference.
struct Exchange {
  const Scheme& s;
  Bytes keygen_coins, encaps_coins, pk, sk, ct, ss;
  std::unique_ptr<Engine> ref = engine(cpu::kRef);

  explicit Exchange(const Scheme& scheme)
      : s(scheme),
        keygen_coins(noise(kCount * s.keygen_coin_bytes, 1)),
        encaps_coins(noise(kCount * s.encaps_coin_bytes, 2)),
        pk(kCount * s.public_key_bytes),
        sk(kCount * s.secret_key_bytes),
        ct(kCount * s.ciphertext_bytes),
        ss(kCount * s.shared_secret_bytes) {
    EXPECT_EQ(ref->run(keygen(pk, sk)), Status::kOk);
    EXPECT_EQ(ref->run(encaps(ct, ss)), Status::kOk);
  }
  Request keygen(Bytes& pk_out, Bytes& sk_out) const {
    Request r{.op = Op::kKeygen, .scheme = &s};
    r.records = {.count = kCount, .coins = keygen_coins.data()};
    r.records.pk_out = pk_out.data(), r.records.sk_out = sk_out.data();
    return r;
  }
  Request encaps(Bytes& ct_out, Bytes& ss_out) const {
    Request r{.op = Op::kEncaps, .scheme = &s};
    r.records = {.count = kCount, .coins = encaps_coins.data(), .pk = pk.data()};
    r.records.ct_out = ct_out.data(), r.records.ss_out = ss_out.data();
    return r;
  }
  Request decaps(Bytes& ss_out) const {
    Request r{.op = Op::kDecaps, .scheme = &s};
    r.records = {.count = kCount, .sk = sk.data(), .ct = ct.data()};
    r.records.ss_out = ss_out.data();
    return r;
  }
};

class AcceleratorInterface : public testing::TestWithParam<const Scheme*> {
 protected:
  test::TestAccelerator device;
  Accelerator* const list[1] = {&device};
  std::unique_ptr<Engine> on_device = engine("test", list);
  Exchange x{*GetParam()};
};

TEST_P(AcceleratorInterface, ComputesWhatTheReferenceDoes) {
  Bytes pk(x.pk.size()), sk(x.sk.size()), ct(x.ct.size()), ss(x.ss.size()), decapsulated(x.ss.size());
  EXPECT_EQ(on_device->run(x.keygen(pk, sk)), Status::kOk);
  EXPECT_EQ(on_device->run(x.encaps(ct, ss)), Status::kOk);
  EXPECT_EQ(on_device->run(x.decaps(decapsulated)), Status::kOk);
  EXPECT_TRUE(pk == x.pk && sk == x.sk && ct == x.ct && ss == x.ss && decapsulated == x.ss);
  EXPECT_EQ(device.chunks, 3u * 3);  // 100 items in chunks of 40
}

TEST_P(AcceleratorInterface, UnforcedBatchesStayOnTheCpuUntilTheyPay) {
  const auto any = engine(nullptr, list);
  EXPECT_EQ(any->route_for(x.s).accelerator, nullptr);
  Bytes ss(x.ss.size());
  EXPECT_EQ(any->run(x.decaps(ss)), Status::kOk);
  EXPECT_EQ(device.chunks, 0u);
}

TEST_P(AcceleratorInterface, KeysOfASetAreChosenWhereTheyLie) {
  KeySet secrets, publics;
  ASSERT_EQ(on_device->import_keyset(x.s, KeyKind::kSecretKeys, kCount, x.sk.data(), secrets), Status::kOk);
  ASSERT_EQ(on_device->import_keyset(x.s, KeyKind::kPublicKeys, kCount, x.pk.data(), publics), Status::kOk);
  EXPECT_EQ(secrets.accelerator, &device);
  EXPECT_EQ(secrets.placed->expanded(false).data != nullptr,
            cpu_backend(x.s, cpu::kRef)->expanded_secret_key.bytes > 0);
  std::vector<size_t> index(kCount);
  Bytes pk(x.pk.size()), sk(x.sk.size());
  for (size_t i = 0; i < kCount; ++i) {
    index[i] = i * 7 % kCount;
    std::memcpy(&pk[i * x.s.public_key_bytes], &x.pk[index[i] * x.s.public_key_bytes], x.s.public_key_bytes);
    std::memcpy(&sk[i * x.s.secret_key_bytes], &x.sk[index[i] * x.s.secret_key_bytes], x.s.secret_key_bytes);
  }
  for (const bool chosen : {false, true}) {
    Bytes ct(x.ct.size()), ss(x.ss.size()), want_ct(x.ct.size()), want_ss(x.ss.size()), got(x.ss.size());
    Request want = x.encaps(want_ct, want_ss), by_set = x.encaps(ct, ss);
    want.records.pk = chosen ? pk.data() : x.pk.data();
    by_set.records.pk = nullptr;
    by_set.keyset = &publics;
    by_set.records.key_index = chosen ? index.data() : nullptr;
    ASSERT_EQ(x.ref->run(want), Status::kOk);
    ASSERT_EQ(on_device->run(by_set), Status::kOk);
    EXPECT_TRUE(ct == want_ct && ss == want_ss);
    Request decaps = x.decaps(got);
    decaps.records.sk = nullptr;
    decaps.records.ct = ct.data();
    decaps.keyset = &secrets;
    decaps.records.key_index = by_set.records.key_index;
    ASSERT_EQ(on_device->run(decaps), Status::kOk);
    EXPECT_TRUE(got == want_ss);
    decaps.records.shared_key = true;  // the first chosen key for all, which is right only for its own ciphertext
    ASSERT_EQ(on_device->run(decaps), Status::kOk);
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + 16, want_ss.begin()));
    EXPECT_FALSE(got == want_ss);
  }
}

TEST_P(AcceleratorInterface, ItemsHaveTheirOwnStatus) {
  Bytes pk = x.pk, ct(x.ct.size()), ss(x.ss.size());
  const bool checks_keys = std::string(x.s.name).rfind("mlkem", 0) == 0;
  pk[50 * x.s.public_key_bytes] = 0xff;
  pk[50 * x.s.public_key_bytes + 1] |= 0x0f;
  std::vector<Status> status(kCount, Status::kInternal);
  Request r = x.encaps(ct, ss);
  r.records.pk = pk.data();
  r.records.item_status = status.data();
  EXPECT_EQ(on_device->run(r), checks_keys ? Status::kItems : Status::kOk);
  for (size_t i = 0; i < kCount; ++i)
    EXPECT_EQ(status[i], checks_keys && i == 50 ? Status::kPublicKey : Status::kOk) << i;
}

TEST_P(AcceleratorInterface, TheCpuTakesOverWhatFails) {
  device.broken = true;
  const size_t before = chunk_fallbacks();
  Bytes pk(x.pk.size()), sk(x.sk.size()), ss(x.ss.size());
  std::vector<Status> status(kCount, Status::kInternal);
  EXPECT_EQ(on_device->run(x.keygen(pk, sk)), Status::kOk);
  Request r = x.decaps(ss);
  r.records.item_status = status.data();
  EXPECT_EQ(on_device->run(r), Status::kOk);
  EXPECT_TRUE(pk == x.pk && sk == x.sk && ss == x.ss);
  EXPECT_EQ(status, std::vector<Status>(kCount, Status::kOk));
  EXPECT_EQ(chunk_fallbacks() - before, 6u);
}

TEST_P(AcceleratorInterface, NobodyTakesOverWhatLiesOnABrokenDevice) {
  KeySet keys;
  ASSERT_EQ(on_device->import_keyset(x.s, KeyKind::kSecretKeys, kCount, x.sk.data(), keys), Status::kOk);
  uint8_t* const ct = device.allocate(x.ct.size());
  std::memcpy(ct, x.ct.data(), x.ct.size());
  device.broken = true;
  Bytes ss(x.ss.size(), 0x55);
  std::vector<Status> status(kCount, Status::kOk);
  Request by_set = x.decaps(ss);
  by_set.records.sk = nullptr;
  by_set.keyset = &keys;
  by_set.records.item_status = status.data();
  EXPECT_EQ(on_device->run(by_set), Status::kBackendUnavailable);
  EXPECT_EQ(ss, Bytes(ss.size(), 0)) << "it failed on the way";
  EXPECT_EQ(status, std::vector<Status>(kCount, Status::kBackendUnavailable));
  Request by_array = x.decaps(ss);
  by_array.records.ct = ct;
  EXPECT_EQ(on_device->run(by_array), Status::kBackendUnavailable) << "memory that the device does not know any more";
}

TEST_P(AcceleratorInterface, OutputsOnTheDeviceAreZeroedWhereABatchFails) {
  uint8_t* const ss = device.allocate(x.ss.size());
  std::memset(ss, 0x55, x.ss.size());
  device.fails = true;
  Bytes unused(x.ss.size());
  std::vector<Status> status(kCount, Status::kOk);
  Request r = x.decaps(unused);
  r.records.ss_out = ss;
  r.records.item_status = status.data();
  EXPECT_EQ(on_device->run(r), Status::kBackendUnavailable) << "the CPU cannot write there";
  EXPECT_TRUE(std::all_of(ss, ss + x.ss.size(), [](uint8_t byte) { return byte == 0; }));
  EXPECT_EQ(status, std::vector<Status>(kCount, Status::kBackendUnavailable));
}

TEST_P(AcceleratorInterface, ArraysOnTwoAcceleratorsAreRefused) {
  test::TestAccelerator other;
  Accelerator* const both[] = {&device, &other};
  const auto any = engine(nullptr, both);
  uint8_t* const ct = device.allocate(x.ct.size());
  uint8_t* const sk = other.allocate(x.sk.size());
  std::memcpy(ct, x.ct.data(), x.ct.size());
  std::memcpy(sk, x.sk.data(), x.sk.size());
  Bytes ss(x.ss.size(), 0x55);
  Request r = x.decaps(ss);
  r.records.ct = ct;
  r.records.sk = sk;
  EXPECT_EQ(any->run(r), Status::kArgument);
  EXPECT_EQ(ss, Bytes(x.ss.size(), 0x55)) << "refused before anything is touched";
  KeySet keys;
  ASSERT_EQ(on_device->import_keyset(x.s, KeyKind::kSecretKeys, kCount, x.sk.data(), keys), Status::kOk);
  uint8_t* const elsewhere = other.allocate(x.ct.size());
  Request by_set = x.decaps(ss);
  by_set.records.sk = nullptr;
  by_set.keyset = &keys;
  by_set.records.ct = elsewhere;
  EXPECT_EQ(any->run(by_set), Status::kArgument) << "keys on one, ciphertexts on the other";
  EXPECT_EQ(device.chunks + other.chunks, 0u);
}

TEST_P(AcceleratorInterface, AWorkspaceFitsWhicheverAcceleratorHasTheArrays) {
  test::TestAccelerator other;
  other.queue_item_bytes = 7;
  Accelerator* const both[] = {&device, &other};
  for (const char* forced : {static_cast<const char*>(nullptr), "ref", "test"}) {
    size_t bytes = 0;
    EXPECT_EQ(engine(forced, both)->queue_workspace_bytes(x.s, Op::kDecaps, 10, bytes), Status::kOk);
    EXPECT_EQ(bytes, 70u);
  }
}

TEST_P(AcceleratorInterface, ANoteOfTheCrossoversStaysReadable) {
  ::setenv("XDG_CACHE_HOME", "/dev/null/no/folder", 1);
  const char* const first = device.crossovers().note();
  const std::string before = first;
  device.crossovers().set(x.s, {1, 2, 3});
  const char* const second = device.crossovers().note();
  EXPECT_EQ(first, before) << "static storage";
  EXPECT_NE(second, before);
}

/// The device cannot read messages, which are on the host.
TEST(AcceleratorSignatures, AreNotQueuedOnAStream) {
  test::TestAccelerator device;
  Accelerator* const list[1] = {&device};
  const auto any = engine(nullptr, list);
  const Scheme& s = *signature_registry()[0];
  uint8_t *const pk = device.allocate(s.public_key_bytes), *const sk = device.allocate(s.secret_key_bytes),
                 *const sig = device.allocate(s.signature_bytes), *const workspace = device.allocate(64);
  Request keygen{.op = Op::kKeygen, .scheme = &s}, sign{.op = Op::kSign, .scheme = &s};
  keygen.records = {.count = 1, .pk_out = pk, .sk_out = sk};
  sign.records = {.count = 1, .sk = sk, .sig_out = sig};
  ASSERT_EQ(any->run(keygen), Status::kOk);
  ASSERT_EQ(any->run(sign), Status::kOk);
  EXPECT_EQ(any->queue(keygen, workspace, nullptr), Status::kArgument);
  EXPECT_EQ(any->queue(sign, workspace, nullptr), Status::kArgument);
}

TEST_P(AcceleratorInterface, ArraysOnTheDeviceAreUsedThere) {
  uint8_t* const ct = device.allocate(x.ct.size());
  uint8_t* const ss = device.allocate(x.ss.size());
  std::memcpy(ct, x.ct.data(), x.ct.size());
  Bytes unused(x.ss.size());
  Request r = x.decaps(unused);
  r.records.ct = ct;
  r.records.ss_out = ss;
  const auto any = engine(nullptr, list);
  EXPECT_EQ(any->run(r), Status::kOk);
  EXPECT_EQ(device.chunks, 3u) << "where the data lies decides, not the size";
  EXPECT_TRUE(std::equal(x.ss.begin(), x.ss.end(), ss));
  EXPECT_EQ(any->queue(r, ct, nullptr), Status::kArgument) << "sk is not on the device";
  uint8_t* const sk = device.allocate(x.sk.size());
  std::memcpy(sk, x.sk.data(), x.sk.size());
  r.records.sk = sk;
  uint8_t* const workspace = device.allocate(64);
  std::memset(ss, 0, x.ss.size());
  EXPECT_EQ(any->queue(r, workspace, nullptr), Status::kOk);
  EXPECT_TRUE(std::equal(x.ss.begin(), x.ss.end(), ss));
  EXPECT_EQ(any->queue(r, unused.data(), nullptr), Status::kArgument) << "a workspace on the host";
  r.records.item_status = reinterpret_cast<Status*>(device.allocate(kCount * sizeof(Status)));
  EXPECT_EQ(any->run(r), Status::kArgument) << "the host could not read it";
  std::memset(ss, 0, x.ss.size());
  EXPECT_EQ(any->queue(r, workspace, nullptr), Status::kOk) << "the device writes it";
  EXPECT_TRUE(std::equal(x.ss.begin(), x.ss.end(), ss));
  std::vector<Status> on_host(kCount, Status::kInternal);
  r.records.item_status = on_host.data();
  EXPECT_EQ(any->queue(r, workspace, nullptr), Status::kArgument) << "the device cannot write it";
  EXPECT_EQ(on_host, std::vector<Status>(kCount, Status::kInternal));
  KeySet keys;
  ASSERT_EQ(on_device->import_keyset(x.s, KeyKind::kSecretKeys, kCount, x.sk.data(), keys), Status::kOk);
  Request chosen = x.decaps(unused);
  chosen.records.sk = nullptr;
  chosen.keyset = &keys;
  std::memset(ss, 0, x.ss.size());
  chosen.records.key_index = reinterpret_cast<size_t*>(ss);
  EXPECT_EQ(on_device->run(chosen), Status::kArgument) << "nor the index";
}

std::vector<const Scheme*> schemes() {
  std::vector<const Scheme*> all;
  for (const Scheme* s : registry()) {
    const std::string family = s->family;
    if (family == "mlkem" || (family == "ntru" && s->public_key_bytes < 1500)) all.push_back(s);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, AcceleratorInterface, testing::ValuesIn(schemes()),
                         [](const auto& info) { return info.param->name; });

}  // namespace
}  // namespace polykem
