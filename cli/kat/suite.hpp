// SPDX-License-Identifier: Apache-2.0
// Known answers in one form, for all file formats.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace polykem::cli {

/// The message of a signature; by default without context.
struct SignedMessage {
  polykem_message_kind kind = POLYKEM_MESSAGE;
  Bytes bytes, context;
  Bytes digest_oid;
  bool deterministic = false;  ///< signing takes no coins

  /// The fields that must be equal for messages to share a batch.
  auto form() const { return std::tie(kind, digest_oid, deterministic); }
};

/// One operation: its inputs and expected outputs.
struct Check {
  std::string label;       ///< the case and the operation, for messages: "count 3, encaps"
  std::size_t number = 0;  ///< the number of its case in the suite, from 0
  polykem_op op = POLYKEM_KEYGEN;
  bool seed_key = false;                               ///< sk is the seed of a secret key
  Bytes coins, pk, sk, ct, sig;                        ///< inputs; empty where the operation takes none
  Bytes want_pk, want_sk, want_ct, want_ss, want_sig;  ///< outputs; empty: not compared
  SignedMessage message{};                             ///< of sign and verify
  bool key_only = false;  ///< only the key is checked: coins or ct do not matter and are left empty
  /// The expected status of the item. Unless it is POLYKEM_OK, outputs must be zero. POLYKEM_ERR_SIZE: an input has a
  /// wrong length, so the call must refuse it.
  polykem_status want = POLYKEM_OK;
};

/// A file's cases of one set. Every case needs at least one check; run_suite counts others as failed.
struct Suite {
  std::string scheme;  ///< as the file names it
  std::size_t cases = 0;
  std::vector<Check> checks;

  /// Adds the checks of the next case and sets their number and label.
  void add_case(const std::string& name, std::vector<Check> of_case);
};

/// Finds the suite of a set, or adds one.
Suite& suite_for(std::vector<Suite>& suites, const std::string& scheme);

}  // namespace polykem::cli
