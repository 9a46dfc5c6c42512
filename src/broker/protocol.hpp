// SPDX-License-Identifier: Apache-2.0
// What a worker process and polykemd say to each other.
//
// A Unix stream socket carries one Hello, one Welcome with the file descriptor of the shared memory, and from then on
// single bytes of any value: "look into your ring". Its hang-up is the news that the other side has died. Operations
// cross in the shared memory:
//
//   SharedHeader | submitted slots, a ring | completed slots, a ring | slots: SlotHeader, inputs, outputs
//
// A ring has as many entries as there are slots and a slot is under way once at most, so a ring cannot overflow; each
// side keeps the place where it reads in memory of its own. Whoever finds its ring empty sets its `sleeps` and looks
// once more; whoever has published something sends a byte if that flag is set.
//
// There is no eventfd between the processes: whether writing to one blocks is a flag of the open file that both would
// share, so a client could stop the daemon with it. MSG_DONTWAIT belongs to the call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/request.hpp"

namespace polykem::broker {

inline constexpr uint32_t kMagic = 0x4d4b4c50;
inline constexpr uint32_t kVersion = 2;
/// Slots of one client: a power of two.
inline constexpr uint32_t kMaxSlots = 4096;

/// Where the rings' counters begin: so that they pass 2^32 soon, in every test too, and not once in a blue moon.
inline constexpr uint32_t kFirstEntry = 0u - 64;

struct Hello {
  uint32_t magic = kMagic, version = kVersion;
  uint64_t registry = 0;  ///< registry_fingerprint()
  uint32_t slots = 0;     ///< as many as it would like
  uint32_t reserved = 0;
};

enum class Answer : uint32_t {
  kWelcome = 0,
  kOtherVersion = 1,  ///< of the protocol, or other parameter sets
  kFull = 2,          ///< no place for another client, or for another of this user
  kNotAllowed = 3,    ///< this user may not use the daemon
  kNoMemory = 4,      ///< no shared memory is left that this user's clients may hold
};

/// With Answer::kWelcome the descriptor of the shared memory comes along.
struct Welcome {
  uint32_t magic = kMagic, version = kVersion;
  Answer answer = Answer::kWelcome;
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
  Word op;                            ///< an Op, plus kSecretIsSeed
  std::atomic<uint64_t> deadline_ns;  ///< of CLOCK_MONOTONIC; later nobody wants the result. 0: none
  Word status;                        ///< Status::kBusy: the server had no place or no time for it
};
inline constexpr uint32_t kSecretIsSeed = 0x100;

/// Slot header and records of the largest operation of any set: an operation's inputs and then its outputs in the order
/// of kRecordFields, each right after the one before.
size_t slot_bytes();
size_t map_bytes(uint32_t slots);

/// Differs when two builds differ in their sets, their order or their sizes.
uint64_t registry_fingerprint();

/// Pointers into the shared memory of one client.
class SharedView {
 public:
  SharedView() = default;
  SharedView(std::byte* memory, uint32_t slots) : memory_(memory), slots_(slots) {}

  uint32_t slots() const { return slots_; }
  SharedHeader& header() const { return *reinterpret_cast<SharedHeader*>(memory_); }
  /// Entry number `position`, counted from the beginning of time.
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
