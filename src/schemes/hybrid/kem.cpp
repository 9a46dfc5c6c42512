// SPDX-License-Identifier: Apache-2.0
#include "schemes/hybrid/kem.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "core/arena.hpp"
#include "ct/ct.hpp"
#include "prim/drbg/drbg.hpp"
#include "prim/keccak/keccak.hpp"
#include "schemes/hybrid/stages.hpp"

namespace polykem::hybrid {
namespace {

/// Takes arrays from an arena or, without memory, counts the bytes that they would need.
class Space {
 public:
  explicit Space(std::byte* memory) : counts_only_(memory == nullptr), arena_(memory) {}

  template <class T = uint8_t>
  T* take(size_t count) {
    used_ += Arena::bytes<T>(count);
    return counts_only_ ? nullptr : arena_.take<T>(count);
  }
  size_t used() const { return used_; }

 private:
  bool counts_only_;
  Arena arena_;
  size_t used_ = 0;
};

/// Returns the step that computes a stage, in a plan with a step for each stage.
template <size_t N>
consteval size_t step_of(const std::array<Stage, N>& stages, std::string_view name) {
  return stage_number(stages, name);
}

void copy_rows(ByteRows to, ConstByteRows from, size_t bytes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    std::memcpy(to.at(i), from.at(i), bytes);
}

/// Returns the bytes of workspace that the curve and an operation of ML-KEM use in turn, whichever of ML-KEM's
/// implementations computes the items.
size_t workspace_for(const Parts& p, Op op, size_t items) {
  const Operation& for_many = p.backend.op(op);
  const size_t at_a_time = std::min(items, for_many.chunk);
  size_t bytes = std::max(ecdh::workspace_bytes(p.params.curve, p.curve_isa), for_many.workspace_bytes(at_a_time));
  for (const auto& [small, limits] : for_many.small_batches) {
    if (small != nullptr) bytes = std::max(bytes, small->workspace_bytes(at_a_time));
  }
  return bytes;
}

/// Runs an operation of ML-KEM on any number of items, in chunks of its own.
Status run_kem(const Parts& p, Op op, const Batch& batch, std::byte* workspace) {
  const Operation& for_many = p.backend.op(op);
  for (size_t first = 0; first < batch.count;) {
    Batch items{batch.slice(p.kem.record_bytes(op), first, std::min(batch.count - first, for_many.chunk)), batch.drbg};
    const Tail small = for_many.tail(items);
    const bool only_small = small.operation != nullptr && small.count == items.count;
    if (!only_small) items.count -= small.count;
    const Operation& chosen = only_small ? *small.operation : for_many;
    const Status status = chosen.run(chosen.context, items, workspace, nullptr);
    if (status != Status::kOk) return status;
    first += items.count;
  }
  return Status::kOk;
}

/// Makes key pairs from seeds, in the steps of key generation. Decapsulation from a seed begins with these, too.
struct KeyPairs {
  KeyPairs(const Parts& parts, size_t keys, Space& space)
      : p(parts),
        count(keys),
        seeds(space.take(keys * p.params.expanded_seed_bytes())),
        coins(space.take(keys * kKemCoinBytes)),
        ek(space.take(keys * p.kem.public_key_bytes)),
        dk(space.take(keys * p.kem.secret_key_bytes)),
        scalars(space.take(keys * p.curve().scalar_bytes)),
        points(space.take(keys * p.curve().point_bytes)),
        valid(space.take<bool>(keys)),
        status(space.take<Status>(keys)),
        workspace(space.take<std::byte>(workspace_for(p, Op::kKeygen, keys))) {}

