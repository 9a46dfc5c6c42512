// SPDX-License-Identifier: Apache-2.0
// NTRU's products by matrix tiles, as Toeplitz matrices times columns.
#include "cpu_job.hpp"
#include "prim/polymul/tile_mul.hpp"

namespace polykem::lab {

namespace {

/// The operands: a in words and b in bytes, if its coefficients fit; modulo (3, Phi_n), both in bytes.
class NtruTilesJob : public CpuJob {
 public:
  explicit NtruTilesJob(const Operands& operands)
      : tiles_(*tile_mul_amx(operands.problem.n)),
        problem_(operands.problem),
        items_(operands.items),
        narrow_(operands.problem.b_bound > 0),
        a_(items_ * tiles_.width),
        b_(items_ * tiles_.width),
        c_(items_ * tiles_.width),
        b_bytes_(items_ * tiles_.width),
        workspace_(tiles_.workspace_bytes) {
    for (size_t item = 0; item < items_; ++item) {
      for (size_t i = 0; i < problem_.n; ++i) {
        const size_t at = item * tiles_.width + i;
        a_.get()[at] = operands.a_of(item)[i];
        b_.get()[at] = operands.b_of(item)[i];
        b_bytes_.get()[at] = static_cast<int8_t>(operands.b_of(item)[i]);
      }
    }
  }
  void run() override {
    const size_t stride = tiles_.width * sizeof(uint16_t);
    if (narrow_)
      tiles_.mul_words_bytes({c_.get(), stride}, {a_.get(), stride}, {b_bytes_.get(), tiles_.width}, items_,
                             workspace_.get());
    else
      tiles_.mul_words({c_.get(), stride}, {a_.get(), stride}, {b_.get(), stride}, items_, workspace_.get());
  }
  void read(uint16_t* c) override {
    const auto mask = static_cast<uint16_t>(problem_.q - 1);
    for (size_t item = 0; item < items_; ++item) {
      for (size_t i = 0; i < problem_.n; ++i)
        c[item * problem_.n + i] = c_.get()[item * tiles_.width + i] & mask;
    }
  }

 private:
  const TileMulFunctions tiles_;
  const Problem problem_;
  const size_t items_;
  const bool narrow_;
  const Lines<uint16_t> a_, b_, c_;
  const Lines<int8_t> b_bytes_;
  const Lines<uint8_t> workspace_;
};

bool supports(const Problem& problem, Sharing sharing) {
  return sharing == Sharing::kNone && problem.shape == Shape::kCyclic && problem.power_of_two() &&
         !problem.modulo_phi && tile_mul_amx(problem.n) != nullptr;
}
/// The product of two high limbs vanishes.
Work work(const Problem& problem, Sharing) {
  return {Unit::kTile, (problem.b_bound > 0 ? 2 : 3) * problem.products(), 0};
}
std::unique_ptr<Job> start(const Operands& operands) {
  return std::make_unique<NtruTilesJob>(operands);
}

const Registration kNtruTiles({{"toeplitz_tiles", "amx", "matrix tiles, Toeplitz matrices times columns", supports,
                                work, start, true}});

}  // namespace

}  // namespace polykem::lab
