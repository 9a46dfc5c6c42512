// SPDX-License-Identifier: Apache-2.0
#include "hpke/openssl_call.hpp"

#include <openssl/crypto.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "hpke/hpke.hpp"

namespace polykem::hpke {
namespace {

/// The longest that exit() waits for calls to stop. In a forked child they may be of threads that only the parent has.
constexpr std::chrono::seconds kMaxWait{2};

std::atomic<bool> ending{false};
std::atomic<int> calls{0};

void end() {
  ending = true;
  const auto limit = std::chrono::steady_clock::now() + kMaxWait;
  while (calls > 0 && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Handlers run in reverse order of registration, so OpenSSL must register its own first.
bool register_end() {
  return OPENSSL_init_crypto(0, nullptr) == 1 && std::atexit(end) == 0;
}

}  // namespace

OpensslCall::OpensslCall() {
  static const bool registered = register_end();
  if (!registered) throw Error(POLYKEM_ERR_OUT_OF_MEMORY, "OpenSSL");
  ++calls;  // before the check, so that end() sees this call or this call sees the end
  if (!ending) return;
  --calls;
  throw_if_exiting();
}

OpensslCall::~OpensslCall() {
  --calls;
}

void OpensslCall::throw_if_exiting() {
  if (ending) throw Error(POLYKEM_ERR_BUSY, "the process ends");
}

}  // namespace polykem::hpke
