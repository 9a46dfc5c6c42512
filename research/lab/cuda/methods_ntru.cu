// SPDX-License-Identifier: Apache-2.0
// The library's product of NTRU polynomials, and those with which it was compared (multipliers.hpp). All operands are
// rows of words.
#include "kernel_job.cuh"
#include "multipliers.hpp"

namespace polykem::lab {

namespace {

using cuda::MulKind;
using cuda::Multiplier;

MulKind kind_of(const Problem& problem) {
  if (problem.modulo_phi) return MulKind::kS3;
  if (problem.b_bound == 1) return MulKind::kTernary;
  return problem.q == 256 ? MulKind::kBytes : MulKind::kGeneral;
}

unsigned log_q(const Problem& problem) {
  return problem.modulo_phi ? 0 : static_cast<unsigned>(__builtin_ctz(problem.q));
}

cuda::Shared shared_of(Sharing sharing) {
  return sharing == Sharing::kNone ? cuda::Shared::kNone : sharing == Sharing::kA ? cuda::Shared::kA : cuda::Shared::kB;
}

/// Returns the resources of the kernel that `launch` puts on a stream, as the driver reports them; empty if it does
/// not.
template <class Launch>
Resources captured_resources(Launch&& launch) {
  Resources r;
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  const cudaError_t launched = launch(stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(launched, "launching a kernel");
  cudaGraphNode_t node;
  size_t nodes = 1;
  cudaKernelNodeParams parameters;
  if (cudaGraphGetNodes(graph, &node, &nodes) == cudaSuccess && nodes == 1 &&
      cudaGraphKernelNodeGetParams(node, &parameters) == cudaSuccess) {
    try {
      r = kernel_resources(parameters.func, static_cast<int>(parameters.blockDim.x), parameters.sharedMemBytes);
    } catch (const std::exception&) {
      (void)cudaGetLastError();
    }
  }
  (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(stream);
  return r;
}

template <Multiplier kMultiplier>
class MultiplierJob : public KernelJob {
 public:
  explicit MultiplierJob(const Operands& operands)
      : n_(operands.problem.n),
        items_(operands.items),
        stride_(cuda::poly_stride(n_)),
        a_(upload_rows<uint16_t>(operands.a, copies_of_a(operands), n_, stride_)),
        b_(upload_rows<uint16_t>(operands.b, copies_of_b(operands), n_, stride_)),
        c_(items_ * stride_) {
    const auto on_stream = [this, kind = kind_of(operands.problem), logq = log_q(operands.problem),
                            shared = shared_of(operands.sharing)](cudaStream_t stream) {
      return cuda::launch_multiplier(kMultiplier, kind, n_, logq, a_.data, b_.data, c_.data, items_, shared, stream);
    };
    kernel = captured_resources(on_stream);
    launch = [on_stream] { return on_stream(nullptr); };
  }
  void read(uint16_t* c) override { download_rows(c, c_, items_, n_, stride_); }

 private:
  size_t n_, items_, stride_;
  DeviceArray<uint16_t> a_, b_, c_;
};

template <Multiplier kMultiplier>
std::unique_ptr<Job> start(const Operands& operands) {
  return std::make_unique<MultiplierJob<kMultiplier>>(operands);
}

template <Multiplier kMultiplier>
bool supports(const Problem& problem, Sharing sharing) {
  return problem.shape == Shape::kCyclic && problem.b_bound <= 1 &&
         cuda::multiplier_supports(kMultiplier, kind_of(problem), problem.n, log_q(problem), shared_of(sharing));
}

/// Products of polynomials with one byte per coefficient. Two limbs are 2^16, so the product of the high ones vanishes.
double limb_products(MulKind kind) {
  return kind == MulKind::kGeneral ? 3 : kind == MulKind::kTernary ? 2 : 1;
}

template <Unit kUnit>
Work work(const Problem& problem, Sharing sharing) {
  const double limbs = kUnit == Unit::kImad ? 1 : limb_products(kind_of(problem));
  return {kUnit, limbs * problem.products(), (sharing == Sharing::kNone ? 6.0 : 4.0) * static_cast<double>(problem.n)};
}

const Registration kNtru({
    {"schoolbook_int32", "cuda", "a block per product, a thread per coefficient, as in 2021",
     supports<Multiplier::kSchoolbookInt32>, work<Unit::kImad>, start<Multiplier::kSchoolbookInt32>},
    {"dp4a_warp", "cuda", "dp4a, a warp per product, operands staged as for imma", supports<Multiplier::kDp4a>,
     work<Unit::kDp4a>, start<Multiplier::kDp4a>},
    {"imma", "cuda", "int8 tensor cores, a warp per product, every item its own operands", supports<Multiplier::kImma>,
     work<Unit::kImma>, start<Multiplier::kImma>, true},
    {"imma_tmvp", "cuda", "the same after one level of the three-product Toeplitz split",
     supports<Multiplier::kImmaTmvp>, work<Unit::kImma>, start<Multiplier::kImmaTmvp>},
    {"imma_shared", "cuda", "int8 tensor cores, the shared operand's circulant in registers",
     supports<Multiplier::kImmaShared>, work<Unit::kImma>, start<Multiplier::kImmaShared>},
});

}  // namespace

}  // namespace polykem::lab