  /// Expands the seeds to d, z and the seed of the scalar. Those of TLS have all three already. [HYBRIDKEMS, 5.1.1]
  void expand_seeds(const uint8_t* from) {
    const size_t bytes = p.params.expanded_seed_bytes();
    if (p.params.hpke()) {
      p.hashes.shake256({seeds, bytes}, bytes, {from, kSymBytes}, kSymBytes, count);
    } else {
      std::memcpy(seeds, from, count * bytes);
    }
  }
  Status make_kem_keys() {
    copy_rows({coins, kKemCoinBytes}, {seeds, p.params.expanded_seed_bytes()}, kKemCoinBytes, count);
    std::fill_n(status, count, Status::kOk);
    Batch batch;
    batch.count = count;
    batch.coins = coins;
    batch.pk_out = ek;
    batch.sk_out = dk;
    batch.item_status = status;
    return run_kem(p, Op::kKeygen, batch, workspace);
  }
  void make_curve_keys() {
    const auto [name, scalar_bytes, point_bytes, secret_bytes] = p.curve();
    ecdh::choose_scalars(p.params.curve, count, {seeds + kKemCoinBytes, p.params.expanded_seed_bytes()},
                         p.params.scalar_seed_bytes, {scalars, scalar_bytes});
    ecdh::public_keys(p.params.curve, p.curve_isa, count, {scalars, scalar_bytes}, {points, point_bytes}, valid,
                      workspace);
  }

  const Parts& p;
  size_t count;
  uint8_t *seeds, *coins, *ek, *dk, *scalars, *points;
  bool* valid;
  Status* status;
  std::byte* workspace;
};

/// The shared secrets of both parts, and what combines them.
struct Secrets {
  Secrets(const Parts& parts, size_t items, Space& space)
      : p(parts),
        count(items),
        hashed_bytes(kSymBytes + p.curve().secret_bytes + 2 * p.curve().point_bytes + std::strlen(p.params.label)),
        kem(space.take(items * kSymBytes)),
        curve(space.take(items * p.curve().secret_bytes)),
        hashed(space.take(p.params.hpke() ? items * hashed_bytes : 0)),
        valid(space.take<bool>(items)) {}

  /// Combines the secrets by C2PRICombiner with SHA3-256 [HYBRIDKEMS, 5.5.1] or, for TLS, joins them. `ephemeral` and
  /// `recipient` are the points of the ciphertexts and of the keys.
  void combine(ConstByteRows ephemeral, ConstByteRows recipient, uint8_t* out) {
    const size_t secret_bytes = p.curve().secret_bytes, point_bytes = p.curve().point_bytes;
    const size_t bytes = p.params.shared_secret_bytes();
    if (!p.params.hpke()) {
      copy_rows({out + p.kem_at(secret_bytes), bytes}, {kem, kSymBytes}, kSymBytes, count);
      copy_rows({out + p.curve_at(kSymBytes), bytes}, {curve, secret_bytes}, secret_bytes, count);
      return;
    }
    size_t at = 0;
    const auto append = [&](ConstByteRows rows, size_t length) {
      copy_rows({hashed + at, hashed_bytes}, rows, length, count);
      at += length;
    };
    append({kem, kSymBytes}, kSymBytes);
    append({curve, secret_bytes}, secret_bytes);
    append(ephemeral, point_bytes);
    append(recipient, point_bytes);
    append({reinterpret_cast<const uint8_t*>(p.params.label), 0}, std::strlen(p.params.label));
    p.hashes.sha3_256({out, bytes}, {hashed, hashed_bytes}, hashed_bytes, count);
  }

  const Parts& p;
  size_t count, hashed_bytes;
  uint8_t *kem, *curve, *hashed;
  bool* valid;
};

/// Returns the coins of the items: the caller's or, if it passed none, the generator's, which are written to `own`.
const uint8_t* coins_of(const Batch& batch, uint8_t* own, size_t bytes) {
  if (batch.coins != nullptr) return batch.coins;
  batch.drbg->fill({own, batch.count * bytes});
  return own;
}

void zero_failed(const Batch& batch, const RecordBytes& bytes) {
  for (size_t i = 0; i < batch.count; ++i) {
    if (batch.item_status[i] == Status::kOk) continue;
    for (const FieldInfo& f : kRecordFields) {
      if (f.out != nullptr && f.data(batch) != nullptr)
        std::memset(batch.*f.out + i * (bytes.*f.bytes), 0, bytes.*f.bytes);
    }
  }
}

struct Keygen {
  static constexpr auto kSteps = a_step_each(kKeygenStages);

  Keygen(const Parts& parts, size_t items, Space& space)
      : p_(parts), coins_(space.take(items * p_.params.keygen_coin_bytes())), pairs_(p_, items, space) {}

