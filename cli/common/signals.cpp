// SPDX-License-Identifier: Apache-2.0
#include "common/signals.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace polykem::cli {
namespace {

constexpr std::array<int, 5> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

// Signal handlers may access only lock-free atomics of the program's state.
std::array<std::atomic<char*>, 16> paths{};
std::atomic<int> deferring{0};
std::atomic<int> pending{0};

void end_by(int signal) {
  for (const auto& path : paths) {
    const char* name = path.load();
    if (name != nullptr) ::unlink(name);
  }
  std::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
}

extern "C" void polykem_cli_on_signal(int signal) {
  if (deferring.load() > 0) {
    pending.store(signal);
  } else {
    end_by(signal);
  }
}

}  // namespace

void handle_signals() {
  for (const int signal : kSignals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = polykem_cli_on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

void remove_on_signal(const std::string& path) {
  char* copy = ::strdup(path.c_str());
  if (copy == nullptr) throw std::bad_alloc();
  for (auto& place : paths) {
    char* empty = nullptr;
    if (place.compare_exchange_strong(empty, copy)) return;
  }
  std::free(copy);
  throw std::length_error("too many temporary files");
}

void keep_on_signal(const std::string& path) {
  for (auto& place : paths) {
    char* name = place.load();
    if (name == nullptr || path != name) continue;
    place.store(nullptr);
    std::free(name);
    return;
  }
}

DeferSignals::DeferSignals() {
  ++deferring;
}

DeferSignals::~DeferSignals() {
  if (--deferring == 0 && pending.load() != 0) end_by(pending.exchange(0));
}

}  // namespace polykem::cli
