// SPDX-License-Identifier: Apache-2.0
// The only list of parameter sets.
#include "schemes/registry.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "schemes/frodo/frodo.hpp"
#include "schemes/hybrid/hybrid.hpp"
#include "schemes/lac/lac.hpp"
#include "schemes/mldsa/mldsa.hpp"
#include "schemes/mlkem/mlkem.hpp"
#include "schemes/ntru/ntru.hpp"
#include "schemes/saber/saber.hpp"

namespace polykem {

namespace {

/// A list of parameter sets. It allocates nothing, so that asking for it cannot fail.
struct Registry {
  std::array<const Scheme*, 64> sets{};
  size_t count = 0;

  explicit Registry(std::initializer_list<std::span<const Scheme>> families) {
    for (const auto family : families) {
      for (const Scheme& scheme : family)
        sets.at(count++) = &scheme;
    }
  }
};

std::string normalised(const char* name) {
  std::string result;
  for (const char* c = name; *c != '\0'; ++c) {
    if (*c == '-' || *c == '_') continue;
    result += *c >= 'A' && *c <= 'Z' ? static_cast<char>(*c - 'A' + 'a') : *c;
  }
  return result;
}

bool has_name(const Scheme& scheme, const std::string& wanted) {
  if (normalised(scheme.name) == wanted || normalised(scheme.title) == wanted) return true;
  return std::any_of(scheme.aliases.begin(), scheme.aliases.end(),
                     [&](const char* alias) { return normalised(alias) == wanted; });
}

const Scheme* find_in(std::span<const Scheme* const> sets, const char* name) {
  const std::string wanted = normalised(name);
  for (const Scheme* scheme : sets) {
    if (has_name(*scheme, wanted)) return scheme;
  }
  return nullptr;
}

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

const Scheme& nearest_in(std::span<const Scheme* const> sets, const char* name) {
  const std::string wanted = normalised(name).substr(0, 64);
  const auto distance = [&](const Scheme* s) { return edit_distance(wanted, normalised(s->name)); };
  return **std::min_element(sets.begin(), sets.end(),
                            [&](const Scheme* a, const Scheme* b) { return distance(a) < distance(b); });
}

}  // namespace

std::span<const Scheme* const> registry() {
  static const Registry all{ntru::schemes(),  mlkem::schemes(), frodo::schemes(),
                            saber::schemes(), lac::schemes(),   hybrid::schemes()};
  return {all.sets.data(), all.count};
}

std::span<const Scheme* const> signature_registry() {
  static const Registry all{mldsa::schemes()};
  return {all.sets.data(), all.count};
}

const Scheme* find_scheme(const char* name) {
  return find_in(registry(), name);
}

const Scheme* find_signature(const char* name) {
  return find_in(signature_registry(), name);
}

const Scheme& nearest_scheme(const char* name) {
  return nearest_in(registry(), name);
}

const Scheme& nearest_signature(const char* name) {
  return nearest_in(signature_registry(), name);
}

const SchemeBackend* cpu_backend(const Scheme& scheme, const char* name) {
  for (const SchemeBackend& candidate : scheme.backends) {
    if (std::strcmp(candidate.name, name) == 0) return &candidate;
  }
  const CpuBackend* const cpu = find_cpu_backend(name);
  return cpu != nullptr && cpu->inherits != nullptr ? cpu_backend(scheme, cpu->inherits) : nullptr;
}

const SchemeBackend* best_cpu_backend(const Scheme& scheme) {
  for (const SchemeBackend& candidate : scheme.backends) {
    if (cpu_backend_available(candidate.name)) return &candidate;
  }
  return nullptr;
}

}  // namespace polykem