  Status run(const Batch& batch, StepTimes* times) {
    const size_t count = batch.count;
    StepClock clock(times);
    const uint8_t* seeds = coins_of(batch, coins_, p_.params.keygen_coin_bytes());
    clock.stop(step_of(kKeygenStages, "randombytes"), count);
    pairs_.expand_seeds(seeds);
    clock.stop(step_of(kKeygenStages, "expand_seed"), count);
    const Status status = pairs_.make_kem_keys();
    if (status != Status::kOk) return status;
    clock.stop(step_of(kKeygenStages, "kem_keygen"), count);
    pairs_.make_curve_keys();
    store(batch, seeds);
    clock.stop(step_of(kKeygenStages, "ecdh_keygen"), count);
    return Status::kOk;
  }

 private:
  void store(const Batch& batch, const uint8_t* seeds) {
    const auto [name, scalar_bytes, point_bytes, secret_bytes] = p_.curve();
    const size_t pk_bytes = p_.public_key_bytes(), sk_bytes = p_.secret_key_bytes(), count = batch.count;
    const size_t ek_bytes = p_.kem.public_key_bytes, dk_bytes = p_.kem.secret_key_bytes;
    copy_rows({batch.pk_out + p_.kem_at(point_bytes), pk_bytes}, {pairs_.ek, ek_bytes}, ek_bytes, count);
    copy_rows({batch.pk_out + p_.curve_at(ek_bytes), pk_bytes}, {pairs_.points, point_bytes}, point_bytes, count);
    if (p_.params.hpke()) {
      std::memcpy(batch.sk_out, seeds, count * sk_bytes);
    } else {
      copy_rows({batch.sk_out + p_.kem_at(scalar_bytes), sk_bytes}, {pairs_.dk, dk_bytes}, dk_bytes, count);
      copy_rows({batch.sk_out + p_.curve_at(dk_bytes), sk_bytes}, {pairs_.scalars, scalar_bytes}, scalar_bytes, count);
    }
    for (size_t i = 0; i < count; ++i) {
      if (!pairs_.valid[i]) batch.item_status[i] = Status::kSecretKey;
    }
  }

  const Parts& p_;
  uint8_t* coins_;
  KeyPairs pairs_;
};

struct Encaps {
  static constexpr Op kOp = Op::kEncaps;
  static constexpr auto kSteps = a_step_each(kEncapsStages);

  Encaps(const Parts& parts, size_t items, Space& space)
      : p_(parts),
        own_coins_(space.take(items * p_.params.encaps_coin_bytes())),
        m_(space.take(items * kKemEncapsCoinBytes)),
        ek_(space.take(items * p_.kem.public_key_bytes)),
        ct_(space.take(items * p_.kem.ciphertext_bytes)),
        scalars_(space.take(items * p_.curve().scalar_bytes)),
        secrets_(p_, items, space),
        workspace_(space.take<std::byte>(workspace_for(p_, kOp, items))) {}

