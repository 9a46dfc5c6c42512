// SPDX-License-Identifier: Apache-2.0
// Simulates a slow device in front of the library's batcher, as part of a program or by LD_PRELOAD. Every operation
// finishes POLYKEM_SLOW_DEVICE_US microseconds later. Operations that wait meanwhile are the next batch.
#include "slow_device.hpp"

#include <dlfcn.h>
#include <polykem/polykem.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct SlowTicket {
  polykem_ticket* real = nullptr;
  polykem_ticket_callback done = nullptr;
  void* user = nullptr;
  bool finished = false;
  polykem_op op = POLYKEM_KEYGEN;
};

unsigned initial_delay() {
  const char* text = std::getenv("POLYKEM_SLOW_DEVICE_US");
  return text == nullptr ? 0 : static_cast<unsigned>(std::atoi(text));
}
constexpr unsigned kHold = ~0U;
std::atomic<unsigned> delay_us{initial_delay()};
std::atomic<bool> results_fail{false}, signatures_wrong{false};
std::atomic<std::size_t> tickets{0};

/// Never destroyed: its thread runs until the process ends.
struct Device {
  std::recursive_mutex mutex;  // held in callbacks, which may free their ticket
  std::condition_variable_any wake;
  std::vector<SlowTicket*> waiting, running;
  pid_t pid = 0;
  bool released = false;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return !waiting.empty() && (delay_us != kHold || released); });
      running.swap(waiting);
      released = false;
      if (delay_us != kHold) {
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
        lock.lock();
      }
      while (!running.empty()) {
        SlowTicket* ticket = running.back();
        running.pop_back();
        ticket->finished = true;
        if (ticket->done != nullptr) ticket->done(ticket->user);
      }
      wake.notify_all();
    }
  }
  void drop(SlowTicket* ticket) {
    for (auto* list : {&waiting, &running})
      list->erase(std::remove(list->begin(), list->end(), ticket), list->end());
  }
};

std::atomic<Device*> device{nullptr};

Device& here() {
  Device* known = device.load();
  if (known == nullptr || known->pid != getpid()) {
    auto* fresh = new Device;
    fresh->pid = getpid();
    if (!device.compare_exchange_strong(known, fresh)) {
      delete fresh;
      return *known;
    }
    std::thread([fresh] { fresh->work(); }).detach();
    return *fresh;
  }
  return *known;
}

template <class Function>
Function* real(const char* name, Function* /*type*/) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) found = dlsym(dlopen(POLYKEM_SONAME, RTLD_NOLOAD | RTLD_LAZY), name);
  return reinterpret_cast<Function*>(found);
}

SlowTicket& as_slow(polykem_ticket* ticket) {
  return *reinterpret_cast<SlowTicket*>(ticket);
}

}  // namespace

#define REAL(function) static auto* const real_##function = real(#function, &function)

extern "C" {

void polykem_slow_device_set(unsigned microseconds) {
  delay_us = microseconds;
}

void polykem_slow_device_hold() {
  polykem_slow_device_set(kHold);
}

void polykem_slow_device_release() {
  Device& mine = here();
  const std::lock_guard lock(mine.mutex);
  mine.released = !mine.waiting.empty();
  mine.wake.notify_all();
}

void polykem_slow_device_fail(bool fails) {
  results_fail = fails;
}

void polykem_slow_device_forge(bool forges) {
  signatures_wrong = forges;
}

std::size_t polykem_slow_device_tickets() {
  return tickets;
}

POLYKEM_API polykem_status polykem_batcher_add(polykem_batcher* batcher, const polykem_request* request,
                                               polykem_ticket_callback done, void* user, polykem_ticket** out) {
  REAL(polykem_batcher_add);
  auto* ticket = new SlowTicket;
  const polykem_status status = real_polykem_batcher_add(batcher, request, nullptr, nullptr, &ticket->real);
  if (status != POLYKEM_OK) {
    delete ticket;
    return status;
  }
  ++tickets;
  ticket->done = done;
  ticket->user = user;
  ticket->op = request->op;
  ticket->finished = delay_us == 0;
  if (!ticket->finished) {
    Device& mine = here();
    const std::lock_guard lock(mine.mutex);
    mine.waiting.push_back(ticket);
    mine.wake.notify_all();
  }
  *out = reinterpret_cast<polykem_ticket*>(ticket);
  return POLYKEM_OK;
}

/// A ticket whose callback ran counts as finished, so this waits if the library's ticket is not finished yet.
POLYKEM_API polykem_status polykem_ticket_poll(const polykem_ticket* ticket) {
  REAL(polykem_ticket_wait);
  const auto& slow = *reinterpret_cast<const SlowTicket*>(ticket);
  {
    const std::lock_guard lock(here().mutex);
    if (!slow.finished) return POLYKEM_ERR_BUSY;
  }
  return real_polykem_ticket_wait(slow.real);
}

/// Releases a device that holds operations, since the thread that could release it waits here.
POLYKEM_API polykem_status polykem_ticket_wait(polykem_ticket* ticket) {
  REAL(polykem_ticket_wait);
  if (delay_us == kHold) polykem_slow_device_release();
  Device& mine = here();
  std::unique_lock lock(mine.mutex);
  mine.wake.wait(lock, [&] { return as_slow(ticket).finished; });
  lock.unlock();
  return real_polykem_ticket_wait(as_slow(ticket).real);
}

POLYKEM_API polykem_status polykem_ticket_take(polykem_ticket* ticket, uint8_t* public_out, uint8_t* secret_out) {
  REAL(polykem_ticket_take);
  polykem_ticket_wait(ticket);
  const polykem_status status = real_polykem_ticket_take(as_slow(ticket).real, public_out, secret_out);
  if (signatures_wrong && as_slow(ticket).op == POLYKEM_SIGN) public_out[0] ^= 1;
  return results_fail ? POLYKEM_ERR_INTERNAL : status;
}

POLYKEM_API void polykem_ticket_free(polykem_ticket* ticket) {
  REAL(polykem_ticket_free);
  if (ticket == nullptr) return;
  {
    Device& mine = here();
    const std::lock_guard lock(mine.mutex);
    mine.drop(&as_slow(ticket));
  }
  real_polykem_ticket_free(as_slow(ticket).real);
  delete &as_slow(ticket);
  --tickets;
}
}
