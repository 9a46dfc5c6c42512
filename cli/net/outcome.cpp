// SPDX-License-Identifier: Apache-2.0
#include "net/outcome.hpp"

#include <numeric>

namespace polykem::cli::net {
namespace {

struct OutcomeRow {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<OutcomeRow, kOutcomeCount> kOutcomes = {{
    {"agreed", "both ends hold the same secret"},
    {"garbage", "these bytes are not a frame of this protocol"},
    {"oversized", "the frame's length field is above the limit"},
    {"wrong_size", "the payload has another size than the parameter set's"},
    {"unexpected_frame", "this frame does not belong here"},
    {"wrong_scheme", "this server speaks another parameter set"},
    {"wrong_role", "this server plays the other role"},
    {"silent", "connected, and sent nothing in time"},
    {"half_frame", "began a frame and did not finish it in time"},
    {"timeout", "the next frame did not come in time"},
    {"disconnected", "the connection closed before the handshake was done"},
    {"bad_key", "the library refused the public key or the ciphertext"},
    {"mismatch", "the confirmation tag does not match: the secrets differ"},
    {"peer_error", "the other end reported an error"},
    {"connect_failed", "could not connect"},
    {"stopped", "stopped before the handshake was done"},
    {"internal", "the library could not run the batch"},
}};

}  // namespace

std::string_view outcome_name(Outcome outcome) noexcept {
  return kOutcomes[static_cast<std::size_t>(outcome)].name;
}

std::optional<Outcome> outcome_from_code(std::uint8_t code) noexcept {
  if (code >= kOutcomeCount) return std::nullopt;
  const auto outcome = static_cast<Outcome>(code);
  switch (outcome) {
    case Outcome::kAgreed:
    case Outcome::kDisconnected:
    case Outcome::kPeerError:
    case Outcome::kConnectFailed:
      return std::nullopt;
    default:
      return outcome;
  }
}

std::string_view outcome_text(Outcome outcome) noexcept {
  return kOutcomes[static_cast<std::size_t>(outcome)].text;
}

std::uint64_t OutcomeCounts::total() const {
  return std::accumulate(by_outcome.begin(), by_outcome.end(), std::uint64_t{0});
}

}  // namespace polykem::cli::net