  Status run(const Batch& batch, StepTimes* times) {
    const auto [name, scalar_bytes, point_bytes, secret_bytes] = p_.curve();
    const size_t count = batch.count, keys = batch.shared_key ? 1 : count, coin_bytes = p_.params.encaps_coin_bytes();
    const size_t pk_bytes = p_.public_key_bytes(), ct_bytes = p_.ciphertext_bytes();
    StepClock clock(times);
    const uint8_t* coins = coins_of(batch, own_coins_, coin_bytes);
    clock.stop(step_of(kEncapsStages, "randombytes"), count);

    copy_rows({m_, kKemEncapsCoinBytes}, {coins, coin_bytes}, kKemEncapsCoinBytes, count);
    copy_rows({ek_, p_.kem.public_key_bytes}, {batch.pk + p_.kem_at(point_bytes), pk_bytes}, p_.kem.public_key_bytes,
              keys);
    Batch kem = batch;
    kem.coins = m_;
    kem.pk = ek_;
    kem.ct_out = ct_;
    kem.ss_out = secrets_.kem;
    const Status status = run_kem(p_, kOp, kem, workspace_);
    if (status != Status::kOk) return status;
    copy_rows({batch.ct_out + p_.kem_at(point_bytes), ct_bytes}, {ct_, p_.kem.ciphertext_bytes},
              p_.kem.ciphertext_bytes, count);
    clock.stop(step_of(kEncapsStages, "kem_encaps"), count);

    const uint8_t* recipient = batch.pk + p_.curve_at(p_.kem.public_key_bytes);
    uint8_t* ephemeral = batch.ct_out + p_.curve_at(p_.kem.ciphertext_bytes);
    const size_t recipient_stride = batch.shared_key ? 0 : pk_bytes;
    ecdh::choose_scalars(p_.params.curve, count, {coins + kKemEncapsCoinBytes, coin_bytes}, p_.params.scalar_seed_bytes,
                         {scalars_, scalar_bytes});
    ecdh::public_keys(p_.params.curve, p_.curve_isa, count, {scalars_, scalar_bytes}, {ephemeral, ct_bytes},
                      secrets_.valid, workspace_);
    clock.stop(step_of(kEncapsStages, "ecdh_keygen"), count);
    ecdh::shared_secrets(p_.params.curve, p_.curve_isa, count, {scalars_, scalar_bytes}, {recipient, recipient_stride},
                         {secrets_.curve, secret_bytes}, secrets_.valid, workspace_);
    clock.stop(step_of(kEncapsStages, "ecdh_derive"), count);
    for (size_t i = 0; i < count; ++i) {
      if (!secrets_.valid[i]) batch.item_status[i] = Status::kPublicKey;
    }
    secrets_.combine({ephemeral, ct_bytes}, {recipient, recipient_stride}, batch.ss_out);
    clock.stop(step_of(kEncapsStages, "combine"), count);
    return Status::kOk;
  }

 private:
  const Parts& p_;
  uint8_t *own_coins_, *m_, *ek_, *ct_, *scalars_;
  Secrets secrets_;
  std::byte* workspace_;
};

/// The curve's part of a secret key in a key set's format, which follows that of ML-KEM.
struct CurveKey {
  uint8_t point[ecdh::kMaxPointBytes], scalar[ecdh::kMaxScalarBytes];
  bool valid;
};

struct Decaps {
  static constexpr Op kOp = Op::kDecaps;
  static constexpr auto kSteps = a_step_each(kDecapsStages);

  Decaps(const Parts& parts, size_t items, Space& space)
      : p_(parts),
        pairs_(p_, p_.params.hpke() ? items : 0, space),
        dk_(space.take(p_.params.hpke() ? 0 : items * p_.kem.secret_key_bytes)),
        ct_(space.take(items * p_.kem.ciphertext_bytes)),
        scalars_(space.take(items * p_.curve().scalar_bytes)),
        points_(space.take(items * p_.curve().point_bytes)),
        secrets_(p_, items, space),
        workspace_(space.take<std::byte>(workspace_for(p_, kOp, items))) {}

  Status run(const Batch& batch, StepTimes* times) {
    const auto [name, scalar_bytes, point_bytes, secret_bytes] = p_.curve();
    const size_t count = batch.count, ct_bytes = p_.ciphertext_bytes();
    StepClock clock(times);
    Batch kem = batch;
    Status status = take_keys(batch, kem);
    if (status != Status::kOk) return status;
    clock.stop(step_of(kDecapsStages, "expand_seed"), count);

    copy_rows({ct_, p_.kem.ciphertext_bytes}, {batch.ct + p_.kem_at(point_bytes), ct_bytes}, p_.kem.ciphertext_bytes,
              count);
    kem.ct = ct_;
    kem.ss_out = secrets_.kem;
    status = run_kem(p_, kOp, kem, workspace_);
    if (status != Status::kOk) return status;
    clock.stop(step_of(kDecapsStages, "kem_decaps"), count);

    const uint8_t* ephemeral = batch.ct + p_.curve_at(p_.kem.ciphertext_bytes);
    const bool one_key = batch.shared_key;
    ecdh::shared_secrets(p_.params.curve, p_.curve_isa, count, {scalars_, one_key ? 0 : scalar_bytes},
                         {ephemeral, ct_bytes}, {secrets_.curve, secret_bytes}, secrets_.valid, workspace_);
    for (size_t i = 0; i < count; ++i) {
      if (!secrets_.valid[i] && batch.item_status[i] == Status::kOk) batch.item_status[i] = Status::kCiphertext;
    }
    clock.stop(step_of(kDecapsStages, "ecdh_derive"), count);
    secrets_.combine({ephemeral, ct_bytes}, {points_, one_key ? 0 : point_bytes}, batch.ss_out);
    clock.stop(step_of(kDecapsStages, "combine"), count);
    return Status::kOk;
  }

