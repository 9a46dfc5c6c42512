// SPDX-License-Identifier: Apache-2.0
// Runs keygen, encaps and decaps of one parameter set with every secret poisoned. Under memcheck each branch and each
// address that depends on a secret is an error; with --trace, each that differs between two runs with different
// secrets. Only values that an attacker sees are declassified, public keys and ciphertexts, and the shared secrets
// after the operation, to compare them. In a second run the declassified values are those of the first: its keys do not
// fit its ciphertexts, which are rejected.
//
//   ct_check SET [--leak branch|address|mask|lane|division|divisor] [--trace ITEMS] [--basic]
//
//   --leak    leaks a shared secret, which must be reported
//   --basic   each operation once, without key sets and seeds
#include <cstdio>
#include <cstring>

#include "poisoned.hpp"

namespace {

using namespace polykem::ct_test;

/// The items of a batch. A small batch runs one by one on every backend, a larger one across the lanes of vector
/// backends. Up to fifteen items of ML-KEM run one by one; two blocks of AVX2 share the inversions of NTRU's key
/// generation; FrodoKEM is slow.
constexpr size_t kSmallBatch = 2, kInterleaved = 9, kTwoBlocks = 20;
size_t item_count = kSmallBatch;

struct Check {
  polykem_context* context = nullptr;
  const polykem_scheme* scheme = nullptr;
  polykem_scheme_info_t info{};
  Bytes seeds, pk, sk, ct, ss; /* seeds: what keygen drew */

  polykem_request request(polykem_op op, polykem_key_mode mode) const {
    polykem_request r{};
    r.struct_size = sizeof r;
    r.op = op;
    r.key_mode = mode;
    r.scheme = scheme;
    r.count = item_count;
    return r;
  }

  void keygen() {
    seeds = secret_coins(item_count * info.keygen_coin_bytes, 1);
    pk.resize(item_count * info.public_key_bytes);
    sk.resize(item_count * info.secret_key_bytes);
    polykem_request r = request(POLYKEM_KEYGEN, POLYKEM_KEY_PER_ITEM);
    r.coins = seeds.data();
    r.pk_out = pk.data();
    r.sk_out = sk.data();
    require(polykem_run(context, &r), "keygen");
    declassify(pk);
    poison(sk);
  }

  /// Encapsulates with the caller's coins, or (with_coins == false) with the context's own generator.
  void encaps(polykem_key_mode mode, bool with_coins) {
    const Bytes coins = secret_coins(item_count * info.encaps_coin_bytes, 2);
    ct.assign(item_count * info.ciphertext_bytes, 0);
    ss.assign(item_count * info.shared_secret_bytes, 0);
    polykem_request r = request(POLYKEM_ENCAPS, mode);
    r.coins = with_coins ? coins.data() : nullptr;
    r.pk = pk.data();
    r.ct_out = ct.data();
    r.ss_out = ss.data();
    require(polykem_run(context, &r), "encaps");
    declassify(ct);
    if (!with_coins) require_secret(ss, "what the generator's coins make");
  }

  Bytes decaps(polykem_key_mode mode, const Bytes& ciphertexts) {
    Bytes out(item_count * info.shared_secret_bytes);
    polykem_request r = request(POLYKEM_DECAPS, mode);
    r.sk = sk.data();
    r.ct = ciphertexts.data();
    r.ss_out = out.data();
    require(polykem_run(context, &r), "decaps");
    return out;
  }

  /// Decapsulates with secret keys given as seeds.
  Bytes decaps_seeds(const Bytes& ciphertexts) {
    Bytes out(item_count * info.shared_secret_bytes);
    polykem_request r = request(POLYKEM_DECAPS, POLYKEM_KEY_PER_ITEM);
    r.secret_form = POLYKEM_SECRET_SEED;
    r.sk = seeds.data();
    r.ct = ciphertexts.data();
    r.ss_out = out.data();
    require(polykem_run(context, &r), "decaps from seeds");
    return out;
  }

  /// Decapsulates with secret keys in a key set, in the backend's preferred form.
  Bytes decaps_keyset(polykem_key_kind kind, const Bytes& keys_in, const Bytes& ciphertexts) {
    polykem_keyset* keys = nullptr;
    require(polykem_keyset_import(context, scheme, kind, item_count, keys_in.data(), &keys), "import");
    Bytes out(item_count * info.shared_secret_bytes);
    polykem_request r = request(POLYKEM_DECAPS, POLYKEM_KEY_PER_ITEM);
    r.keyset = keys;
    r.ct = ciphertexts.data();
    r.ss_out = out.data();
    require(polykem_run(context, &r), "decaps with a key set");
    polykem_keyset_free(keys);
    return out;
  }

