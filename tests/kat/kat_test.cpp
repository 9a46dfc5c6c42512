// SPDX-License-Identifier: Apache-2.0
// Known answers of every set on every backend of this machine, at batch counts around the lane widths.
#include "support/batch.hpp"

#include "prim/keccak/keccak.hpp"

namespace polykem::test {
namespace {

#ifdef POLYKEM_SMALL_BATCHES  // under a sanitizer a thousand key pairs take long and run no other code than 64 do
constexpr size_t kCounts[] = {1, 7, 8, 9, 15, 16, 17, 64};
#else
constexpr size_t kCounts[] = {1, 7, 8, 9, 15, 16, 17, 64, 1000};
#endif

struct Vector {
  Bytes keygen_draws, encaps_draws, pk, sk, ct, ss;
  struct Reject {
    size_t byte;
    uint8_t flip;
    Bytes ss;
  };
  std::vector<Reject> reject;
};

Bytes joined_draws(const nlohmann::json& draws) {
  Bytes all;
  for (const auto& draw : draws) {
    const Bytes bytes = from_hex(draw.get<std::string>());
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

std::vector<Vector> load_vectors(const std::string& name) {
  std::vector<Vector> vectors;
  const auto file = load_json(std::string(POLYKEM_TEST_DATA) + "/" + name + ".json");
  for (const auto& entry : file.at("counts")) {
    Vector v{joined_draws(entry.at("keypair_draws")),
             joined_draws(entry.at("encaps_draws")),
             from_hex(entry.at("pk")),
             from_hex(entry.at("sk")),
             from_hex(entry.at("ct")),
             from_hex(entry.at("ss")),
             {}};
    for (const auto& r : entry.at("reject")) {
      v.reject.push_back({r.at("byte").get<size_t>(), r.at("xor").get<uint8_t>(), from_hex(r.at("ss"))});
    }
    vectors.push_back(std::move(v));
  }
  return vectors;
}

/// `count` records, item i from vector i modulo their number.
template <class Field>
Bytes cycle(const std::vector<Vector>& vectors, size_t count, Field&& field) {
  Bytes all;
  for (size_t i = 0; i < count; ++i) {
    const Bytes& bytes = field(vectors[i % vectors.size()]);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

struct Case {
  std::string set, backend;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.set << " on " << c.backend;
}

class KnownAnswers : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    context_ = make_context(GetParam().backend.c_str(), 2);
    set_ = scheme(GetParam().set);
    ASSERT_STREQ(polykem_context_backend(context_.get(), set_), GetParam().backend.c_str());
  }
  Context context_;
  const polykem_scheme* set_ = nullptr;
};

TEST_P(KnownAnswers, EveryVectorAtEveryBatchCount) {
  const auto vectors = load_vectors(GetParam().set);
  ASSERT_EQ(vectors.size(), 10u);
  const auto sizes = info(set_);
  for (const auto& v : vectors) {
    ASSERT_EQ(v.keygen_draws.size(), sizes.keygen_draw_bytes);
    ASSERT_EQ(v.encaps_draws.size(), sizes.encaps_draw_bytes);
  }
  for (const size_t count : kCounts) {
    SCOPED_TRACE(count);
    const Bytes keygen_draws = cycle(vectors, count, [](const Vector& v) -> const Bytes& { return v.keygen_draws; });
    const Bytes encaps_draws = cycle(vectors, count, [](const Vector& v) -> const Bytes& { return v.encaps_draws; });
    const Bytes pk = cycle(vectors, count, [](const Vector& v) -> const Bytes& { return v.pk; });
    const Bytes sk = cycle(vectors, count, [](const Vector& v) -> const Bytes& { return v.sk; });
    const Bytes ct = cycle(vectors, count, [](const Vector& v) -> const Bytes& { return v.ct; });
    const Bytes ss = cycle(vectors, count, [](const Vector& v) -> const Bytes& { return v.ss; });

    Bytes pk_out(pk.size(), 0xaa), sk_out(sk.size(), 0xaa), ct_out(ct.size(), 0xaa), ss_out(ss.size(), 0xaa);
    auto request = make_request(POLYKEM_KEYGEN, set_, count);
    request.draws = keygen_draws.data();
    request.pk_out = pk_out.data();
    request.sk_out = sk_out.data();
    ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
    EXPECT_TRUE(pk_out == pk);
    EXPECT_TRUE(sk_out == sk);

    request = make_request(POLYKEM_ENCAPS, set_, count);
    request.draws = encaps_draws.data();
    request.pk = pk.data();
    request.ct_out = ct_out.data();
    request.ss_out = ss_out.data();
    ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
    EXPECT_TRUE(ct_out == ct);
    EXPECT_TRUE(ss_out == ss);

    std::fill(ss_out.begin(), ss_out.end(), 0xaa);
    ASSERT_EQ(
        polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), ss_out.data(), nullptr),
        POLYKEM_OK);
    EXPECT_TRUE(ss_out == ss);
  }
}

TEST_P(KnownAnswers, EveryRejectCaseAtEveryBatchCount) {
  const auto vectors = load_vectors(GetParam().set);
  for (const size_t count : kCounts) {
    SCOPED_TRACE(count);
    Bytes sk, ct, expected;
    for (size_t i = 0; i < count; ++i) {
      const Vector& v = vectors[i % vectors.size()];
      const auto& reject = v.reject[(i / vectors.size() + i) % v.reject.size()];
      Bytes changed = v.ct;
      changed.at(reject.byte) ^= reject.flip;
      sk.insert(sk.end(), v.sk.begin(), v.sk.end());
      ct.insert(ct.end(), changed.begin(), changed.end());
      expected.insert(expected.end(), reject.ss.begin(), reject.ss.end());
    }
    Bytes ss(expected.size(), 0xaa);
    ASSERT_EQ(
        polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), ss.data(), nullptr),
        POLYKEM_OK);
    EXPECT_TRUE(ss == expected);
  }
}

