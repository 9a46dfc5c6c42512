// SPDX-License-Identifier: Apache-2.0
// The laboratory's two tables: problems, which say what is multiplied (problems.cpp), and methods, which say how (files
// in cpu/ and cuda/). README.md explains how to add to either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace polykem::lab {

/// cyclic, negacyclic: polynomials modulo x^n - 1, x^n + 1. matrix: c = b a, where b and c are rows x n and a is n x n.
enum class Shape { kCyclic, kNegacyclic, kMatrix };

/// The operand that the whole batch shares.
enum class Sharing { kNone, kA, kB };

/// Products modulo q. Coefficients of a are in [0, q), those of b in -b_bound .. b_bound or, if b_bound is 0, in [0,
/// q).
struct Problem {
  std::string name, title;
  Shape shape;
  size_t n, rows;  ///< rows: 1 for polynomials
  uint32_t q;      ///< at most 2^16
  uint32_t b_bound;
  bool modulo_phi = false;  ///< the result is taken modulo 1 + x + .. + x^(n-1), as NTRU's modulo 3
  bool usual = true;        ///< selected when no problem is named

  size_t a_words() const { return shape == Shape::kMatrix ? n * n : n; }
  size_t b_words() const { return rows * n; }
  size_t c_words() const { return rows * n; }
  bool power_of_two() const { return (q & (q - 1)) == 0; }
  /// Returns the number of multiply-adds of schoolbook multiplication.
  double products() const { return static_cast<double>(rows) * static_cast<double>(n) * static_cast<double>(n); }
};

/// The operands of `items` products, as words; negative ones modulo 2^16. A shared operand is stored once.
struct Operands {
  const Problem& problem;
  Sharing sharing;
  size_t items;
  const uint16_t *a, *b;

  const uint16_t* a_of(size_t item) const { return a + (sharing == Sharing::kA ? 0 : item * problem.a_words()); }
  const uint16_t* b_of(size_t item) const { return b + (sharing == Sharing::kB ? 0 : item * problem.b_words()); }
};

/// The units whose rates determine floors.
enum class Unit {
  kNone,       ///< no floor is stated
  kImma,       ///< multiply-adds of bytes on tensor cores
  kDp4a,       ///< multiply-adds of bytes
  kDp2a,       ///< multiply-adds of words by bytes
  kImad,       ///< 32-bit multiply-adds
  kButterfly,  ///< butterflies of an NTT modulo a 31-bit prime
  kVector,     ///< multiplications of whole vector registers
  kTile,       ///< multiply-adds of bytes on the CPU's matrix tiles
  kScalar,     ///< multiplications of a CPU without vectors
};
inline constexpr size_t kUnits = 9;

/// The least cost of a product: operations of a unit or, if they take longer, bytes of device memory.
struct Work {
  Unit unit = Unit::kNone;
  double operations = 0, bytes = 0;
};

/// The rates of a device, measured in the same run: operations of each unit and bytes per second; 0: no such unit.
struct Rates {
  double of[kUnits] = {};
  double bytes = 0;
};

/// The resources of a GPU kernel; of the main one, if there are several.
struct Resources {
  int registers = 0;            ///< registers of a thread
  size_t shared_bytes = 0;      ///< bytes of a block
  int threads = 0, blocks = 0;  ///< threads of a block; blocks on a multiprocessor
  double occupancy = 0;         ///< share of the warps for which a multiprocessor has room
};

/// Operands in the form that a method takes, ready to be multiplied.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run() = 0;
  /// Returns the products after run(): c_words() words of each item, in [0, q).
  virtual void read(uint16_t* c) = 0;
  /// Returns the seconds of a run() of the batch, measured for about `budget` seconds.
  virtual double seconds(double budget) = 0;
  virtual Resources resources() const { return {}; }
};

/// A method of multiplication. It throws std::exception if it fails.
struct Method {
  const char* name;
  const char* on;    ///< "portable", "avx2", "avx512", "amx" or "cuda"
  const char* idea;  ///< in a few words, for --list
  std::function<bool(const Problem& problem, Sharing sharing)> supports;
  std::function<Work(const Problem& problem, Sharing sharing)> work;
  std::function<std::unique_ptr<Job>(const Operands& operands)> start;
  bool used = false;     ///< the library uses it
  bool planted = false;  ///< wrong on purpose; runs only if it is named
};

/// Registers methods; each file of methods has a global one.
class Registration {
 public:
  explicit Registration(std::vector<Method> methods);
};
/// Returns all methods that were registered in this module, in order of their names.
const std::vector<Method>& registered_methods();

/// The GPU's part, a shared object of its own.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  virtual const std::vector<Method>& methods() const = 0;
  virtual Rates rates() const = 0;
};
/// The function that the shared object exports. Returns the first GPU, or nullptr with the reason in `problem`.
using OpenDevice = Device* (*)(std::string* problem);
inline constexpr const char* kOpenDevice = "polykem_lab_open_device";

/// Returns a symbol of a shared object beside the program or in ../lib; nullptr with a reason if either is missing.
void* find_in_module(const std::string& file, const char* symbol, std::string& problem);

/// Opens libpolykem_lab_cuda.so, beside the program or in ../lib; nullptr with a reason if it or a GPU is missing.
Device* open_gpu(std::string& problem);

const std::vector<Problem>& problems();

}  // namespace polykem::lab