  /// Encapsulates to public keys of a key set with the coins of encaps(), for the same ciphertexts and secrets.
  void encaps_keyset() {
    const Bytes coins = secret_coins(item_count * info.encaps_coin_bytes, 2);
    polykem_keyset* keys = nullptr;
    require(polykem_keyset_import(context, scheme, POLYKEM_PUBLIC_KEYS, item_count, pk.data(), &keys), "import");
    polykem_request r = request(POLYKEM_ENCAPS, POLYKEM_KEY_PER_ITEM);
    r.coins = coins.data();
    r.keyset = keys;
    r.ct_out = ct.data();
    r.ss_out = ss.data();
    require(polykem_run(context, &r), "encaps with a key set");
    polykem_keyset_free(keys);
    declassify(ct);
  }
};

/// Compares shared secrets after the operation, when they are declassified.
void expect(const char* what, const Bytes& a, const Bytes& b, bool equal) {
  declassify(a);
  declassify(b);
  const size_t half = a.size() / item_count;
  for (size_t i = 0; i < item_count; ++i) {
    const bool same = std::memcmp(a.data() + i * half, b.data() + i * half, half) == 0;
    if (same != equal) fail(std::string(what) + (equal ? ": secrets differ" : ": secrets are equal"));
  }
}

/// Changes one byte of every ciphertext, the first and the last in turn; in a hybrid, which has its point there, bytes
/// of ML-KEM's ciphertext.
Bytes damaged(const Bytes& ct, bool hybrid) {
  Bytes bad = ct;
  const size_t bytes = ct.size() / item_count;
  for (size_t i = 0; i < item_count; ++i) {
    if (i % 2 == 0) {
      bad[i * bytes + (hybrid ? bytes / 3 : 0)] ^= 1;
    } else {
      bad[i * bytes + (hybrid ? bytes / 2 : bytes - 1)] ^= 0x80;
    }
  }
  return bad;
}

void run_all(Check& check, const Arguments& arguments) {
  check.keygen();
  check.encaps(POLYKEM_KEY_PER_ITEM, true);
  const Bytes secret = check.decaps(POLYKEM_KEY_PER_ITEM, check.ct);
  plant(arguments.leak, secret);
  expect("decaps", secret, check.ss, true);
  if (arguments.basic || arguments.leak != Leak::kNone) return;
  expect("decaps from a key set", check.decaps_keyset(POLYKEM_SECRET_KEYS, check.sk, check.ct), check.ss, true);
  if (check.info.secret_seed_bytes != 0) {
    expect("decaps from seeds", check.decaps_seeds(check.ct), check.ss, true);
    expect("seeds in a key set", check.decaps_keyset(POLYKEM_SECRET_SEEDS, check.seeds, check.ct), check.ss, true);
  }
  expect("one byte changed",
         check.decaps(POLYKEM_KEY_PER_ITEM, damaged(check.ct, std::strcmp(check.info.family, "hybrid") == 0)), check.ss,
         false);
  const Bytes ct = check.ct, ss = check.ss;
  check.encaps_keyset();
  expect("public keys in a key set", check.ss, ss, true);
  if (check.ct != ct) fail("public keys in a key set: ciphertexts differ");
  check.encaps(POLYKEM_KEY_SHARED, false);
  expect("shared key", check.decaps(POLYKEM_KEY_SHARED, check.ct), check.ss, true);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  Check check;
  require(polykem_scheme_find(arguments.set, &check.scheme), arguments.set);
  check.info = info_of(check.scheme);
  check.context = open_context(check.scheme);
  const std::string backend = polykem_context_backend(check.context, check.scheme);
  const std::string what = std::string(arguments.set) + " on " + backend;
  if (arguments.items > 0) {
    item_count = arguments.items;
    return trace(what, [&] { run_all(check, arguments); });
  }
  run_all(check, arguments);
  if (backend != "ref") {
    item_count = std::strstr(arguments.set, "frodo") == nullptr ? kTwoBlocks : kInterleaved;
    run_all(check, arguments);
  }
  polykem_context_free(check.context);
  std::printf("%s: done\n", what.c_str());
  return 0;
}
