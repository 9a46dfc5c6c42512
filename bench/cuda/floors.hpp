// SPDX-License-Identifier: Apache-2.0
// The least time of each step, whatever the family.
#pragma once

#include <cstring>
#include <string>

#include "common.hpp"
#include "core/device.hpp"
#include "floors_frodo.hpp"
#include "floors_hybrid.hpp"
#include "floors_lac.hpp"
#include "floors_mldsa.hpp"
#include "floors_mlkem.hpp"
#include "floors_ntru.hpp"
#include "floors_saber.hpp"

namespace polykem::bench {

/// Bytes of the records that the step reads and writes for one item; coins are made on the card.
inline double record_bytes(const DeviceOperation& o, const DeviceStep& step, bool shared) {
  size_t bytes = 0;
  for (const FieldInfo& f : kRecordFields) {
    const bool touched = ((step.needs | step.produces) & f.field) != 0;
    if (touched && f.field != field::kCoins && !(f.key && shared)) bytes += o.record_bytes.*f.bytes;
  }
  return static_cast<double>(bytes);
}

/// The least time of a step for one item, in nanoseconds. NTRU's steps are known by name, with their intermediates. In
/// the other families a step must do the work of its stages and touch the records that it names; intermediates count
/// as nothing. shared: one key for the batch, for those families only.
inline double floor_ns(const DeviceOperation& o, const DeviceStep& step, bool shared) {
  const std::string name = o.scheme;
  for (const auto& [known, params] : kNtruSets)
    if (name == known) return ntru_floor_ns(params, o.op, step.info.name);
  Work work;
  const auto add = [&](const OpStages& stages, auto&& work_of) {
    for (size_t i = 0; i < stages.of(o.op).size(); ++i) {
      if ((step.info.stages() >> i & 1) == 0) continue;
      const char* stage = stages.of(o.op)[i].name;
      Work more;
      if (!work_of(stage, more)) die("no floor is known for the stage " + std::string(stage) + " of " + name);
      work += more;
    }
    return work.seconds(record_bytes(o, step, shared)) * 1e9;
  };
  for (const auto& [known, params] : kMlkemSets) {
    if (name != known) continue;
    const auto work_of = [&, &p = params](const char* stage, Work& w) { return mlkem_work(p, o.op, stage, shared, w); };
    return add(mlkem::kStages, work_of);
  }
  for (const auto& [known, params] : kSaberSets) {
    if (name != known) continue;
    const auto work_of = [&, &p = params](const char* stage, Work& w) { return saber_work(p, o.op, stage, shared, w); };
    return add(saber::kStages, work_of);
  }
  for (const frodo::Set& set : frodo::kSets) {
    if (name != set.name) continue;
    return add(frodo::kStages, [&](const char* stage, Work& w) { return frodo_work(set, o.op, stage, shared, w); });
  }
  for (const lac::Set& set : lac::kSets) {
    if (name != set.name) continue;
    return add(lac::kStages, [&](const char* stage, Work& w) { return lac_work(set, stage, shared, w); });
  }
  for (const MldsaSet& set : kMldsaSets) {
    if (name != set.name) continue;
    return add(kMldsaStages, [&](const char* stage, Work& w) { return mldsa_work(set, o.op, stage, shared, w); });
  }
  for (const hybrid::HybridParams& set : hybrid::kSets) {
    if (name != set.name) continue;
    return add(hybrid::kStages, [&](const char* stage, Work& w) { return hybrid_work(set, o.op, stage, shared, w); });
  }
  die("no floors are known for " + name + ": give the set its own in bench/cuda");
}

}  // namespace polykem::bench
