// SPDX-License-Identifier: Apache-2.0
// Compares ML-DSA on a GPU with the fastest CPU backend: bytes and verdicts must be equal.
//   polykem_gpu_signatures
// POLYKEM_GPU_KERNELS and POLYKEM_GPU_ITEMS: see gpu_check.cpp.
#include "engine/job.hpp"
#include "exchange.hpp"

namespace polykem::test {
namespace {

std::vector<Set> signature_sets() {
  std::vector<Set> all;
  for (size_t i = 0; i < polykem_signature_count(); ++i) {
    const Set set(polykem_signature_at(i));
    if (selected(set.info.family, set.name())) all.push_back(set);
  }
  return all;
}

/// Messages of 0 to 299 bytes, every fiftieth of `long_bytes` unless that is 0, and contexts of 0 to 255.
struct Texts {
  Bytes messages, contexts;
  std::vector<size_t> message_offsets{0}, context_offsets{0};

  Texts(size_t count, std::mt19937_64& random, size_t long_bytes = 0) {
    for (size_t i = 0; i < count; ++i) {
      const bool is_long = long_bytes != 0 && i % 50 == 7;
      message_offsets.push_back(message_offsets.back() + (is_long ? long_bytes : i % 5 == 0 ? 0 : random() % 300));
      context_offsets.push_back(context_offsets.back() + (i % 3 == 0 ? random() % 256 : i % 3 == 1 ? 255 : 0));
    }
    messages.resize(message_offsets.back() + 1);
    contexts.resize(context_offsets.back() + 1);
    fill(messages, random);
    fill(contexts, random);
  }
  polykem_messages all() const {
    polykem_messages m{};
    m.struct_size = sizeof m;
    m.strings = {messages.data(), message_offsets.data(), 0, 0};
    m.contexts = {contexts.data(), context_offsets.data(), 0, 0};
    return m;
  }
};

/// Keys, signatures and verdicts of one batch.
struct Signing {
  size_t count;
  Bytes xi, rnd, pk, sk, sig;
  std::vector<polykem_status> verdicts;

