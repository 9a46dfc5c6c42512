// SPDX-License-Identifier: Apache-2.0
// Registers the tables of AVX2 and AVX-512 as methods.
#include <set>

#include "cpu_job.hpp"
#include "tables.hpp"

namespace polykem::lab {

namespace {

/// A batch as blocks of `lanes` items, coefficient i of item l at i * lanes + l; lanes without an item are zero.
class LaneJob : public CpuJob {
 public:
  LaneJob(const Operands& operands, const LaneProduct& product)
      : product_(product),
        items_(operands.items),
        q_(operands.problem.q),
        blocks_((items_ + product.lanes - 1) / product.lanes),
        words_(product.n * product.lanes),
        stride_((words_ + 31) / 32 * 32),
        a_(blocks_ * stride_),
        b_(blocks_ * stride_),
        c_(blocks_ * stride_),
        workspace_(product.workspace_bytes) {
    for (size_t item = 0; item < items_; ++item) {
      for (size_t i = 0; i < product_.n; ++i) {
        a_.get()[place(item, i)] = operands.a_of(item)[i];
        b_.get()[place(item, i)] = operands.b_of(item)[i];
      }
    }
  }
  void run() override {
    for (size_t block = 0; block < blocks_; ++block) {
      const size_t at = block * stride_;
      product_.mul(c_.get() + at, a_.get() + at, b_.get() + at, workspace_.get());
    }
  }
  void read(uint16_t* c) override {
    const auto mask = static_cast<uint16_t>(product_.kind == Kind::kS3 ? 0xffff : q_ - 1);
    for (size_t item = 0; item < items_; ++item) {
      for (size_t i = 0; i < product_.n; ++i)
        c[item * product_.n + i] = c_.get()[place(item, i)] & mask;
    }
  }

 private:
  size_t place(size_t item, size_t i) const {
    return item / product_.lanes * stride_ + i * product_.lanes + item % product_.lanes;
  }

  const LaneProduct product_;
  const size_t items_, q_, blocks_, words_, stride_;
  const Lines<uint16_t> a_, b_, c_;
  const Lines<uint8_t> workspace_;
};

bool fits(const LaneProduct& product, const Problem& problem) {
  if (product.n != problem.n) return false;
  const bool exact = problem.power_of_two() && problem.q <= 1u << product.exact_bits;
  switch (product.kind) {
    case Kind::kCyclicAny:
      return problem.shape == Shape::kCyclic && !problem.modulo_phi && exact;
    case Kind::kCyclicTernary:
      return problem.shape == Shape::kCyclic && problem.b_bound == 1 && exact;
    case Kind::kS3:
      return problem.shape == Shape::kCyclic && problem.modulo_phi;
    case Kind::kNegacyclic:
      return problem.shape == Shape::kNegacyclic && exact;
  }
  return false;
}

/// All products of a table with one name.
Method lane_method(const CpuTables& tables, const LaneProduct& first) {
  const auto find = [&tables, name = first.name](const Problem& problem) -> const LaneProduct* {
    for (size_t i = 0; i < tables.lane_count; ++i) {
      if (std::strcmp(tables.lanes[i].name, name) == 0 && fits(tables.lanes[i], problem)) return &tables.lanes[i];
    }
    return nullptr;
  };
  return {
      first.name,
      tables.on,
      first.idea,
      [find](const Problem& problem, Sharing sharing) { return sharing == Sharing::kNone && find(problem) != nullptr; },
      [find](const Problem& problem, Sharing) {
        return Work{Unit::kVector, find(problem)->multiplications, 0};
      },
      [find](const Operands& operands) { return std::make_unique<LaneJob>(operands, *find(operands.problem)); },
      first.used};
}

class ByteJob : public CpuJob {
 public:
  ByteJob(const Operands& operands, const ByteProduct& product)
      : product_(product),
        items_(operands.items),
        n_(operands.problem.n),
        a_(items_ * n_),
        b_(items_ * n_),
        c_(items_ * n_),
        workspace_(product.workspace_bytes) {
    for (size_t item = 0; item < items_; ++item) {
      for (size_t i = 0; i < n_; ++i) {
        a_.get()[item * n_ + i] = static_cast<uint8_t>(operands.a_of(item)[i]);
        b_.get()[item * n_ + i] = static_cast<int8_t>(operands.b_of(item)[i]);
      }
    }
  }
  void run() override {
    for (size_t at = 0; at < items_ * n_; at += n_)
      product_.mul(c_.get() + at, a_.get() + at, b_.get() + at, n_, workspace_.get());
  }
  void read(uint16_t* c) override { std::copy_n(c_.get(), items_ * n_, c); }

