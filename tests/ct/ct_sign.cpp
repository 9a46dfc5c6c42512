// SPDX-License-Identifier: Apache-2.0
// ct_check for signatures: generates keys, derives a public key and signs with every secret poisoned. Only
// values that an attacker sees are declassified: public keys, messages and signatures.
//
//   ct_sign SET [--leak]     with --leak it branches on a private key, which memcheck must report
#include <cstdio>
#include <cstring>

#include "poisoned.hpp"

namespace {

using namespace polykem::ct_test;

void run(polykem_context* context, const polykem_scheme* scheme, size_t count, bool leak) {
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
  if (leak && (sk[200] & 1) != 0) std::puts("a bit of the first private key is set");

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
  if (argc < 2) fail("usage: ct_sign SET [--leak]");
  const polykem_scheme* scheme = nullptr;
  require(polykem_signature_find(argv[1], &scheme), argv[1]);
  polykem_context* context = open_context(scheme);
  const char* backend = polykem_context_backend(context, scheme);
  constexpr size_t kMoreThanTheLanes = 9;
  run(context, scheme, std::strcmp(backend, "ref") == 0 ? 2 : kMoreThanTheLanes,
      argc > 2 && std::strcmp(argv[2], "--leak") == 0);
  polykem_context_free(context);
  std::printf("%s on %s: done\n", argv[1], backend);
  return 0;
}