 private:
  /// Takes ML-KEM's keys, the scalars and the points from the keys of the batch.
  Status take_keys(const Batch& batch, Batch& kem) {
    const auto [name, scalar_bytes, point_bytes, secret_bytes] = p_.curve();
    const size_t keys = batch.shared_key ? 1 : batch.count;
    if (batch.expanded.data != nullptr) {
      for (size_t i = 0; i < keys; ++i) {
        const auto& key =
            *reinterpret_cast<const CurveKey*>(batch.expanded.key(i) + p_.backend.expanded_secret_key.bytes);
        std::memcpy(scalars_ + i * scalar_bytes, key.scalar, scalar_bytes);
        std::memcpy(points_ + i * point_bytes, key.point, point_bytes);
        refuse_key_unless(batch, i, key.valid);
      }
      return Status::kOk;
    }
    if (p_.params.hpke()) {
      pairs_.count = keys;
      pairs_.expand_seeds(batch.sk);
      const Status status = pairs_.make_kem_keys();
      if (status != Status::kOk) return status;
      pairs_.make_curve_keys();
      kem.sk = pairs_.dk;
      std::memcpy(scalars_, pairs_.scalars, keys * scalar_bytes);
      std::memcpy(points_, pairs_.points, keys * point_bytes);
      for (size_t i = 0; i < keys; ++i)
        refuse_key_unless(batch, i, pairs_.valid[i]);
      return Status::kOk;
    }
    const size_t sk_bytes = p_.secret_key_bytes(), dk_bytes = p_.kem.secret_key_bytes;
    copy_rows({dk_, dk_bytes}, {batch.sk + p_.kem_at(scalar_bytes), sk_bytes}, dk_bytes, keys);
    copy_rows({scalars_, scalar_bytes}, {batch.sk + p_.curve_at(dk_bytes), sk_bytes}, scalar_bytes, keys);
    kem.sk = dk_;
    for (size_t i = 0; i < keys; ++i)
      refuse_key_unless(batch, i, ecdh::valid_scalar(p_.params.curve, scalars_ + i * scalar_bytes));
    return Status::kOk;
  }

  /// Sets the status of the items that use key i unless it is valid.
  static void refuse_key_unless(const Batch& batch, size_t i, bool valid) {
    if (valid) return;
    if (batch.shared_key) {
      std::fill_n(batch.item_status, batch.count, Status::kSecretKey);
    } else {
      batch.item_status[i] = Status::kSecretKey;
    }
  }

  const Parts& p_;
  KeyPairs pairs_;
  uint8_t *dk_, *ct_, *scalars_, *points_;
  Secrets secrets_;
  std::byte* workspace_;
};

const ExpandedKeyFormat& kem_format(const Parts& p, Op op) {
  return op == Op::kEncaps ? p.backend.expanded_public_key : p.backend.expanded_secret_key;
}

/// Expands key records to the form in which a key set keeps them: ML-KEM's own and, for secret keys, a CurveKey.
struct Expansion {
  Expansion(const Parts& parts, Op op, size_t keys, Space& space)
      : p(parts),
        format(kem_format(parts, op)),
        bytes(expanded_key_bytes(parts, op)),
        pairs(parts, op == Op::kDecaps && p.params.hpke() ? keys : 0, space),
        workspace(space.take<std::byte>(format.workspace_bytes(1))) {}

  void expand_public(std::byte* out, const uint8_t* keys, size_t count) {
    for (size_t i = 0; i < count; ++i)
      format.expand(out + i * bytes, keys + i * p.public_key_bytes() + p.kem_at(p.curve().point_bytes), 1, workspace);
  }

