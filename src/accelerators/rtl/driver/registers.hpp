// SPDX-License-Identifier: Apache-2.0
// The registers of the core, as hw/doc/registers.md has them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::rtl {

/// Offsets in bytes; every register has 32 bits.
namespace reg {
inline constexpr uint32_t kId = 0x00, kVersion = 0x04, kParams = 0x08, kCommand = 0x0c, kStatus = 0x10, kError = 0x14,
                          kIrqEnable = 0x18, kZeroize = 0x1c, kCycles = 0x20, kOccupied = 0x24, kPhase = 0x28;
}

inline constexpr uint32_t kCoreId = 0x504b454d;  ///< "PKEM"
inline constexpr uint32_t kCoreMajorVersion = 1;

/// Bits of STATUS. ended: also after an error; writing it clears it and ERR.
namespace status {
inline constexpr uint32_t kBusy = 1, kEnded = 2;
}

/// Bits of ERR. A command that the core does not take sets kCommand and no bit of STATUS.
namespace error {
inline constexpr uint32_t kInputSize = 1, kEkModulus = 2, kDkHash = 4, kCommand = 8, kAborted = 16, kUpset = 32;
}

/// PARAMS: k in bits 2:0, Kyber in bit 3; for SHAKE the sponge's rate and padding, and words in and out.
inline constexpr uint32_t kKyberBit = 1u << 3, kXofBit = 1u << 6;
inline constexpr unsigned kRateShift = 4, kInWordsShift = 8, kOutWordsShift = 16;
inline constexpr size_t kMaxWords = 255;

enum class Command : uint32_t { kKeygen = 1, kEncaps = 2, kDecaps = 3, kNtt = 4, kIntt = 5, kPwm = 6, kShake = 7 };

inline constexpr size_t kPhases = 4;
/// The work of the core's sponge in the cycles that PHASE[i] counts; other units work at the same time.
inline constexpr const char* kPhaseNames[kPhases] = {"core: seeds, H(ek)", "core: K and r", "core: noise, A",
                                                     "core: rest"};
inline constexpr size_t kWordBytes = 8;  ///< of the streams

}  // namespace polykem::rtl
