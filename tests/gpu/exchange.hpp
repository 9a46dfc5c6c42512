// SPDX-License-Identifier: Apache-2.0
// Used by all checks of the CUDA backend: parameter sets, exchanges with all their records, comparisons.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "accelerators/cuda/loader.hpp"
#include "polykem/polykem.h"
#include "selection.hpp"

namespace polykem::test {

using Bytes = std::vector<uint8_t>;

inline int failures = 0;

inline void expect(bool good, const std::string& what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

struct FreeContext {
  void operator()(polykem_context* context) const { polykem_context_free(context); }
};
using Context = std::unique_ptr<polykem_context, FreeContext>;

inline Context make_context(const char* backend, unsigned threads = 0) {
  polykem_config config{sizeof config, threads, backend};
  polykem_context* context = nullptr;
  expect(polykem_context_new(&config, &context) == POLYKEM_OK, std::string("context for ") + backend);
  return Context(context);
}

/// The fastest CPU backend that runs the set.
inline Context make_cpu_context(const polykem_scheme* scheme) {
  for (size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info_t backend{};
    backend.struct_size = sizeof backend;
    polykem_backend_info(i, &backend);
    if (!backend.available || std::strcmp(backend.name, "cuda") == 0) continue;
    Context context = make_context(backend.name);
    if (polykem_context_backend(context.get(), scheme) != nullptr) return context;
  }
  return nullptr;
}

/// One set with the sizes of its records.
struct Set {
  const polykem_scheme* scheme;
  polykem_scheme_info_t info{};

  explicit Set(const polykem_scheme* s) : scheme(s) {
    info.struct_size = sizeof info;
    polykem_scheme_info(s, &info);
  }
  std::string name() const { return info.name; }
  bool is(const char* family) const { return std::strcmp(info.family, family) == 0; }
  bool frodo() const { return is("frodokem"); }  ///< items are large and slow
  /// Bytes of an exchange of one item.
  size_t item_bytes() const {
    return info.keygen_coin_bytes + info.encaps_coin_bytes + info.public_key_bytes + info.secret_key_bytes +
           info.ciphertext_bytes + 2 * info.shared_secret_bytes;
  }
};

/// Hybrids with NIST's curves have no operations for GPUs.
inline bool for_gpus(const Set& set) {
  return !set.is("hybrid") || set.name().find("25519") != std::string::npos;
}

/// Returns the sets that POLYKEM_GPU_FAMILIES and `only` name. A set that the module lacks is a failure.
inline std::vector<Set> sets(const std::string& only) {
  std::vector<Set> all;
  const Context context = make_context("cuda");
  for (size_t i = 0; i < polykem_scheme_count(); ++i) {
    const Set set(polykem_scheme_at(i));
    if (!for_gpus(set) || !selected(set.info.family, set.name()) || !named(only, set.info.family, set.name())) continue;
    const bool there = polykem_context_backend(context.get(), set.scheme) != nullptr;
    expect(there, "the module has no operations for " + set.name() + "; POLYKEM_GPU_FAMILIES chooses what is tested");
    if (there) all.push_back(set);
  }
  return all;
}

/// A batch of key pairs and exchanges with all records of both sides. Outputs begin poisoned.
struct Exchange {
  size_t count;
  Bytes keygen_coins, encaps_coins, pk, sk, ct, ss, decapsulated;

  Exchange(const Set& set, size_t n) : count(n) {
    keygen_coins.resize(n * set.info.keygen_coin_bytes);
    encaps_coins.resize(n * set.info.encaps_coin_bytes);
    pk.assign(n * set.info.public_key_bytes, 0xa5);
    sk.assign(n * set.info.secret_key_bytes, 0xa5);
    ct.assign(n * set.info.ciphertext_bytes, 0xa5);
    ss.assign(n * set.info.shared_secret_bytes, 0xa5);
    decapsulated.assign(n * set.info.shared_secret_bytes, 0xa5);
  }
};

inline polykem_request request(const Set& set, polykem_op op, size_t count, bool shared = false) {
  polykem_request r{};
  r.struct_size = sizeof r;
  r.op = op;
  r.scheme = set.scheme;
  r.count = count;
  r.key_mode = shared ? POLYKEM_KEY_SHARED : POLYKEM_KEY_PER_ITEM;
  return r;
}

inline void keygen(const Context& context, const Set& set, Exchange& x, bool with_coins) {
  auto r = request(set, POLYKEM_KEYGEN, x.count);
  r.coins = with_coins ? x.keygen_coins.data() : nullptr;
  r.pk_out = x.pk.data();
  r.sk_out = x.sk.data();
  expect(polykem_run(context.get(), &r) == POLYKEM_OK, set.name() + " keygen");
}

inline void encaps(const Context& context, const Set& set, Exchange& x, bool with_coins, bool shared = false) {
  auto r = request(set, POLYKEM_ENCAPS, x.count, shared);
  r.coins = with_coins ? x.encaps_coins.data() : nullptr;
  r.pk = x.pk.data();
  r.ct_out = x.ct.data();
  r.ss_out = x.ss.data();
  expect(polykem_run(context.get(), &r) == POLYKEM_OK, set.name() + " encaps");
}

inline void decaps(const Context& context, const Set& set, Exchange& x, bool shared = false) {
  auto r = request(set, POLYKEM_DECAPS, x.count, shared);
  r.sk = x.sk.data();
  r.ct = x.ct.data();
  r.ss_out = x.decapsulated.data();
  expect(polykem_run(context.get(), &r) == POLYKEM_OK, set.name() + " decaps");
}

/// Success if all records are equal; otherwise names the first that differs.
inline void expect_equal(const Bytes& got, const Bytes& wanted, size_t record_bytes, const std::string& what) {
  if (got == wanted) return;
  size_t at = 0, bad_records = 0;
  while (at < got.size() && got[at] == wanted[at])
    ++at;
  for (size_t i = 0; i < got.size(); i += record_bytes) {
    bad_records += std::memcmp(got.data() + i, wanted.data() + i, record_bytes) != 0;
  }
  expect(false, what + ": record " + std::to_string(at / record_bytes) + " differs from byte " +
                    std::to_string(at % record_bytes) + " on; " + std::to_string(bad_records) + " of " +
                    std::to_string(got.size() / record_bytes) + " records are wrong");
}

inline void fill(Bytes& bytes, std::mt19937_64& random) {
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, std::min(sizeof word, bytes.size() - i));
  }
}

