// SPDX-License-Identifier: Apache-2.0
#include "net/single.hpp"

#include <algorithm>
#include <chrono>

#include "common/exit_codes.hpp"
#include "net/confirm.hpp"

namespace polykem::cli::net {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A round of `items` handshakes in contiguous arrays.
struct Round {
  Round(const Scheme& scheme, std::size_t count)
      : items(count),
        pk(count * scheme.public_key_bytes()),
        ct(count * scheme.ciphertext_bytes()),
        sk(count * scheme.secret_key_bytes()),
        client_ss(count * scheme.shared_secret_bytes()),
        server_ss(count * scheme.shared_secret_bytes()) {}

  std::size_t items;
  Bytes pk, ct;
  SecretBytes sk, client_ss, server_ss;
};

// Runs one operation over the whole round, `batch` items a call, and returns the seconds it took.
double run_op(const Context& context, const Scheme& scheme, polykem_op op, std::size_t batch, Round& round) {
  const auto& info = scheme.info();
  const Clock::time_point start = Clock::now();
  for (std::size_t first = 0; first < round.items; first += batch) {
    polykem_request request = Context::request(op, scheme, std::min(batch, round.items - first));
    std::uint8_t* pk = round.pk.data() + first * info.public_key_bytes;
    std::uint8_t* sk = round.sk.data() + first * info.secret_key_bytes;
    std::uint8_t* ct = round.ct.data() + first * info.ciphertext_bytes;
    if (op == POLYKEM_KEYGEN) {
      request.pk_out = pk;
      request.sk_out = sk;
    } else if (op == POLYKEM_ENCAPS) {
      request.pk = pk;
      request.ct_out = ct;
      request.ss_out = round.client_ss.data() + first * info.shared_secret_bytes;
    } else {
      request.sk = sk;
      request.ct = ct;
      request.ss_out = round.server_ss.data() + first * info.shared_secret_bytes;
    }
    check(polykem_run(context.handle(), &request), "comparison");
  }
  return seconds_since(start);
}

// Confirms every secret of the round as the two ends of an exchange do.
double confirm_round(const Scheme& scheme, const Round& round) {
  const std::size_t ss_bytes = scheme.shared_secret_bytes();
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < round.items; ++i) {
    Transcript transcript;
    transcript.add(ByteView(round.pk).subspan(i * scheme.public_key_bytes(), scheme.public_key_bytes()));
    transcript.add(ByteView(round.ct).subspan(i * scheme.ciphertext_bytes(), scheme.ciphertext_bytes()));
    const Tag hash = transcript.digest();
    for (const Side side : {Side::kClient, Side::kServer}) {
      const Tag ours = confirm_tag(ByteView(round.server_ss).subspan(i * ss_bytes, ss_bytes), side, hash);
      const Tag theirs = confirm_tag(ByteView(round.client_ss).subspan(i * ss_bytes, ss_bytes), side, hash);
      if (!equal_tags(ours, theirs)) throw CliError(kExitCheckFailed, "two ends hold different secrets");
    }
  }
  return seconds_since(start);
}

/** Sums up the costs of handshakes whose operations take sizes[op] items a call. */
class CostMeter {
 public:
  CostMeter(const Context& context, const Scheme& scheme, const std::array<std::size_t, 3>& sizes)
      : context_(context), scheme_(scheme), sizes_(sizes) {}

  /** Runs a round of as many handshakes as the largest batch has items, at most `limit`. */
  void run_round(std::uint64_t limit) {
    const std::size_t largest = *std::max_element(sizes_.begin(), sizes_.end());
    Round round(scheme_, static_cast<std::size_t>(std::min<std::uint64_t>(largest, limit)));
    for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
      sum_.seconds[op] += run_op(context_, scheme_, op, sizes_[op], round);
    }
    sum_.confirm_seconds += confirm_round(scheme_, round);
    sum_.handshakes += round.items;
  }

  std::uint64_t handshakes() const { return sum_.handshakes; }
  double elapsed() const { return sum_.whole(); }

  OpCosts per_handshake() const {
    OpCosts out = sum_;
    for (double& seconds : out.seconds)
      seconds /= static_cast<double>(sum_.handshakes);
    out.confirm_seconds /= static_cast<double>(sum_.handshakes);
    return out;
  }

 private:
  const Context& context_;
  const Scheme& scheme_;
  std::array<std::size_t, 3> sizes_;
  OpCosts sum_;
};

}  // namespace

double OpCosts::server(Role role) const {
  return role == Role::kServerDecaps ? seconds[POLYKEM_KEYGEN] + seconds[POLYKEM_DECAPS] : seconds[POLYKEM_ENCAPS];
}

double OpCosts::whole() const {
  return seconds[POLYKEM_KEYGEN] + seconds[POLYKEM_ENCAPS] + seconds[POLYKEM_DECAPS] + confirm_seconds;
}

Comparison compare_costs(const Context& context, const Scheme& scheme, const std::array<std::size_t, 3>& batch_sizes,
                         std::uint64_t handshakes, double budget_seconds,
                         const std::function<void(std::uint64_t)>& progress) {
  CostMeter single(context, scheme, {1, 1, 1});
  CostMeter batched(context, scheme, batch_sizes);
  const auto finished = [&] {
    return single.handshakes() == handshakes || single.elapsed() + batched.elapsed() >= budget_seconds;
  };
  while (single.handshakes() == 0 || batched.handshakes() == 0 || !finished()) {
    const bool turn_of_batches = batched.handshakes() < handshakes && batched.elapsed() <= single.elapsed();
    CostMeter& meter = turn_of_batches ? batched : single;
    meter.run_round(handshakes - meter.handshakes());
    progress(single.handshakes());
  }
  return {single.per_handshake(), batched.per_handshake(), batch_sizes};
}

}  // namespace polykem::cli::net
