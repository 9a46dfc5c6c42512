// SPDX-License-Identifier: Apache-2.0
// A core without hardware: the registers and streams of hw/doc/registers.md, behind which the reference backend
// computes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "accelerators/rtl/driver/core.hpp"
#include "core/backend.hpp"
#include "core/secure.hpp"
#include "prim/keccak/keccak.hpp"
#include "prim/ntt/ntt.hpp"
#include "schemes/mlkem/ref/pack.hpp"
#include "schemes/registry.hpp"

namespace polykem::rtl::test {

using Buffer = std::vector<uint8_t>;

/// The faults of the core.
enum class Fault { kNone, kForeign, kOtherVersion, kHangs, kDead, kEndsEarly, kSendsMore, kRefuses, kWrongBit };

constexpr std::array<std::pair<const char*, Fault>, 9> kFaultNames{{{"none", Fault::kNone},
                                                                    {"foreign", Fault::kForeign},
                                                                    {"other_version", Fault::kOtherVersion},
                                                                    {"hangs", Fault::kHangs},
                                                                    {"dead", Fault::kDead},
                                                                    {"ends_early", Fault::kEndsEarly},
                                                                    {"sends_more", Fault::kSendsMore},
                                                                    {"refuses", Fault::kRefuses},
                                                                    {"wrong_bit", Fault::kWrongBit}}};

inline void PrintTo(Fault fault, std::ostream* out) {
  *out << kFaultNames[static_cast<size_t>(fault)].first;
}

inline Fault fault_named(const std::string& name) {
  for (const auto& [known, fault] : kFaultNames)
    if (name == known) return fault;
  return Fault::kNone;
}

class FakeCore {
 public:
  std::atomic<Fault> fault{Fault::kNone};
  size_t commands = 0, zeroized = 0;

  uint32_t read(uint32_t offset) const {
    switch (offset) {
      case reg::kId:
        return fault == Fault::kForeign ? 0 : kCoreId;
      case reg::kVersion:
        return (kCoreMajorVersion + (fault == Fault::kOtherVersion ? 1 : 0)) << 16 | 2;
      case reg::kStatus:
        return status_;
      case reg::kError:
        return error_;
      case reg::kIrqEnable:
        return irq_enable_;
      case reg::kCycles:
        return std::accumulate(phases_.begin(), phases_.end(), 0u);
      case reg::kOccupied:
        return std::accumulate(phases_.begin(), phases_.end(), kClearing);
      default:
        return offset >= reg::kPhase && offset < reg::kPhase + 4 * kPhases ? phases_[(offset - reg::kPhase) / 4] : 0;
    }
  }

  void write(uint32_t offset, uint32_t value) {
    if (offset == reg::kParams) params_ = value;
    if (offset == reg::kIrqEnable) irq_enable_ = value & 1;
    if (offset == reg::kStatus && (value & status::kEnded) != 0) status_ &= ~status::kEnded, error_ = 0;
    if (offset == reg::kZeroize) zeroize();
    if (offset == reg::kCommand) start(value);
  }

  /// The whole input of a command, up to TLAST. A command takes it when it has been started.
  void input(Buffer bytes) {
    input_ = std::move(bytes);
    advance();
  }
  /// Returns the output of the last command; empty until it has ended.
  const Buffer& output() const { return output_; }
  bool interrupt() const { return irq_enable_ != 0 && (status_ & status::kEnded) != 0; }
  bool holds_secrets() const { return input_.has_value() || !output_.empty() || (status_ & status::kBusy) != 0; }

 private:
  void zeroize() {
    if (fault == Fault::kDead) return;
    ++zeroized;
    forget();
    error_ = error::kAborted;
    status_ = status::kEnded;
  }

  void forget() {
    input_.reset();
    output_.clear();
  }

  /// A command that is not accepted ends nothing.
  void start(uint32_t command) {
    ++commands;
    const uint32_t k = params_ & 7;
    const bool busy = (status_ & status::kBusy) != 0;
    if (busy || command < 1 || command > 7 || k < 2 || k > 4 || fault == Fault::kRefuses) {
      error_ |= error::kCommand;
      return;
    }
    output_.clear();
    command_ = command;
    error_ = 0;
    status_ = status::kBusy;
    if (fault != Fault::kHangs && fault != Fault::kDead) advance();
  }

  void end(uint32_t error) {
    error_ = error;
    status_ = status::kEnded;
  }

  const Scheme& scheme() const {
    static constexpr const char* kNames[2][3] = {{"mlkem512", "mlkem768", "mlkem1024"},
                                                 {"kyber512", "kyber768", "kyber1024"}};
    return *find_scheme(kNames[(params_ & kKyberBit) != 0 ? 1 : 0][(params_ & 7) - 2]);
  }

  size_t input_bytes() const {
    const Scheme& s = scheme();
    switch (static_cast<Command>(command_)) {
      case Command::kKeygen:
        return 64;
      case Command::kEncaps:
        return s.public_key_bytes + 32;
      case Command::kDecaps:
        return s.secret_key_bytes + s.ciphertext_bytes;
      case Command::kShake:
        return (params_ >> kInWordsShift & 0xff) * kWordBytes;
      case Command::kPwm:
        return 2 * mlkem::kPolyBytes;
      default:
        return mlkem::kPolyBytes;
    }
  }

