// SPDX-License-Identifier: Apache-2.0
// The protocol between a worker process and polykemd.
//
// A Unix stream socket carries one Hello, one Welcome with the file descriptor of the shared memory, and then single
// bytes of any value, which mean "look into your ring". A hang-up shows that the other side has died. Operations are
// passed in the shared memory:
//
//   SharedHeader | submitted slots, a ring | completed slots, a ring | slots: SlotHeader, inputs, outputs
//
// A ring has as many entries as there are slots, and a slot is in one ring at most, so a ring cannot overflow. Each
// side keeps its read position in memory of its own. A side that finds its ring empty sets its `sleeps` flag and looks
// once more; a side that has published an entry sends a byte if the other's flag is set.
//
// An eventfd would not do: both sides would share its O_NONBLOCK flag, so a client could clear it and block the daemon.
// MSG_DONTWAIT belongs to the call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/request.hpp"

namespace polykem::broker {

inline constexpr uint32_t kMagic = 0x4d4b4c50;
inline constexpr uint32_t kVersion = 2;
/// The most slots of one client. The number of slots is a power of two.
inline constexpr uint32_t kMaxSlots = 4096;

/// The rings' counters start just below 2^32, so that every test sees them wrap.
inline constexpr uint32_t kFirstEntry = 0u - 64;

struct Hello {
  uint32_t magic = kMagic, version = kVersion;
  uint64_t registry = 0;  ///< registry_fingerprint()
  uint32_t slots = 0;     ///< the number that the client asks for
  uint32_t reserved = 0;
};

enum class HelloResult : uint32_t {
  kWelcome = 0,
  kOtherVersion = 1,  ///< another version of the protocol, or other parameter sets
  kFull = 2,          ///< too many clients, or too many of this user
  kNotAllowed = 3,    ///< this user may not use the daemon
  kNoMemory = 4,      ///< this user's clients may hold no more shared memory
};

/// HelloResult::kWelcome comes with the descriptor of the shared memory.
struct Welcome {
  uint32_t magic = kMagic, version = kVersion;
  HelloResult result = HelloResult::kWelcome;
  uint32_t slots = 0;
  uint64_t slot_bytes = 0, map_bytes = 0;
};

using Word = std::atomic<uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == sizeof(uint32_t));
static_assert(std::atomic<uint64_t>::is_always_lock_free);

struct SharedHeader {
  alignas(64) Word submitted;  ///< kFirstEntry plus the entries that the client has written so far
  alignas(64) Word completed;  ///< kFirstEntry plus the entries that the server has written so far
  alignas(64) Word server_sleeps;
  alignas(64) Word client_sleeps;
};

/// The client writes everything but status, which the server writes.
struct alignas(64) SlotHeader {
  Word set;                           ///< index in the registry
  Word op;                            ///< an Op, plus kSkIsSeed
  std::atomic<uint64_t> deadline_ns;  ///< on CLOCK_MONOTONIC: a later result is of no use. 0: none
  Word status;                        ///< Status::kBusy: the server refused it, full or too late
};
inline constexpr uint32_t kSkIsSeed = 0x100;

/// The bytes of a slot: its header, and room for the records of the largest operation of any set. An operation's inputs
/// and then its outputs follow the header without gaps, in the order of kRecordFields.
size_t slot_bytes();
size_t map_bytes(uint32_t slots);

/// A hash of the parameter sets, their order and their sizes, which must be the same on both sides.
uint64_t registry_fingerprint();

/// Pointers into the shared memory of one client.
class SharedView {
 public:
  SharedView() = default;
  SharedView(std::byte* memory, uint32_t slots) : memory_(memory), slots_(slots) {}

  uint32_t slots() const { return slots_; }
  SharedHeader& header() const { return *reinterpret_cast<SharedHeader*>(memory_); }
  /// The ring's entry for the counter value `position`.
  Word& submission(uint32_t position) const { return entries()[position & (slots_ - 1)]; }
  Word& completion(uint32_t position) const { return entries()[slots_ + (position & (slots_ - 1))]; }
  SlotHeader& slot(uint32_t index) const { return *reinterpret_cast<SlotHeader*>(slot_memory(index)); }
  uint8_t* records(uint32_t index) const { return reinterpret_cast<uint8_t*>(slot_memory(index) + sizeof(SlotHeader)); }

 private:
  Word* entries() const { return reinterpret_cast<Word*>(memory_ + sizeof(SharedHeader)); }
  std::byte* slot_memory(uint32_t index) const;

  std::byte* memory_ = nullptr;
  uint32_t slots_ = 0;
};

/// Nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share.
uint64_t monotonic_ns();

}  // namespace polykem::broker