/// Makes the coins of some items extreme: all bits 0 or 1; for sets of NTRU that sample f and g by bytes, f, g or both
/// 0.
inline void make_some_extreme(const Set& set, Bytes& coins, size_t count) {
  const size_t bytes = coins.size() / count, half = set.is("ntru") ? (bytes - 32) / 2 : bytes;
  for (size_t i = 2; i < count; i += 97) {
    uint8_t* record = coins.data() + i * bytes;
    const size_t which = i / 97 % 3;
    if (set.is("ntru"))
      std::fill(record + (which == 2 ? half : 0), record + (which == 1 ? half : 2 * half), uint8_t{0});
    else
      std::fill(record, record + bytes, static_cast<uint8_t>(which == 0 ? 0x00 : 0xff));
  }
}

/// Changes every third ciphertext: a bit, the unused bits of the last byte, or all of it.
inline void damage(const Set& set, Bytes& ct, size_t count, std::mt19937_64& random) {
  const size_t bytes = set.info.ciphertext_bytes;
  for (size_t i = 0; i < count; i += 3) {
    uint8_t* record = ct.data() + i * bytes;
    switch (i / 3 % 3) {
      case 0:
        record[random() % bytes] ^= static_cast<uint8_t>(1u << (random() % 8));
        break;
      case 1:
        record[bytes - 1] ^= 0x80;
        break;
      default:
        for (size_t b = 0; b < bytes; ++b)
          record[b] = static_cast<uint8_t>(random());
    }
  }
}

/// A function of another user of the GPU, in a library beside this program.
template <class Function>
Function application(const char* name) {
  static void* const library = dlopen(POLYKEM_GPU_APPLICATION, RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

/// Device memory with a copy of some bytes.
class OnDevice {
 public:
  /// The bytes begin `offset` bytes after an aligned address.
  explicit OnDevice(const Bytes& bytes, size_t offset = 0) : size_(bytes.size()), allocated_(offset + size_ + 3) {
    base_ = table().allocate(allocated_, nullptr, nullptr);
    data_ = base_ + offset;
    expect(table().copy(data_, bytes.data(), size_, nullptr) == cuda::Outcome::kOk, "copying to the GPU");
  }
  explicit OnDevice(size_t size, size_t offset = 0) : OnDevice(Bytes(size, 0xa5), offset) {}
  ~OnDevice() { table().release(base_, allocated_); }
  /// `size` bytes of uninitialised device memory; there() is false if the GPU does not have that much.
  struct Unwritten {
    size_t size;
  };
  explicit OnDevice(Unwritten wanted)
      : size_(wanted.size), allocated_(size_), base_(table().allocate(size_, nullptr, nullptr)), data_(base_) {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  uint8_t* data() const { return reinterpret_cast<uint8_t*>(data_); }
  bool there() const { return data_ != nullptr; }
  Bytes read() const { return read_end(size_); }
  /// Returns the last `bytes` bytes, after all work on the default stream.
  Bytes read_end(size_t bytes) const {
    Bytes end(bytes);
    const auto read = application<int (*)(void*, const void*, size_t)>("polykem_gpu_read");
    expect(read != nullptr && read(end.data(), data_ + size_ - bytes, bytes) == 0, "copying from the GPU");
    return end;
  }

 private:
  static const cuda::ModuleTable& table() { return *cuda::loaded_module().table; }
  size_t size_, allocated_;
  std::byte *base_, *data_;
};

/// Returns the number of items of large tests, POLYKEM_GPU_ITEMS; always odd.
inline size_t wanted_items(const Set& set) {
  const char* text = std::getenv("POLYKEM_GPU_ITEMS");
  return (text == nullptr ? (set.frodo() ? 2001 : 20000) : std::strtoul(text, nullptr, 10)) | 1;
}

/// Selects the kernels that POLYKEM_GPU_KERNELS names. Returns false if it names none.
inline bool choose_kernels() {
  const char* const text = std::getenv("POLYKEM_GPU_KERNELS");
  if (text == nullptr) return true;
  const std::string choice = text;
  if (choice != "few" && choice != "many") {
    std::fprintf(stderr, "POLYKEM_GPU_KERNELS is '%s'; it may be few or many\n", text);
    return false;
  }
  cuda::loaded_module().table->choose_kernels(choice == "few" ? KernelChoice::kFew : KernelChoice::kMany);
  return true;
}

}  // namespace polykem::test
