// SPDX-License-Identifier: Apache-2.0
#include "prim/drbg/drbg.hpp"

#include <sys/random.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "core/cpu_features.hpp"
#include "core/secure.hpp"
#include "ct/ct.hpp"
#include "prim/drbg/fork_generation.hpp"
#include "prim/keccak/keccak.hpp"

namespace polykem {

namespace {

uint64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t cpu_random() {
#ifdef POLYKEM_HAVE_X86
  if (!cpu_features().has(CpuFeatures::kRdrand)) return 0;
  uint64_t value;
  bool given;
  asm volatile("rdrand %0" : "=r"(value), "=@ccc"(given));
  return given ? value : 0;
#else
  return 0;
#endif
}

}  // namespace

const DrbgSources kSystemSources = {os_entropy, nanoseconds, ForkGeneration::of_process, cpu_random};

Status os_entropy(std::span<uint8_t> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = getrandom(out.data() + done, out.size() - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Status::kRandom;
    done += static_cast<size_t>(got);
  }
  return Status::kOk;
}

Drbg::~Drbg() {
  zeroize(key_, sizeof key_);
}

/// Mixes the entropy into the key instead of replacing it, so that a good key stays good even if the entropy is bad.
Status Drbg::seed() {
  uint8_t entropy[kEntropyBytes];
  const Status status = sources_.entropy({entropy, sizeof entropy});
  if (status == Status::kOk) {
    Shake mix(Shake::Strength::kShake256);
    mix.absorb(key_);
    mix.absorb(entropy);
    mix.squeeze(key_);
  }
  zeroize(entropy, sizeof entropy);
  return status;
}

Status Drbg::prepare() {
  const uint64_t generation = sources_.generation();
  const uint64_t now = sources_.nanoseconds();
  nonce_ = now ^ sources_.cpu_random();
  bool fresh = now - seeded_at_ < kSeedLifetime;  // also false if the clock went backwards
  ct::declassify(&fresh, sizeof fresh);
  if (fills_left_ > 0 && generation == generation_ && fresh) return Status::kOk;
  const Status status = seed();
  if (status != Status::kOk) return status;
  generation_ = generation;
  seeded_at_ = now;
  fills_left_ = kReseedInterval;
  return Status::kOk;
}

/// Moves the key into `rest`, replaces it by the first blocks of its keystream, and writes the blocks after those to
/// `first`. `rest` continues there.
void Drbg::write_first(std::span<uint8_t> first, Aes256Keystream& rest) {
  std::memcpy(rest.key, key_, kKeyBytes);
  rest.nonce = nonce_;
  rest.counter = kKeyBytes / kAesBlockBytes;
  aes_(key_, kKeyBytes, rest.key, rest.nonce, 0);
  aes_(first.data(), first.size(), rest.key, rest.nonce, rest.counter);
  rest.counter += first.size() / kAesBlockBytes;
}

/// Expands a short output, as a single item draws it, together with the next key, because half of the time goes into
/// the expansion of the old key.
void Drbg::expand_by_aes(std::span<uint8_t> out) {
  constexpr size_t kShort = 64;
  if (out.size() <= kShort) {
    uint8_t both[kKeyBytes + kShort];
    aes_(both, kKeyBytes + out.size(), key_, nonce_, 0);
    std::memcpy(key_, both, kKeyBytes);
    std::memcpy(out.data(), both + kKeyBytes, out.size());
    zeroize(both, sizeof both);
  } else {
    Aes256Keystream rest;
    write_first(out, rest);
  }
}

void Drbg::expand_by_shake(std::span<uint8_t> out) {
  uint8_t nonce[sizeof nonce_];
  std::memcpy(nonce, &nonce_, sizeof nonce);
  Shake stream(Shake::Strength::kShake256);
  stream.absorb(key_);
  stream.absorb(nonce);
  stream.squeeze(key_);
  stream.squeeze(out);
}

void Drbg::fill(std::span<uint8_t> out) {
  aes_ != nullptr ? expand_by_aes(out) : expand_by_shake(out);
  count_fill();
}

void Drbg::begin_fill(std::span<uint8_t> first, Aes256Keystream& rest) {
  write_first(first, rest);
  count_fill();
}

}  // namespace polykem
