// SPDX-License-Identifier: Apache-2.0
// Helpers of the fuzzers: a context that lives as long as the process, sets, and bytes made of the input.
#pragma once

#include <cstdint>
#include <polykem/polykem.hpp>
#include <string>
#include <vector>

#include "tests/fuzz/require.hpp"

namespace polykem::fuzz {

inline const Context& context() {
  static const Context instance(1);
  return instance;
}

struct Backend {
  std::string name;
  Context context;
};

/// The backends of this machine, `ref` last.
inline const std::vector<Backend>& backends() {
  static const std::vector<Backend> all = [] {
    std::vector<Backend> found;
    for (size_t i = 0; i < polykem_backend_count(); ++i) {
      polykem_backend_info_t info{};
      info.struct_size = sizeof info;
      polykem_backend_info(i, &info);
      if (info.available) found.push_back({info.name, Context(1, info.name)});
    }
    return found;
  }();
  return all;
}

/// The parameter set that the first input byte chooses.
inline Scheme choose_scheme(uint8_t byte) {
  static const std::vector<Scheme> all = Scheme::all();
  return all[byte % all.size()];
}

/// `size` bytes: the input, then zeros. Advances the input.
inline Bytes take(const uint8_t*& data, size_t& left, size_t size) {
  Bytes out(size, 0);
  const size_t used = left < size ? left : size;
  for (size_t i = 0; i < used; ++i)
    out[i] = data[i];
  data += used;
  left -= used;
  return out;
}

/// The seed's bytes again and again, each round changed a little.
inline Bytes stretched(const Bytes& seed, size_t bytes) {
  Bytes out(bytes);
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<uint8_t>(seed[i % seed.size()] + i / seed.size() * 37);
  return out;
}

}  // namespace polykem::fuzz