/// accumulated.json: 100 rounds fed from one SHAKE128 stream, all outputs hashed together.
TEST_P(KnownAnswers, AccumulatedHash) {
  const auto sets = load_json(std::string(POLYKEM_TEST_DATA) + "/accumulated.json").at("sets");
  ASSERT_TRUE(sets.contains(GetParam().set));
  const std::string expected = sets.at(GetParam().set).at("pk,sk,ct,ss,ssr").at("100");
  const auto sizes = info(set_);
  const size_t rounds = 100;
  Bytes keygen_draws(rounds * sizes.keygen_draw_bytes), encaps_draws(rounds * sizes.encaps_draw_bytes);
  Bytes random_ct(rounds * sizes.ciphertext_bytes);
  Shake stream(Shake::Strength::shake128);
  for (size_t i = 0; i < rounds; ++i) {
    stream.squeeze({&keygen_draws[i * sizes.keygen_draw_bytes], sizes.keygen_draw_bytes});
    stream.squeeze({&encaps_draws[i * sizes.encaps_draw_bytes], sizes.encaps_draw_bytes});
    stream.squeeze({&random_ct[i * sizes.ciphertext_bytes], sizes.ciphertext_bytes});
  }
  Bytes pk(rounds * sizes.public_key_bytes), sk(rounds * sizes.secret_key_bytes), ct(rounds * sizes.ciphertext_bytes);
  Bytes ss(rounds * 32), again(rounds * 32), rejected(rounds * 32);
  auto request = make_request(POLYKEM_KEYGEN, set_, rounds);
  request.draws = keygen_draws.data();
  request.pk_out = pk.data();
  request.sk_out = sk.data();
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  request = make_request(POLYKEM_ENCAPS, set_, rounds);
  request.draws = encaps_draws.data();
  request.pk = pk.data();
  request.ct_out = ct.data();
  request.ss_out = ss.data();
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  const auto decaps = [&](const Bytes& c, Bytes& out) {
    return polykem_decaps(context_.get(), set_, rounds, POLYKEM_KEY_PER_ITEM, sk.data(), c.data(), out.data(), nullptr);
  };
  ASSERT_EQ(decaps(ct, again), POLYKEM_OK);
  ASSERT_EQ(decaps(random_ct, rejected), POLYKEM_OK);
  EXPECT_TRUE(again == ss);
  Shake hash(Shake::Strength::shake128);
  for (size_t i = 0; i < rounds; ++i) {
    hash.absorb({&pk[i * sizes.public_key_bytes], sizes.public_key_bytes});
    hash.absorb({&sk[i * sizes.secret_key_bytes], sizes.secret_key_bytes});
    hash.absorb({&ct[i * sizes.ciphertext_bytes], sizes.ciphertext_bytes});
    hash.absorb({&ss[i * 32], 32});
    hash.absorb({&rejected[i * 32], 32});
  }
  Bytes digest(32);
  hash.squeeze(digest);
  EXPECT_TRUE(digest == from_hex(expected));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& backend : available_backends()) {
    for (const auto& name : scheme_names())
      all.push_back({name, backend});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, KnownAnswers, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.set + "_" + info.param.backend; });

}  // namespace
}  // namespace polykem::test
