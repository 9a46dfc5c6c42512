// SPDX-License-Identifier: Apache-2.0
// The functions polykem_ckks_file_... of polykem/ckks.h.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ckks/openfhe/handles.hpp"
#include "ckks/openfhe/openfhe.hpp"
#include "ckks/src/status.hpp"

using namespace polykem::openfhe;
using polykem::ckks::Error;
using polykem::ckks::Fault;
using polykem::ckks::guarded;
using polykem::ckks::need;

namespace {

/// A key, and g of X -> X^g; 0: for relinearisation.
using EvaluationKey = std::pair<std::uint64_t, SwitchingKey>;
using ContextPointer = std::shared_ptr<const Context>;

}  // namespace

struct polykem_ckks_file {
  std::variant<ContextPointer, PublicKey, SecretKey, Ciphertext, std::vector<EvaluationKey>> object;
};

namespace {

/// The least deviation of errors for which the table of 128 bits holds, slightly below 3.19 [HES18].
constexpr float kMinDeviation = 3.18F;
/// How far a scale may be from the power of two that OpenFHE takes it for.
constexpr double kMaxScaleRatio = 0x1p-10;

[[noreturn]] void refuse(Fault fault, const std::string& text) {
  throw Error(fault, text);
}

/// Returns work(), or throws Error(format) for what is wrong with a file.
template <class Work>
auto of_file(const Work& work) {
  try {
    return work();
  } catch (const FormatError& error) {
    refuse(Fault::kFormat, error.what());
  }
}

/// Throws the error of a call of the C API, whose text stays.
void pass_on(polykem_ckks_status status) {
  if (status != POLYKEM_CKKS_OK) refuse(static_cast<Fault>(status), std::string(polykem_ckks_error_text()));
}

template <class T>
const T& in_file(const polykem_ckks_file& file) {
  if (const T* const object = std::get_if<T>(&file.object)) return *object;
  refuse(Fault::kArgument, "the file is of another kind");
}

std::vector<EvaluationKey> relinearisation_keys(RelinearisationKeys read_keys) {
  std::vector<EvaluationKey> out;
  for (auto& [tag, keys] : read_keys.keys)
    if (!keys.empty()) out.emplace_back(0, std::move(keys[0]));
  return out;
}

std::vector<EvaluationKey> automorphism_keys(AutomorphismKeys read_keys) {
  std::vector<EvaluationKey> out;
  for (auto& [tag, keys] : read_keys.keys)
    for (auto& [g, key] : keys)
      out.emplace_back(g, std::move(key));
  return out;
}

polykem_ckks_file read_file(polykem_ckks_kind kind, std::span<const std::uint8_t> bytes) {
  switch (kind) {
    case POLYKEM_CKKS_CONTEXT:
      return {std::make_shared<const Context>(read<Context>(bytes))};
    case POLYKEM_CKKS_PUBLIC_KEY:
      return {read<PublicKey>(bytes)};
    case POLYKEM_CKKS_SECRET_KEY:
      return {read<SecretKey>(bytes)};
    case POLYKEM_CKKS_CIPHERTEXT:
      return {read<Ciphertext>(bytes)};
    case POLYKEM_CKKS_RELINEARISATION_KEYS:
      return {relinearisation_keys(read<RelinearisationKeys>(bytes))};
    case POLYKEM_CKKS_AUTOMORPHISM_KEYS:
      return {automorphism_keys(read<AutomorphismKeys>(bytes))};
  }
  refuse(Fault::kArgument, "there is no such kind of file");
}

/// Returns the context of a file, and the special moduli of its keys.
std::pair<ContextPointer, Moduli> context_of(const polykem_ckks_file& file) {
  if (const auto* const context = std::get_if<ContextPointer>(&file.object)) return {*context, {}};
  if (const auto* const key = std::get_if<PublicKey>(&file.object)) return {key->context, {}};
  if (const auto* const key = std::get_if<SecretKey>(&file.object)) return {key->context, {}};
  if (const auto* const ciphertext = std::get_if<Ciphertext>(&file.object)) return {ciphertext->context, {}};
  const auto& keys = std::get<std::vector<EvaluationKey>>(file.object);
  if (keys.empty()) refuse(Fault::kFormat, "there are no keys in this file");
  return {keys[0].second.context, special_moduli(keys[0].second)};
}

void check_strength(const Context& context) {
  if (context.secret_distribution == SecretDistribution::kSparseTernary ||
      context.secret_distribution == SecretDistribution::kSparseEncapsulated)
    refuse(Fault::kInsecure,
           "the file's secret keys are sparse, which leaves less than 128 bits of security: make them "
           "with SetSecretKeyDist(UNIFORM_TERNARY), or allow it for tests");
  if (context.noise_deviation < kMinDeviation)
    refuse(Fault::kInsecure,
           "the file's errors have a standard deviation below 3.19, which leaves less than 128 bits of "
           "security: leave SetStandardDeviation out, or allow it for tests");
}

SecretBytes written(const Ciphertext& like, const polykem_ckks_ciphertexts* ciphertexts, std::size_t item,
                    unsigned degree, bool json) {
  polykem_ckks_shape shape{};
  shape.struct_size = sizeof shape;
  pass_on(polykem_ckks_ciphertexts_shape(ciphertexts, &shape));
  Words words{};
  words.at = polykem_ckks_ciphertexts_words(ciphertexts, &words.left);
  const Context& context = *like.context;
  const std::size_t n = context.ring_dimension, of_item = shape.parts * shape.limbs * n;
  if (words.at == nullptr) refuse(Fault::kDevice, "the ciphertexts lie on a device: copy them to main memory first");
  if (item >= shape.count || shape.limbs > context.moduli.size() || words.left != shape.count * of_item)
    refuse(Fault::kArgument, "there is no such ciphertext, or it belongs to another parameter set than the file");
  if (degree == 0) refuse(Fault::kArgument, "a degree is 1 or more");
  Ciphertext out;
  out.context = like.context;
  out.key_tag = like.key_tag;
  words = {words.at + item * of_item, of_item};
  for (std::size_t part = 0; part < shape.parts; ++part)
    out.parts.push_back(take_polynomial(words, context.ring_dimension, context.moduli, shape.limbs));
  out.slots = static_cast<std::uint32_t>(shape.slots);
  out.level = static_cast<std::uint32_t>(context.moduli.size() - shape.limbs);
  out.noise_degree = degree;
  out.scale = shape.scale;
  if (context.scaling <= ScalingTechnique::kFixedAuto) {
    out.scale = std::ldexp(1.0, static_cast<int>(context.scaling_bits * degree));
    if (std::abs(shape.scale / out.scale - 1) > kMaxScaleRatio)
      refuse(Fault::kScales, "OpenFHE would take another scale for this degree: rescale, or give the right degree");
  }
  return write(out, json ? Form::kJson : Form::kBinary);
}

/// Makes an object of the C API, of_file() and with its status.
template <class From, class Handle>
polykem_ckks_status make_of(const polykem_ckks_file* file, const polykem_ckks_context* context, Handle** out) {
  return guarded([&] {
    need(file, context, out);
    of_file([&] { pass_on(make(in_file<From>(*file), context, out)); });
  });
}

}  // namespace

