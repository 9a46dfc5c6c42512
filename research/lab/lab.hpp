// SPDX-License-Identifier: Apache-2.0
// The laboratory's two tables: problems, what is multiplied (problems.cpp), and ways, how (a file each in cpu/ and
// cuda/). README.md says how to add to either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace polykem::lab {

/// cyclic, negacyclic: polynomials modulo x^n - 1, x^n + 1. matrix: c = b a, b and c rows x n, a n x n.
enum class Shape { kCyclic, kNegacyclic, kMatrix };

/// Which operand is one for the whole batch.
enum class Sharing { kNone, kA, kB };

/// Products modulo q. Operand a has coefficients in [0, q); b has them in -b_bound .. b_bound, and in [0, q) if that
/// is 0.
struct Problem {
  std::string name, title;
  Shape shape;
  size_t n, rows;  ///< rows: 1 for polynomials
  uint32_t q;      ///< at most 2^16
  uint32_t b_bound;
  bool modulo_phi = false;  ///< the result is taken modulo 1 + x + .. + x^(n-1), as NTRU's modulo 3
  bool usual = true;        ///< multiplied when no problem is named

  size_t a_words() const { return shape == Shape::kMatrix ? n * n : n; }
  size_t b_words() const { return rows * n; }
  size_t c_words() const { return rows * n; }
  bool power_of_two() const { return (q & (q - 1)) == 0; }
  /// Multiply-adds of coefficients that the schoolbook does.
  double products() const { return static_cast<double>(rows) * static_cast<double>(n) * static_cast<double>(n); }
};

/// The operands of `items` products: words, negative ones modulo 2^16. A shared operand is there once.
struct Batch {
  const Problem& problem;
  Sharing sharing;
  size_t items;
  const uint16_t *a, *b;

  const uint16_t* a_of(size_t item) const { return a + (sharing == Sharing::kA ? 0 : item * problem.a_words()); }
  const uint16_t* b_of(size_t item) const { return b + (sharing == Sharing::kB ? 0 : item * problem.b_words()); }
};

/// The units whose rates make the floors.
enum class Unit {
  kNone,       ///< no floor is stated
  kImma,       ///< multiply-adds of bytes on tensor cores
  kDp4a,       ///< multiply-adds of bytes
  kDp2a,       ///< multiply-adds of words by bytes
  kImad,       ///< 32-bit multiply-adds
  kButterfly,  ///< of an NTT modulo a 31-bit prime
  kVector,     ///< multiplications of whole vector registers
  kTile,       ///< multiply-adds of bytes on the CPU's matrix tiles
  kScalar,     ///< multiplications of a CPU without vectors
};
inline constexpr size_t kUnits = 9;

/// What one product costs at least: operations of a unit, or bytes of device memory where those take longer.
struct Work {
  Unit unit = Unit::kNone;
  double operations = 0, bytes = 0;
};

/// The rates of one device, measured in the same run: operations of each unit and bytes, a second; 0: no such unit.
struct Rates {
  double of[kUnits] = {};
  double bytes = 0;
};

/// What a GPU kernel takes: the main one, if there are several.
struct Resources {
  int registers = 0;            ///< of a thread
  size_t shared_bytes = 0;      ///< of a block
  int threads = 0, blocks = 0;  ///< of a block; blocks on a multiprocessor
  double occupancy = 0;         ///< warps on a multiprocessor, of those that it has room for
};

/// A batch in the form that one way wants, ready to be multiplied.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run() = 0;
  /// The products after run(): c_words() words of each item, in [0, q).
  virtual void read(uint16_t* c) = 0;
  /// Seconds of one run() of the batch, measured for about `budget` seconds.
  virtual double seconds(double budget) = 0;
  virtual Resources resources() const { return {}; }
};

/// One way to multiply. A way throws std::exception where it fails.
struct Way {
  const char* name;
  const char* on;    ///< "portable", "avx2", "avx512", "amx" or "cuda"
  const char* idea;  ///< in a few words, for --list
  std::function<bool(const Problem& problem, Sharing sharing)> supports;
  std::function<Work(const Problem& problem, Sharing sharing)> work;
  std::function<std::unique_ptr<Job>(const Batch& batch)> start;
  bool used = false;     ///< what the library does
  bool planted = false;  ///< wrong on purpose; multiplies only if it is named
};

/// Files of ways hold one of these as a global.
class Registration {
 public:
  explicit Registration(std::vector<Way> ways);
};
/// All that were registered in this module, in order of their names.
const std::vector<Way>& registered_ways();

/// The GPU's half, a shared object of its own.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  virtual const std::vector<Way>& ways() const = 0;
  virtual Rates rates() const = 0;
};
/// What the shared object exports: the first GPU, or nullptr and why in `problem`.
using OpenDevice = Device* (*)(std::string* problem);
inline constexpr const char* kOpenDevice = "polykem_lab_open_device";

/// A symbol of a shared object beside the program or in ../lib; nullptr and why if one of them is missing.
void* find_in_module(const std::string& file, const char* symbol, std::string& problem);

/// libpolykem_lab_cuda.so, beside the program or in ../lib; nullptr and why if it or a GPU is missing.
Device* open_gpu(std::string& problem);

const std::vector<Problem>& problems();

}  // namespace polykem::lab
