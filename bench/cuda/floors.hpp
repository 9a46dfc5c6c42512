// SPDX-License-Identifier: Apache-2.0
// The lower bound of each step's time, for all families.
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

/// Returns the lower bound of a step's time for one item, in nanoseconds. For NTRU, steps are listed by name, with
/// their intermediates. In other families the bound is the work of a step's stages; intermediates are not counted.
/// shared: the batch has one key; not for NTRU. cached: bytes of an item for which the L2 cache has room.
inline double floor_ns(const DeviceOperation& o, const DeviceStep& step, bool shared, double cached) {
  const std::string name = o.scheme;
  for (const auto& [known, params] : kNtruSets)
    if (name == known) return ntru_floor_ns(params, o.op, step.info.name, cached);
  Work work;
  const auto add = [&](const OpStages& stages, auto&& work_of) {
    for (size_t i = 0; i < stages.of(o.op).size(); ++i) {
      if ((step.info.stages() >> i & 1) == 0) continue;
      const char* stage = stages.of(o.op)[i].name;
      Work more;
      if (!work_of(stage, more)) die("no floor is known for the stage " + std::string(stage) + " of " + name);
      work += more;
    }
    return work.seconds(cached) * 1e9;
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
