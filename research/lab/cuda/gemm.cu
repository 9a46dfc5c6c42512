// SPDX-License-Identifier: Apache-2.0
// With one operand shared by the whole batch, all products are one product of matrices, whose right factor is the
// Toeplitz matrix of that operand (or FrodoKEM's A). The matrix is made once, before the clock starts.
#include "gemm.cuh"
#include "matrix.cuh"

namespace polykem::lab {

namespace {

constexpr size_t round_up(size_t x, size_t unit) {
  return (x + unit - 1) / unit * unit;
}

/// Returns entry (k, column) of the matrix, in [0, q).
uint32_t entry(const Problem& problem, const uint16_t* a, size_t k, size_t column) {
  if (k >= problem.n || column >= problem.n) return 0;
  if (problem.shape == Shape::kMatrix) return a[k * problem.n + column];
  if (column >= k) return a[column - k];
  const uint32_t value = a[problem.n + column - k];
  return problem.shape == Shape::kNegacyclic && value != 0 ? problem.q - value : value;
}

/// Makes the image of shared memory for every tile of columns.
template <class Shape>
std::vector<uint8_t> make_matrix(const Operands& operands, uint32_t steps, uint32_t tiles) {
  std::vector<uint8_t> image(size_t{tiles} * steps * Shape::kStepBytes);
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    for (uint32_t step = 0; step < steps; ++step) {
      uint8_t* part = image.data() + (size_t{tile} * steps + step) * Shape::kStepBytes;
      for (int at = 0; at < Shape::kPlaces; ++at) {
        const size_t column = size_t{tile} * Shape::kColumns + Shape::column_of(at);
        for (uint32_t i = 0; i < Shape::kInner; ++i)
          part[Shape::swizzled_offset(at, i / 16) + i % 16] =
              static_cast<uint8_t>(entry(operands.problem, operands.a, size_t{step} * Shape::kInner + i, column) >>
                                   (8 * Shape::limb_of(at)));
      }
    }
  }
  return image;
}

template <class Shape>
class GemmJob : public KernelJob {
 public:
  explicit GemmJob(const Operands& operands)
      : n_(operands.problem.n),
        count_(operands.items * operands.problem.rows),
        row_stride_(round_up(n_, 16)),
        steps_(static_cast<uint32_t>((n_ + Shape::kInner - 1) / Shape::kInner)),
        tiles_(static_cast<uint32_t>((n_ + Shape::kColumns - 1) / Shape::kColumns)),
        rows_(upload_rows<int8_t>(operands.b, count_, n_, row_stride_)),
        matrix_(size_t{tiles_} * steps_ * Shape::kStepBytes),
        c_(count_ * row_stride_) {
    matrix_.upload(make_matrix<Shape>(operands, steps_, tiles_).data());
    const GemmArgs<Shape> args{rows_.data,
                               matrix_.data,
                               c_.data,
                               static_cast<uint32_t>(count_),
                               static_cast<uint32_t>(row_stride_),
                               static_cast<uint32_t>(row_stride_),
                               steps_,
                               tiles_,
                               Modulus(operands.problem.q)};
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
    const auto room = std::max(1u, static_cast<uint32_t>(properties.multiProcessorCount) / tiles_);
    const auto needed = static_cast<uint32_t>((count_ + Shape::kRows - 1) / Shape::kRows);
    use(gemm_kernel<Shape>, tiles_ * std::min(room, needed), Shape::kThreads, Shape::shared_bytes(steps_), args);
  }
  void read(uint16_t* c) override { download_rows(c, c_, count_, n_, row_stride_); }

 private:
  size_t n_, count_, row_stride_;
  uint32_t steps_, tiles_;
  DeviceArray<int8_t> rows_;
  DeviceArray<uint8_t> matrix_;
  DeviceArray<typename Shape::Out> c_;
};

/// Selects the shape by how much of the matrix fits into shared memory beside the stages.
template <int kLimbs>
std::unique_ptr<Job> start_with(const Operands& operands) {
  if (operands.problem.n <= 640) return std::make_unique<GemmJob<GemmShape<kLimbs, 128, 256, 128, 4>>>(operands);
  if (operands.problem.n <= 1024) return std::make_unique<GemmJob<GemmShape<kLimbs, 256, 128, 128, 3>>>(operands);
  return std::make_unique<GemmJob<GemmShape<kLimbs, 256, 128, 64, 3>>>(operands);
}

std::unique_ptr<Job> start(const Operands& operands) {
  return operands.problem.q <= 256 ? start_with<1>(operands) : start_with<2>(operands);
}

bool supports(const Problem& problem, Sharing sharing) {
  return sharing == Sharing::kA && !problem.modulo_phi && problem.b_bound > 0 && problem.b_bound < 128 &&
         problem.n <= 1344;
}
Work work(const Problem& problem, Sharing sharing) {
  const bool is_matrix = problem.shape == Shape::kMatrix;
  return {Unit::kImma, (problem.q <= 256 ? 1 : 2) * problem.products(),
          is_matrix ? matrix_bytes(problem, sharing) : ring_bytes(problem, sharing)};
}

const Registration kGemm({{"gemm", "cuda", "int8 tensor cores, the shared operand's matrix stays in shared memory",
                           supports, work, start}});

}  // namespace

}  // namespace polykem::lab