polykem_ckks_status polykem_ckks_file_read(polykem_ckks_kind kind, const uint8_t* bytes, size_t byte_count,
                                           polykem_ckks_file** out) {
  return guarded([&] {
    need(bytes, out);
    *out = of_file([&] { return new polykem_ckks_file(read_file(kind, {bytes, byte_count})); });
  });
}
void polykem_ckks_file_free(polykem_ckks_file* file) {
  delete file;
}
polykem_ckks_status polykem_ckks_file_context(const polykem_ckks_file* file, unsigned threads, int allow_insecure,
                                              polykem_ckks_context** out) {
  return guarded([&] {
    need(file, out);
    const auto [context, special] = context_of(*file);
    if (allow_insecure == 0) check_strength(*context);
    pass_on(make(*context, special, threads, allow_insecure != 0, out));
  });
}
polykem_ckks_status polykem_ckks_file_ciphertexts(const polykem_ckks_file* file, const polykem_ckks_context* context,
                                                  polykem_ckks_ciphertexts** out) {
  return make_of<Ciphertext>(file, context, out);
}
polykem_ckks_status polykem_ckks_file_public_key(const polykem_ckks_file* file, const polykem_ckks_context* context,
                                                 polykem_ckks_public_key** out) {
  return make_of<PublicKey>(file, context, out);
}
polykem_ckks_status polykem_ckks_file_secret_key(const polykem_ckks_file* file, const polykem_ckks_context* context,
                                                 polykem_ckks_secret_key** out) {
  return make_of<SecretKey>(file, context, out);
}
size_t polykem_ckks_file_key_count(const polykem_ckks_file* file) {
  const auto* const keys = file == nullptr ? nullptr : std::get_if<std::vector<EvaluationKey>>(&file->object);
  return keys == nullptr ? 0 : keys->size();
}
polykem_ckks_status polykem_ckks_file_switching_key(const polykem_ckks_file* file, size_t i,
                                                    const polykem_ckks_context* context, uint64_t* g,
                                                    polykem_ckks_switching_key** out) {
  return guarded([&] {
    need(file, context, g, out);
    const auto& keys = in_file<std::vector<EvaluationKey>>(*file);
    if (i >= keys.size()) refuse(Fault::kArgument, "the file has " + std::to_string(keys.size()) + " keys");
    of_file([&] { pass_on(make(keys[i].second, context, out)); });
    *g = keys[i].first;
  });
}
unsigned polykem_ckks_file_degree(const polykem_ckks_file* file) {
  const auto* const ciphertext = file == nullptr ? nullptr : std::get_if<Ciphertext>(&file->object);
  return ciphertext == nullptr ? 0 : ciphertext->noise_degree;
}
polykem_ckks_status polykem_ckks_file_write_ciphertext(const polykem_ckks_file* like,
                                                       const polykem_ckks_ciphertexts* ciphertexts, size_t item,
                                                       unsigned degree, int json, uint8_t* bytes, size_t* byte_count) {
  return guarded([&] {
    need(like, ciphertexts, byte_count);
    const auto file =
        of_file([&] { return written(in_file<Ciphertext>(*like), ciphertexts, item, degree, json != 0); });
    const size_t room = std::exchange(*byte_count, file.size());
    if (bytes == nullptr || room < file.size())
      refuse(Fault::kArgument, "the file has " + std::to_string(file.size()) + " bytes, and there is room for " +
                                   std::to_string(bytes == nullptr ? 0 : room));
    std::copy(file.begin(), file.end(), bytes);
  });
}
