// SPDX-License-Identifier: Apache-2.0
// Known answers in one form, for all file formats.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace polykem::cli {

/// What is signed; a message without context by default.
struct SignedMessage {
  polykem_message_kind kind = POLYKEM_MESSAGE;
  Bytes bytes, context;
  Bytes digest_oid;
  bool deterministic = false;  ///< to sign takes no coins

  /// Messages of a batch agree in these.
  auto form() const { return std::tie(kind, digest_oid, deterministic); }
};

/// One operation: what goes in, and what must come out.
struct Check {
  std::string label;       ///< the case and the operation, for messages: "count 3, encaps"
  std::size_t number = 0;  ///< the case of the suite that it belongs to, from 0
  polykem_op op = POLYKEM_KEYGEN;
  bool seed_key = false;                               ///< sk is the seed of a secret key
  Bytes coins, pk, sk, ct, sig;                        ///< inputs; empty where the operation takes none
  Bytes want_pk, want_sk, want_ct, want_ss, want_sig;  ///< outputs; empty: not compared
  SignedMessage message{};                             ///< of sign and verify
  bool key_only = false;  ///< only the key is checked: coins or ct do not matter and are left empty
  /// The item's status. Anything but POLYKEM_OK also demands outputs of zeros; POLYKEM_ERR_SIZE says that an input has
  /// a length the set does not have, and that the call must refuse it.
  polykem_status want = POLYKEM_OK;
};

/// The cases that a file has for one set. Every case needs at least one check: run_suite fails the others.
struct Suite {
  std::string scheme;  ///< as the file names it
  std::size_t cases = 0;
  std::vector<Check> checks;

  /// Adds the checks of the next case: their number and label are filled in.
  void add_case(const std::string& name, std::vector<Check> of_case);
};

/// The suite of that set, made if there is none yet.
Suite& suite_for(std::vector<Suite>& suites, const std::string& scheme);

}  // namespace polykem::cli
