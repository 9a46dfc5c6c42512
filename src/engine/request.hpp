// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "engine/keyset.hpp"

namespace polykem {

class Accelerator;

/// The processors and threads that may compute a batch.
enum class RunOn {
  kAny,          ///< where it finishes soonest; the CPU computes what an accelerator cannot
  kCpu,          ///< on the CPU; all arrays are in host memory
  kCaller,       ///< on the caller's thread, whose stack may be small: the CPU by a backend that needs no large one
  kAccelerator,  ///< only on Request::accelerator
};

/// One batch as the caller requested it; polykem_request documents the fields.
struct Request {
  Op op = Op::kKeygen;
  bool sk_is_seed = false;
  const Scheme* scheme = nullptr;
  BatchView records{};  ///< item_status may be nullptr; key_index is an index into the key set
  const KeySet* keyset = nullptr;
  RunOn run_on = RunOn::kAny;
  Accelerator* accelerator = nullptr;  ///< of RunOn::kAccelerator
  bool caller_waits = false;           ///< for Batcher::add: the thread will wait for the ticket
};

/// The arrays of records of an operation. Coins are optional, and a key set may replace the keys.
constexpr Fields fields_of(Op op) {
  constexpr Fields kFields[kOpCount] = {
      field::kCoins | field::kPkOut | field::kSkOut, field::kCoins | field::kPk | field::kCtOut | field::kSsOut,
      field::kSk | field::kCt | field::kSsOut, field::kCoins | field::kSk | field::kSigOut, field::kPk | field::kSig};
  return kFields[static_cast<size_t>(op)];
}

/// The lengths of the caller's records. sk_is_seed: secret keys are given as seeds.
RecordBytes record_bytes(const Scheme& scheme, Op op, bool sk_is_seed);

/// The records of one item of an operation.
class ItemRecords {
 public:
  ItemRecords() = default;
  ItemRecords(const Scheme& scheme, Op op, bool sk_is_seed);

  bool has(const FieldInfo& f) const { return (fields_ & f.field) != 0; }
  /// 0 if the operation has no such record.
  size_t bytes(const FieldInfo& f) const { return has(f) ? bytes_.*f.bytes : 0; }
  size_t coin_bytes() const { return bytes_.coins; }
  /// Bytes of mu; 0 if the operation takes no message.
  size_t mu_bytes() const { return mu_bytes_; }
  size_t input_bytes() const { return input_bytes_; }
  size_t output_bytes() const { return output_bytes_; }
  /// The bytes of the public outputs.
  size_t public_bytes() const { return public_bytes_; }

 private:
  Fields fields_ = 0;
  RecordBytes bytes_{};
  size_t mu_bytes_ = 0;
  size_t input_bytes_ = 0, output_bytes_ = 0, public_bytes_ = 0;
};

/// True if all records of `count` items together have no more bytes than a pointer difference can hold.
bool count_fits(const Scheme& scheme, size_t count);

/// Checks a request. Status::kOk, or what is wrong with it as a whole.
Status validate(const Request& request);

/// The records of a valid request, with the keys of its key set, if it has one, for use by `backend`.
BatchView with_keys(const Request& request, const SchemeBackend& backend);

}  // namespace polykem
