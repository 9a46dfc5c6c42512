// SPDX-License-Identifier: Apache-2.0
// Computes S' A by FrodoKEM's matrix products: by words of vector registers, and by matrix tiles, for which A is
// packed. Packing pays only if A is shared.
#include "cpu_job.hpp"
#include "schemes/frodo/matmul/matmul.hpp"
#include "schemes/frodo/tile_products.hpp"

namespace polykem::lab {

namespace {

/// The operands in words, in rows without gaps, as in FrodoKEM.
class MatrixJob : public CpuJob {
 public:
  explicit MatrixJob(const Operands& operands)
      : n_(operands.problem.n),
        rows_(operands.problem.rows),
        items_(operands.items),
        mask_(static_cast<uint16_t>(operands.problem.q - 1)),
        shared_(operands.sharing == Sharing::kA),
        a_((shared_ ? 1 : items_) * n_ * n_),
        s_(items_ * rows_ * n_),
        c_(items_ * rows_ * n_) {
    std::copy_n(operands.a, (shared_ ? 1 : items_) * n_ * n_, a_.get());
    std::copy_n(operands.b, items_ * rows_ * n_, s_.get());
  }
  void read(uint16_t* c) override {
    for (size_t i = 0; i < items_ * rows_ * n_; ++i)
      c[i] = c_.get()[i] & mask_;
  }

 protected:
  void clear() const { std::fill_n(c_.get(), items_ * rows_ * n_, uint16_t{0}); }

  const size_t n_, rows_, items_;
  const uint16_t mask_;
  const bool shared_;
  const Lines<uint16_t> a_, s_, c_;
};

class WordsJob : public MatrixJob {
 public:
  WordsJob(const Operands& operands, const MatMulFunctions& matmul) : MatrixJob(operands), matmul_(matmul) {}
  void run() override {
    clear();
    const size_t times = shared_ ? 1 : items_;
    for (size_t i = 0; i < times; ++i) {
      ProductShape shape{rows_, n_, n_};
      if (shared_) shape.count = items_, shape.c_step = shape.a_step = rows_ * n_;
      matmul_.mul_add({c_.get() + i * rows_ * n_, n_}, {s_.get() + i * rows_ * n_, n_}, {a_.get() + i * n_ * n_, n_},
                      shape);
    }
  }

 private:
  const MatMulFunctions matmul_;
};

Method words_method(const char* on, const MatMulFunctions& matmul, double lanes) {
  return {"words",
          on,
          "16-bit words, pairs where there are many rows",
          [](const Problem& problem, Sharing sharing) {
            return problem.shape == Shape::kMatrix && problem.power_of_two() && sharing != Sharing::kB;
          },
          [lanes](const Problem& problem, Sharing) {
            return lanes == 1 ? Work{} : Work{Unit::kVector, problem.products() / lanes, 0};
          },
          [matmul](const Operands& operands) { return std::make_unique<WordsJob>(operands, matmul); },
          true};
}

#ifdef POLYKEM_LAB_TILES

class TilesJob : public MatrixJob {
 public:
  explicit TilesJob(const Operands& operands)
      : MatrixJob(operands),
        packed_(frodo::kTileProductsAmx.packed_bytes(n_)),
        workspace_(frodo::kTileProductsAmx.workspace_bytes(n_, std::max(items_, size_t{2}))) {
    frodo::kTileProductsAmx.pack(packed_.get(), {a_.get(), n_}, 0, n_, n_);
  }
  void run() override {
    clear();
    frodo::kTileProductsAmx.mul_s_a_packed({c_.get(), n_}, {s_.get(), n_}, packed_.get(), n_, items_, rows_ * n_,
                                           workspace_.get());
  }

 private:
  const Lines<std::byte> packed_, workspace_;
};

/// With two limbs of A, which is packed before the clock starts.
Method tiles_method() {
  return {"tiles",
          "amx",
          "matrix tiles, two limbs of A, which is packed once",
          [](const Problem& problem, Sharing sharing) {
            return problem.shape == Shape::kMatrix && problem.power_of_two() && sharing == Sharing::kA &&
                   problem.rows == 8 && problem.b_bound > 0;
          },
          [](const Problem& problem, Sharing) {
            return Work{Unit::kTile, 2 * problem.products(), 0};
          },
          [](const Operands& operands) { return std::make_unique<TilesJob>(operands); },
          true};
}

#endif

const Registration kMatrices({
    words_method("portable", kMatMulPortable, 1),
#ifdef POLYKEM_LAB_VECTORS
    words_method("avx2", kMatMulAvx2, 16),
    words_method("avx512", kMatMulAvx512, 32),
#endif
#ifdef POLYKEM_LAB_TILES
    tiles_method(),
#endif
});

}  // namespace

}  // namespace polykem::lab
