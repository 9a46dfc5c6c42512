// SPDX-License-Identifier: Apache-2.0
// A batch of one operation that can be run again and again and checked: what profile, bench and doctor measure.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>

namespace polykem::cli {

/// Inputs and outputs of one batch, all allocated and made beforehand.
class Workload {
 public:
  /// The most distinct key pairs and ciphertexts; larger batches repeat them, and each item has its own copy.
  static constexpr std::size_t kMaxDistinct = 256;
  /// The most bytes of records that are held by default.
  static constexpr std::size_t kMemory = std::size_t{1} << 30;
  /// Of a message that is signed or verified.
  static constexpr std::size_t kMessageBytes = 32;
  /// The most items that check() verifies, spread evenly; for decaps it checks all.
  static constexpr std::size_t kMaxChecked = 256;

  /// Makes the keys, for decaps the ciphertexts, for verify the signatures. `mode` does not matter for keygen. memory:
  /// bytes of records to hold at most; a batch that needs more runs in parts of in_flight() items, which use the same
  /// memory.
  Workload(const Context& context, const Scheme& scheme, polykem_op op, std::size_t count, KeyMode mode,
           std::size_t memory = kMemory);

  /// Runs the whole batch once.
  void run();
  /// Runs the items that are in memory at once.
  void warm_up() { run_part(in_flight_); }
  /// Items in memory at once: count(), or fewer where that would take too much.
  std::size_t in_flight() const { return in_flight_; }
  /// True if the outputs of the last run are right: key pairs that work, secrets that agree, signatures that verify;
  /// for verify, that the same signatures of other messages do not.
  bool check() const;
  /// Items that check() looks at.
  std::size_t checked() const;
  std::size_t count() const { return count_; }

 private:
  std::size_t key_of(std::size_t item) const { return mode_ == KeyMode::kShared ? 0 : item % distinct_keys_; }
  std::size_t item_bytes() const;
  void run_part(std::size_t count);
  bool check_keygen() const;
  bool check_encaps() const;
  /// What check() verifies of signatures.
  struct Sample {
    Bytes pk, sig, texts;
  };
  Sample sample() const;
  bool check_signatures() const;
  bool check_refusals() const;
  void make_messages(std::size_t distinct);
  Messages messages(ByteView of) const { return Messages(Strings::of_width(of, kMessageBytes)); }

  const Context& context_;
  Scheme scheme_;
  polykem_op op_;
  std::size_t count_;
  KeyMode mode_;
  std::size_t in_flight_ = 0;
  std::size_t distinct_keys_ = 0;
  KeyPairs keys_;  ///< the distinct pairs; for keygen: the output
  Bytes pk_, ct_;  ///< pk_: a key per item; ct_: input of decaps and verify, output of encaps and sign
  Bytes messages_;
  SecretBytes sk_, ss_, expected_;
};

}  // namespace polykem::cli
