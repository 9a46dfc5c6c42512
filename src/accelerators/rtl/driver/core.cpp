// SPDX-License-Identifier: Apache-2.0
#include "accelerators/rtl/driver/core.hpp"

#include <algorithm>

#include "core/secure.hpp"

namespace polykem::rtl {

namespace {

/// The longest command takes less than 5,000 cycles; the rest is for slow streams.
constexpr uint64_t kMaxClocks = 200'000;

constexpr size_t kSeedBytes = 32;  ///< of ek, at its end

uint32_t params_of(CoreSet set) {
  return set.k | (set.kyber ? kKyberBit : 0);
}

void zeroize_outputs(std::span<const Bytes> outputs) {
  for (const Bytes& out : outputs)
    zeroize(out.data(), out.size());
}

}  // namespace

bool Core::open() {
  problem_ = "";
  if (transport_->reg_read(reg::kId) != kCoreId) {
    problem_ = "there is no polykem core: its register ID has another value";
    return false;
  }
  version_ = transport_->reg_read(reg::kVersion);
  if (version_ >> 16 != kCoreMajorVersion) {
    problem_ = "the core belongs to another version of polykem";
    return false;
  }
  return zeroize();
}

bool Core::zeroize() {
  transport_->reg_write(reg::kStatus, status::kEnded);
  transport_->reg_write(reg::kIrqEnable, 1);
  transport_->reg_write(reg::kZeroize, 1);
  (void)transport_->wait_irq(kMaxClocks);
  cleared_ = (transport_->reg_read(reg::kStatus) & (status::kEnded | status::kBusy)) == status::kEnded;
  if (!cleared_) problem_ = "the core does not answer: it could not clear its secrets";
  return cleared_;
}

CoreCycles Core::cycles() {
  CoreCycles cycles{.command = transport_->reg_read(reg::kCycles), .occupied = transport_->reg_read(reg::kOccupied)};
  for (size_t i = 0; i < kPhases; ++i)
    cycles.phases[i] = transport_->reg_read(reg::kPhase + static_cast<uint32_t>(4 * i));
  return cycles;
}

Outcome Core::keygen(CoreSet set, ConstBytes coins, Bytes ek, Bytes dk) {
  const Outcome outcome = run({Command::kKeygen, params_of(set), {coins, {}}, {dk, {}}});
  const size_t vector_bytes = ek.size() - kSeedBytes;
  std::copy_n(dk.begin() + static_cast<ptrdiff_t>(vector_bytes), ek.size(), ek.begin());  // zeros after an error
  return outcome;
}

Outcome Core::encaps(CoreSet set, ConstBytes ek, ConstBytes m, Bytes ct, Bytes ss) {
  return run({Command::kEncaps, params_of(set), {m, ek}, {ct, ss}});
}

Outcome Core::decaps(CoreSet set, ConstBytes dk, ConstBytes ct, Bytes ss) {
  return run({Command::kDecaps, params_of(set), {ct, dk}, {ss, {}}});
}

Outcome Core::transform(bool inverse, ConstBytes in, Bytes out) {
  return run({inverse ? Command::kIntt : Command::kNtt, params_of({.k = 2}), {in, {}}, {out, {}}});
}

Outcome Core::multiply(ConstBytes a, ConstBytes b, Bytes out) {
  return run({Command::kPwm, params_of({.k = 2}), {a, b}, {out, {}}});
}

Outcome Core::hash(CoreHash hash, ConstBytes in, Bytes out) {
  const size_t in_words = in.size() / kWordBytes, out_words = out.size() / kWordBytes;
  const bool whole = in.size() % kWordBytes == 0 && out.size() % kWordBytes == 0;
  if (!whole || in_words < 1 || in_words > kMaxWords || out_words < 1 || out_words > kMaxWords) {
    problem_ = "a hash of no whole words, or of too many";
    return Outcome::kRefused;
  }
  const uint32_t rate = hash == CoreHash::kSha3_512 ? 0 : hash == CoreHash::kShake128 ? 2 : 1;
  const uint32_t xof = hash == CoreHash::kShake128 || hash == CoreHash::kShake256 ? kXofBit : 0;
  const auto words = static_cast<uint32_t>(in_words << kInWordsShift | out_words << kOutWordsShift);
  return run({Command::kShake, params_of({.k = 2}) | rate << kRateShift | xof | words, {in, {}}, {out, {}}});
}

/// The streams are ready before the command is, so that the core waits for neither.
Outcome Core::run(const Job& job) {
  if (!cleared_ && !zeroize()) {
    zeroize_outputs(job.out);
    return Outcome::kTimedOut;
  }
  cleared_ = false;
  problem_ = "";
  transport_->reg_write(reg::kStatus, status::kEnded);
  transport_->reg_write(reg::kIrqEnable, 1);
  transport_->reg_write(reg::kParams, job.params);
  transport_->stream_out(job.out[0], job.out[1]);
  transport_->stream_in(job.in[0], job.in[1]);
  transport_->reg_write(reg::kCommand, static_cast<uint32_t>(job.command));
  (void)transport_->wait_irq(kMaxClocks);
  const bool ended = (transport_->reg_read(reg::kStatus) & status::kEnded) != 0;
  const uint32_t error = transport_->reg_read(reg::kError);
  const size_t received = transport_->end_streams(ended && error == 0);
  const Outcome outcome = judge(ended, error, received, job.out[0].size() + job.out[1].size());
  if (outcome != Outcome::kOk) return fail(job, outcome);
  cleared_ = true;  // the core clears its secrets at the end of a command
  return Outcome::kOk;
}

Outcome Core::judge(bool ended, uint32_t error, size_t received, size_t wanted) {
  if (error == error::kDkHash) return Outcome::kSecretKey;
  if (error == error::kEkModulus) return Outcome::kPublicKey;
  if (error != 0) {
    if ((error & error::kUpset) != 0)
      problem_ = "the core found an upset bit in itself and cleared its memories";
    else if ((error & error::kInputSize) != 0)
      problem_ = "the core found an input too short or too long";
    else
      problem_ = "the core refused a command";
    return Outcome::kRefused;
  }
  if (!ended) {
    problem_ = "the core did not end a command in time";
    return Outcome::kTimedOut;
  }
  if (received == wanted) return Outcome::kOk;
  problem_ = received < wanted ? "the core sent less than its command's output"
                               : "the core sent more than its command's output";
  return Outcome::kBadOutput;
}

Outcome Core::fail(const Job& job, Outcome outcome) {
  zeroize_outputs(job.out);
  const char* const first = problem_;
  if (zeroize() || *first != '\0') problem_ = first;
  return outcome;
}

}  // namespace polykem::rtl
