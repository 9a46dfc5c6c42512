// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a cluster as fibres, in turn. A fibre that waits yields until the last one of its group arrives.
// If its thread ends without waiting, the fibre continues with the next thread.
#include <ucontext.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device_shim.hpp"

namespace host_shim {

namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr size_t kSharedBytes = 228 * 1024;

struct Barrier {
  unsigned members = 0, arrived = 0, generation = 0;
  unsigned arrive() {
    const unsigned mine = generation;
    if (++arrived == members) arrived = 0, ++generation;
    return mine;
  }
};

struct Warp {
  Barrier barrier;
  uint32_t a[32][4], b[32][2];
  int products[32][4];
};

struct Block {
  Barrier barrier;
  std::unique_ptr<unsigned char[]> memory{new unsigned char[kSharedBytes + 128]};
  std::vector<Warp> warps;
  unsigned char* shared() { return memory.get() + (128 - reinterpret_cast<uintptr_t>(memory.get()) % 128) % 128; }
};

struct Fibre {
  ucontext_t context;
  std::unique_ptr<unsigned char[]> stack{new unsigned char[kStackBytes]};
  unsigned thread = 0, block = 0, cluster_generation = 0;
  bool done = false, waited = false;
};

struct Machine {
  std::vector<std::unique_ptr<Fibre>> fibres;
  std::vector<Block> blocks;
  Barrier cluster;
  Fibre* current = nullptr;
  unsigned begun = 0, count = 0, threads = 0, first_block = 0;
  size_t waited = 0;  ///< threads that called after_previous_kernel()
  ucontext_t scheduler;
  const std::function<void()>* body = nullptr;
  Block& block() { return blocks[current->block]; }
  Warp& warp() { return block().warps[current->thread / 32]; }
} machine;

void wait(const Barrier& barrier, unsigned generation) {
  Fibre& self = *machine.current;
  while (barrier.generation == generation)
    swapcontext(&self.context, &machine.scheduler);
}

void arrive_and_wait(Barrier& barrier) {
  wait(barrier, barrier.arrive());
}

void show_place(const Fibre& fibre) {
  threadIdx = {fibre.thread, 0, 0};
  blockIdx = {machine.first_block + fibre.block, 0, 0};
}

void enter() {
  Fibre& self = *machine.current;
  while (machine.begun < machine.count) {
    self.thread = machine.begun % machine.threads;
    self.block = machine.begun++ / machine.threads;
    self.waited = false;
    show_place(self);
    (*machine.body)();
  }
  self.done = true;
  swapcontext(&self.context, &machine.scheduler);
}

void resume(Fibre& fibre) {
  machine.current = &fibre;
  show_place(fibre);
  swapcontext(&machine.scheduler, &fibre.context);
}

Fibre& start(size_t number) {
  if (number == machine.fibres.size()) machine.fibres.push_back(std::make_unique<Fibre>());
  Fibre& fibre = *machine.fibres[number];
  fibre.done = false;
  getcontext(&fibre.context);
  fibre.context.uc_stack.ss_sp = fibre.stack.get();
  fibre.context.uc_stack.ss_size = kStackBytes;
  fibre.context.uc_link = nullptr;
  makecontext(&fibre.context, enter, 0);
  return fibre;
}

void run_cluster(unsigned first_block, unsigned blocks, unsigned threads, size_t shared_bytes) {
  machine.blocks.resize(std::max<size_t>(machine.blocks.size(), blocks));
  machine.begun = 0;
  machine.count = blocks * threads;
  machine.threads = threads;
  machine.first_block = first_block;
  machine.cluster = {machine.count};
  for (unsigned b = 0; b < blocks; ++b) {
    Block& block = machine.blocks[b];
    block.barrier = {threads};
    std::memset(block.shared(), 0x5a, shared_bytes);
    block.warps.assign((threads + 31) / 32, {});
    for (unsigned w = 0; w < block.warps.size(); ++w)
      block.warps[w].barrier.members = std::min(32u, threads - 32 * w);
  }
  size_t fibres = 0;
  while (machine.begun < machine.count)
    resume(start(fibres++));
  for (bool waiting = true; waiting;) {
    waiting = false;
    for (size_t i = 0; i < fibres; ++i) {
      if (machine.fibres[i]->done) continue;
      resume(*machine.fibres[i]);
      waiting = true;
    }
  }
}

/// Computes the product of a 16 x 32 by a 32 x 8 tile, from the fragments of all lanes.
void multiply_tile(Warp& warp) {
  uint8_t rows[16][32], columns[8][32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned word = 0; word < 4; ++word)
      std::memcpy(rows[lane / 4 + word % 2 * 8] + word / 2 * 16 + lane % 4 * 4, &warp.a[lane][word], 4);
    for (unsigned word = 0; word < 2; ++word)
      std::memcpy(columns[lane / 4] + word * 16 + lane % 4 * 4, &warp.b[lane][word], 4);
  }
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      int sum = 0;
      for (int k = 0; k < 32; ++k)
        sum += rows[row][k] * columns[column][k];
      warp.products[row % 8 * 4 + column / 2][row / 8 * 2 + column % 2] = sum;
    }
  }
}

}  // namespace

void* own_shared() {
  return machine.block().shared();
}

void* in_block(const void* local, unsigned rank) {
  return machine.blocks[rank].shared() + (static_cast<const unsigned char*>(local) - machine.block().shared());
}

void cluster_arrive() {
  machine.current->cluster_generation = machine.cluster.arrive();
}
void cluster_wait() {
  wait(machine.cluster, machine.current->cluster_generation);
}

void after_previous_kernel() {
  if (!std::exchange(machine.current->waited, true)) ++machine.waited;
}

void mma_bytes(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  Warp& warp = machine.warp();
  const unsigned lane = machine.current->thread % 32;
  std::copy_n(a, 4, warp.a[lane]);
  std::copy_n(b, 2, warp.b[lane]);
  const unsigned generation = warp.barrier.arrive();
  if (warp.barrier.generation != generation) multiply_tile(warp);
  wait(warp.barrier, generation);
  for (int i = 0; i < 4; ++i)
    d[i] += warp.products[lane][i];
}

cudaError_t run(const cudaLaunchConfig_t& config, const std::function<void()>& body) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  unsigned cluster = 1;
  bool early = false;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension) cluster = attribute.val.clusterDim.x;
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) early = true;
  }
  machine.body = &body;
  machine.waited = 0;
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  for (unsigned block = 0; block < config.gridDim.x; block += cluster)
    run_cluster(block, cluster, config.blockDim.x, config.dynamicSmemBytes);
  const size_t threads = size_t{config.gridDim.x} * config.blockDim.x;
  return early && machine.waited != threads ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace host_shim

void __syncthreads() {
  host_shim::arrive_and_wait(host_shim::machine.block().barrier);
}
void __syncwarp() {
  host_shim::arrive_and_wait(host_shim::machine.warp().barrier);
}
