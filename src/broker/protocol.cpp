// SPDX-License-Identifier: Apache-2.0
#include "broker/protocol.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "core/round.hpp"
#include "schemes/registry.hpp"

namespace polykem::broker {

namespace {

size_t rings_bytes(uint32_t slots) {
  return rounded_up(sizeof(SharedHeader) + 2 * slots * sizeof(Word), alignof(SlotHeader));
}

/// FNV-1a: it detects differing builds, not forgers.
uint64_t mix(uint64_t hash, std::string_view bytes) {
  for (const char byte : bytes)
    hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace

size_t slot_bytes() {
  static const size_t bytes = [] {
    size_t max_bytes = 0;
    for (const Scheme* scheme : registry()) {
      for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
        const ItemRecords item(*scheme, op, false);
        max_bytes = std::max(max_bytes, item.input_bytes() + item.output_bytes());
      }
    }
    return rounded_up(sizeof(SlotHeader) + max_bytes, alignof(SlotHeader));
  }();
  return bytes;
}

size_t map_bytes(uint32_t slots) {
  return rings_bytes(slots) + slots * slot_bytes();
}

uint64_t registry_fingerprint() {
  static const uint64_t fingerprint = [] {
    uint64_t hash = 0xcbf29ce484222325;
    for (const Scheme* s : registry()) {
      hash = mix(hash, s->name);
      for (const size_t bytes : {s->public_key_bytes, s->secret_key_bytes, s->ciphertext_bytes, s->shared_secret_bytes,
                                 s->keygen_coin_bytes, s->encaps_coin_bytes, s->secret_seed_bytes()}) {
        hash = mix(hash, {reinterpret_cast<const char*>(&bytes), sizeof bytes});
      }
    }
    return hash;
  }();
  return fingerprint;
}

std::byte* SharedView::slot_memory(uint32_t index) const {
  return memory_ + rings_bytes(slots_) + index * slot_bytes();
}

uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace polykem::broker