  Signing(const Set& set, size_t n, std::mt19937_64& random)
      : count(n),
        xi(n * set.info.keygen_coin_bytes),
        rnd(n * set.info.sign_coin_bytes),
        pk(n * set.info.public_key_bytes, 0xa5),
        sk(n * set.info.secret_key_bytes, 0xa5),
        sig(n * set.info.signature_bytes, 0xa5),
        verdicts(n) {
    fill(xi, random);
    fill(rnd, random);
  }
};

polykem_status keygen(const Context& context, const Set& set, Signing& s) {
  auto r = request(set, POLYKEM_KEYGEN, s.count);
  r.coins = s.xi.data();
  r.pk_out = s.pk.data();
  r.sk_out = s.sk.data();
  return polykem_run(context.get(), &r);
}

polykem_status sign(const Context& context, const Set& set, Signing& s, const polykem_messages& messages, bool shared,
                    bool with_coins = true) {
  auto r = request(set, POLYKEM_SIGN, s.count, shared);
  r.coins = with_coins ? s.rnd.data() : nullptr;
  r.sk = s.sk.data();
  r.messages = &messages;
  r.sig_out = s.sig.data();
  return polykem_run(context.get(), &r);
}

/// Returns the number of signatures that are refused.
size_t verify(const Context& context, const Set& set, Signing& s, const polykem_messages& messages, bool shared) {
  auto r = request(set, POLYKEM_VERIFY, s.count, shared);
  r.pk = s.pk.data();
  r.messages = &messages;
  r.sig = s.sig.data();
  r.item_status = s.verdicts.data();
  const polykem_status status = polykem_run(context.get(), &r);
  size_t refused = 0;
  for (const polykem_status verdict : s.verdicts) {
    expect(verdict == POLYKEM_OK || verdict == POLYKEM_ERR_SIGNATURE, set.name() + " has another verdict");
    refused += verdict != POLYKEM_OK;
  }
  expect(status == (refused == 0 ? POLYKEM_OK : POLYKEM_ERR_ITEMS), set.name() + " verify");
  return refused;
}

/// Changes every third signature: a bit, the whole hint, or one of the hint's counts.
void damage_signatures(const Set& set, Bytes& sig, size_t count, std::mt19937_64& random) {
  const size_t bytes = set.info.signature_bytes;
  for (size_t i = 0; i < count; i += 3) {
    uint8_t* record = sig.data() + i * bytes;
    switch (i / 3 % 4) {
      case 0:
        record[random() % bytes] ^= static_cast<uint8_t>(1u << (random() % 8));
        break;
      case 1:
        std::fill(record + bytes - 61, record + bytes, uint8_t{0xff});
        break;
      case 2:
        record[bytes - 1 - random() % 4] ^= 0x81;
        break;
      default:
        std::fill(record + set.info.signature_bytes / 2, record + set.info.signature_bytes / 2 + 40, uint8_t{0});
    }
  }
}

void check_against_cpu(const Set& set, size_t count, const polykem_messages& messages, bool shared,
                       const std::string& what, std::mt19937_64& random) {
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  const std::string label = set.name() + " x " + std::to_string(count) + (shared ? " shared " : " ") + what;
  Signing a(set, count, random);
  Signing b = a;
  expect(keygen(gpu, set, a) == POLYKEM_OK && keygen(cpu, set, b) == POLYKEM_OK, label + " keygen");
  expect_equal(a.pk, b.pk, set.info.public_key_bytes, label + " pk");
  expect_equal(a.sk, b.sk, set.info.secret_key_bytes, label + " sk");
  expect(sign(gpu, set, a, messages, shared) == POLYKEM_OK, label + " sign");
  expect(sign(cpu, set, b, messages, shared) == POLYKEM_OK, label + " sign");
  expect_equal(a.sig, b.sig, set.info.signature_bytes, label + " signature");
  expect(verify(gpu, set, a, messages, shared) == 0, label + ": a good signature is refused");
  damage_signatures(set, a.sig, count, random);
  b.sig = a.sig;
  expect(verify(gpu, set, a, messages, shared) == verify(cpu, set, b, messages, shared) && a.verdicts == b.verdicts,
         label + ": verdicts differ");
}

void check_kinds_of_messages(const Set& set, std::mt19937_64& random) {
  constexpr size_t kCount = 131;
  const Texts texts(kCount, random), hashed_by_cpu(kCount, random, size_t{5} << 20);
  polykem_messages pure = texts.all(), digests = texts.all(), mu{}, one{};
  const Bytes oid{0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03};
  digests.kind = POLYKEM_MESSAGE_DIGEST;
  digests.digest_oid = oid.data();
  digests.digest_oid_bytes = oid.size();
  Bytes mus(kCount * 64), text(100000);
  fill(mus, random);
  fill(text, random);
  mu.struct_size = one.struct_size = sizeof mu;
  mu.kind = POLYKEM_MESSAGE_MU;
  mu.strings = {mus.data(), nullptr, 64, 0};
  one.strings = {text.data(), nullptr, text.size(), 1};
  one.deterministic = 1;
  check_against_cpu(set, kCount, pure, false, "of any length", random);
  check_against_cpu(set, kCount, hashed_by_cpu.all(), false, "that the CPU hashes", random);
  check_against_cpu(set, kCount, digests, true, "digests", random);
  check_against_cpu(set, kCount, mu, false, "mu", random);
  check_against_cpu(set, kCount, one, false, "one message", random);
  one.strings = {};
  check_against_cpu(set, kCount, one, false, "empty messages", random);
}

/// Signatures without coins differ and verify; deterministic ones are the same.
void check_randomness(const Set& set, std::mt19937_64& random) {
  const Context gpu = make_context("cuda");
  constexpr size_t kCount = 200;
  const Texts texts(kCount, random);
  polykem_messages messages = texts.all();
  Signing a(set, kCount, random);
  expect(keygen(gpu, set, a) == POLYKEM_OK, set.name() + " keygen");
  Signing b = a;
  expect(sign(gpu, set, a, messages, false, false) == POLYKEM_OK, set.name() + " sign");
  expect(sign(gpu, set, b, messages, false, false) == POLYKEM_OK, set.name() + " sign");
  expect(verify(gpu, set, a, messages, false) + verify(gpu, set, b, messages, false) == 0, set.name() + " hedged");
  size_t same = 0;
  for (size_t i = 0; i < kCount; ++i)
    same += std::equal(a.sig.begin() + static_cast<ptrdiff_t>(i * set.info.signature_bytes),
                       a.sig.begin() + static_cast<ptrdiff_t>((i + 1) * set.info.signature_bytes),
                       b.sig.begin() + static_cast<ptrdiff_t>(i * set.info.signature_bytes));
  expect(same == 0, set.name() + ": hedged signatures repeat");
  messages.deterministic = 1;
  expect(sign(gpu, set, a, messages, false, false) == POLYKEM_OK, set.name() + " sign");
  expect(sign(gpu, set, b, messages, false, false) == POLYKEM_OK, set.name() + " sign");
  expect_equal(a.sig, b.sig, set.info.signature_bytes, set.name() + " deterministic");
}

/// Uses key sets with an index, and keys and signatures in the GPU's memory, also at odd addresses.
void check_places(const Set& set, std::mt19937_64& random) {
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  constexpr size_t kCount = 301, kKeys = 17;
  const Texts texts(kCount, random, size_t{5} << 20);  // mu of some, for which the CPU reads from the GPU's keys
  const polykem_messages messages = texts.all();
  Signing all(set, kCount, random);
  expect(keygen(cpu, set, all) == POLYKEM_OK, set.name() + " keygen");
  std::vector<size_t> index(kCount);
  for (size_t& i : index)
    i = random() % kKeys;
  Signing chosen = all;  // each item's key as a record
  for (size_t i = 0; i < kCount; ++i) {
    std::memcpy(&chosen.pk[i * set.info.public_key_bytes], &all.pk[index[i] * set.info.public_key_bytes],
                set.info.public_key_bytes);
    std::memcpy(&chosen.sk[i * set.info.secret_key_bytes], &all.sk[index[i] * set.info.secret_key_bytes],
                set.info.secret_key_bytes);
  }
  expect(sign(cpu, set, chosen, messages, false) == POLYKEM_OK, set.name() + " sign");
  polykem_keyset *secret = nullptr, *open = nullptr;
  expect(
      polykem_keyset_import(gpu.get(), set.scheme, POLYKEM_SECRET_KEYS, kKeys, all.sk.data(), &secret) == POLYKEM_OK &&
          polykem_keyset_import(gpu.get(), set.scheme, POLYKEM_PUBLIC_KEYS, kKeys, all.pk.data(), &open) == POLYKEM_OK,
      set.name() + " key sets");
  auto s = request(set, POLYKEM_SIGN, kCount), v = request(set, POLYKEM_VERIFY, kCount);
  s.keyset = secret;
  v.keyset = open;
  s.key_index = v.key_index = index.data();
  s.coins = chosen.rnd.data();
  s.messages = v.messages = &messages;
  Bytes sig(chosen.sig.size(), 0xa5);
  s.sig_out = sig.data();
  v.sig = sig.data();
  v.item_status = chosen.verdicts.data();
  expect(polykem_run(gpu.get(), &s) == POLYKEM_OK, set.name() + " sign with a key set");
  expect_equal(sig, chosen.sig, set.info.signature_bytes, set.name() + " signature with a key set");
  expect(polykem_run(gpu.get(), &v) == POLYKEM_OK, set.name() + " verify with a key set");
  polykem_keyset_free(secret);
  polykem_keyset_free(open);

  for (const size_t offset : {0u, 1u, 2u, 3u}) {
    const std::string label = set.name() + " on the GPU, " + std::to_string(offset) + " bytes off";
    const OnDevice pk(chosen.pk, offset), sk(chosen.sk, offset), out(chosen.sig.size(), offset);
    const OnDevice new_pk(all.pk.size(), offset), new_sk(all.sk.size(), offset);
    auto k = request(set, POLYKEM_KEYGEN, kCount);
    k.coins = all.xi.data();
    k.pk_out = new_pk.data();
    k.sk_out = new_sk.data();
    s.keyset = v.keyset = nullptr;
    s.key_index = v.key_index = nullptr;
    s.sk = sk.data();
    s.sig_out = out.data();
    v.pk = pk.data();
    v.sig = out.data();
    expect(polykem_run(gpu.get(), &k) == POLYKEM_OK && polykem_run(gpu.get(), &s) == POLYKEM_OK &&
               polykem_run(gpu.get(), &v) == POLYKEM_OK,
           label);
    expect_equal(new_pk.read(), all.pk, set.info.public_key_bytes, label + " pk");
    expect_equal(new_sk.read(), all.sk, set.info.secret_key_bytes, label + " sk");
    expect_equal(out.read(), chosen.sig, set.info.signature_bytes, label + " signature");
  }
}

/// Signs with keys given as seeds.
void check_seeds(const Set& set, std::mt19937_64& random) {
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  constexpr size_t kCount = 65;
  const Texts texts(kCount, random);
  const polykem_messages messages = texts.all();
  Signing x(set, kCount, random);
  expect(keygen(cpu, set, x) == POLYKEM_OK && sign(cpu, set, x, messages, false) == POLYKEM_OK, set.name() + " sign");
  Bytes sig(x.sig.size(), 0xa5);
  auto s = request(set, POLYKEM_SIGN, kCount);
  s.sk = x.xi.data();
  s.secret_form = POLYKEM_SECRET_SEED;
  s.coins = x.rnd.data();
  s.messages = &messages;
  s.sig_out = sig.data();
  expect(polykem_run(gpu.get(), &s) == POLYKEM_OK, set.name() + " sign with seeds");
  expect_equal(sig, x.sig, set.info.signature_bytes, set.name() + " signature with seeds");
}

/// Must be the last one: the CPU computes what the module fails to.
void check_faults(const Set& set, std::mt19937_64& random) {
  const auto& table = *cuda::loaded_module().table;
  const Texts texts(301, random);
  for (const int after : {0, 3, 5}) {
    const size_t before = chunk_fallbacks();
    table.inject(cuda::Fault::kStep, after);
    check_against_cpu(set, 301, texts.all(), false, "with a failure", random);
    expect(chunk_fallbacks() > before, set.name() + ": the failure was not counted");
  }
  table.inject(cuda::Fault::kNone, 0);
}

int run() {
  std::mt19937_64 random(42);
  for (const Set& set : signature_sets()) {
    const size_t many = wanted_items(set);
    for (const size_t count : {size_t{1}, size_t{2}, size_t{31}, size_t{33}, size_t{2047}, size_t{2049}, many}) {
      if (count > many) continue;
      const Texts texts(count, random);
      for (const bool shared : {false, true})
        check_against_cpu(set, count, texts.all(), shared, "", random);
    }
    check_kinds_of_messages(set, random);
    check_randomness(set, random);
    check_places(set, random);
    check_seeds(set, random);
    std::printf("%s: %zu items\n", set.info.name, many);
  }
  expect(chunk_fallbacks() == 0, "the device failed and the CPU took over");
  for (const Set& set : signature_sets())
    check_faults(set, random);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace polykem::test

int main() {
  const auto& module = polykem::cuda::loaded_module();
  if (module.table == nullptr) {
    std::fprintf(stderr, "skipped: %s\n", module.problem.c_str());
    return 77;
  }
  if (!polykem::test::choose_kernels()) return 2;
  return polykem::test::run();
}
