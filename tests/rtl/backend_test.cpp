// SPDX-License-Identifier: Apache-2.0
// Compares the backend rtl with the reference, on the core that POLYKEM_RTL_MODULE names: the fake one or the simulated
// one. RTL_ITEMS: the round trips of each set, 200 if it is not set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "accelerators/rtl/accelerator.hpp"
#include "engine/engine.hpp"
#include "schemes/registry.hpp"

namespace polykem::rtl {
namespace {

using Buffer = std::vector<uint8_t>;

size_t items() {
  const char* text = std::getenv("RTL_ITEMS");
  return text == nullptr ? 200 : static_cast<size_t>(std::atoi(text));
}

Buffer noise(size_t bytes, uint32_t seed) {
  Buffer out(bytes);
  for (uint8_t& b : out)
    b = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
  return out;
}

std::unique_ptr<Engine> engine(const char* backend) {
  std::unique_ptr<Engine> made;
  EXPECT_EQ(Engine::create({.threads = 2, .backend = backend}, made), Status::kOk) << accelerator().problem();
  return made;
}

/// The records of `count` exchanges.
struct Records {
  const Scheme& s;
  size_t count;
  Buffer keygen_coins, encaps_coins, pk, sk, ct, ss, received;
  std::vector<Status> status;

  Records(const Scheme& scheme, size_t items)
      : s(scheme),
        count(items),
        keygen_coins(noise(count * s.keygen_coin_bytes, 1)),
        encaps_coins(noise(count * s.encaps_coin_bytes, 2)),
        pk(count * s.public_key_bytes),
        sk(count * s.secret_key_bytes),
        ct(count * s.ciphertext_bytes),
        ss(count * s.shared_secret_bytes),
        received(ss.size()),
        status(count, Status::kInternal) {}

  Request keygen() {
    Request r{.op = Op::kKeygen, .scheme = &s};
    r.records = {.count = count, .coins = keygen_coins.data()};
    r.records.pk_out = pk.data(), r.records.sk_out = sk.data();
    return r;
  }
  Request encaps() {
    Request r{.op = Op::kEncaps, .scheme = &s};
    r.records = {.count = count, .coins = encaps_coins.data(), .pk = pk.data()};
    r.records.ct_out = ct.data(), r.records.ss_out = ss.data(), r.records.item_status = status.data();
    return r;
  }
  Request decaps() {
    Request r{.op = Op::kDecaps, .scheme = &s};
    r.records = {.count = count, .sk = sk.data(), .ct = ct.data()};
    r.records.ss_out = received.data(), r.records.item_status = status.data();
    return r;
  }
};

class Backend : public testing::TestWithParam<const char*> {
 protected:
  const Scheme& scheme = *find_scheme(GetParam());
  const bool checks_keys = std::string(GetParam()).rfind("mlkem", 0) == 0;
  std::unique_ptr<Engine> rtl = engine("rtl"), ref = engine("ref");
  const size_t moved = accelerator().fallbacks();

  void TearDown() override { EXPECT_EQ(accelerator().fallbacks(), moved) << accelerator().problem(); }

