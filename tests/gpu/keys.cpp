// SPDX-License-Identifier: Apache-2.0
#include "keys.hpp"

namespace polykem::test {
namespace {

struct FreeKeyset {
  void operator()(polykem_keyset* keys) const { polykem_keyset_free(keys); }
};
using Keyset = std::unique_ptr<polykem_keyset, FreeKeyset>;

Keyset import_keys(const Context& context, const Set& set, polykem_key_kind kind, size_t count, const Bytes& keys) {
  polykem_keyset* out = nullptr;
  expect(polykem_keyset_import(context.get(), set.scheme, kind, count, keys.data(), &out) == POLYKEM_OK,
         set.name() + ": keyset_import");
  return Keyset(out);
}

/// Returns a permutation of this many keys.
std::vector<size_t> shuffled(size_t count) {
  std::vector<size_t> index(count);
  size_t step = 7;
  while (count % step == 0)
    step += 2;
  for (size_t i = 0; i < count; ++i)
    index[i] = (i * step + 3) % count;
  return index;
}

/// The ways in which the items of a batch choose their keys.
enum class Choice { kInOrder, kByIndex, kShared };
constexpr Choice kChoices[] = {Choice::kInOrder, Choice::kByIndex, Choice::kShared};
constexpr const char* kChoiceNames[] = {" in order", " by index", " shared"};

/// The results of a batch.
struct Outcome {
  polykem_status status;
  std::vector<polykem_status> items;
  Bytes ct, ss;
};

/// Runs a request with outputs of its own, poisoned, and with item_status unless `silent`.
Outcome run(const Context& context, const Set& set, polykem_request r, bool silent = false) {
  Outcome o{POLYKEM_OK, std::vector<polykem_status>(silent ? 0 : r.count, POLYKEM_ERR_INTERNAL),
            Bytes(r.op == POLYKEM_ENCAPS ? r.count * set.info.ciphertext_bytes : 0, 0xa5),
            Bytes(r.count * set.info.shared_secret_bytes, 0xa5)};
  r.ct_out = r.op == POLYKEM_ENCAPS ? o.ct.data() : nullptr;
  r.ss_out = o.ss.data();
  r.item_status = silent ? nullptr : o.items.data();
  o.status = polykem_run(context.get(), &r);
  return o;
}

void expect_same(const Set& set, const Outcome& got, const Outcome& wanted, const std::string& what) {
  const std::string label = set.name() + " " + what;
  expect(got.status == wanted.status, label + ": '" + polykem_status_text(got.status) + "' where the CPU says '" +
                                          polykem_status_text(wanted.status) + "'");
  expect(got.items == wanted.items, label + ": other statuses of items than on the CPU");
  if (!wanted.ct.empty()) expect_equal(got.ct, wanted.ct, set.info.ciphertext_bytes, label + " ct");
  expect_equal(got.ss, wanted.ss, set.info.shared_secret_bytes, label + " ss");
}

polykem_request chosen(const Set& set, polykem_op op, size_t count, Choice choice, const std::vector<size_t>& index) {
  auto r = request(set, op, count, choice == Choice::kShared);
  r.key_index = choice == Choice::kByIndex ? index.data() : nullptr;
  return r;
}

/// A valid exchange made by the CPU from coins that differ with every call.
Exchange made_by_cpu(const Context& cpu, const Set& set, size_t count, std::mt19937_64& random) {
  Exchange x(set, count);
  fill(x.keygen_coins, random);
  fill(x.encaps_coins, random);
  keygen(cpu, set, x, true);
  encaps(cpu, set, x, true);
  return x;
}

/// The same keys in sets of two contexts.
struct Imported {
  Keyset on_gpu, on_cpu;
  Imported(const Set& set, const Context& gpu, const Context& cpu, polykem_key_kind kind, size_t count,
           const Bytes& keys)
      : on_gpu(import_keys(gpu, set, kind, count, keys)), on_cpu(import_keys(cpu, set, kind, count, keys)) {}
};

/// Encapsulates to keys of imported sets and decapsulates damaged ciphertexts, on the GPU and on the CPU. e, d: which
/// keys, and the coins.
void compare_exchange(const Set& set, const Context& gpu, const Context& cpu, const Imported& open,
                      const Imported& secret, polykem_request e, polykem_request d, const std::string& keys) {
  e.keyset = open.on_cpu.get();
  const Outcome made = run(cpu, set, e);
  e.keyset = open.on_gpu.get();
  expect_same(set, run(gpu, set, e), made, keys + " encaps");
  std::mt19937_64 random(e.count);
  Bytes ct = made.ct;
  damage(set, ct, e.count, random);
  d.ct = ct.data();
  d.keyset = secret.on_cpu.get();
  const Outcome wanted = run(cpu, set, d);
  d.keyset = secret.on_gpu.get();
  expect_same(set, run(gpu, set, d), wanted, keys + " decaps");
}

void compare_imported(const Set& set, const Context& gpu, const Context& cpu, const Exchange& x,
                      polykem_key_kind secret_kind, const Bytes& secret_keys) {
  const std::vector<size_t> index = shuffled(x.count);
  const Imported open(set, gpu, cpu, POLYKEM_PUBLIC_KEYS, x.count, x.pk);
  const Imported secret(set, gpu, cpu, secret_kind, x.count, secret_keys);
  for (const Choice choice : kChoices) {
    auto e = chosen(set, POLYKEM_ENCAPS, x.count, choice, index);
    e.coins = x.encaps_coins.data();
    compare_exchange(set, gpu, cpu, open, secret, e, chosen(set, POLYKEM_DECAPS, x.count, choice, index),
                     std::string("key sets") + kChoiceNames[static_cast<size_t>(choice)]);
  }
}

/// Small key sets, in which FrodoKEM's keys are kept expanded for batches with one key.
void compare_few_keys(const Set& set, const Context& gpu, const Context& cpu, std::mt19937_64& random) {
  constexpr size_t kKeys = 3;
  const Exchange x = made_by_cpu(cpu, set, kKeys, random);
  const Imported open(set, gpu, cpu, POLYKEM_PUBLIC_KEYS, kKeys, x.pk);
  const Imported secret(set, gpu, cpu, POLYKEM_SECRET_KEYS, kKeys, x.sk);
  const size_t most = wanted_items(set);
  for (const size_t count : {size_t{1}, std::min<size_t>(25, most), std::min<size_t>(300, most)}) {
    Bytes coins(count * set.info.encaps_coin_bytes);
    fill(coins, random);
    std::vector<size_t> index(count);
    for (size_t i = 0; i < count; ++i)
      index[i] = (i + 2) % kKeys;
    for (const Choice choice : {Choice::kByIndex, Choice::kShared}) {
      auto e = request(set, POLYKEM_ENCAPS, count, choice == Choice::kShared), d = e;
      d.op = POLYKEM_DECAPS;
      e.key_index = d.key_index = index.data();  // the first one, if the key is shared
      e.coins = coins.data();
      compare_exchange(set, gpu, cpu, open, secret, e, d,
                       std::string("few keys") + kChoiceNames[static_cast<size_t>(choice)]);
    }
  }
}

/// Secret keys that the GPU generated and that never left it.
void exchange_with_generated(const Set& set, const Context& gpu, size_t count) {
  Exchange x(set, count);
  polykem_keyset* made = nullptr;
  expect(polykem_keyset_generate(gpu.get(), set.scheme, count, x.pk.data(), &made) == POLYKEM_OK, "keyset_generate");
  const Keyset secret(made);
  if (made == nullptr) return;
  const std::vector<size_t> index = shuffled(count);
  const Keyset open = import_keys(gpu, set, POLYKEM_PUBLIC_KEYS, count, x.pk);
  for (const Choice choice : kChoices) {
    auto e = chosen(set, POLYKEM_ENCAPS, count, choice, index), d = chosen(set, POLYKEM_DECAPS, count, choice, index);
    e.keyset = open.get();
    d.keyset = secret.get();
    const Outcome sent = run(gpu, set, e);
    d.ct = sent.ct.data();
    const Outcome received = run(gpu, set, d);
    expect(sent.status == POLYKEM_OK && received.status == POLYKEM_OK, set.name() + ": batch with key sets");
    expect_equal(received.ss, sent.ss, set.info.shared_secret_bytes,
                 set.name() + " generated keys" + kChoiceNames[static_cast<size_t>(choice)]);
  }
}

/// Writes a 12-bit coefficient of an encoded vector.
void set_coefficient(uint8_t* vector, size_t i, unsigned value) {
  uint8_t* at = vector + i / 2 * 3;
  if (i % 2 == 0) {
    at[0] = static_cast<uint8_t>(value);
    at[1] = static_cast<uint8_t>((at[1] & 0xf0) | value >> 8);
  } else {
    at[1] = static_cast<uint8_t>((at[1] & 0x0f) | (value & 0xf) << 4);
    at[2] = static_cast<uint8_t>(value >> 4);
  }
}

constexpr unsigned kQ = 3329;
constexpr size_t kTail = 64;  ///< H(ek) and z at the end of a secret key

constexpr size_t kPointBytes = 32;  ///< of X25519, at the end of a hybrid's keys and ciphertexts

bool public_key_breaks(size_t i) {
  return i % 7 == 3;
}

bool secret_key_breaks(size_t i) {
  return i % 5 == 2;
}

bool point_breaks(size_t i) {
  return i % 11 == 5;
}

/// Returns the CPU's status of an item: it refuses only broken keys and points, and no key of Kyber.
polykem_status wanted_status(const Set& set, polykem_op op, size_t i) {
  const bool hybrid = set.is("hybrid"), point = hybrid && point_breaks(i);
  if (!hybrid && set.name().rfind("mlkem", 0) != 0) return POLYKEM_OK;
  if (op == POLYKEM_ENCAPS) return public_key_breaks(i) || point ? POLYKEM_ERR_PUBLIC_KEY : POLYKEM_OK;
  const bool seed = set.info.secret_key_bytes == 32;  // which has no hash that could be wrong
  if (secret_key_breaks(i) && !seed) return POLYKEM_ERR_SECRET_KEY;
  return point ? POLYKEM_ERR_CIPHERTEXT : POLYKEM_OK;
}

/// Points of order 1, 2, 4 and 8, also in other encodings, whose multiples by a clamped scalar are zero; one in turn.
void set_small_point(uint8_t* point, size_t i) {
  constexpr uint8_t kOrder8[2][kPointBytes] = {
      {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
       0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
      {0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
       0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57}};
  const size_t which = i % 7;
  if (which < 2) {
    std::memcpy(point, kOrder8[which], kPointBytes);
  } else if (which < 4) {  // 0, 1
    std::memset(point, 0, kPointBytes);
    point[0] = static_cast<uint8_t>(which - 2);
  } else {  // p - 1, p, p + 1
    std::memset(point, 0xff, kPointBytes);
    point[0] = static_cast<uint8_t>(0xec + which - 4);
    point[31] = 0x7f;
  }
  if (i / 7 % 2 == 1) point[31] |= 0x80;  // which is ignored
}

/// A coefficient of some public keys becomes q or more, the first and the last among them; some secret keys hold
/// another hash than that of their public key. Of hybrids some points of keys and ciphertexts have small order.
void break_keys(const Set& set, Exchange& x) {
  const bool hybrid = set.is("hybrid");
  const size_t pk_bytes = set.info.public_key_bytes, sk_bytes = set.info.secret_key_bytes;
  const size_t ct_bytes = set.info.ciphertext_bytes, behind = hybrid ? kPointBytes : 0;
  const size_t ek_bytes = pk_bytes - behind, coefficients = (ek_bytes - 32) / 3 * 2;
  for (size_t i = 0; i < x.count; ++i) {
    uint8_t *pk = x.pk.data() + i * pk_bytes, *sk = x.sk.data() + i * sk_bytes;
    const size_t where = i % 3 == 0 ? 0 : i % 3 == 1 ? coefficients - 1 : i * 37 % coefficients;
    if (public_key_breaks(i)) set_coefficient(pk, where, kQ + static_cast<unsigned>(i * 29 % (4096 - kQ)));
    if (hybrid && point_breaks(i)) {
      set_small_point(pk + ek_bytes, i);
      set_small_point(x.ct.data() + (i + 1) * ct_bytes - kPointBytes, i);
    }
    if (!secret_key_breaks(i) || sk_bytes == kPointBytes) continue;
    uint8_t* const tail = sk + sk_bytes - behind - kTail;
    if (i % 2 == 0)
      tail[i % 32] ^= static_cast<uint8_t>(1u << (i % 8));
    else
      *(tail - ek_bytes + i % ek_bytes) ^= 0x10;
  }
}

void expect_refusals(const Set& set, const Outcome& cpu, polykem_op op, const std::string& what) {
  size_t wrong = 0, refused = 0;
  for (size_t i = 0; i < cpu.items.size(); ++i) {
    const polykem_status wanted = wanted_status(set, op, i);
    wrong += cpu.items[i] != wanted;
    refused += wanted != POLYKEM_OK;
  }
  expect(cpu.status == (refused > 0 ? POLYKEM_ERR_ITEMS : POLYKEM_OK), set.name() + " " + what + " on the CPU");
  expect(wrong == 0, set.name() + " " + what + ": the CPU does not refuse the keys that are broken");
}

/// One operation over broken keys: with statuses, without, with the first broken key for all, by a key set.
void compare_broken(const Set& set, const Context& gpu, const Context& cpu, const Exchange& x, polykem_op op) {
  const bool encaps = op == POLYKEM_ENCAPS;
  const std::string what = encaps ? "broken public keys" : "broken secret keys";
  auto r = request(set, op, x.count);
  r.coins = encaps ? x.encaps_coins.data() : nullptr;
  r.pk = encaps ? x.pk.data() : nullptr;
  r.sk = encaps ? nullptr : x.sk.data();
  r.ct = encaps ? nullptr : x.ct.data();
  const Outcome wanted = run(cpu, set, r);
  expect_refusals(set, wanted, op, what);
  expect_same(set, run(gpu, set, r), wanted, what);
  expect_same(set, run(gpu, set, r, true), run(cpu, set, r, true), what + " without statuses");

  auto shared = r;
  shared.key_mode = POLYKEM_KEY_SHARED;
  shared.pk = encaps ? x.pk.data() + 3 * set.info.public_key_bytes : nullptr;
  shared.sk = encaps ? nullptr : x.sk.data() + 2 * set.info.secret_key_bytes;
  expect_same(set, run(gpu, set, shared), run(cpu, set, shared), what + ", one for all");

  const polykem_key_kind kind = encaps ? POLYKEM_PUBLIC_KEYS : POLYKEM_SECRET_KEYS;
  const Keyset on_gpu = import_keys(gpu, set, kind, x.count, encaps ? x.pk : x.sk);
  const Keyset on_cpu = import_keys(cpu, set, kind, x.count, encaps ? x.pk : x.sk);
  const std::vector<size_t> index = shuffled(x.count);
  r.pk = r.sk = nullptr;
  for (const Choice choice : {Choice::kInOrder, Choice::kByIndex}) {
    auto k = r;
    k.key_index = choice == Choice::kByIndex ? index.data() : nullptr;
    k.keyset = on_cpu.get();
    const Outcome from_set = run(cpu, set, k);
    k.keyset = on_gpu.get();
    expect_same(set, run(gpu, set, k), from_set, what + " in a key set" + kChoiceNames[static_cast<size_t>(choice)]);
  }
}

/// Arrays on the GPU, queued on a stream: statuses too, and the outputs of a malformed item are zero.
void compare_queued(const Set& set, const Context& gpu, const Context& cpu, const Exchange& x, polykem_op op) {
  const bool encaps = op == POLYKEM_ENCAPS;
  auto r = request(set, op, x.count);
  (encaps ? r.coins : r.ct) = (encaps ? x.encaps_coins : x.ct).data();
  (encaps ? r.pk : r.sk) = (encaps ? x.pk : x.sk).data();
  const Outcome wanted = run(cpu, set, r);
  const OnDevice input(encaps ? x.encaps_coins : x.ct), keys(encaps ? x.pk : x.sk), ct(x.ct.size()), ss(x.ss.size());
  const OnDevice status(x.count * sizeof(polykem_status));
  size_t bytes = 0;
  expect(polykem_cuda_workspace(gpu.get(), set.scheme, r.op, x.count, &bytes) == POLYKEM_OK, "workspace");
  const OnDevice workspace(bytes);
  (encaps ? r.coins : r.ct) = input.data();
  (encaps ? r.pk : r.sk) = keys.data();
  r.ct_out = encaps ? ct.data() : nullptr;
  r.ss_out = ss.data();
  r.item_status = reinterpret_cast<polykem_status*>(status.data());
  expect(polykem_cuda_queue(gpu.get(), &r, workspace.data(), nullptr) == POLYKEM_OK, set.name() + ": queue");
  const Bytes items = status.read();
  expect(std::memcmp(items.data(), wanted.items.data(), items.size()) == 0,
         set.name() + " broken keys, queued, item_status");
  if (encaps) expect_equal(ct.read(), wanted.ct, set.info.ciphertext_bytes, set.name() + " broken keys, queued, ct");
  expect_equal(ss.read(), wanted.ss, set.info.shared_secret_bytes, set.name() + " broken keys, queued, ss");
}

}  // namespace

void check_keysets(const Set& set) {
  const size_t count = std::min<size_t>(999, wanted_items(set));
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  exchange_with_generated(set, gpu, count);
  std::mt19937_64 random(19);
  const Exchange x = made_by_cpu(cpu, set, count, random);
  compare_imported(set, gpu, cpu, x, POLYKEM_SECRET_KEYS, x.sk);
  compare_few_keys(set, gpu, cpu, random);
  std::printf("%s: %zu keys on the GPU\n", set.info.name, count);
}

void check_seeds(const Set& set) {
  if (set.info.secret_seed_bytes == 0) return;
  const size_t count = std::min<size_t>(301, wanted_items(set));
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  std::mt19937_64 random(23);
  Exchange x = made_by_cpu(cpu, set, count, random);
  damage(set, x.ct, count, random);
  for (const bool shared : {false, true}) {
    auto d = request(set, POLYKEM_DECAPS, count, shared);
    d.secret_form = POLYKEM_SECRET_SEED;
    d.sk = x.keygen_coins.data();
    d.ct = x.ct.data();
    const Outcome wanted = run(cpu, set, d);
    expect_same(set, run(gpu, set, d), wanted, shared ? "one seed" : "seeds");
    d.secret_form = POLYKEM_SECRET_EXPANDED;
    d.sk = x.sk.data();
    expect_same(set, run(gpu, set, d), wanted, shared ? "the key of one seed" : "the keys of the seeds");
  }
  compare_imported(set, gpu, cpu, x, POLYKEM_SECRET_SEEDS, x.keygen_coins);
  std::printf("%s: %zu secret keys as seeds\n", set.info.name, count);
}

void check_malformed(const Set& set) {
  if (!set.is("mlkem") && !set.is("hybrid")) return;
  const size_t count = std::min<size_t>(2101, wanted_items(set));
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  std::mt19937_64 random(29);
  Exchange x = made_by_cpu(cpu, set, count, random);
  break_keys(set, x);
  compare_broken(set, gpu, cpu, x, POLYKEM_ENCAPS);
  compare_broken(set, gpu, cpu, x, POLYKEM_DECAPS);
  compare_queued(set, gpu, cpu, x, POLYKEM_ENCAPS);
  compare_queued(set, gpu, cpu, x, POLYKEM_DECAPS);
  std::printf("%s: malformed keys among %zu items\n", set.info.name, count);
}

}  // namespace polykem::test
