// SPDX-License-Identifier: Apache-2.0
// A program that ends, with status 0, while the library is busy with tests/cuda_module/simulated_device.cpp.
//   exit_check opening|computing  [freed]
// opening: the device opens. computing: batches are in flight. freed: the batcher is freed at exit, after the device
// has been torn down, as OpenSSL frees its providers.
#include <polykem/polykem.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace polykem;

struct Exchange {
  explicit Exchange(const char* backend) : context(2, backend) {}

  const Scheme set = Scheme::find("frodokem640shake");
  const Context context;
  const Batcher batcher{context,
                        {.struct_size = 0,
                         .batch_items = 0,
                         .linger_us = 0,
                         .deadline_us = 10000000,
                         .high_water = 0,
                         .hard_limit = 0,
                         .broker = nullptr}};
};
Exchange* exchange = nullptr;
constexpr size_t kInFlight = 30;

/// Submits this many operations and does not wait.
std::vector<Ticket> add(size_t count) {
  std::vector<Ticket> tickets;
  while (tickets.size() < count)
    tickets.push_back(exchange->batcher.add(Context::request(POLYKEM_KEYGEN, exchange->set, 1)));
  return tickets;
}

bool device_works() {
  for (int i = 0; i < 1000; ++i) {
    for (const Ticket& ticket : add(20))
      (void)ticket.wait();
    if (exchange->batcher.stats(exchange->set, POLYKEM_KEYGEN).on_accelerator > 0) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string when = argc > 1 ? argv[1] : "";
  const bool opening = when == "opening";
  exchange = new Exchange(opening ? "" : "cuda");
  if (argc > 2) std::atexit([] { delete exchange; });
  if (!opening && !device_works()) {
    std::fputs("exit_check: the device was not used\n", stderr);
    return 1;
  }
  static const std::vector<Ticket>* const in_flight = new std::vector<Ticket>(add(kInFlight));
  std::this_thread::sleep_for(std::chrono::milliseconds(opening ? 50 : 0));
  return in_flight->size() == kInFlight ? 0 : 1;
}
