// SPDX-License-Identifier: Apache-2.0
#include "hpke/ending.hpp"

#include <openssl/crypto.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "hpke/hpke.hpp"

namespace polykem::hpke {
namespace {

/// exit() waits no longer for calls to stop: in a child of fork() they may be of threads that only the parent has.
constexpr std::chrono::seconds kMaxWait{2};

std::atomic<bool> ending{false};
std::atomic<int> calls{0};

void end() {
  ending = true;
  const auto limit = std::chrono::steady_clock::now() + kMaxWait;
  while (calls > 0 && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// What is registered last runs first, so OpenSSL registers its own end before.
bool register_end() {
  return OPENSSL_init_crypto(0, nullptr) == 1 && std::atexit(end) == 0;
}

}  // namespace

OpensslCall::OpensslCall() {
  static const bool registered = register_end();
  if (!registered) throw Error(POLYKEM_ERR_OUT_OF_MEMORY, "OpenSSL");
  ++calls;  // before it is asked, so that end() sees this call or this call sees the end
  if (!ending) return;
  --calls;
  go_on();
}

OpensslCall::~OpensslCall() {
  --calls;
}

void OpensslCall::go_on() {
  if (ending) throw Error(POLYKEM_ERR_BUSY, "the process ends");
}

}  // namespace polykem::hpke
