// SPDX-License-Identifier: Apache-2.0
// Used by all tests of secrets: a batch in the test's own memory, threads that are kept, and a planted leak.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <latch>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "memory_scan.hpp"
#include "support/batch.hpp"

namespace polykem::test {

/// Calls `work` on a thread and keeps the thread, and so its stack, until this object is destroyed.
class LastingThread {
 public:
  explicit LastingThread(std::function<void()> work) {
    thread_ = std::thread([this, work = std::move(work)] {
      work();
      done_.count_down();
      may_end_.wait();
    });
    done_.wait();
  }
  ~LastingThread() {
    may_end_.count_down();
    thread_.join();
  }

 private:
  std::latch done_{1}, may_end_{1};
  std::thread thread_;
};

struct Case {
  std::string scheme, backend;
  size_t count;
  unsigned threads;
};

inline void PrintTo(const Case& c, std::ostream* out) {
  *out << c.scheme << '_' << c.backend << '_' << c.count << "items_" << c.threads << "threads";
}

inline std::string case_name(const testing::TestParamInfo<Case>& info) {
  return test_name({testing::PrintToString(info.param)});
}

inline std::vector<Case> cases(const std::vector<unsigned>& all_threads) {
  std::vector<Case> result;
  for (const char* scheme : {"mlkem768", "saber", "ntruhps2048509", "ntruhrss701", "frodokem640shake", "frodokem640aes",
                             "lac128", "lac256", "firesaber"}) {
    const bool frodo = std::strncmp(scheme, "frodo", 5) == 0;
    for (const auto& backend : available_backends()) {
      if (!computes(backend, scheme)) continue;
      for (const unsigned threads : all_threads) {
        if (threads == 1) result.push_back({scheme, backend, 1, 1});
        if (threads == all_threads.back())
          result.push_back({scheme, backend, frodo ? size_t{20} : size_t{70}, threads});
      }
    }
  }
  for (const auto& backend : available_backends()) {  // keeps K of each item until the hashes of all
    if (computes(backend, "kyber768")) result.push_back({"kyber768", backend, 5, all_threads.front()});
  }
  return result;
}

/// A batch with all its inputs and outputs in the test's own memory.
struct OwnBatch {
  OwnBatch(const polykem_scheme* scheme, size_t count) : scheme(scheme), sizes(info(scheme)), count(count) {
    const auto array = [&](size_t bytes) { return own_memory(count * bytes); };
    pk = array(sizes.public_key_bytes);
    sk = array(sizes.secret_key_bytes);
    ct = array(sizes.ciphertext_bytes);
    sent = array(sizes.shared_secret_bytes);
    received = array(sizes.shared_secret_bytes);
    keygen_coins = array(sizes.keygen_coin_bytes);
    encaps_coins = array(sizes.encaps_coin_bytes);
    static uint64_t seed = 0;  // each test has other secrets
    inspect([&] {
      Noise noise(++seed);
      noise.fill(keygen_coins);
      noise.fill(encaps_coins);
    });
  }

  polykem_status run(polykem_context* context, polykem_op op) const {
    const polykem_request r = request(op);
    return polykem_run(context, &r);
  }

  polykem_request request(polykem_op op) const {
    polykem_request r = make_request(op, scheme, count);
    if (op == POLYKEM_KEYGEN) {
      r.coins = keygen_coins.data();
      r.pk_out = pk.data();
      r.sk_out = sk.data();
    } else if (op == POLYKEM_ENCAPS) {
      r.coins = gives_encaps_coins ? encaps_coins.data() : nullptr;
      r.pk = pk.data();
      r.ct_out = ct.data();
      r.ss_out = sent.data();
    } else {
      r.sk = sk.data();
      r.ct = ct.data();
      r.ss_out = received.data();
    }
    return r;
  }

  const polykem_scheme* scheme;
  polykem_scheme_info_t sizes;
  size_t count;
  bool gives_encaps_coins = true;
  std::span<uint8_t> pk, sk, ct, sent, received, keygen_coins, encaps_coins;
};

/// Leaves 16 bytes of a secret in a frame that is no longer in use.
[[gnu::noinline]] inline void leave_on_stack(std::span<const uint8_t> secret) {
  uint8_t frame[4096];
  std::memcpy(frame + 64, secret.data(), 16);
  asm volatile("" : : "r"(frame) : "memory");
}

}  // namespace polykem::test
