// SPDX-License-Identifier: Apache-2.0
#include "kat/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "common/context.hpp"
#include "common/table.hpp"

namespace polykem::cli {
namespace {

using Checks = std::vector<const Check*>;

constexpr std::size_t kMaxContextBytes = 255;

/// A field of all items of a batch, concatenated.
Bytes gather(const Checks& checks, std::size_t start, std::size_t batch, Bytes Check::*field) {
  Bytes out;
  out.reserve(batch * (checks.front()->*field).size());
  for (std::size_t i = 0; i < batch; ++i) {
    const Bytes& bytes = checks[(start + i) % checks.size()]->*field;
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

/// The strings of all items of a batch, which may differ in length.
Strings gather_strings(const Checks& checks, std::size_t start, std::size_t batch, Bytes SignedMessage::*field) {
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < batch; ++i)
    out.push_back(checks[(start + i) % checks.size()]->message.*field);
  return Strings::copies(out);
}

Messages gather_messages(const Checks& checks, std::size_t start, std::size_t batch) {
  const SignedMessage& first = checks.front()->message;
  Messages out(gather_strings(checks, start, batch, &SignedMessage::bytes),
               gather_strings(checks, start, batch, &SignedMessage::context));
  out.kind = first.kind;
  out.digest_oid = first.digest_oid;
  out.deterministic = first.deterministic;
  return out;
}

/// The outputs of a batch and its checks.
class Comparison {
 public:
  Comparison(const Checks& checks, std::size_t start, std::size_t batch, std::vector<std::string>& faults)
      : checks_(checks), start_(start), batch_(batch), faults_(faults) {}

  /// statuses: empty if every item succeeded.
  void statuses(const std::vector<polykem_status>& statuses) {
    for (std::size_t i = 0; i < batch_; ++i) {
      const polykem_status got = statuses.empty() ? POLYKEM_OK : statuses[i];
      if (got == check(i).want) continue;
      note(i, fmt::format("status '{}', expected '{}'", polykem_status_text(got), polykem_status_text(check(i).want)));
    }
  }

  void field(const char* name, ByteView got, Bytes Check::*want) {
    const std::size_t size = got.size() / batch_;
    for (std::size_t i = 0; i < batch_; ++i) {
      const std::uint8_t* actual = got.data() + i * size;
      if (check(i).want != POLYKEM_OK) {
        if (std::any_of(actual, actual + size, [](std::uint8_t byte) { return byte != 0; }))
          note(i, fmt::format("{} of a refused item is not zero", name));
        continue;
      }
      const Bytes& expected = check(i).*want;
      if (std::equal(expected.begin(), expected.end(), actual)) continue;
      const auto at = std::mismatch(expected.begin(), expected.end(), actual).first - expected.begin();
      note(i, fmt::format("{} is wrong from byte {} on", name, at));
    }
  }

 private:
  const Check& check(std::size_t i) const { return *checks_[(start_ + i) % checks_.size()]; }
  void note(std::size_t i, const std::string& what) {
    std::string& fault = faults_[(start_ + i) % checks_.size()];
    if (fault.empty()) fault = fmt::format("{} (item {} of a batch of {})", what, i, batch_);
  }

  const Checks& checks_;
  std::size_t start_, batch_;
  std::vector<std::string>& faults_;
};

/// Runs the checks of one operation and one form of keys.
class Runner {
 public:
  Runner(const Context& context, const Scheme& scheme, const RunOptions& options)
      : context_(context), scheme_(scheme), options_(options) {}

  /// Runs all checks in batches of equal size; the last batch is filled up with the first checks.
  Tally run(const Checks& checks, const Tick& tick) const {
    Tally tally;
    if (checks.empty()) return tally;
    const bool wrong_size = checks.front()->want == POLYKEM_ERR_SIZE;
    const std::size_t batch = wrong_size ? 1 : options_.batch == 0 ? checks.size() : options_.batch;
    std::vector<std::string> faults(checks.size());
    for (std::size_t start = 0; start < checks.size(); start += batch) {
      if (wrong_size) {
        faults[start] = fault_of_wrong_size({checks[start]});
      } else {
        run_batch(checks, start, batch, faults);
      }
      tick(batch);
    }
    for (std::size_t i = 0; i < checks.size(); ++i) {
      if (faults[i].empty()) {
        tally.pass();
      } else {
        tally.fail(fmt::format("{}: {}", checks[i]->label, faults[i]));
      }
    }
    return tally;
  }

 private:
  void run_batch(const Checks& checks, std::size_t start, std::size_t batch, std::vector<std::string>& faults) const {
    Comparison compare(checks, start, batch, faults);
    const polykem_op op = checks.front()->op;
    if (op == POLYKEM_KEYGEN) {
      const KeyPairs out = context_.keygen(scheme_, batch, gather(checks, start, batch, &Check::coins));
      compare.field("pk", out.pk, &Check::want_pk);
      compare.field("sk", out.sk, &Check::want_sk);
    } else if (op == POLYKEM_ENCAPS) {
      const Encapsulations out =
          encaps(batch, gather(checks, start, batch, &Check::pk), gather(checks, start, batch, &Check::coins));
      compare.statuses(out.items);
      compare.field("ct", out.ct, &Check::want_ct);
      compare.field("ss", out.ss, &Check::want_ss);
    } else if (op == POLYKEM_SIGN) {
      const Signatures out = sign(checks, start, batch);
      compare.statuses(out.items);
      compare.field("sig", out.sig, &Check::want_sig);
    } else if (op == POLYKEM_VERIFY) {
      compare.statuses(verify(checks, start, batch).items);
    } else {
      const SharedSecrets out = decaps(batch, checks.front()->seed_key, gather(checks, start, batch, &Check::sk),
                                       gather(checks, start, batch, &Check::ct));
      compare.statuses(out.items);
      compare.field("ss", out.ss, &Check::want_ss);
    }
  }

  Encapsulations encaps(std::size_t batch, const Bytes& pk, const Bytes& coins) const {
    if (!options_.key_sets) return context_.encaps(scheme_, batch, KeyMode::kPerItem, pk, coins);
    const KeySet keys = context_.import_keys(scheme_, KeyKind::kPublic, batch, pk);
    const auto& info = scheme_.info();
    Encapsulations out{Bytes(batch * info.ciphertext_bytes), SecretBytes(batch * info.shared_secret_bytes), {}};
    polykem_request request = Context::request(POLYKEM_ENCAPS, scheme_, batch);
    request.keyset = keys.handle();
    request.coins = coins.data();
    request.ct_out = out.ct.data();
    request.ss_out = out.ss.data();
    run_request(request, out.items);
    return out;
  }

  SharedSecrets decaps(std::size_t batch, bool seed_key, const Bytes& sk, const Bytes& ct) const {
    if (!options_.key_sets) {
      const SecretForm form = seed_key ? SecretForm::kSeed : SecretForm::kExpanded;
      return context_.decaps(scheme_, batch, KeyMode::kPerItem, sk, ct, form);
    }
    if (ct.size() != batch * scheme_.ciphertext_bytes()) throw Error(POLYKEM_ERR_SIZE, "ciphertexts");
    const KeySet keys = context_.import_keys(scheme_, seed_key ? KeyKind::kSeed : KeyKind::kSecret, batch, sk);
    SharedSecrets out{SecretBytes(batch * scheme_.shared_secret_bytes()), {}};
    polykem_request request = Context::request(POLYKEM_DECAPS, scheme_, batch);
    request.keyset = keys.handle();
    request.ct = ct.data();
    request.ss_out = out.ss.data();
    run_request(request, out.items);
    return out;
  }

  Signatures sign(const Checks& checks, std::size_t start, std::size_t batch) const {
    const bool seed_key = checks.front()->seed_key;
    const Messages messages = gather_messages(checks, start, batch);
    const Bytes sk = gather(checks, start, batch, &Check::sk), coins = gather(checks, start, batch, &Check::coins);
    if (!options_.key_sets) {
      const SecretForm form = seed_key ? SecretForm::kSeed : SecretForm::kExpanded;
      return context_.sign(scheme_, batch, KeyMode::kPerItem, sk, messages, coins, form);
    }
    const KeySet keys = context_.import_keys(scheme_, seed_key ? KeyKind::kSeed : KeyKind::kSecret, batch, sk);
    const polykem_messages given = messages.c_messages();
    Signatures out{Bytes(batch * scheme_.signature_bytes()), {}};
    polykem_request request = Context::request(POLYKEM_SIGN, scheme_, batch);
    request.keyset = keys.handle();
    request.coins = coins.empty() ? nullptr : coins.data();
    request.messages = &given;
    request.sig_out = out.sig.data();
    run_request(request, out.items);
    return out;
  }

  Verification verify(const Checks& checks, std::size_t start, std::size_t batch) const {
    const Messages messages = gather_messages(checks, start, batch);
    const Bytes pk = gather(checks, start, batch, &Check::pk), sig = gather(checks, start, batch, &Check::sig);
    if (!options_.key_sets) return context_.verify(scheme_, batch, KeyMode::kPerItem, pk, messages, sig);
    if (sig.size() != batch * scheme_.signature_bytes()) throw Error(POLYKEM_ERR_SIZE, "signatures");
    const KeySet keys = context_.import_keys(scheme_, KeyKind::kPublic, batch, pk);
    const polykem_messages given = messages.c_messages();
    Verification out;
    polykem_request request = Context::request(POLYKEM_VERIFY, scheme_, batch);
    request.keyset = keys.handle();
    request.messages = &given;
    request.sig = sig.data();
    run_request(request, out.items);
    return out;
  }

  void run_request(polykem_request& request, std::vector<polykem_status>& items) const {
    items.assign(request.count, POLYKEM_OK);
    request.item_status = items.data();
    context_.run(request);
  }

  /// Returns the fault, or "" if the call refuses the wrong lengths of this check, as it must.
  std::string fault_of_wrong_size(const Checks& one) const {
    std::vector<std::string> ignored(1);
    try {
      run_batch(one, 0, 1, ignored);
    } catch (const Error& e) {
      const bool long_context = one.front()->message.context.size() > kMaxContextBytes;
      return e.status() == (long_context ? POLYKEM_ERR_ARGUMENT : POLYKEM_ERR_SIZE) ? std::string() : e.what();
    }
    return "an input of the wrong length was not refused";
  }

  const Context& context_;
  const Scheme& scheme_;
  const RunOptions& options_;
};

/// Calls body(checks) for each group of checks that can share calls.
template <class Body>
void for_each_group(const Suite& suite, Body&& body) {
  const auto form = [](const Check& c) {
    return std::tuple_cat(std::make_tuple(c.op, c.seed_key, c.want == POLYKEM_ERR_SIZE), c.message.form());
  };
  std::map<decltype(form(std::declval<Check>())), Checks> groups;
  for (const Check& check : suite.checks)
    groups[form(check)].push_back(&check);
  for (const auto& [unused, group] : groups)
    body(group);
}

/// Describes the first field of a wrong length and the right length; empty if there is none.
std::string wrong_length(const Check& check, const Scheme& scheme) {
  struct Field {
    const char* name;
    const Bytes& bytes;
    std::size_t size;
    bool given;
  };
  const auto& info = scheme.info();
  const bool keygen = check.op == POLYKEM_KEYGEN, encaps = check.op == POLYKEM_ENCAPS;
  const bool decaps = check.op == POLYKEM_DECAPS, sign = check.op == POLYKEM_SIGN, verify = check.op == POLYKEM_VERIFY;
  const std::size_t coins = keygen ? info.keygen_coin_bytes : encaps ? info.encaps_coin_bytes : info.sign_coin_bytes;
  const Field fields[] = {
      {"coins", check.coins, coins, keygen || encaps || (sign && !check.message.deterministic)},
      {"public key", check.pk, info.public_key_bytes, encaps || verify},
      {"secret key", check.sk, check.seed_key ? info.secret_seed_bytes : info.secret_key_bytes, decaps || sign},
      {"ciphertext", check.ct, info.ciphertext_bytes, decaps},
      {"signature", check.sig, info.signature_bytes, verify},
      {"signature", check.want_sig, info.signature_bytes, !check.want_sig.empty()},
      {"public key", check.want_pk, info.public_key_bytes, !check.want_pk.empty()},
      {"secret key", check.want_sk, info.secret_key_bytes, !check.want_sk.empty()},
      {"ciphertext", check.want_ct, info.ciphertext_bytes, !check.want_ct.empty()},
      {"shared secret", check.want_ss, info.shared_secret_bytes, !check.want_ss.empty()},
  };
  for (const Field& field : fields) {
    if (field.given && field.bytes.size() != field.size)
      return fmt::format("{}: {} bytes, expected {} for {}", field.name, with_commas(field.bytes.size()),
                         with_commas(field.size), info.title);
  }
  if (check.message.context.size() > kMaxContextBytes)
    return fmt::format("context: {} bytes, at most {}", check.message.context.size(), kMaxContextBytes);
  return {};
}

}  // namespace

void Tally::fail(std::string message) {
  ++run;
  ++failed;
  if (messages.size() < kMaxMessages) messages.push_back(std::move(message));
}

void Tally::add(const Tally& other) {
  cases += other.cases;
  run += other.run;
  failed += other.failed;
  for (const std::string& message : other.messages) {
    if (messages.size() < kMaxMessages) messages.push_back(message);
  }
}

void fit_suite(Suite& suite, const Scheme& scheme) {
  for (Check& check : suite.checks) {
    if (check.key_only && check.op == POLYKEM_ENCAPS) check.coins.resize(scheme.info().encaps_coin_bytes);
    if (check.key_only && check.op == POLYKEM_DECAPS) check.ct.resize(scheme.ciphertext_bytes());
    const std::string wrong = wrong_length(check, scheme);
    if (wrong.empty()) continue;
    if (check.want == POLYKEM_OK)
      throw CliError(kExitBadInput, fmt::format("{}: {}", check.label, wrong), "is the file complete?");
    check.want = POLYKEM_ERR_SIZE;
  }
}

Tally run_suite(const Context& context, const Scheme& scheme, const Suite& suite, const RunOptions& options,
                const Tick& tick) {
  Tally tally;
  const Runner runner(context, scheme, options);
  for_each_group(suite, [&](const Checks& group) { tally.add(runner.run(group, tick)); });
  std::vector<bool> covered(suite.cases, false);
  for (const Check& check : suite.checks)
    covered.at(check.number) = true;
  for (std::size_t i = 0; i < suite.cases; ++i) {
    if (!covered[i]) tally.fail(fmt::format("case {} of {} was not run", i, suite.cases));
  }
  tally.cases = static_cast<std::size_t>(std::count(covered.begin(), covered.end(), true));
  return tally;
}

std::size_t items_of(const Suite& suite, std::size_t batch) {
  std::size_t items = 0;
  for_each_group(suite, [&](const Checks& group) {
    const bool singly = batch == 0 || group.front()->want == POLYKEM_ERR_SIZE;
    items += singly ? group.size() : (group.size() + batch - 1) / batch * batch;
  });
  return items;
}

}  // namespace polykem::cli
