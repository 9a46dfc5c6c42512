// SPDX-License-Identifier: Apache-2.0
// Polynomials on the GPU, in rows that are padded to multiples of 32 coefficients. a and c have words, or bytes if q
// is at most 2^8; b has signed bytes.
#pragma once

#include <type_traits>

#include "kernel_job.cuh"

namespace polykem::lab {

template <int kDegree, bool kMinus, class Element>
struct Ring {
  static constexpr int kN = kDegree;
  static constexpr bool kNegacyclic = kMinus;
  static constexpr int kStride = (kDegree + 31) / 32 * 32;
  using Wide = Element;  ///< of a and c
};

/// Reduces signed 32-bit sums modulo q. It is exact for any sum if q is a power of two, otherwise from -lift on and
/// below 2^31 - lift.
struct Modulus {
  uint32_t q, mask, lift, reciprocal;

  explicit Modulus(uint32_t modulus)
      : q(modulus),
        mask((modulus & (modulus - 1)) == 0 ? modulus - 1 : 0),
        lift((1u << 30) / modulus * modulus),
        reciprocal(static_cast<uint32_t>((uint64_t{1} << 32) / modulus)) {}

  __device__ __forceinline__ uint32_t reduce(int sum) const {
    if (mask != 0) return static_cast<uint32_t>(sum) & mask;
    const uint32_t x = static_cast<uint32_t>(sum) + lift;
    const uint32_t r = x - __umulhi(x, reciprocal) * q;  // below 2 q
    return r >= q ? r - q : r;
  }
};

/// Calls f.template operator()<Ring>() for the problem's ring. Returns false if there is none.
template <class F>
bool with_ring(const Problem& problem, F&& f) {
  if (problem.shape == Shape::kMatrix || problem.modulo_phi || problem.b_bound == 0) return false;
  const bool bytes = problem.q <= 256;
  const auto is = [&](Shape shape, size_t n, bool narrow) {
    return problem.shape == shape && problem.n == n && bytes == narrow;
  };
  if (is(Shape::kCyclic, 509, false)) return f.template operator()<Ring<509, false, uint16_t>>(), true;
  if (is(Shape::kCyclic, 677, false)) return f.template operator()<Ring<677, false, uint16_t>>(), true;
  if (is(Shape::kCyclic, 701, false)) return f.template operator()<Ring<701, false, uint16_t>>(), true;
  if (is(Shape::kCyclic, 821, false)) return f.template operator()<Ring<821, false, uint16_t>>(), true;
  if (is(Shape::kNegacyclic, 256, false)) return f.template operator()<Ring<256, true, uint16_t>>(), true;
  if (is(Shape::kNegacyclic, 512, false)) return f.template operator()<Ring<512, true, uint16_t>>(), true;
  if (is(Shape::kNegacyclic, 512, true)) return f.template operator()<Ring<512, true, uint8_t>>(), true;
  if (is(Shape::kNegacyclic, 1024, true)) return f.template operator()<Ring<1024, true, uint8_t>>(), true;
  return false;
}

inline bool has_ring(const Problem& problem) {
  return with_ring(problem, []<class R>(R* = nullptr) {});
}

/// Returns the bytes of device memory that a product reads and writes.
inline double ring_bytes(const Problem& problem, Sharing sharing) {
  const double wide = problem.q <= 256 ? 1 : 2;
  const auto n = static_cast<double>(problem.n);
  return n * ((sharing == Sharing::kA ? 0 : wide) + (sharing == Sharing::kB ? 0 : 1) + wide);
}

/// Pointers to rows, and the distances between rows, which are 0 for a shared operand.
template <class R>
struct RingArgs {
  const typename R::Wide* a;
  const int8_t* b;
  typename R::Wide* c;
  size_t count, a_stride, b_stride;
  Modulus modulus;
};

/// The rows of a batch on the GPU, for kernels that take RingArgs and possibly more.
template <class R>
class RingRows : public KernelJob {
 public:
  using Wide = typename R::Wide;
  explicit RingRows(const Operands& operands)
      : a_(upload_rows<Wide>(operands.a, copies_of_a(operands), R::kN, R::kStride)),
        b_(upload_rows<int8_t>(operands.b, copies_of_b(operands), R::kN, R::kStride)),
        c_(operands.items * R::kStride),
        args{a_.data,
             b_.data,
             c_.data,
             operands.items,
             operands.sharing == Sharing::kA ? 0 : size_t{R::kStride},
             operands.sharing == Sharing::kB ? 0 : size_t{R::kStride},
             Modulus(operands.problem.q)} {}
  void read(uint16_t* c) override { download_rows(c, c_, args.count, R::kN, R::kStride); }

 private:
  DeviceArray<Wide> a_;
  DeviceArray<int8_t> b_;
  DeviceArray<Wide> c_;

 protected:
  RingArgs<R> args;
};

/// A job that launches function(args) with a block for each `items_of_block` items.
template <class R>
class RingJob : public RingRows<R> {
 public:
  RingJob(const Operands& operands, void (*function)(RingArgs<R>), int threads, size_t dynamic,
          size_t items_of_block = 1)
      : RingRows<R>(operands) {
    const auto blocks = static_cast<unsigned>((operands.items + items_of_block - 1) / items_of_block);
    this->use(function, blocks, threads, dynamic, this->args);
  }
};

/// Returns t(d), where coefficient k of a product is the sum over i of t(k - i) b[i]: a[d], continued by the ring's
/// rule, and 0 outside -n < d < n.
template <class R, class T>
__device__ __forceinline__ int extended(const T* a, int d) {
  if (d >= R::kN || d <= -R::kN) return 0;
  const int value = a[d < 0 ? d + R::kN : d];
  return R::kNegacyclic && d < 0 ? -value : value;
}

}  // namespace polykem::lab
