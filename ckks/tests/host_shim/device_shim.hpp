// SPDX-License-Identifier: Apache-2.0
// The functions of ckks/src/cuda/device.cuh for a CPU.
#pragma once

#include "cuda_runtime.h"

namespace host_shim {

/// Shared memory of block `rank` of the cluster, at the place where the calling thread's block has `local`.
void* in_block(const void* local, unsigned rank);
void* own_shared();
void cluster_arrive();
void cluster_wait();
void after_previous_kernel();
void mma_bytes(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);

}  // namespace host_shim

namespace polykem::ckks::cuda {

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(host_shim::own_shared());
}
inline void after_previous_kernel() {
  host_shim::after_previous_kernel();
}
inline void cluster_arrive() {
  host_shim::cluster_arrive();
}
inline void cluster_arrive_relaxed() {
  host_shim::cluster_arrive();
}
inline void cluster_wait() {
  host_shim::cluster_wait();
}
template <class Word>
class ClusterPlace {
 public:
  ClusterPlace(const Word* local, unsigned rank) : place_(static_cast<Word*>(host_shim::in_block(local, rank))) {}
  void store(unsigned offset, Word value) const { place_[offset] = value; }
  void load(unsigned offset, Word& value) const { value = place_[offset]; }

 private:
  Word* place_;
};
inline void mma_bytes(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  host_shim::mma_bytes(d, a, b);
}

}  // namespace polykem::ckks::cuda
