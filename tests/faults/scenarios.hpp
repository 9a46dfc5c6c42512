// SPDX-License-Identifier: Apache-2.0
// Scenarios of using the library: an operation on a context, with all outputs checked.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sweep.hpp"

namespace polykem::test {

using Bytes = std::vector<uint8_t>;

/// A batch whose inputs are made without faults, then the operation under test, then the check that its outputs are
/// right, or zero where the header says so.
class Watched {
 public:
  struct Shape {
    const char* scheme = "mlkem512";
    polykem_op op = POLYKEM_KEYGEN;
    size_t count = 1;
    unsigned threads = 1;
    const char* backend = nullptr;
    bool by_keyset = false;  ///< keys come from a key set, by index
    bool with_item_status = false;
  };

  explicit Watched(const Shape& shape);

  void begin();                   ///< context, keys, ciphertexts or signatures; outputs filled with a pattern
  polykem_status run();           ///< the operation
  polykem_status run_profiled();  ///< the same, and reads the profile
  polykem_status submit_and_wait();
  polykem_status submit_with_callback();
  std::string check(polykem_status status);
  void end();

  polykem_context* context() const { return context_; }
  const Shape& shape() const { return shape_; }

  /// A scenario that does `act` with an object of this class.
  static Scenario scenario(const Shape& shape, polykem_status (Watched::*act)());

 private:
  void make_inputs();
  polykem_request request_of(polykem_op op) const;
  polykem_request request();
  bool uses_secret_keys() const { return shape_.op == POLYKEM_DECAPS || shape_.op == POLYKEM_SIGN; }
  /// Signs or verifies the messages with keys that are not in a key set.
  polykem_status sign(polykem_context* context, const Bytes& sk, Bytes& sig) const;
  polykem_status verify(polykem_context* context, const Bytes& pk, const Bytes& sig) const;
  std::string check_signatures();
  std::string check_right();
  std::string check_wiped() const;

  Shape shape_;
  const polykem_scheme* scheme_ = nullptr;
  polykem_context* context_ = nullptr;
  polykem_keyset* keyset_ = nullptr;
  Bytes pk_, sk_, ct_, ss_;  ///< inputs, and what the outputs are compared with; ct_: or signatures
  Bytes texts_;
  std::vector<size_t> offsets_;
  polykem_messages messages_{};
  Bytes pk_out_, sk_out_, ct_out_, ss_out_;
  std::vector<size_t> index_;
  std::vector<polykem_status> item_status_;
};

/// Prints the scenario in names of tests.
void PrintTo(const Watched::Shape& shape, std::ostream* out);

}  // namespace polykem::test
