// SPDX-License-Identifier: Apache-2.0
#include "kat/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/context.hpp"

namespace polykem::cli {
namespace {

/** One case of one operation: what goes in, and what must come out. */
struct Item {
  std::string label;
  Bytes draws, pk, sk, ct; /* inputs; empty where the operation takes none */
  Bytes want_pk, want_sk, want_ct, want_ss;
};

/** A field of all items of a batch, one after the other. */
Bytes gather(const std::vector<Item>& items, std::size_t start, std::size_t batch, Bytes Item::*field) {
  Bytes out;
  out.reserve(batch * (items.front().*field).size());
  for (std::size_t i = 0; i < batch; ++i) {
    const Bytes& bytes = items[(start + i) % items.size()].*field;
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

/** The outputs of a batch and the items they belong to. */
class Comparison {
 public:
  Comparison(const std::vector<Item>& items, std::size_t start, std::size_t batch, std::vector<std::string>& faults)
      : items_(items), start_(start), batch_(batch), faults_(faults) {}

  void statuses(const std::vector<polykem_status>& statuses) {
    for (std::size_t i = 0; i < statuses.size(); ++i) {
      if (statuses[i] != POLYKEM_OK) note(i, polykem_status_text(statuses[i]));
    }
  }

  void field(const char* name, ByteView got, Bytes Item::*want) {
    for (std::size_t i = 0; i < batch_; ++i) {
      const Bytes& expected = items_[(start_ + i) % items_.size()].*want;
      const std::uint8_t* actual = got.data() + i * expected.size();
      if (std::equal(expected.begin(), expected.end(), actual)) continue;
      const auto at = std::mismatch(expected.begin(), expected.end(), actual).first - expected.begin();
      note(i, fmt::format("{} is wrong from byte {} on", name, at));
    }
  }

 private:
  void note(std::size_t i, const std::string& what) {
    std::string& fault = faults_[(start_ + i) % items_.size()];
    if (fault.empty()) fault = fmt::format("{} (item {} of a batch of {})", what, i, batch_);
  }

  const std::vector<Item>& items_;
  std::size_t start_, batch_;
  std::vector<std::string>& faults_;
};

void run_batch(const Context& context, const Scheme& scheme, polykem_op op, const std::vector<Item>& items,
               std::size_t start, std::size_t batch, std::vector<std::string>& faults) {
  Comparison compare(items, start, batch, faults);
  if (op == POLYKEM_KEYGEN) {
    const KeyPairs out = context.keygen(scheme, batch, gather(items, start, batch, &Item::draws));
    compare.field("pk", out.pk, &Item::want_pk);
    compare.field("sk", out.sk, &Item::want_sk);
  } else if (op == POLYKEM_ENCAPS) {
    const Bytes pk = gather(items, start, batch, &Item::pk);
    const Encapsulations out =
        context.encaps(scheme, batch, KeyMode::kPerItem, pk, gather(items, start, batch, &Item::draws));
    compare.statuses(out.items);
    compare.field("ct", out.ct, &Item::want_ct);
    compare.field("ss", out.ss, &Item::want_ss);
  } else {
    const Bytes sk = gather(items, start, batch, &Item::sk);
    const SharedSecrets out =
        context.decaps(scheme, batch, KeyMode::kPerItem, sk, gather(items, start, batch, &Item::ct));
    compare.statuses(out.items);
    compare.field("ss", out.ss, &Item::want_ss);
  }
}

/** All items in batches of exactly `batch`: the last one is filled up from the front. */
Tally run_items(const Context& context, const Scheme& scheme, polykem_op op, const std::vector<Item>& items,
                std::size_t batch, const Tick& tick) {
  Tally tally;
  if (items.empty()) return tally;
  if (batch == 0) batch = items.size();
  std::vector<std::string> faults(items.size());
  for (std::size_t start = 0; start < items.size(); start += batch) {
    run_batch(context, scheme, op, items, start, batch, faults);
    tick(batch);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (faults[i].empty()) {
      tally.pass();
    } else {
      tally.fail(fmt::format("{}: {}", items[i].label, faults[i]));
    }
  }
  return tally;
}

std::string label(const KatCase& c, const char* what) {
  return fmt::format("count {}, {}", c.count, what);
}

std::vector<Item> reject_items(const KatFile& file) {
  std::vector<Item> out;
  for (const KatCase& c : file.cases) {
    for (const RejectCase& reject : c.rejects) {
      Item item;
      item.label = label(c, fmt::format("reject with byte {} xor {}", reject.byte, reject.change).c_str());
      item.sk = c.sk;
      item.ct = c.ct;
      item.ct[reject.byte] = static_cast<std::uint8_t>(item.ct[reject.byte] ^ reject.change);
      item.want_ss = reject.ss;
      out.push_back(std::move(item));
    }
  }
  return out;
}

std::vector<Item> operation_items(const KatFile& file, polykem_op op) {
  std::vector<Item> out;
  for (const KatCase& c : file.cases) {
    Item item;
    item.label = label(c, op_name(op));
    if (op == POLYKEM_KEYGEN) {
      item.draws = c.keygen_draws;
      item.want_pk = c.pk;
      item.want_sk = c.sk;
    } else if (op == POLYKEM_ENCAPS) {
      item.draws = c.encaps_draws;
      item.pk = c.pk;
      item.want_ct = c.ct;
      item.want_ss = c.ss;
    } else {
      item.sk = c.sk;
      item.ct = c.ct;
      item.want_ss = c.ss;
    }
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace

void Tally::fail(std::string message) {
  ++run;
  ++failed;
  if (messages.size() < kMaxMessages) messages.push_back(std::move(message));
}

void Tally::add(const Tally& other) {
  run += other.run;
  failed += other.failed;
  for (const std::string& message : other.messages) {
    if (messages.size() < kMaxMessages) messages.push_back(message);
  }
}

Tally run_cases(const Context& context, const Scheme& scheme, const KatFile& file, std::size_t batch,
                const Tick& tick) {
  Tally tally;
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
    tally.add(run_items(context, scheme, op, operation_items(file, op), batch, tick));
  }
  tally.add(run_items(context, scheme, POLYKEM_DECAPS, reject_items(file), batch, tick));
  return tally;
}

std::size_t items_of(const KatFile& file, std::size_t batch) {
  std::size_t rejects = 0;
  for (const KatCase& c : file.cases)
    rejects += c.rejects.size();
  const auto rounded = [batch](std::size_t n) { return batch == 0 ? n : (n + batch - 1) / batch * batch; };
  return 3 * rounded(file.cases.size()) + rounded(rejects);
}

}  // namespace polykem::cli
