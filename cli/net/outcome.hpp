// SPDX-License-Identifier: Apache-2.0
// The ways in which a handshake can end, and counters of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace polykem::cli::net {

/// The values are the codes of ERROR frames, which docs/protocol.md lists.
enum class Outcome : std::uint8_t {
  kAgreed = 0,
  kGarbage = 1,          ///< bytes that are not a frame of this protocol
  kOversized = 2,        ///< a length field above the limit
  kWrongSize = 3,        ///< a payload of another size than the parameter set's
  kUnexpectedFrame = 4,  ///< a frame that was not expected
  kWrongScheme = 5,      ///< HELLO names another parameter set
  kWrongRole = 6,        ///< HELLO names another role
  kSilent = 7,           ///< connected, but never sent a byte
  kHalfFrame = 8,        ///< began a frame and did not finish it in time
  kTimeout = 9,          ///< a frame that was due did not arrive in time
  kDisconnected = 10,    ///< closed or reset before the end
  kBadKey = 11,          ///< the library refused the public key or the ciphertext
  kMismatch = 12,        ///< the confirmation tag does not match: the two ends hold different secrets
  kPeerError = 13,       ///< the other end sent an ERROR frame
  kConnectFailed = 14,   ///< a client could not connect
  kStopped = 15,         ///< this end was told to stop
  kInternal = 16,        ///< the library failed on the whole batch (memory, randomness)
};
inline constexpr std::size_t kOutcomeCount = 17;

/// The outcome's name in tables and JSON, for example "half_frame".
std::string_view outcome_name(Outcome outcome) noexcept;
/// The outcome that an ERROR frame with this code reports; std::nullopt for a code that must not be sent.
std::optional<Outcome> outcome_from_code(std::uint8_t code) noexcept;
/// A sentence for ERROR frames and for people, in printable ASCII.
std::string_view outcome_text(Outcome outcome) noexcept;

struct OutcomeCounts {
  std::array<std::uint64_t, kOutcomeCount> by_outcome{};

  void add(Outcome outcome) { ++by_outcome[static_cast<std::size_t>(outcome)]; }
  std::uint64_t of(Outcome outcome) const { return by_outcome[static_cast<std::size_t>(outcome)]; }
  std::uint64_t agreed() const { return of(Outcome::kAgreed); }
  std::uint64_t total() const;
  std::uint64_t failed() const { return total() - agreed(); }
};

}  // namespace polykem::cli::net
