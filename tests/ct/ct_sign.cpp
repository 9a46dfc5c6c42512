// SPDX-License-Identifier: Apache-2.0
// ct_check for signatures: generates keys, derives a public key and signs with every secret poisoned. Only
// values that an attacker sees are declassified: public keys, messages and signatures.
//
//   ct_sign SET [--leak branch|address|mask|lane|division|divisor] [--trace ITEMS]
//
//   --leak    leaks a private key, which must be reported
#include <cstdio>
#include <cstring>

#include "poisoned.hpp"

namespace {

using namespace polykem::ct_test;

constexpr size_t kPublicBytes = 32;  ///< rho, before the secrets of a private key [FIPS204, Alg 24]

void run(polykem_context* context, const polykem_scheme* scheme, size_t count, Leak leak) {
  const polykem_scheme_info_t info = info_of(scheme);
  const Bytes xi = secret_coins(count * info.keygen_coin_bytes, 1), rnd = secret_coins(count * info.sign_coin_bytes, 2);
  Bytes pk(count * info.public_key_bytes), sk(count * info.secret_key_bytes), sig(count * info.signature_bytes);
  polykem_request r{};
  r.struct_size = sizeof r;
  r.op = POLYKEM_KEYGEN;
  r.scheme = scheme;
  r.count = count;
  r.coins = xi.data();
  r.pk_out = pk.data();
  r.sk_out = sk.data();
  require(polykem_run(context, &r), "keygen");
  declassify(pk);
  poison(sk);
  Bytes derived(info.public_key_bytes);
  require(polykem_public_key_of(scheme, sk.data(), derived.data()), "public key");
  plant(leak, {sk.begin() + kPublicBytes, sk.end()});

  const Bytes text(count * 40, 0x61);
  polykem_messages messages{};
  messages.struct_size = sizeof messages;
  messages.strings = {text.data(), nullptr, 40, 0};
  polykem_request s{};
  s.struct_size = sizeof s;
  s.op = POLYKEM_SIGN;
  s.scheme = scheme;
  s.count = count;
  s.coins = rnd.data();
  s.sk = sk.data();
  s.messages = &messages;
  s.sig_out = sig.data();
  require(polykem_run(context, &s), "sign");
  declassify(sig);

  polykem_keyset* keys = nullptr;
  require(polykem_keyset_import(context, scheme, POLYKEM_SECRET_KEYS, count, sk.data(), &keys), "key set");
  Bytes again(sig.size());
  s.sk = nullptr;
  s.keyset = keys;
  s.sig_out = again.data();
  require(polykem_run(context, &s), "sign with a key set");
  declassify(again);
  polykem_keyset_free(keys);
  if (again != sig) fail("a key set signs otherwise");

  polykem_request v{};
  v.struct_size = sizeof v;
  v.op = POLYKEM_VERIFY;
  v.scheme = scheme;
  v.count = count;
  v.pk = pk.data();
  v.messages = &messages;
  v.sig = sig.data();
  require(polykem_run(context, &v), "verify");
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  const polykem_scheme* scheme = nullptr;
  require(polykem_signature_find(arguments.set, &scheme), arguments.set);
  polykem_context* context = open_context(scheme);
  const std::string backend = polykem_context_backend(context, scheme);
  const std::string what = std::string(arguments.set) + " on " + backend;
  if (arguments.items > 0) return trace(what, [&] { run(context, scheme, arguments.items, arguments.leak); });
  constexpr size_t kMoreThanTheLanes = 9;
  run(context, scheme, backend == "ref" ? 2 : kMoreThanTheLanes, arguments.leak);
  polykem_context_free(context);
  std::printf("%s: done\n", what.c_str());
  return 0;
}
