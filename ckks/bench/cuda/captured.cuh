// SPDX-License-Identifier: Apache-2.0
// The kernels of a call as a graph, to read their resources and to run a part of them alone.
#pragma once

#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "ckks/bench/ckks.hpp"
#include "research/lab/cuda/kernel_job.cuh"

namespace polykem::ckks::lab {

using polykem::lab::check;

class Stream {
 public:
  Stream() { check(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// The kernels that a call launches.
class Captured {
 public:
  /// Captures call(), which must use `stream`.
  template <class Call>
  Captured(cudaStream_t stream, const Call& call) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    std::exception_ptr thrown;
    try {
      check(call(), "a call that is captured");
    } catch (...) {
      thrown = std::current_exception();  // capturing must end first
    }
    const cudaError_t end = cudaStreamEndCapture(stream, &graph_);
    if (thrown) std::rethrow_exception(thrown);
    check(end, "cudaStreamEndCapture");
    size_t count = 0;
    check(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes");
    nodes_.resize(count);
    check(cudaGraphGetNodes(graph_, nodes_.data(), &count), "cudaGraphGetNodes");
  }
  ~Captured() {
    if (executable_ != nullptr) (void)cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  size_t launches() const { return nodes_.size(); }

  /// Returns the resources of the kernel with the most threads.
  Resources resources() const {
    size_t max_threads = 0;
    cudaGraphNode_t largest = nullptr;
    for (cudaGraphNode_t node : nodes_) {
      const cudaKernelNodeParams kernel = parameters(node);
      const size_t threads = size_t{kernel.gridDim.x} * kernel.blockDim.x;
      if (threads > max_threads) max_threads = threads, largest = node;
    }
    return largest == nullptr ? Resources{} : resources_of(largest);
  }

  /// Keeps only the kernels whose name contains this word. Returns false if there are none.
  bool keep(const char* word) {
    std::vector<cudaGraphNode_t> kept;
    for (cudaGraphNode_t node : nodes_) {
      const char* name = nullptr;
      check(cudaFuncGetName(&name, parameters(node).func), "cudaFuncGetName");
      if (std::strstr(name, word) != nullptr) {
        kept.push_back(node);
      } else {
        check(cudaGraphDestroyNode(node), "cudaGraphDestroyNode");
      }
    }
    nodes_ = kept;
    return !nodes_.empty();
  }

  cudaError_t run(cudaStream_t stream) {
    if (executable_ == nullptr) check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
    return cudaGraphLaunch(executable_, stream);
  }

 private:
  static cudaKernelNodeParams parameters(cudaGraphNode_t node) {
    cudaKernelNodeParams kernel{};
    check(cudaGraphKernelNodeGetParams(node, &kernel), "cudaGraphKernelNodeGetParams");
    return kernel;
  }

  /// For clusters, the blocks that the GPU holds at once, divided by its multiprocessors.
  static Resources resources_of(cudaGraphNode_t node) {
    const cudaKernelNodeParams kernel = parameters(node);
    const int threads = static_cast<int>(kernel.blockDim.x);
    Resources r = polykem::lab::kernel_resources(kernel.func, threads, kernel.sharedMemBytes);
    cudaLaunchAttributeValue value{};
    check(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &value),
          "cudaGraphKernelNodeGetAttribute");
    const unsigned cluster = value.clusterDim.x;
    if (cluster <= 1) return r;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val = value;
    cudaLaunchConfig_t config{};
    config.gridDim = kernel.gridDim;
    config.blockDim = kernel.blockDim;
    config.dynamicSmemBytes = kernel.sharedMemBytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    check(cudaOccupancyMaxActiveClusters(&clusters, kernel.func, &config), "cudaOccupancyMaxActiveClusters");
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    const double blocks = static_cast<double>(clusters) * cluster / properties.multiProcessorCount;
    r.occupancy = blocks * threads / properties.maxThreadsPerMultiProcessor;
    r.blocks = static_cast<int>(blocks);
    return r;
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
};

}  // namespace polykem::ckks::lab
