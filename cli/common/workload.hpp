// SPDX-License-Identifier: Apache-2.0
// A batch of one operation that can be repeated and checked, for profile, bench and doctor.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>

namespace polykem::cli {

/// The inputs and outputs of one batch, allocated and made in advance.
class Workload {
 public:
  /// The most distinct key pairs and ciphertexts. Larger batches repeat them, with a copy for each item.
  static constexpr std::size_t kMaxDistinct = 256;
  /// The default limit of bytes of records in memory.
  static constexpr std::size_t kMemory = std::size_t{1} << 30;
  /// Bytes of a message that is signed or verified.
  static constexpr std::size_t kMessageBytes = 32;
  /// The most items that check() verifies, spread evenly over the batch; for decaps it checks all.
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
  /// The number of items in memory at once: count(), or fewer if those need too much memory.
  std::size_t in_flight() const { return in_flight_; }
  /// True if the outputs of the last run are right: key pairs that work, secrets that agree, signatures that verify;
  /// for verify, that the same signatures of other messages do not.
  bool check() const;
  /// The number of items that check() verifies.
  std::size_t checked() const;
  std::size_t count() const { return count_; }

 private:
  std::size_t key_of(std::size_t item) const { return mode_ == KeyMode::kShared ? 0 : item % distinct_keys_; }
  std::size_t item_bytes() const;
  void run_part(std::size_t count);
  bool check_keygen() const;
  bool check_encaps() const;
  /// The signatures that check() verifies, with their keys and messages.
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
