// SPDX-License-Identifier: Apache-2.0
// Runs calls of CKKS's C API with objects of several rings. The input chooses the calls, and operands and array lengths
// need not fit. Arrays have exactly the stated length, so that AddressSanitizer finds reads beyond it.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "ckks/tests/handles.hpp"
#include "tests/fuzz/common.hpp"

namespace {

using namespace polykem::ckks::test;
using polykem::fuzz::require;

/// Sets of one ring with other moduli, without special primes, in other digits; and of another ring.
struct Set {
  unsigned log_n;
  std::vector<uint64_t> q, p;
  unsigned digits;
};
const Set kSets[] = {{4, {97, 353}, {65537, 193}, 1}, {4, {353, 97}, {65537, 193}, 1},
                     {4, {97, 353}, {65537, 193}, 2}, {4, {97}, {}, 1},
                     {4, {97, 353}, {193, 65537}, 1}, {5, {193, 449}, {65537, 257}, 1},
                     {5, {193}, {65537}, 1}};
constexpr size_t kSetCount = std::size(kSets), kSlots = 4, kSteps = 64;

const std::vector<ContextHandle>& contexts() {
  static const std::vector<ContextHandle> all = [] {
    std::vector<ContextHandle> made;
    for (const Set& set : kSets) {
      const polykem_ckks_parameters parameters{sizeof parameters,
                                               set.log_n,
                                               set.q.size(),
                                               set.q.data(),
                                               nullptr,
                                               set.p.size(),
                                               set.p.data(),
                                               nullptr,
                                               set.digits,
                                               1,
                                               1};
      polykem_ckks_context* context = nullptr;
      require(polykem_ckks_context_new(&parameters, &context) == POLYKEM_CKKS_OK, "a context");
      made.emplace_back(context);
    }
    return made;
  }();
  return all;
}

class Program {
 public:
  Program(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}

  void run() {
    for (size_t step = 0; step < kSteps && data_ != end_; ++step)
      this->step(byte());
  }

 private:
  uint8_t byte() { return data_ == end_ ? 0 : *data_++; }
  template <class Handle>
  Handle& any(std::array<Handle, kSlots>& handles) {
    return handles[byte() % kSlots];
  }
  const polykem_ckks_context* context() { return contexts()[byte() % kSetCount].get(); }

  /// Calls with &out; the new object replaces another one.
  template <class Handle, class Call>
  void make(std::array<Handle, kSlots>& handles, const Call& call) {
    typename Handle::pointer out = nullptr;
    const polykem_ckks_status status = call(&out);
    require((status == POLYKEM_CKKS_OK) == (out != nullptr), "an object and OK, or neither");
    require(status != POLYKEM_CKKS_ERR_INTERNAL, "no defect");
    if (out != nullptr) any(handles).reset(out);
  }

  /// Rows of small words. The number of rows is that of the sets' objects, or any; the last may lack some.
  struct Array {
    std::unique_ptr<uint64_t[]> words;
    size_t count;
  };
  Array array() {
    const size_t rows = byte() % 17, count = rows * (byte() % 2 == 0 ? 16 : 32) + byte() % 3 - rows % 2;
    const size_t bounded = std::min<size_t>(count, 1024);
    Array out{std::unique_ptr<uint64_t[]>(new uint64_t[bounded]), bounded};
    const uint8_t value = byte();
    for (size_t i = 0; i < bounded; ++i)
      out.words[i] = value % 97;
    return out;
  }
  polykem_ckks_shape shape() {
    return {sizeof(polykem_ckks_shape), size_t{byte() % 4u},     size_t{byte() % 5u},
            size_t{byte() % 4u},        size_t{1} << byte() % 6, scale()};
  }
  /// The moduli have 7 to 17 bits.
  double scale() { return static_cast<double>(1U << byte() % 20); }

  void read_all() {
    size_t count = 0;
    uint64_t sum = 0;
    const auto read = [&](const uint64_t* words) {
      for (size_t i = 0; i < count; ++i)
        sum += words[i];
    };
    read(polykem_ckks_ciphertexts_words(any(ciphertexts_).get(), &count));
    read(polykem_ckks_plaintexts_words(any(plaintexts_).get(), &count));
    read(polykem_ckks_secret_key_words(any(secrets_).get(), &count));
    read(polykem_ckks_public_key_words(any(publics_).get(), &count));
    read(polykem_ckks_switching_key_words(any(keys_).get(), &count));
    [[maybe_unused]] volatile const uint64_t seen = sum;
  }

