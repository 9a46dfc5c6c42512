// SPDX-License-Identifier: Apache-2.0
// The driver of the hardware core: commands in, records out.
#pragma once

#include <array>
#include <memory>

#include "accelerators/rtl/driver/registers.hpp"
#include "accelerators/rtl/driver/transport.hpp"

namespace polykem::rtl {

/// A parameter set, as PARAMS has it.
struct CoreSet {
  uint32_t k = 0;  ///< 2, 3 or 4
  bool kyber = false;
};

enum class CoreHash { kSha3_512, kSha3_256, kShake256, kShake128 };

enum class Outcome {
  kOk,
  kPublicKey,  ///< ek has a coefficient that is not below q
  kSecretKey,  ///< the hash of ek in dk is wrong
  kRefused,    ///< the core did not take the command, its parameters or the length of its input
  kTimedOut,   ///< the core did not end the command
  kBadOutput,  ///< the core sent less or more than the command's output
};

/// Cycles of the last command. [hw/doc/registers.md]
struct CoreCycles {
  uint32_t command = 0;   ///< until the last word of the output has left; the sum of the phases
  uint32_t occupied = 0;  ///< the same, and until every secret is overwritten
  std::array<uint32_t, kPhases> phases{};
};

/// One core, for one thread at a time. After any outcome but kOk the outputs are zero and the core has cleared its
/// secrets. A core that fails to clear them must do so before it gets another command.
class Core {
 public:
  explicit Core(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  /// Checks that there is such a core, and clears it. On failure sets the reason.
  [[nodiscard]] bool open();
  /// Describes the outcome; "" if it is kOk. Static storage.
  const char* problem() const { return problem_; }
  /// VERSION: major << 16, minor.
  uint32_t version() const { return version_; }

  /// coins: d, z; 64 bytes. dk holds ek, from which it is copied.
  [[nodiscard]] Outcome keygen(CoreSet set, ConstBytes coins, Bytes ek, Bytes dk);
  /// m: 32 bytes, the coins themselves.
  [[nodiscard]] Outcome encaps(CoreSet set, ConstBytes ek, ConstBytes m, Bytes ct, Bytes ss);
  [[nodiscard]] Outcome decaps(CoreSet set, ConstBytes dk, ConstBytes ct, Bytes ss);

  /// NTT or INTT of a polynomial: 256 coefficients below q, 12 bits each, 384 bytes. [FIPS203, Alg 5, d = 12]
  [[nodiscard]] Outcome transform(bool inverse, ConstBytes in, Bytes out);
  /// The product of two polynomials in the NTT domain.
  [[nodiscard]] Outcome multiply(ConstBytes a, ConstBytes b, Bytes out);
  /// in and out: 1 to 255 words of eight bytes.
  [[nodiscard]] Outcome hash(CoreHash hash, ConstBytes in, Bytes out);

  /// Ends a running command and clears every secret; false if the core does not answer.
  [[nodiscard]] bool zeroize();
  CoreCycles cycles();

 private:
  struct Job {
    Command command;
    uint32_t params;
    ConstBytes in[2];
    Bytes out[2];
  };
  Outcome run(const Job& job);
  Outcome judge(bool ended, uint32_t error, size_t received, size_t wanted);
  Outcome fail(const Job& job, Outcome outcome);

  const std::unique_ptr<Transport> transport_;
  const char* problem_ = "";
  uint32_t version_ = 0;
  bool cleared_ = false;  ///< the core is known to hold no secret
};

}  // namespace polykem::rtl