  void expand_secret(std::byte* out, const uint8_t* keys, size_t count) {
    const auto [name, scalar_bytes, point_bytes, secret_bytes] = p.curve();
    const size_t dk_bytes = p.kem.secret_key_bytes;
    bool made = true;
    if (p.params.hpke()) {
      pairs.expand_seeds(keys);
      made = pairs.make_kem_keys() == Status::kOk;
      pairs.make_curve_keys();
    }
    for (size_t i = 0; i < count; ++i) {
      auto& key = *reinterpret_cast<CurveKey*>(out + i * bytes + format.bytes);
      key = {};
      if (p.params.hpke()) {
        format.expand(out + i * bytes, pairs.dk + i * dk_bytes, 1, workspace);
        std::memcpy(key.scalar, pairs.scalars + i * scalar_bytes, scalar_bytes);
        std::memcpy(key.point, pairs.points + i * point_bytes, point_bytes);
        key.valid = made && pairs.valid[i];
      } else {
        const uint8_t* const record = keys + i * p.secret_key_bytes();
        format.expand(out + i * bytes, record + p.kem_at(scalar_bytes), 1, workspace);
        std::memcpy(key.scalar, record + p.curve_at(dk_bytes), scalar_bytes);
        key.valid = ecdh::valid_scalar(p.params.curve, key.scalar);
      }
    }
  }

  const Parts& p;
  const ExpandedKeyFormat& format;
  size_t bytes;
  KeyPairs pairs;
  std::byte* workspace;
};

template <class F>
auto with_operation(Op op, F&& f) {
  return op == Op::kKeygen   ? f.template operator()<Keygen>()
         : op == Op::kEncaps ? f.template operator()<Encaps>()
                             : f.template operator()<Decaps>();
}

}  // namespace

void Hashes::shake256(ByteRows out, size_t out_bytes, ConstByteRows in, size_t in_bytes, size_t count) const {
  if (lanes != nullptr) return lanes->shake256(out, out_bytes, in, in_bytes, count);
  for (size_t i = 0; i < count; ++i) {
    Shake xof(Shake::Strength::kShake256);
    xof.absorb({in.at(i), in_bytes});
    xof.squeeze({out.at(i), out_bytes});
  }
}

void Hashes::sha3_256(ByteRows out, ConstByteRows in, size_t in_bytes, size_t count) const {
  if (lanes != nullptr) return lanes->sha3_256(out, in, in_bytes, count);
  for (size_t i = 0; i < count; ++i)
    polykem::sha3_256(out.at(i), {in.at(i), in_bytes});
}

std::span<const StepInfo> step_infos(Op op) {
  return with_operation(op, []<class Operation>() { return std::span<const StepInfo>(Operation::kSteps); });
}

size_t workspace_bytes(const Parts& parts, Op op, size_t items) {
  return with_operation(op, [&]<class Operation>() {
    Space space(nullptr);
    Operation needed(parts, items, space);
    return space.used();
  });
}

Status run(const Parts& parts, Op op, const Batch& batch, std::byte* workspace, StepTimes* times) {
  const Status status = with_operation(op, [&]<class Operation>() {
    Space space(workspace);
    return Operation(parts, batch.count, space).run(batch, times);
  });
  if (status == Status::kOk) zero_failed(batch, parts.record_bytes());
  return status;
}

size_t expanded_key_bytes(const Parts& parts, Op op) {
  const size_t kem = kem_format(parts, op).bytes;
  return op == Op::kEncaps || kem == 0 ? kem : kem + Arena::bytes<CurveKey>(1);
}

size_t expansion_workspace_bytes(const Parts& parts, Op op, size_t count) {
  Space space(nullptr);
  Expansion(parts, op, count, space);
  return space.used();
}

void expand_keys(const Parts& parts, Op op, std::byte* out, const uint8_t* keys, size_t count, std::byte* workspace) {
  Space space(workspace);
  Expansion expansion(parts, op, count, space);
  if (op == Op::kEncaps) {
    expansion.expand_public(out, keys, count);
  } else {
    expansion.expand_secret(out, keys, count);
  }
}

}  // namespace polykem::hybrid
