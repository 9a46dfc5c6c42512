// SPDX-License-Identifier: Apache-2.0
// The features of the device that kernels use beyond CUDA C++: dynamic shared memory, clusters of blocks, tensor cores.
// Where nvcc does not compile this, the cuda_runtime.h of ckks/tests/host_shim has the same functions for a CPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef __CUDACC__
#include "prim/polymul/cuda/tensor_core.cuh"
#endif

namespace polykem::ckks::cuda {

#ifdef __CUDACC__

/// Returns the block's dynamic shared memory.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char ckks_arena[];
  return reinterpret_cast<T*>(ckks_arena);
}

/// Waits until the kernels before this one in the stream have ended and what they wrote is seen, and lets the next one
/// begin as soon as there is room. Every kernel calls it before it touches what another kernel may write or read.
__device__ __forceinline__ void after_previous_kernel() {
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
}

/// Arrives at the cluster's barrier. Once all its threads have arrived, those that wait go on and see what was written
/// to any of its shared memories.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
/// Arrives without waiting for what the thread wrote, which no other thread needs to see.
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The place in the shared memory of block `rank` of the cluster that `local` has in that of the calling block.
template <class Word>
class ClusterPlace {
 public:
  __device__ __forceinline__ ClusterPlace(const Word* local, unsigned rank) {
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(address_)
        : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(local))), "r"(rank));
  }
  __device__ __forceinline__ void store(unsigned offset, uint32_t value) const {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at(offset)), "r"(value) : "memory");
  }
  __device__ __forceinline__ void store(unsigned offset, uint64_t value) const {
    asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(at(offset)), "l"(value) : "memory");
  }
  __device__ __forceinline__ void load(unsigned offset, uint32_t& value) const {
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at(offset)) : "memory");
  }
  __device__ __forceinline__ void load(unsigned offset, uint64_t& value) const {
    asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(value) : "r"(at(offset)) : "memory");
  }

 private:
  __device__ __forceinline__ uint32_t at(unsigned offset) const { return address_ + offset * sizeof(Word); }
  uint32_t address_;
};

/// Computes d += a b for a 16 x 32 tile of a and a 32 x 8 tile of b, unsigned bytes.
__device__ __forceinline__ void mma_bytes(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  polykem::cuda::mma_16x8x32<false>(d, a, b);
}

#endif

inline constexpr int kWarp = 32;

/// Sixteen bytes, which a thread reads or writes at once.
template <class Word>
struct alignas(16) Vector {
  static constexpr int kWords = 16 / sizeof(Word);
  Word at[kWords];
};

/// Load and store sixteen aligned bytes of global memory. The functions __ldcg and __stcg are one access, where the
/// compiler might take a structure apart; they leave the first-level cache to factors, as nothing reads a row twice.
__device__ __forceinline__ Vector<uint32_t> load_vector(const uint32_t* words) {
  const uint4 x = __ldcg(reinterpret_cast<const uint4*>(words));
  return {{x.x, x.y, x.z, x.w}};
}
__device__ __forceinline__ Vector<uint64_t> load_vector(const uint64_t* words) {
  const ulonglong2 x = __ldcg(reinterpret_cast<const ulonglong2*>(words));
  return {{x.x, x.y}};
}
__device__ __forceinline__ void store_vector(uint32_t* words, const Vector<uint32_t>& value) {
  __stcg(reinterpret_cast<uint4*>(words), uint4{value.at[0], value.at[1], value.at[2], value.at[3]});
}
__device__ __forceinline__ void store_vector(uint64_t* words, const Vector<uint64_t>& value) {
  __stcg(reinterpret_cast<ulonglong2*>(words), ulonglong2{value.at[0], value.at[1]});
}

}  // namespace polykem::ckks::cuda
