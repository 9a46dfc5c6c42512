// SPDX-License-Identifier: Apache-2.0
// Kyber's own transform, one item at a time.
#include "prim/ntt/ntt_lanes.hpp"

#include "cpu_job.hpp"

namespace polykem::lab {

namespace {

constexpr SingleNttFunctions kNttPortable = {ntt::forward, ntt::inverse, ntt::multiply};

class KyberJob : public CpuJob {
 public:
  KyberJob(const Operands& operands, const SingleNttFunctions& ntt)
      : ntt_(ntt), words_(operands.items * ntt::kN), a_(words_), b_(words_), c_(words_), x_(ntt::kN), y_(ntt::kN) {
    for (size_t i = 0; i < words_; ++i) {
      a_.get()[i] = operands.a_of(i / ntt::kN)[i % ntt::kN];
      const uint16_t b = operands.b_of(i / ntt::kN)[i % ntt::kN];
      b_.get()[i] = static_cast<uint16_t>(b + (b >> 15) * ntt::kQ);
    }
  }
  void run() override {
    for (size_t at = 0; at < words_; at += ntt::kN) {
      std::copy_n(a_.get() + at, ntt::kN, x_.get());
      std::copy_n(b_.get() + at, ntt::kN, y_.get());
      ntt_.forward(x_.get());
      ntt_.forward(y_.get());
      ntt_.multiply(c_.get() + at, x_.get(), y_.get(), 1);
      ntt_.inverse(c_.get() + at);
    }
  }
  void read(uint16_t* c) override { std::copy_n(c_.get(), words_, c); }

 private:
  const SingleNttFunctions ntt_;
  const size_t words_;
  const Lines<uint16_t> a_, b_, c_, x_, y_;
};

/// A butterfly takes three multiplications of registers of `lanes` words.
Method kyber_method(const char* on, const SingleNttFunctions& ntt, double lanes) {
  return {"ntt_kyber",
          on,
          "Kyber's own transform, an item at a time",
          [](const Problem& problem, Sharing sharing) {
            return sharing == Sharing::kNone && problem.shape == Shape::kNegacyclic && problem.n == ntt::kN &&
                   problem.q == ntt::kQ;
          },
          [lanes](const Problem&, Sharing) {
            return lanes == 1 ? Work{} : Work{Unit::kVector, 3 * 3 * 7 * 128 / lanes, 0};
          },
          [ntt](const Operands& operands) { return std::make_unique<KyberJob>(operands, ntt); },
          true};
}

const Registration kKyber({
    kyber_method("portable", kNttPortable, 1),
#ifdef POLYKEM_LAB_VECTORS
    kyber_method("avx2", kSingleNttAvx2, 16),
    kyber_method("avx512", kSingleNttAvx512, 32),
#endif
});

}  // namespace

}  // namespace polykem::lab
