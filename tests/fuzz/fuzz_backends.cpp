// SPDX-License-Identifier: Apache-2.0
// Every backend of this machine against the reference: the same keys, ciphertexts and draws, arbitrary bytes all, must
// give the same answers.
#include <string>

#include "common.hpp"

using namespace polykem;

namespace {

struct Backend {
  std::string name;
  Context context;
};

const std::vector<Backend>& backends() {
  static const std::vector<Backend> all = [] {
    std::vector<Backend> found;
    for (size_t i = 0; i < polykem_backend_count(); ++i) {
      polykem_backend_info_t info{};
      polykem_backend_info(i, &info);
      if (info.available) found.push_back({info.name, Context(1, info.name)});
    }
    return found;
  }();
  return all;
}

/// count records: the input's bytes again and again, each round changed a little.
Bytes stretched(const Bytes& seed, size_t bytes) {
  Bytes out(bytes);
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<uint8_t>(seed[i % seed.size()] + i / seed.size() * 37);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const Scheme scheme = fuzz::choose_scheme(data[0]);
  const size_t count = 1 + data[1] % 40;
  const Bytes seed(data + 2, data + size);
  const Bytes pk = stretched(seed, count * scheme.public_key_bytes());
  const Bytes sk = stretched(seed, count * scheme.secret_key_bytes());
  const Bytes ct = stretched(seed, count * scheme.ciphertext_bytes());
  const Bytes draws = stretched(seed, count * scheme.info().encaps_draw_bytes);
  const Context& reference = backends().back().context;
  const auto sent = reference.encaps(scheme, count, KeyMode::kPerItem, pk, draws);
  const auto received = reference.decaps(scheme, count, KeyMode::kPerItem, sk, ct);
  for (const Backend& backend : backends()) {
    const auto also_sent = backend.context.encaps(scheme, count, KeyMode::kPerItem, pk, draws);
    const auto also_received = backend.context.decaps(scheme, count, KeyMode::kPerItem, sk, ct);
    fuzz::require(also_sent.ct == sent.ct && also_sent.ss == sent.ss,
                  (backend.name + " encapsulates as ref does").c_str());
    fuzz::require(also_received.ss == received.ss, (backend.name + " decapsulates as ref does").c_str());
  }
  return 0;
}
