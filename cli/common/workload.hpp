// SPDX-License-Identifier: Apache-2.0
// A batch of one operation that can be run again and again and checked: what profile, bench and doctor measure.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>

namespace polykem::cli {

/** Inputs and outputs of one batch, all allocated and made beforehand. */
class Workload {
 public:
  /** Distinct key pairs at most; larger batches repeat them, each item still with its own copy of its key. */
  static constexpr std::size_t kMaxDistinctKeys = 256;
  /** Items that check() works through at most, spread evenly; decaps checks all. */
  static constexpr std::size_t kMaxChecked = 256;

  /** Makes the keys, and for decaps the ciphertexts. `mode` does not matter for keygen. */
  Workload(const Context& context, const Scheme& scheme, polykem_op op, std::size_t count, KeyMode mode);

  /** Runs the batch once. */
  void run();
  /** True if the outputs of the last run are right: key pairs that work, secrets that agree. */
  bool check() const;
  /** Items that check() looks at. */
  std::size_t checked() const;
  std::size_t count() const { return count_; }

 private:
  std::size_t key_of(std::size_t item) const { return mode_ == KeyMode::kShared ? 0 : item % distinct_; }
  bool check_keygen() const;
  bool check_encaps() const;

  const Context& context_;
  Scheme scheme_;
  polykem_op op_;
  std::size_t count_;
  KeyMode mode_;
  std::size_t distinct_ = 0;
  KeyPairs keys_; /**< the distinct pairs; for keygen: the output */
  Bytes pk_, ct_; /**< pk_: a key per item; ct_: input of decaps, output of encaps */
  SecretBytes sk_, ss_, expected_;
};

}  // namespace polykem::cli
