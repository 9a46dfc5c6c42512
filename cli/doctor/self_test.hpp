// SPDX-License-Identifier: Apache-2.0
// A quick test that a set works on a backend of this machine.
#pragma once

#include <polykem/polykem.hpp>

#include <string>

namespace polykem::cli {

struct SelfTest {
  std::string backend;
  bool round_trip = false;        ///< key pairs work, and no two secrets or signatures are equal
  bool rejection = false;         ///< a flipped bit yields another secret, the same one each time, or does not verify
  bool known_answer = false;      ///< count 0 of the set's known answers is reproduced
  bool has_known_answer = false;  ///< this program has a known answer of the set
  std::string error;              ///< the error, if the test could not run

  bool ok() const { return error.empty() && round_trip && rejection && (known_answer || !has_known_answer); }
};

/// Runs the self-test of `scheme` on the backend that `context` chooses. Does not throw for a wrong result.
SelfTest run_self_test(const Context& context, const Scheme& scheme);

/// SHAKE128 (32 bytes, hex) over pk, sk, ct, ss of count 0 of the set's known-answer file, for signatures over pk and
/// sig of Wycheproof's test 1; or empty.
std::string known_answer_digest(const std::string& scheme);

}  // namespace polykem::cli