  /// Checks that both engines write the same for the request that `make` builds.
  template <class Make>
  void same(Records& a, Records& b, Make&& make) {
    const Status on_rtl = rtl->run(make(a)), on_ref = ref->run(make(b));
    EXPECT_EQ(on_rtl, on_ref);
    EXPECT_TRUE(a.pk == b.pk && a.sk == b.sk && a.ct == b.ct && a.ss == b.ss && a.received == b.received);
    EXPECT_EQ(a.status, b.status);
  }
};

TEST_P(Backend, RoundTripsAreThoseOfTheReference) {
  ASSERT_NE(rtl->route_for(scheme).accelerator, nullptr);
  Records a(scheme, items()), b(scheme, items());
  same(a, b, [](Records& r) { return r.keygen(); });
  same(a, b, [](Records& r) { return r.encaps(); });
  same(a, b, [](Records& r) { return r.decaps(); });
  EXPECT_EQ(a.received, a.ss);
  for (size_t i = 0; i < a.count; ++i) {  // every ciphertext is wrong in one bit
    const size_t byte = i * 37 % scheme.ciphertext_bytes;
    const auto bit = static_cast<uint8_t>(1 << i % 8);
    a.ct[i * scheme.ciphertext_bytes + byte] ^= bit;
    b.ct[i * scheme.ciphertext_bytes + byte] ^= bit;
  }
  same(a, b, [](Records& r) { return r.decaps(); });
  EXPECT_NE(a.received, a.ss);
}

TEST_P(Backend, OneKeyForAll) {
  Records a(scheme, 20), b(scheme, 20);
  same(a, b, [](Records& r) { return r.keygen(); });
  const auto shared = [](Request r) {
    r.records.shared_key = true;
    return r;
  };
  same(a, b, [&](Records& r) { return shared(r.encaps()); });
  same(a, b, [&](Records& r) { return shared(r.decaps()); });
  EXPECT_EQ(a.received, a.ss);
}

TEST_P(Backend, SeedsAndKeySets) {
  Records a(scheme, 20), b(scheme, 20);
  same(a, b, [](Records& r) { return r.keygen(); });
  same(a, b, [](Records& r) { return r.encaps(); });
  if (scheme.secret_seed_bytes() > 0) {
    same(a, b, [](Records& r) {
      Request request = r.decaps();
      request.records.sk = r.keygen_coins.data();
      request.sk_is_seed = true;
      return request;
    });
    EXPECT_EQ(a.received, a.ss);
  }
  KeySet keys;
  ASSERT_EQ(rtl->import_keyset(scheme, KeyKind::kSecretKeys, a.count, a.sk.data(), keys), Status::kOk);
  EXPECT_EQ(keys.accelerator, nullptr) << "on the host";
  std::vector<size_t> index(a.count);
  Buffer want(a.ss.size());
  for (size_t i = 0; i < a.count; ++i) {
    index[i] = (i * 7 + 3) % a.count;
    std::copy_n(&b.ct[index[i] * scheme.ciphertext_bytes], scheme.ciphertext_bytes, &a.ct[i * scheme.ciphertext_bytes]);
    std::copy_n(&b.ss[index[i] * 32], 32, &want[i * 32]);
  }
  Request by_set = a.decaps();
  by_set.records.sk = nullptr;
  by_set.records.key_index = index.data();
  by_set.keyset = &keys;
  EXPECT_EQ(rtl->run(by_set), Status::kOk);
  EXPECT_EQ(a.received, want);
}

TEST_P(Backend, ItDraws) {
  Records a(scheme, 3);
  Request keygen = a.keygen(), encaps = a.encaps();
  keygen.records.coins = encaps.records.coins = nullptr;
  EXPECT_EQ(rtl->run(keygen), Status::kOk);
  EXPECT_EQ(rtl->run(encaps), Status::kOk);
  EXPECT_EQ(ref->run(a.decaps()), Status::kOk);
  EXPECT_EQ(a.received, a.ss);
  EXPECT_NE(Buffer(a.ss.begin(), a.ss.begin() + 32), Buffer(a.ss.begin() + 32, a.ss.begin() + 64));
  const Buffer first = a.pk;
  EXPECT_EQ(rtl->run(keygen), Status::kOk);
  EXPECT_NE(a.pk, first);
}

TEST_P(Backend, MalformedKeysHaveTheirOwnStatus) {
  if (!checks_keys) return;
  Records a(scheme, 12), b(scheme, 12);
  same(a, b, [](Records& r) { return r.keygen(); });
  const Buffer pk = a.pk, sk = a.sk;
  for (const size_t coefficient : {size_t{0}, size_t{1}, scheme.public_key_bytes / 3 * 2 - 22}) {
    for (Records* r : {&a, &b}) {  // 3329 in item 5, 4095 in item 9
      r->pk = pk;
      const auto set = [&](size_t item, unsigned value) {
        uint8_t* pair = &r->pk[item * scheme.public_key_bytes + coefficient / 2 * 3];
        if (coefficient % 2 == 0) {
          pair[0] = static_cast<uint8_t>(value), pair[1] = static_cast<uint8_t>((pair[1] & 0xf0) | value >> 8);
        } else {
          pair[1] = static_cast<uint8_t>((pair[1] & 0x0f) | value << 4), pair[2] = static_cast<uint8_t>(value >> 4);
        }
      };
      set(5, 3329), set(9, 4095), set(7, 3328);
    }
    same(a, b, [](Records& r) { return r.encaps(); });
    for (size_t i = 0; i < a.count; ++i)
      EXPECT_EQ(a.status[i], i == 5 || i == 9 ? Status::kPublicKey : Status::kOk) << i;
  }
  for (Records* r : {&a, &b}) {
    r->sk[3 * scheme.secret_key_bytes + scheme.secret_key_bytes - 64] ^= 1;  // H(ek)
    r->sk[8 * scheme.secret_key_bytes + scheme.secret_key_bytes - 65] ^= 1;  // rho
  }
  same(a, b, [](Records& r) { return r.decaps(); });
  for (size_t i = 0; i < a.count; ++i)
    EXPECT_EQ(a.status[i], i == 3 || i == 8 ? Status::kSecretKey : Status::kOk) << i;
}

TEST_P(Backend, TheProfileHasTheCoresCycles) {
  Records a(scheme, 3);
  rtl->profile().enable(true);
  ASSERT_EQ(rtl->run(a.keygen()), Status::kOk);
  ASSERT_EQ(rtl->run(a.encaps()), Status::kOk);
  ASSERT_EQ(rtl->run(a.decaps()), Status::kOk);
  for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
    uint64_t core = 0, phases = 0;
    for (const Profile::Record& record : rtl->profile().read()) {
      if (record.op != op) continue;
      EXPECT_EQ(record.total.items, 3u) << record.step;
      if (std::string(record.step) == "core") {
        core = record.total.cycles;
        EXPECT_GT(record.total.nanoseconds, 0u);
      } else {
        phases += record.total.cycles;
        EXPECT_TRUE(record.total.cycles == 0 || record.total.nanoseconds == 0) << record.step;
      }
    }
    EXPECT_GT(core, 0u);
    EXPECT_EQ(phases, core) << "the phases and the clearing are all that the core does";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Backend,
                         testing::Values("mlkem512", "mlkem768", "mlkem1024", "kyber512", "kyber768", "kyber1024"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Rtl, OnlyIfItIsAskedFor) {
  const auto any = engine(nullptr);
  EXPECT_EQ(any->route_for(*find_scheme("mlkem768")).accelerator, nullptr);
  EXPECT_TRUE(accelerator().available());
  EXPECT_EQ(any->route_for(*find_scheme("mlkem768")).accelerator, nullptr) << "even though it is open now";
}

TEST(Rtl, SetsThatItLacks) {
  EXPECT_EQ(engine("rtl")->route_for(*find_scheme("frodokem640aes")).backend, nullptr);
  size_t bytes = 0;
  EXPECT_EQ(engine("rtl")->queue_workspace_bytes(*find_scheme("mlkem768"), Op::kDecaps, 1, bytes),
            Status::kBackendUnavailable);
}

}  // namespace
}  // namespace polykem::rtl
