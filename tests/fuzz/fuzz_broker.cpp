// SPDX-License-Identifier: Apache-2.0
// A client of polykemd that writes arbitrary bytes: its greeting, then words of the shared memory. The server drops the
// client or goes on, and each operation that it begins has whole records and ends once.
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "broker/session.hpp"
#include "require.hpp"

namespace broker = polykem::broker;
using broker::kFirstEntry;
using polykem::Status;
using polykem::fuzz::require;

namespace {

constexpr uint32_t kMostSlots = 4;

/// An operation that ends at once. Its outputs are ones.
class Item final : public broker::PendingItem {
 public:
  explicit Item(const polykem::ItemRecords& records) : records_(records) {}
  bool finished() const override { return true; }
  Status take(uint8_t* public_out, uint8_t* secret_out) override {
    if (public_out != nullptr) std::fill_n(public_out, records_.public_bytes(), 1);
    std::fill_n(secret_out, records_.output_bytes() - records_.public_bytes(), 1);
    return Status::kOk;
  }

 private:
  const polykem::ItemRecords records_;
};

class Sink final : public broker::OperationSink {
 public:
  uint64_t cost_ns(const polykem::Request& /*item*/) override { return 1000; }
  Status add(const polykem::Request& item, Done /*done*/, void* /*user*/,
             std::unique_ptr<broker::PendingItem>& out) override {
    const polykem::ItemRecords records(*item.scheme, item.op, item.sk_is_seed);
    unsigned sum = 0;
    for (const polykem::FieldInfo& field : polykem::kRecordFields) {
      const size_t bytes = field.in == nullptr ? 0 : records.bytes(field);
      for (size_t i = 0; i < bytes; ++i)
        sum += (item.records.*field.in)[i];
    }
    [[maybe_unused]] const volatile unsigned seen = sum;
    out = std::make_unique<Item>(records);
    return Status::kOk;
  }
};

/// The client's end: the socket, and the memory that it shares once it was welcomed.
class Client {
 public:
  Client() {
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a socket");
    mine_ = broker::Fd(ends[0]);
    theirs_ = broker::Fd(ends[1]);
  }
  broker::Fd theirs() { return std::move(theirs_); }
  void send(const void* bytes, size_t size) {
    require(::send(mine_.get(), bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size), "sent");
  }
  void map() {
    broker::Welcome welcome;
    broker::Fd memory;
    const ssize_t got = broker::receive_message(mine_.get(), &welcome, sizeof welcome, memory);
    require(got == sizeof welcome && welcome.result == broker::HelloResult::kWelcome, "a welcome");
    require(welcome.slots >= 1 && welcome.slots <= kMostSlots, "as many slots as there may be");
    require(memory_.map(memory, welcome.map_bytes), "the memory");
    view = broker::SharedView(memory_.data(), welcome.slots);
    bytes = welcome.map_bytes;
  }
  broker::Word& word(size_t at) const { return reinterpret_cast<broker::Word*>(memory_.data())[at % (bytes / 4)]; }

  broker::SharedView view;
  size_t bytes = 0;

 private:
  broker::Fd mine_, theirs_;
  broker::SharedMemory memory_;
};

struct Step {
  uint8_t what, index;
  uint16_t place;
  uint32_t value;
};

/// Returns false once the server drops the client.
bool run(const Step& step, Client& client, broker::Session& session) {
  broker::SlotHeader& slot = client.view.slot(step.index % client.view.slots());
  switch (step.what % 8) {
    case 0:
      client.view.header().submitted = kFirstEntry + step.value;
      return true;
    case 1:
      client.view.submission(kFirstEntry + step.index) = step.value;
      return true;
    case 2:
      slot.set = step.value;
      return true;
    case 3:
      slot.op = step.value;
      return true;
    case 4:
      slot.deadline_ns = step.value;
      return true;
    case 5:
      client.word(size_t{step.place} * 4 + step.index % 4u) = step.value;
      return true;
    case 6:
      return session.take_submissions() != broker::Session::Turn::kDrop;
    default:
      client.send(&step.value, sizeof step.value);
      return session.receive(kMostSlots);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  broker::Hello hello;
  if (size < 1 + sizeof hello) return -1;
  const bool valid = (*data & 1) != 0;  // the parameter sets' hash depends on the build
  std::memcpy(&hello, data + 1, sizeof hello);
  if (valid) hello.registry = broker::registry_fingerprint();
  data += 1 + sizeof hello;
  size -= 1 + sizeof hello;

  Client client;
  Sink sink;
  broker::Window window(1'000'000'000);
  broker::ServerCounts counts;
  {
    broker::Session session(client.theirs(), {}, sink, window, counts);
    client.send(&hello, sizeof hello);
    if (!session.receive(kMostSlots)) return 0;
    require(session.greeted(), "a whole greeting is answered");
    client.map();
    for (Step step{}; size >= sizeof step; data += sizeof step, size -= sizeof step) {
      std::memcpy(&step, data, sizeof step);
      if (!run(step, client, session)) break;
    }
    session.zeroize();
  }
  require(counts.in_flight == 0, "every operation ends");
  require(counts.violations <= 1, "who violates the protocol is dropped");
  return 0;
}
