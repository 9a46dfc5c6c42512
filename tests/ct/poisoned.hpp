// SPDX-License-Identifier: Apache-2.0
// Used by ct_check, ct_sign, ct_hpke and ct_batcher: secrets, errors, a context of the requested backend, and the two
// ways to check: memcheck, which follows poisoned bytes, or single steps with other secrets.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <valgrind/memcheck.h>

#include "polykem/polykem.h"

#ifdef POLYKEM_SINGLE_STEP
#include <immintrin.h>

#include "single_step.hpp"
#endif

/// Takes the place of libc's: entropy, and with it all that the library's generator draws from it, is secret.
extern "C" ssize_t getrandom(void* buffer, size_t bytes, unsigned flags) {
  const auto got = static_cast<ssize_t>(syscall(SYS_getrandom, buffer, bytes, flags));
  if (got > 0) (void)VALGRIND_MAKE_MEM_UNDEFINED(buffer, static_cast<size_t>(got));
  return got;
}

namespace polykem::ct_test {

using Bytes = std::vector<uint8_t>;

inline void poison(const Bytes& bytes) {
  (void)VALGRIND_MAKE_MEM_UNDEFINED(bytes.data(), bytes.size());
}
inline void declassify(const Bytes& bytes) {
  (void)VALGRIND_MAKE_MEM_DEFINED(bytes.data(), bytes.size());
}

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

/// Ends the program if memcheck takes one of the bytes for public. A bit may be, as the top one of X25519's secrets.
inline void require_secret(const Bytes& bytes, const char* what) {
  if (RUNNING_ON_VALGRIND == 0) return;
  Bytes secret_bits(bytes.size());
  (void)VALGRIND_GET_VBITS(bytes.data(), secret_bits.data(), bytes.size());
  for (const uint8_t bits : secret_bits)
    if (bits == 0) fail(std::string(what) + " is not secret");
}

inline void require(polykem_status status, const char* what) {
  if (status != POLYKEM_OK) fail(std::string(what) + ": " + polykem_status_text(status));
}

/// The run of two that are compared step by step; 0 under memcheck.
inline uint32_t current_run = 0;

/// POLYKEM_CT_SEED, by which all secrets of a program differ from those of another seed; 0 if it is not set.
inline uint32_t seed_of_all() {
  const char* const value = std::getenv("POLYKEM_CT_SEED");
  return value == nullptr ? 0 : static_cast<uint32_t>(std::strtoul(value, nullptr, 10));
}

/// The output function of SplitMix64. [Steele, Lea and Flood, 2014]
inline uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// Pseudo-random bytes, independent ones in each run and for each seed of all, poisoned.
inline Bytes secret_coins(size_t bytes, uint32_t seed) {
  Bytes out(bytes);
  const uint64_t seeds = mixed(uint64_t{seed} << 32 | current_run) + seed_of_all();
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<uint8_t>(mixed(mixed(seeds) + i * 0x9e3779b97f4a7c15u) >> 56);
  poison(out);
  return out;
}

inline polykem_scheme_info_t info_of(const polykem_scheme* scheme) {
  polykem_scheme_info_t info{};
  info.struct_size = sizeof info;
  require(polykem_scheme_info(scheme, &info), "info");
  return info;
}

/// A context of one thread on POLYKEM_BACKEND. Ends the program as skipped if that does not run the set.
inline polykem_context* open_context(const polykem_scheme* scheme) {
  constexpr int kSkip = 77;
  polykem_config config{};
  config.struct_size = sizeof config;
  config.threads = 1;
  polykem_context* context = nullptr;
  const polykem_status status = polykem_context_new(&config, &context);
  if (status == POLYKEM_ERR_BACKEND_UNAVAILABLE) std::exit(kSkip);
  require(status, "context");
  const char* wanted = std::getenv("POLYKEM_BACKEND");
  const char* backend = polykem_context_backend(context, scheme);
  if (backend == nullptr) std::exit(kSkip);
  if (wanted != nullptr && std::strcmp(wanted, backend) != 0) fail("another backend runs than was asked for");
  return context;
}

/// A leak to plant where an operation ends.
enum class Leak { kNone, kBranch, kAddress, kMask, kLane, kDivision, kDivisor };

#ifdef POLYKEM_SINGLE_STEP
/// Stores zeros at the bytes that a secret selects.
__attribute__((target("avx512bw,avx512vl"))) inline void store_by_mask(uint8_t secret) {
  uint8_t bytes[16] = {};
  _mm_mask_storeu_epi8(bytes, secret, _mm_setzero_si128());
  asm volatile("" : : "r"(bytes) : "memory");  // the compiler must not drop the store
}

/// Loads four words, one of them from where a secret says.
__attribute__((target("avx512vl"))) inline void gather_by_lane(uint8_t secret) {
  static const long long table[256] = {};
  const __m256i words = _mm256_mmask_i64gather_epi64(_mm256_setzero_si256(), 0xf, _mm256_set_epi64x(0, secret, 0, 0),
                                                     table, sizeof *table);
  asm volatile("" : : "x"(words));
}

/// Divides a secret, by a divisor in a register.
inline void divide(uint8_t secret) {
  uint64_t quotient = secret, remainder = 0;
  asm volatile("divq %2" : "+a"(quotient), "+d"(remainder) : "r"(uint64_t{3}) : "cc");
}

/// Divides by a secret, which is in memory.
inline void divide_by(uint8_t secret) {
  const uint64_t divisor = uint64_t{secret} + 1;
  uint64_t quotient = 1000, remainder = 0;
  asm volatile("divq %2" : "+a"(quotient), "+d"(remainder) : "m"(divisor) : "cc");
}
#endif

/// Leaks some bytes of a secret; by the mask of a store, a lane of a gather or a division only where traces can be
/// made. No compiler turns the branch into a select, since assembly may run only if it is taken.
inline void plant(Leak leak, const Bytes& secret) {
  constexpr size_t kLeaked = 16;  // so many do not agree in two runs
  static const volatile uint8_t table[256] = {};
  static volatile uint8_t used = 0;  // valgrind drops a load whose value nothing uses, and with it the check
  for (size_t i = 0; i < kLeaked; ++i) {
    if (leak == Leak::kAddress) used = table[secret[i]];
    if (leak == Leak::kBranch && (secret[i] & 1) != 0) asm volatile("nop");
#ifdef POLYKEM_SINGLE_STEP
    if (leak == Leak::kMask) store_by_mask(secret[i]);
    if (leak == Leak::kLane) gather_by_lane(secret[i]);
    if (leak == Leak::kDivision) divide(secret[i]);
    if (leak == Leak::kDivisor) divide_by(secret[i]);
#endif
  }
}

/// What is checked, and how.
struct Arguments {
  const char* set = nullptr;
  Leak leak = Leak::kNone;
  size_t items = 0;    ///< to compare step by step; 0: under memcheck
  bool basic = false;  ///< each operation once
};

inline Leak leak_of(std::string_view name) {
  if (name == "branch") return Leak::kBranch;
  if (name == "address") return Leak::kAddress;
  if (name == "mask") return Leak::kMask;
  if (name == "lane") return Leak::kLane;
  if (name == "division") return Leak::kDivision;
  return name == "divisor" ? Leak::kDivisor : Leak::kNone;
}

constexpr const char* kUsage =
    "usage: SET [--leak branch|address|mask|lane|division|divisor] [--trace ITEMS] [--basic]";

/// Reads what kUsage names; ends the program if it is wrong.
inline Arguments read_arguments(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--leak" && leak_of(value) != Leak::kNone) {
      out.leak = leak_of(value);
      ++i;
    } else if (name == "--trace" && std::atoi(value.c_str()) > 0) {
      out.items = static_cast<size_t>(std::atoi(value.c_str()));
      ++i;
    } else if (name == "--basic") {
      out.basic = true;
    } else if (out.set == nullptr && name.rfind("--", 0) != 0) {
      out.set = argv[i];
    } else {
      fail("unknown argument " + name);
    }
  }
  if (out.leak >= Leak::kMask && out.items == 0) fail("only a trace (--trace) sees this leak");
  if (out.set == nullptr) fail(kUsage);
  return out;
}

/// Compares two runs step by step and returns the exit status.
inline int trace([[maybe_unused]] const std::string& what, [[maybe_unused]] const std::function<void()>& body) {
#ifdef POLYKEM_SINGLE_STEP
  const Comparison comparison = compare_steps([&](uint32_t run) {
    current_run = run;
    body();
  });
  std::printf("%s: %llu instructions and %llu addresses of data, %s\n", what.c_str(),
              static_cast<unsigned long long>(comparison.instructions),
              static_cast<unsigned long long>(comparison.accesses),
              comparison.difference.empty() ? "the same with other secrets" : comparison.difference.c_str());
  return comparison.difference.empty() && comparison.instructions > 0 ? 0 : 1;
#else
  fail("single steps need x86-64");
#endif
}

}  // namespace polykem::ct_test