 private:
  const ByteProduct product_;
  const size_t items_, n_;
  const Lines<uint8_t> a_;
  const Lines<int8_t> b_;
  const Lines<uint8_t> c_, workspace_;
};

Method byte_method(const CpuTables& tables, const ByteProduct& product) {
  return {product.name,
          tables.on,
          product.idea,
          [](const Problem& problem, Sharing sharing) {
            return sharing == Sharing::kNone && problem.shape == Shape::kNegacyclic && problem.q == 251;
          },
          [&product](const Problem& problem, Sharing) {
            return Work{Unit::kVector, problem.products() / product.terms, 0};
          },
          [&product](const Operands& operands) { return std::make_unique<ByteJob>(operands, product); },
          product.used};
}

/// Prepares a with its continuation below 0, and b, as a scheme might store them.
class PackedJob : public CpuJob {
 public:
  PackedJob(const Operands& operands, const PackedProduct& product)
      : product_(product),
        items_(operands.items),
        n_(operands.problem.n),
        q_(operands.problem.q),
        twice_(items_ * 2 * n_),
        b_(items_ * n_),
        sums_(items_ * n_),
        workspace_(product.workspace_bytes(n_)) {
    const int32_t sign = operands.problem.shape == Shape::kNegacyclic ? -1 : 1;
    for (size_t item = 0; item < items_; ++item) {
      for (size_t i = 0; i < n_; ++i) {
        twice_.get()[item * 2 * n_ + i] = sign * operands.a_of(item)[i];
        twice_.get()[item * 2 * n_ + n_ + i] = operands.a_of(item)[i];
        b_.get()[item * n_ + i] = static_cast<int16_t>(operands.b_of(item)[i]);
      }
    }
  }
  void run() override {
    for (size_t item = 0; item < items_; ++item)
      product_.mul(sums_.get() + item * n_, twice_.get() + item * 2 * n_, b_.get() + item * n_, n_, workspace_.get());
  }
  void read(uint16_t* c) override {
    const auto q = static_cast<int32_t>(q_);
    for (size_t i = 0; i < items_ * n_; ++i)
      c[i] = static_cast<uint16_t>((sums_.get()[i] % q + q) % q);
  }

 private:
  const PackedProduct product_;
  const size_t items_, n_, q_;
  const Lines<int32_t> twice_;
  const Lines<int16_t> b_;
  const Lines<int32_t> sums_;
  const Lines<uint8_t> workspace_;
};

Method packed_method(const CpuTables& tables, const PackedProduct& product) {
  return {product.name,
          tables.on,
          product.idea,
          [](const Problem& problem, Sharing sharing) {
            const double largest = static_cast<double>(problem.n) * problem.q * problem.b_bound;
            return sharing == Sharing::kNone && problem.shape != Shape::kMatrix && problem.b_bound > 0 &&
                   largest < (1 << 25);
          },
          [&product](const Problem& problem, Sharing) {
            return Work{Unit::kVector, problem.products() / product.terms, 0};
          },
          [&product](const Operands& operands) { return std::make_unique<PackedJob>(operands, product); }};
}

std::vector<Method> methods_of(const CpuTables& tables) {
  std::vector<Method> methods;
  std::set<std::string> names;
  for (size_t i = 0; i < tables.lane_count; ++i) {
    if (names.insert(tables.lanes[i].name).second) methods.push_back(lane_method(tables, tables.lanes[i]));
  }
  for (size_t i = 0; i < tables.byte_count; ++i)
    methods.push_back(byte_method(tables, tables.bytes[i]));
  for (size_t i = 0; i < tables.packed_count; ++i)
    methods.push_back(packed_method(tables, tables.packed[i]));
  return methods;
}

const Registration kAvx2(methods_of(kTablesAvx2));
const Registration kAvx512(methods_of(kTablesAvx512));

}  // namespace

}  // namespace polykem::lab
