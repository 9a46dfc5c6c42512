// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests: owning handles of the C API, a context per backend, whole exchanges.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "polykem/polykem.h"
#include "support/bytes.hpp"

namespace polykem::test {

struct FreeContext {
  void operator()(polykem_context* context) const { polykem_context_free(context); }
};
using Context = std::unique_ptr<polykem_context, FreeContext>;

inline Context make_context(const char* backend = nullptr, unsigned threads = 1) {
  polykem_config config{sizeof config, threads, backend};
  polykem_context* context = nullptr;
  EXPECT_EQ(polykem_context_new(&config, &context), POLYKEM_OK);
  return Context(context);
}

inline const polykem_scheme* scheme(const std::string& name) {
  const polykem_scheme* found = nullptr;
  EXPECT_EQ(polykem_scheme_find(name.c_str(), &found), POLYKEM_OK) << name;
  return found;
}

inline polykem_scheme_info_t info(const polykem_scheme* scheme) {
  polykem_scheme_info_t result{};
  result.struct_size = sizeof result;
  EXPECT_EQ(polykem_scheme_info(scheme, &result), POLYKEM_OK);
  return result;
}

inline std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (size_t i = 0; i < polykem_scheme_count(); ++i)
    names.push_back(info(polykem_scheme_at(i)).name);
  return names;
}

/// Backends of this machine that run `scheme`, as gtest parameters.
inline std::vector<std::string> available_backends() {
  std::vector<std::string> names;
  for (size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info_t backend{};
    backend.struct_size = sizeof backend;
    polykem_backend_info(i, &backend);
    if (!backend.available) continue;
    const Context context = make_context(backend.name);
    if (polykem_context_backend(context.get(), polykem_scheme_at(0)) != nullptr) names.emplace_back(backend.name);
  }
  return names;
}

/// True if the backend computes the set itself: amx leaves all but FrodoKEM and NTRU to avx512.
inline bool computes(const std::string& backend, const polykem_scheme* set) {
  const char* name = polykem_context_backend(make_context(backend.c_str()).get(), set);
  return name != nullptr && name == backend;
}
inline bool computes(const std::string& backend, const std::string& set) {
  return computes(backend, scheme(set));
}

/// The words side by side, as the name of a test: letters, digits and '_'.
inline std::string test_name(std::initializer_list<std::string> words) {
  std::string name;
  for (const std::string& word : words)
    name += (name.empty() ? "" : "_") + word;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

/// A request with the fields every operation needs.
inline polykem_request make_request(polykem_op op, const polykem_scheme* scheme, size_t count) {
  polykem_request request{};
  request.struct_size = sizeof request;
  request.op = op;
  request.scheme = scheme;
  request.count = count;
  return request;
}

/// Buffers of one whole exchange of `count` items, made with `context`.
struct Exchange {
  Exchange(polykem_context* context, const polykem_scheme* scheme, size_t count, uint64_t seed = 1) {
    const auto sizes = info(scheme);
    const Bytes keygen_coins = pattern(count * sizes.keygen_coin_bytes, seed);
    const Bytes encaps_coins = pattern(count * sizes.encaps_coin_bytes, seed + 1);
    pk.resize(count * sizes.public_key_bytes);
    sk.resize(count * sizes.secret_key_bytes);
    ct.resize(count * sizes.ciphertext_bytes);
    sender.resize(count * sizes.shared_secret_bytes);
    receiver.resize(sender.size());
    polykem_request request = make_request(POLYKEM_KEYGEN, scheme, count);
    request.coins = keygen_coins.data();
    request.pk_out = pk.data();
    request.sk_out = sk.data();
    EXPECT_EQ(polykem_run(context, &request), POLYKEM_OK);
    request = make_request(POLYKEM_ENCAPS, scheme, count);
    request.coins = encaps_coins.data();
    request.pk = pk.data();
    request.ct_out = ct.data();
    request.ss_out = sender.data();
    EXPECT_EQ(polykem_run(context, &request), POLYKEM_OK);
    EXPECT_EQ(
        polykem_decaps(context, scheme, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), receiver.data(), nullptr),
        POLYKEM_OK);
  }
  Bytes pk, sk, ct, sender, receiver;
};

}  // namespace polykem::test
