// SPDX-License-Identifier: Apache-2.0
#include "net/cost_comparison.hpp"

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

/// The contiguous arrays of a round of `items` handshakes.
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

/// Runs one operation over the whole round in one call and returns the seconds it took.
double run_op(const Context& context, const Scheme& scheme, polykem_op op, Round& round) {
  polykem_request request = Context::request(op, scheme, round.items);
  if (op == POLYKEM_KEYGEN) {
    request.pk_out = round.pk.data();
    request.sk_out = round.sk.data();
  } else if (op == POLYKEM_ENCAPS) {
    request.pk = round.pk.data();
    request.ct_out = round.ct.data();
    request.ss_out = round.client_ss.data();
  } else {
    request.sk = round.sk.data();
    request.ct = round.ct.data();
    request.ss_out = round.server_ss.data();
  }
  const Clock::time_point start = Clock::now();
  check(polykem_run(context.handle(), &request), "comparison");
  return seconds_since(start);
}

/// Confirms every secret of the round, as the two ends of an exchange do.
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

/// Adds up the costs of handshakes whose operations take `batch_size` items a call.
class CostMeter {
 public:
  CostMeter(const Context& context, const Scheme& scheme, std::size_t batch_size)
      : context_(context), scheme_(scheme), batch_size_(batch_size) {}

  /// Runs one batch of at most `limit` handshakes.
  void run_round(std::uint64_t limit) {
    Round round(scheme_, static_cast<std::size_t>(std::min<std::uint64_t>(batch_size_, limit)));
    for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
      sum_.seconds[op] += run_op(context_, scheme_, op, round);
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
  std::size_t batch_size_;
  OpCosts sum_;
};

}  // namespace

double OpCosts::server(Role role) const {
  return role == Role::kServerDecaps ? seconds[POLYKEM_KEYGEN] + seconds[POLYKEM_DECAPS] : seconds[POLYKEM_ENCAPS];
}

double OpCosts::whole() const {
  return seconds[POLYKEM_KEYGEN] + seconds[POLYKEM_ENCAPS] + seconds[POLYKEM_DECAPS] + confirm_seconds;
}

Comparison compare_costs(const Context& context, const Scheme& scheme, std::size_t batch_size, std::uint64_t handshakes,
                         double budget_seconds, const std::function<void(std::uint64_t)>& progress) {
  CostMeter single(context, scheme, 1);
  CostMeter batched(context, scheme, batch_size);
  const auto finished = [&] {
    return single.handshakes() == handshakes || single.elapsed() + batched.elapsed() >= budget_seconds;
  };
  while (single.handshakes() == 0 || batched.handshakes() == 0 || !finished()) {
    const bool turn_of_batches = batched.handshakes() < handshakes && batched.elapsed() <= single.elapsed();
    CostMeter& meter = turn_of_batches ? batched : single;
    meter.run_round(handshakes - meter.handshakes());
    progress(single.handshakes());
  }
  return {single.per_handshake(), batched.per_handshake(), batch_size};
}

}  // namespace polykem::cli::net
