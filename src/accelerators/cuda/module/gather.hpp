// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace polykem::cuda {

/// Loads the module's code for the current device. is_without_code() of the result is true if it has none.
cudaError_t find_machine_code();

/// to[i] = from[index[i]] for records of `record_bytes` bytes; all in device memory. Asynchronous on `stream`.
cudaError_t gather(uint8_t* to, const uint8_t* from, const uint64_t* index, size_t record_bytes, size_t count,
                   cudaStream_t stream);

/// Copies `bytes` bytes (a multiple of 4, at most 128) from pinned host memory, by a kernel. Asynchronous on `stream`.
cudaError_t read_from_host(void* to, const void* from, size_t bytes, cudaStream_t stream);

/// Copies like read_from_host(), then overwrites the bytes in host memory with zeros, and then the word behind them.
cudaError_t take_from_host(void* to, uint32_t* from, size_t bytes, cudaStream_t stream);

}  // namespace polykem::cuda
