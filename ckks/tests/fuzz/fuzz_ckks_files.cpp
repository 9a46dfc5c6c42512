// SPDX-License-Identifier: Apache-2.0
// Loads files of OpenFHE as the Python package does: their contents become objects of polykem/ckks.h, for the file's
// context and for another one, and operations run on these.
#include <utility>
#include <vector>

#include "ckks/openfhe/handles.hpp"
#include "ckks/tests/handles.hpp"
#include "openfhe_files.hpp"

namespace {

using namespace polykem::openfhe;
using namespace polykem::ckks::test;
using polykem::fuzz::read_openfhe_file;
using polykem::fuzz::require;

/// Larger contexts take longer and find nothing else.
bool is_small(const Context& context, const Moduli& special) {
  return context.ring_dimension <= 256 && context.moduli.size() + special.size() <= 12;
}

/// Returns the result of call(&out); null if the call fails.
template <class Handle, class Call>
Handle made(const Call& call) {
  typename Handle::pointer out = nullptr;
  try {
    if (call(&out) != POLYKEM_CKKS_OK) out = nullptr;
  } catch (const FormatError&) {
    out = nullptr;
  }
  return Handle(out);
}

template <class Handle, class From>
Handle make_for(const From& from, const ContextHandle& context) {
  return context ? made<Handle>([&](auto out) { return make(from, context.get(), out); }) : Handle();
}

ContextHandle context_of(const Context& from, const Moduli& special) {
  if (!is_small(from, special)) return nullptr;
  return made<ContextHandle>([&](auto out) { return make(from, special, 1, true, out); });
}

/// A context of another ring, without special primes.
const ContextHandle& other_context() {
  static const ContextHandle instance = [] {
    Context other;
    other.ring_dimension = 32;
    other.moduli = {{193, 125}, {449, 331}};
    for (Modulus& q : other.moduli)
      for (q.root = 2;; ++q.root) {
        std::uint64_t x = q.root;
        for (int i = 0; i < 5; ++i)
          x = x * x % q.value;
        if (x == q.value - 1) break;
      }
    return context_of(other, {});
  }();
  require(instance != nullptr, "a context");
  return instance;
}

SecretKeyHandle secret_of(const ContextHandle& context) {
  return made<SecretKeyHandle>([&](auto out) { return polykem_ckks_secret_key_generate(context.get(), out); });
}

void decrypt(const ContextHandle& context, const SecretKeyHandle& secret, const CiphertextsHandle& ciphertexts) {
  if (!secret || !ciphertexts) return;
  const auto plain = made<PlaintextsHandle>(
      [&](auto out) { return polykem_ckks_decrypt(context.get(), secret.get(), ciphertexts.get(), out); });
  if (!plain) return;
  polykem_ckks_shape shape{};
  shape.struct_size = sizeof shape;
  require(polykem_ckks_plaintexts_shape(plain.get(), &shape) == POLYKEM_CKKS_OK, "a shape");
  std::vector<double> values(2 * shape.count * shape.slots);
  polykem_ckks_decode(context.get(), plain.get(), values.data(), values.size() / 2);
}

/// Ciphertexts of that many limbs, all words 1.
CiphertextsHandle ones(const ContextHandle& context, std::size_t parts, std::size_t limbs) {
  const std::size_t n = polykem_ckks_ring_dimension(context.get());
  const polykem_ckks_shape shape{sizeof shape, 1, parts, limbs, 1, 1};
  const std::vector<std::uint64_t> words(parts * limbs * n, 1);
  return made<CiphertextsHandle>(
      [&](auto out) { return polykem_ckks_ciphertexts_new(context.get(), &shape, words.data(), words.size(), out); });
}

void use_key(const SwitchingKey& from, const ContextHandle& context, std::uint64_t g) {
  const auto key = make_for<SwitchingKeyHandle>(from, context);
  if (!key) return;
  const std::size_t limbs = from.context->moduli.size();
  if (g == 0) {
    made<CiphertextsHandle>([&, c = ones(context, 3, limbs)](auto out) {
      return polykem_ckks_relinearise(context.get(), c.get(), key.get(), out);
    });
  } else {
    made<CiphertextsHandle>([&, c = ones(context, 2, limbs)](auto out) {
      return polykem_ckks_automorphism(context.get(), c.get(), g, key.get(), out);
    });
  }
}

/// Loads keys like load(): the context is that of the first key.
template <class Keys>
void use_keys(const Keys& keys) {
  ContextHandle context;
  for (const auto& [g, key] : keys) {
    if (!context) context = context_of(*key->context, special_moduli(*key));
    use_key(*key, context, g);
    use_key(*key, other_context(), g);
  }
}

void use_all_keys(std::span<const std::uint8_t> bytes) {
  using Listed = std::vector<std::pair<std::uint64_t, const SwitchingKey*>>;
  if (const auto file = read_openfhe_file<AutomorphismKeys>(bytes)) {
    for (const auto& [tag, by_index] : file->keys) {
      Listed keys;
      for (const auto& [g, key] : by_index)
        keys.emplace_back(g, &key);
      use_keys(keys);
    }
  }
  if (const auto file = read_openfhe_file<RelinearisationKeys>(bytes)) {
    for (const auto& [tag, list] : file->keys) {
      Listed keys;
      for (const SwitchingKey& key : list)
        keys.emplace_back(0, &key);
      use_keys(keys);
    }
  }
}

void use_objects(std::span<const std::uint8_t> bytes) {
  if (const auto file = read_openfhe_file<Context>(bytes)) context_of(*file, {});
  if (const auto file = read_openfhe_file<Ciphertext>(bytes)) {
    const ContextHandle own = context_of(*file->context, {});
    for (const ContextHandle* const context : {&own, &other_context()})
      if (*context) decrypt(*context, secret_of(*context), make_for<CiphertextsHandle>(*file, *context));
  }
  if (const auto file = read_openfhe_file<SecretKey>(bytes)) {
    make_for<SecretKeyHandle>(*file, other_context());
    if (const ContextHandle context = context_of(*file->context, {}))
      decrypt(context, make_for<SecretKeyHandle>(*file, context), ones(context, 2, file->context->moduli.size()));
  }
  if (const auto file = read_openfhe_file<PublicKey>(bytes)) {
    make_for<PublicKeyHandle>(*file, other_context());
    make_for<PublicKeyHandle>(*file, context_of(*file->context, {}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || (data[0] != 1 && data[0] != '{')) return -1;
  use_all_keys({data, size});
  use_objects({data, size});
  return 0;
}