  void advance() {
    if ((status_ & status::kBusy) == 0 || !input_) return;
    const Buffer in = std::move(*input_);
    input_.reset();
    if (in.size() != input_bytes()) return end(error::kInputSize);
    const uint32_t error = compute(in);
    for (uint32_t i = 0; i < kPhases; ++i)
      phases_[i] = (i + 1) * 10 * command_;
    if (error != 0) output_.clear();
    if (fault == Fault::kEndsEarly && !output_.empty()) output_.resize(output_.size() - kWordBytes);
    if (fault == Fault::kSendsMore && !output_.empty()) output_.resize(output_.size() + kWordBytes);
    if (fault == Fault::kWrongBit && !output_.empty()) output_.back() ^= 1;
    end(error);
  }

  uint32_t compute(const Buffer& in) {
    switch (static_cast<Command>(command_)) {
      case Command::kKeygen:
      case Command::kEncaps:
      case Command::kDecaps:
        return compute_kem(in);
      case Command::kShake:
        compute_hash(in);
        return 0;
      default:
        compute_ring(in);
        return 0;
    }
  }

  uint32_t compute_kem(const Buffer& in) {
    const Scheme& s = scheme();
    Batch batch;
    batch.count = 1;
    Status item = Status::kOk;
    batch.item_status = &item;
    const Op op = static_cast<Op>(command_ - 1);
    Buffer pk(s.public_key_bytes);
    if (op == Op::kKeygen) {
      output_.resize(s.secret_key_bytes);
      batch.coins = in.data();
      batch.pk_out = pk.data();
      batch.sk_out = output_.data();
    } else if (op == Op::kEncaps) {
      output_.resize(s.ciphertext_bytes + 32);
      batch.coins = in.data();
      batch.pk = in.data() + 32;
      batch.ct_out = output_.data();
      batch.ss_out = output_.data() + s.ciphertext_bytes;
    } else {
      output_.resize(32);
      batch.ct = in.data();
      batch.sk = in.data() + s.ciphertext_bytes;
      batch.ss_out = output_.data();
    }
    const Operation& ref = cpu_backend(s, cpu::kRef)->op(op);
    SecureBuffer workspace;
    if (!workspace.reserve(ref.workspace_bytes(1))) return error::kAborted;
    (void)ref.run(ref.context, batch, workspace.data(), nullptr);
    return item == Status::kPublicKey ? error::kEkModulus : item == Status::kSecretKey ? error::kDkHash : 0;
  }

  void compute_ring(const Buffer& in) {
    mlkem::Poly a{}, b{}, result{};
    (void)mlkem::ref::poly_byte_decode(a, in.data());
    const auto command = static_cast<Command>(command_);
    if (command == Command::kPwm) {
      (void)mlkem::ref::poly_byte_decode(b, in.data() + mlkem::kPolyBytes);
      ntt::multiply(result.c, a.c, b.c, 1);
    } else {
      result = a;
      (command == Command::kNtt ? ntt::forward : ntt::inverse)(result.c);
    }
    output_.resize(mlkem::kPolyBytes);
    mlkem::ref::poly_byte_encode(output_.data(), result);
  }

  void compute_hash(const Buffer& in) {
    output_.assign((params_ >> kOutWordsShift & 0xff) * kWordBytes, 0);
    const uint32_t rate = params_ >> kRateShift & 3;
    if ((params_ & kXofBit) == 0) {
      uint8_t digest[64] = {};
      (rate == 0 ? sha3_512 : sha3_256)(digest, in, {});
      std::copy_n(digest, std::min(output_.size(), sizeof digest), output_.begin());
      return;
    }
    Shake shake(rate == 2 ? Shake::Strength::kShake128 : Shake::Strength::kShake256);
    shake.absorb(in);
    shake.squeeze(output_);
  }

  static constexpr uint32_t kClearing = 200;

  uint32_t params_ = 0, status_ = 0, irq_enable_ = 0, error_ = 0, command_ = 0;
  std::array<uint32_t, kPhases> phases_{};
  std::optional<Buffer> input_;
  Buffer output_;
};

/// The fake core as a transport.
class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(FakeCore& core) : core_(core) {}

  uint32_t reg_read(uint32_t offset) override { return core_.read(offset); }
  void reg_write(uint32_t offset, uint32_t value) override { core_.write(offset, value); }
  void stream_out(Bytes first, Bytes second) override {
    out_[0] = first;
    out_[1] = second;
  }
  void stream_in(ConstBytes first, ConstBytes second) override {
    Buffer all(first.begin(), first.end());
    all.insert(all.end(), second.begin(), second.end());
    core_.input(std::move(all));
  }
  bool wait_irq(uint64_t) override { return core_.interrupt(); }
  size_t end_streams(bool) override {
    const Buffer& sent = core_.output();
    size_t from = 0;
    for (const Bytes& out : out_) {
      const size_t size = std::min(out.size(), sent.size() - from);
      std::copy_n(sent.begin() + static_cast<ptrdiff_t>(from), size, out.begin());
      from += size;
    }
    out_[0] = out_[1] = {};
    return sent.size();
  }

 private:
  FakeCore& core_;
  Bytes out_[2];
};

}  // namespace polykem::rtl::test
