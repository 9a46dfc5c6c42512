// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "engine/keyset.hpp"

namespace polykem {

class Accelerator;

/// Who may compute a batch.
enum class RunOn {
  kAny,          ///< whoever is sooner done, and the CPU what an accelerator cannot
  kCpu,          ///< the CPU; every array lies in host memory
  kCaller,       ///< the same on this thread, whose stack may be small: without matrix tiles, see may_use_tiles()
  kAccelerator,  ///< Request::accelerator and nobody else
};

/// One batch as the caller requested it; polykem_request documents the fields.
struct Request {
  Op op = Op::kKeygen;
  bool sk_is_seed = false;
  const Scheme* scheme = nullptr;
  BatchView records{};  ///< item_status may be nullptr; key_index is an index into the key set
  const KeySet* keyset = nullptr;
  RunOn run_on = RunOn::kAny;
  Accelerator* accelerator = nullptr;  ///< for RunOn::kAccelerator
  bool caller_waits = false;           ///< Batcher::add: its thread waits for the ticket next
};

/// The arrays of records of an operation. Coins may be missing, and a key set may have the keys.
constexpr Fields fields_of(Op op) {
  constexpr Fields kFields[kAllOps] = {
      field::kCoins | field::kPkOut | field::kSkOut, field::kCoins | field::kPk | field::kCtOut | field::kSsOut,
      field::kSk | field::kCt | field::kSsOut, field::kCoins | field::kSk | field::kCtOut, field::kPk | field::kCt};
  return kFields[static_cast<size_t>(op)];
}

/// The lengths of the caller's records. sk_is_seed: secret keys have their form as seeds.
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
  /// Of an operation on a message; else 0.
  size_t mu_bytes() const { return mu_bytes_; }
  size_t input_bytes() const { return input_bytes_; }
  size_t output_bytes() const { return output_bytes_; }
  /// The bytes of the outputs that are not secret.
  size_t public_bytes() const { return public_bytes_; }

 private:
  Fields fields_ = 0;
  RecordBytes bytes_{};
  size_t mu_bytes_ = 0;
  size_t input_bytes_ = 0, output_bytes_ = 0, public_bytes_ = 0;
};

/// True if `count` items of all records of the scheme together have a size that a pointer difference can hold.
bool count_fits(const Scheme& scheme, size_t count);

/// Status::kOk, or what is wrong with the request as a whole.
Status validate(const Request& request);

/// The records of a valid request. If it has a key set, the keys are the set's, for use by `backend`.
BatchView with_keys(const Request& request, const SchemeBackend& backend);

}  // namespace polykem
