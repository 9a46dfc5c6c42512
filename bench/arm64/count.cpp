// SPDX-License-Identifier: Apache-2.0
// Runs a batch of each operation between marks that count_plugin.c recognises. Prints the counted operations in order:
// "set backend operation items".
#include <polykem/polykem.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

inline void mark() {
  asm volatile("hint #100" : : : "memory");
}

void check(polykem_status status) {
  if (status == POLYKEM_OK) return;
  std::fprintf(stderr, "%s\n", polykem_status_text(status));
  std::exit(1);
}

void count_set(polykem_context* context, const polykem_scheme* scheme, size_t items) {
  polykem_scheme_info_t info{};
  info.struct_size = sizeof info;
  check(polykem_scheme_info(scheme, &info));
  std::vector<uint8_t> pk(items * info.public_key_bytes), sk(items * info.secret_key_bytes);
  std::vector<uint8_t> ct(items * info.ciphertext_bytes), ss(items * info.shared_secret_bytes), same(ss.size());
  const auto counted = [&](const char* operation, auto&& run) {
    check(run());  // allocates and fills caches
    mark();
    check(run());
    mark();
    std::printf("%s %s %s %zu\n", info.name, polykem_context_backend(context, scheme), operation, items);
  };
  counted("keygen", [&] { return polykem_keygen(context, scheme, items, pk.data(), sk.data()); });
  counted("encaps", [&] {
    return polykem_encaps(context, scheme, items, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), ss.data(), nullptr);
  });
  counted("decaps", [&] {
    return polykem_decaps(context, scheme, items, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), same.data(), nullptr);
  });
  if (std::memcmp(ss.data(), same.data(), ss.size()) != 0) std::exit(1);
}

}  // namespace

/// count BACKEND ITEMS SET...
int main(int count, char** words) {
  if (count < 4) return 2;
  polykem_config config{};
  config.struct_size = sizeof config;
  config.threads = 1;
  config.backend = words[1];
  polykem_context* context = nullptr;
  check(polykem_context_new(&config, &context));
  for (int i = 3; i < count; ++i) {
    const polykem_scheme* scheme = nullptr;
    check(polykem_scheme_find(words[i], &scheme));
    count_set(context, scheme, static_cast<size_t>(std::strtoul(words[2], nullptr, 10)));
  }
  polykem_context_free(context);
  return 0;
}
