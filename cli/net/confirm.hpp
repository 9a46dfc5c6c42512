// SPDX-License-Identifier: Apache-2.0
// Key confirmation: each end proves to the other that it holds the same shared secret.
#pragma once

#include <array>
#include <cstdint>

#include "net/frame.hpp"

struct evp_md_ctx_st;

namespace polykem::cli::net {

inline constexpr std::size_t kTagBytes = 32;
using Tag = std::array<std::uint8_t, kTagBytes>;

enum class Side : std::uint8_t { kClient, kServer };

/// SHA-256 over the frames HELLO, PUBLIC_KEY and CIPHERTEXT, headers included, in this order.
class Transcript {
 public:
  Transcript();
  ~Transcript();
  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

  /// One whole frame, header included.
  void add(ByteView frame);
  /// Ends the transcript; add may not be called afterwards.
  Tag digest();

 private:
  evp_md_ctx_st* hash_;
};

/// [RFC2104] HMAC-SHA256(key = secret, label of `side` | transcript_hash). secret: the scheme's shared secret, any
/// length > 0.
Tag confirm_tag(ByteView secret, Side side, const Tag& transcript_hash);

/// True if the tags are equal, compared in constant time. False if the sizes differ.
bool equal_tags(ByteView a, ByteView b) noexcept;

}  // namespace polykem::cli::net