  void decode() {
    const size_t numbers = byte();
    const std::unique_ptr<double[]> values(new double[2 * numbers]);
    polykem_ckks_decode(context(), any(plaintexts_).get(), values.get(), numbers);
  }

  void encode() {
    const size_t count = byte() % 4, slots = size_t{1} << byte() % 6, limbs = byte() % 4;
    const double scale = this->scale();
    const std::unique_ptr<double[]> values(new double[2 * count * slots]);
    std::fill_n(values.get(), 2 * count * slots, byte() / 16.0);
    make(plaintexts_,
         [&](auto out) { return polykem_ckks_encode(context(), values.get(), count, slots, limbs, scale, out); });
  }

  void take_words(uint8_t which) {
    const Array in = array();
    const polykem_ckks_shape like = shape();
    const uint64_t* const words = in.words.get();
    switch (which % 5) {
      case 0:
        return make(ciphertexts_,
                    [&](auto out) { return polykem_ckks_ciphertexts_new(context(), &like, words, in.count, out); });
      case 1:
        return make(plaintexts_,
                    [&](auto out) { return polykem_ckks_plaintexts_new(context(), &like, words, in.count, out); });
      case 2:
        return make(secrets_, [&](auto out) { return polykem_ckks_secret_key_new(context(), words, in.count, out); });
      case 3:
        return make(publics_, [&](auto out) { return polykem_ckks_public_key_new(context(), words, in.count, out); });
      default:
        return make(keys_, [&](auto out) { return polykem_ckks_switching_key_new(context(), words, in.count, out); });
    }
  }

  void generate(uint8_t which) {
    const polykem_ckks_secret_key* const secret = any(secrets_).get();
    switch (which % 4) {
      case 0:
        return make(secrets_, [&](auto out) { return polykem_ckks_secret_key_generate(context(), out); });
      case 1:
        return make(publics_, [&](auto out) { return polykem_ckks_public_key_generate(context(), secret, out); });
      case 2:
        return make(keys_, [&](auto out) { return polykem_ckks_relinearisation_key_generate(context(), secret, out); });
      default:
        return make(keys_,
                    [&](auto out) { return polykem_ckks_automorphism_key_generate(context(), secret, byte(), out); });
    }
  }

  void compute(uint8_t which) {
    const polykem_ckks_ciphertexts *const a = any(ciphertexts_).get(), *const b = any(ciphertexts_).get();
    const polykem_ckks_plaintexts* const plain = any(plaintexts_).get();
    const polykem_ckks_switching_key* const key = any(keys_).get();
    const auto operation = static_cast<polykem_ckks_operation>(1 + byte() % 3);
    make(ciphertexts_, [&](auto out) {
      switch (which % 9) {
        case 0:
          return polykem_ckks_combine(context(), operation, a, b, out);
        case 1:
          return polykem_ckks_combine_plain(context(), operation, a, plain, out);
        case 2:
          return polykem_ckks_negate(context(), a, out);
        case 3:
          return polykem_ckks_relinearise(context(), a, key, out);
        case 4:
          return polykem_ckks_rescale(context(), a, out);
        case 5:
          return polykem_ckks_keep_limbs(context(), a, byte() % 4, out);
        case 6:
          return polykem_ckks_with_scale(context(), a, scale(), out);
        case 7:
          return polykem_ckks_items(context(), a, byte() % 4, byte() % 4, out);
        default:
          return polykem_ckks_automorphism(context(), a, byte(), key, out);
      }
    });
  }

  void step(uint8_t which) {
    switch (which % 8) {
      case 0:
        return read_all();
      case 1:
        return decode();
      case 2:
        return encode();
      case 3:
        return take_words(byte());
      case 4:
        return generate(byte());
      case 5:
        return make(ciphertexts_, [&](auto out) {
          return polykem_ckks_encrypt(context(), any(publics_).get(), any(plaintexts_).get(), out);
        });
      case 6:
        return make(plaintexts_, [&](auto out) {
          return polykem_ckks_decrypt(context(), any(secrets_).get(), any(ciphertexts_).get(), out);
        });
      default:
        return compute(byte());
    }
  }

  const uint8_t *data_, *end_;
  std::array<CiphertextsHandle, kSlots> ciphertexts_;
  std::array<PlaintextsHandle, kSlots> plaintexts_;
  std::array<SecretKeyHandle, kSlots> secrets_;
  std::array<PublicKeyHandle, kSlots> publics_;
  std::array<SwitchingKeyHandle, kSlots> keys_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Program(data, size).run();
  return 0;
}
