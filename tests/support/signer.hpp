// SPDX-License-Identifier: Apache-2.0
// ML-DSA's operations through the C API, on one backend.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "polykem/polykem.h"
#include "support/bytes.hpp"

namespace polykem::test {

struct FreeKeySet {
  void operator()(polykem_keyset* set) const { polykem_keyset_free(set); }
};
using KeySet = std::unique_ptr<polykem_keyset, FreeKeySet>;

/// Returns the backends of this machine that have code of their own for ML-DSA.
inline std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info_t info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(polykem_backend_info(i, &info), POLYKEM_OK);
    const std::string name = info.name;
    if (info.available != 0 && name != "rtl" && name != "amx") names.push_back(name);
  }
  return names;
}

inline polykem_strings strings(const Bytes& data, size_t width, bool shared = false) {
  return {data.empty() ? nullptr : data.data(), nullptr, width, shared ? 1 : 0};
}

/// One parameter set on one backend.
class Signer {
 public:
  explicit Signer(const std::string& set, const std::string& backend = "", unsigned threads = 1) {
    info.struct_size = sizeof info;
    EXPECT_EQ(polykem_signature_find(set.c_str(), &scheme), POLYKEM_OK) << set;
    EXPECT_EQ(polykem_scheme_info(scheme, &info), POLYKEM_OK);
    polykem_config config{sizeof config, threads, backend.empty() ? nullptr : backend.c_str()};
    polykem_context* made = nullptr;
    EXPECT_EQ(polykem_context_new(&config, &made), POLYKEM_OK) << backend;
    context.reset(made, polykem_context_free);
  }

  polykem_request request(polykem_op op, size_t count) const {
    polykem_request r{};
    r.struct_size = sizeof r;
    r.op = op;
    r.scheme = scheme;
    r.count = count;
    return r;
  }

  void keygen(size_t count, const Bytes& xi, Bytes& pk, Bytes& sk) const {
    pk.resize(count * info.public_key_bytes);
    sk.resize(count * info.secret_key_bytes);
    polykem_request r = request(POLYKEM_KEYGEN, count);
    r.coins = xi.empty() ? nullptr : xi.data();
    r.pk_out = pk.data();
    r.sk_out = sk.data();
    ASSERT_EQ(polykem_run(context.get(), &r), POLYKEM_OK);
  }

  KeySet import(polykem_key_kind kind, size_t count, const Bytes& keys) const {
    polykem_keyset* set = nullptr;
    EXPECT_EQ(polykem_keyset_import(context.get(), scheme, kind, count, keys.data(), &set), POLYKEM_OK);
    return KeySet(set);
  }

  /// rnd empty: messages.deterministic decides.
  Bytes sign(size_t count, const Bytes& sk, const polykem_messages& messages, const Bytes& rnd = {}) const {
    Bytes out(count * info.signature_bytes);
    polykem_request r = request(POLYKEM_SIGN, count);
    r.key_mode = sk.size() == count * info.secret_key_bytes ? POLYKEM_KEY_PER_ITEM : POLYKEM_KEY_SHARED;
    r.sk = sk.data();
    r.messages = &messages;
    r.coins = rnd.empty() ? nullptr : rnd.data();
    r.sig_out = out.data();
    EXPECT_EQ(polykem_run(context.get(), &r), POLYKEM_OK);
    return out;
  }

  /// The status of each item.
  std::vector<polykem_status> verify(size_t count, const Bytes& pk, const polykem_messages& messages,
                                     const Bytes& sig) const {
    std::vector<polykem_status> items(count);
    polykem_request r = request(POLYKEM_VERIFY, count);
    r.key_mode = pk.size() == count * info.public_key_bytes ? POLYKEM_KEY_PER_ITEM : POLYKEM_KEY_SHARED;
    r.pk = pk.data();
    r.messages = &messages;
    r.sig = sig.data();
    r.item_status = items.data();
    const polykem_status status = polykem_run(context.get(), &r);
    bool any = false;
    for (const polykem_status item : items)
      any = any || item != POLYKEM_OK;
    EXPECT_EQ(status, any ? POLYKEM_ERR_ITEMS : POLYKEM_OK);
    return items;
  }

  static polykem_messages messages(polykem_strings strings, polykem_strings contexts = {}) {
    polykem_messages m{};
    m.struct_size = sizeof m;
    m.strings = strings;
    m.contexts = contexts;
    return m;
  }

  const polykem_scheme* scheme = nullptr;
  polykem_scheme_info_t info{};
  std::shared_ptr<polykem_context> context;
};

inline polykem_messages deterministic(polykem_strings texts, polykem_strings contexts = {}) {
  polykem_messages m = Signer::messages(texts, contexts);
  m.deterministic = 1;
  return m;
}

}  // namespace polykem::test
