// SPDX-License-Identifier: Apache-2.0
// The measurements of `polykem-lab ckks`: transforms and operations of CKKS, on one core and on the first GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "research/lab/lab.hpp"

namespace polykem::ckks::lab {

using polykem::lab::Resources;

/// The least cost of one transform or operation: bytes of memory, slots of the multiplier, products of bytes on tensor
/// cores.
struct Cost {
  double bytes = 0, slots = 0, byte_products = 0;
};

/// The rates of a device per second, measured in the same run.
struct Rates {
  double bytes = 0, slots = 0, byte_products = 0;
  /// Rates of other instructions, for those who count instructions.
  std::map<std::string, double> instructions;
};

/// Returns the least seconds of a device with these rates, whose units work concurrently.
double floor_of(const Cost& cost, const Rates& rates);
/// Returns which of the three that is: "bytes", "slots" or "byte_products".
const char* limit_of(const Cost& cost, const Rates& rates);

/// A level of a chain of primes.
struct Level {
  uint32_t limbs = 0, specials = 0, digit_limbs = 0;
  uint32_t rows() const { return limbs + specials; }
  uint32_t digits() const { return digit_limbs == 0 ? 0 : (limbs + digit_limbs - 1) / digit_limbs; }
};

/// One figure. A transform is one of `batch` rows, whose primes are `level.limbs`; an operation one of `batch`
/// ciphertexts.
struct Row {
  std::string operation, form, on;  ///< form: of a transform; on: "cpu" or "cuda"
  std::string unit;                 ///< "integer" or "imma"
  int log_n = 0, bits = 0;
  Level level;
  size_t batch = 1;
  double seconds = 0;    ///< for one
  double sustained = 0;  ///< for one during Request::sustained seconds without a pause; 0: not measured
  Cost cost;
  Resources resources;  ///< resources of the kernel with the most threads
  size_t launches = 0;  ///< launches of kernels for the batch
  bool used = false;    ///< the library uses this form
};

struct Request {
  double seconds = 0.1;  ///< time for each figure
  double sustained = 0;  ///< additional time for the library's transforms on a GPU without a pause; 0: none
  bool planted_error = false;
  std::vector<int> log_ns{12, 13, 14, 15, 16};  ///< log2 N of transforms; operations have the last one
  std::vector<std::string> only;                ///< operations; empty: all
  bool wants(const std::string& operation) const;
};

/// Returns all operations, in the order of tables.
extern const std::vector<std::string> kOperations;

struct Checked {
  size_t compared = 0, wrong = 0;
};

/// A CPU's core or a GPU. Throws std::exception on failure.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// Compares every form and operation with its definition. Prints the first errors on standard error.
  virtual Checked check(const Request& request) = 0;
  virtual Rates rates() = 0;
  virtual void time(const Request& request, const std::function<void(const Row&)>& add) = 0;
};

/// Returns one core, which runs the library's own arithmetic.
Device& open_core();

/// The function that libpolykem_lab_ckks_cuda.so exports. Returns the first GPU, or nullptr with the reason in
/// `problem`.
using OpenDevice = Device* (*)(std::string* problem);
inline constexpr const char* kOpenDevice = "polykem_lab_ckks_open_device";
Device* open_gpu(std::string& problem);

}  // namespace polykem::ckks::lab
