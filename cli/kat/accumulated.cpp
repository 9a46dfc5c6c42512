// SPDX-License-Identifier: Apache-2.0
#include "kat/accumulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "kat/coins.hpp"
#include "kat/json_fields.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kPreferredBatch = 256;
constexpr std::size_t kMaxStreamBytes = std::size_t{1} << 31;

std::size_t parse_rounds(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) {
    bad_input(fmt::format("'{}' is not a number of rounds", printable(text)));
  }
  return value;
}

std::vector<AccumulatedCase> parse_set(const Json& modes) {
  std::vector<AccumulatedCase> out;
  if (!modes.is_object()) bad_input("is not a JSON object");
  for (const auto& [mode, hashes] : modes.items()) {
    if (!hashes.is_object()) bad_input(fmt::format("mode '{}' is not a JSON object", printable(mode)));
    for (const auto& [rounds, hash] : hashes.items()) {
      if (!hash.is_string()) bad_input(fmt::format("mode '{}': a hash is not a string", printable(mode)));
      out.push_back({mode, parse_rounds(rounds), parse_hex(hash.get_ref<const std::string&>())});
    }
  }
  return out;
}

/// The rounds of a run in batches, and the bytes that go into the hash.
class Rounds {
 public:
  Rounds(const Context& context, const Scheme& scheme, const AccumulatedCase& wanted)
      : context_(context), scheme_(scheme), info_(scheme.info()), fields_(split(wanted.mode, ',')) {
    with_random_ = std::find(fields_.begin(), fields_.end(), "ssr") != fields_.end();
    const std::size_t per_round = round_bytes();
    if (wanted.rounds > kMaxStreamBytes / per_round) bad_input(fmt::format("{} rounds are too many", wanted.rounds));
    stream_ = shake128({}, wanted.rounds * per_round);
  }

  void run(std::size_t first, std::size_t batch) {
    const Bytes keygen_coins = slice(first, batch, 0, info_.keygen_coin_bytes);
    const Bytes encaps_coins = slice(first, batch, info_.keygen_coin_bytes, info_.encaps_coin_bytes);
    const KeyPairs keys = context_.keygen(scheme_, batch, keygen_coins);
    const Encapsulations made = context_.encaps(scheme_, batch, KeyMode::kPerItem, keys.pk, encaps_coins);
    const SharedSecrets back = context_.decaps(scheme_, batch, KeyMode::kPerItem, keys.sk, made.ct);
    agree_ = agree_ && made.items.empty() && back.items.empty() && back.ss == made.ss;
    SecretBytes rejected;
    if (with_random_) {
      const Bytes random =
          slice(first, batch, info_.keygen_coin_bytes + info_.encaps_coin_bytes, info_.ciphertext_bytes);
      rejected = context_.decaps(scheme_, batch, KeyMode::kPerItem, keys.sk, random).ss;
    }
    for (std::size_t i = 0; i < batch; ++i) {
      for (const std::string& field : fields_) {
        if (field == "pk") append(keys.pk, i, info_.public_key_bytes);
        if (field == "sk") append(keys.sk, i, info_.secret_key_bytes);
        if (field == "ct") append(made.ct, i, info_.ciphertext_bytes);
        if (field == "ss") append(made.ss, i, info_.shared_secret_bytes);
        if (field == "ssr") append(rejected, i, info_.shared_secret_bytes);
      }
    }
  }

  Bytes hash() const { return shake128(hashed_, 32); }
  bool agree() const { return agree_; }

 private:
  std::size_t round_bytes() const {
    return info_.keygen_coin_bytes + info_.encaps_coin_bytes + (with_random_ ? info_.ciphertext_bytes : 0);
  }

  Bytes slice(std::size_t first, std::size_t batch, std::size_t offset, std::size_t size) const {
    Bytes out(batch * size);
    for (std::size_t i = 0; i < batch; ++i) {
      const std::size_t from = (first + i) * round_bytes() + offset;
      std::copy_n(stream_.data() + from, size, out.data() + i * size);
    }
    return out;
  }

  void append(ByteView bytes, std::size_t i, std::size_t size) {
    hashed_.insert(hashed_.end(), bytes.data() + i * size, bytes.data() + (i + 1) * size);
  }

  const Context& context_;
  const Scheme& scheme_;
  const polykem_scheme_info_t& info_;
  std::vector<std::string> fields_;
  bool with_random_ = false;
  Bytes stream_;
  SecretBytes hashed_;
  bool agree_ = true;
};

void check_mode(const std::string& mode) {
  const std::vector<std::string> fields = split(mode, ',');
  if (fields.empty()) bad_input("an empty mode");
  for (const std::string& field : fields) {
    if (field != "pk" && field != "sk" && field != "ct" && field != "ss" && field != "ssr") {
      bad_input(fmt::format("mode '{}' names an unknown field '{}'", printable(mode), printable(field)));
    }
  }
}

}  // namespace

bool is_accumulated(const Json& root) {
  return root.is_object() && root.contains("sets") && !root.contains("counts");
}

std::vector<AccumulatedSet> parse_accumulated(const Json& root) {
  if (!is_accumulated(root) || !root["sets"].is_object())
    bad_input("not a file of accumulated hashes: no object 'sets'");
  std::vector<AccumulatedSet> out;
  for (const auto& [name, modes] : root["sets"].items()) {
    try {
      out.push_back({name, parse_set(modes)});
      for (const AccumulatedCase& c : out.back().cases)
        check_mode(c.mode);
    } catch (const CliError& e) {
      bad_input(fmt::format("set '{}': {}", printable(name), e.what()));
    }
  }
  return out;
}

Tally run_accumulated(const Context& context, const Scheme& scheme, const AccumulatedCase& wanted, std::size_t batch,
                      const Tick& tick) {
  Rounds rounds(context, scheme, wanted);
  if (batch == 0) batch = kPreferredBatch;
  for (std::size_t first = 0; first < wanted.rounds; first += batch) {
    const std::size_t n = std::min(batch, wanted.rounds - first);
    rounds.run(first, n);
    tick(n);
  }
  Tally tally;
  tally.cases = 1;
  const std::string label = fmt::format("{}, {} rounds of {}", scheme.name(), wanted.rounds, wanted.mode);
  if (!rounds.agree()) {
    tally.fail(label + ": a ciphertext does not decapsulate to its secret");
  } else if (rounds.hash() != wanted.hash) {
    tally.fail(label + ": the hash differs");
  } else {
    tally.pass();
  }
  return tally;
}

}  // namespace polykem::cli
