// SPDX-License-Identifier: Apache-2.0
#include "net/swarm.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <asio/post.hpp>

namespace polykem::cli::net {
namespace {

/// The most connections that are being established at once: well below a usual listen queue, so that none is refused.
constexpr std::size_t kMaxConnecting = 256;
/// The most latencies for which memory is reserved at the start, so that an absurd number of clients cannot exhaust it.
constexpr std::uint64_t kMaxReserved = 1 << 20;
constexpr auto kConnectRetry = std::chrono::milliseconds(50);
constexpr auto kSwarmSweepInterval = std::chrono::milliseconds(100);

}  // namespace

/// A connection that is made only when its session asks for it.
class SwarmClient final : public Connection {
 public:
  SwarmClient(asio::io_context& loop, Swarm& swarm, const Scheme& scheme, Role role)
      : Connection(loop, swarm),
        swarm_(swarm),
        retry_timer_(loop),
        client_(std::make_shared<ClientSession>(scheme, role, *this)) {
    attach(client_);
  }

  void begin() { client_->start(); }
  void open() override { swarm_.queue_connect(self()); }

  void connect() {
    if (connect_since_ == Clock::time_point()) connect_since_ = Clock::now();
    socket_.async_connect(swarm_.options_.server,
                          [me = self()](const asio::error_code& error) { me->on_connect(error); });
  }

  Clock::duration latency() const { return Clock::now() - connect_since_; }

 private:
  std::shared_ptr<SwarmClient> self() { return std::static_pointer_cast<SwarmClient>(shared_from_this()); }

  void on_connect(const asio::error_code& error) {
    if (client_->done()) return swarm_.on_connect_settled();
    if (error && swarm_.may_retry(error)) return connect_later();
    if (error) {
      client_->on_connect_failed(error.message());
    } else {
      start();
      client_->on_connected();
    }
    swarm_.on_connect_settled();
  }

  void connect_later() {
    asio::error_code ignored;
    socket_.close(ignored);
    retry_timer_.expires_after(kConnectRetry);
    retry_timer_.async_wait([me = self()](const asio::error_code& error) {
      if (error || me->client_->done()) return me->swarm_.on_connect_settled();
      me->connect();
    });
  }

  Swarm& swarm_;
  asio::steady_timer retry_timer_;
  std::shared_ptr<ClientSession> client_;
  Clock::time_point connect_since_{};
};

Swarm::Swarm(asio::io_context& loop, const Context& context, const Scheme& scheme, const SwarmOptions& options)
    : loop_(loop),
      scheme_(scheme),
      options_(options),
      operations_(loop, context, scheme, options.batch),
      sweep_timer_(loop) {
  report_.backend = context.backend(scheme);
  report_.threads = context.threads();
}

void Swarm::start() {
  report_.first_ns = now_ns();
  retry_until_ = Clock::now() + options_.connect_wait;
  report_.latency_us.reserve(std::min(options_.clients, kMaxReserved));
  sweep_later();
  start_clients();
}

void Swarm::start_clients() {
  while (!stopping_ && started_ < options_.clients && clients_.size() < options_.concurrency) {
    ++started_;
    auto client = std::make_shared<SwarmClient>(loop_, *this, scheme_, options_.role);
    clients_.emplace(client.get(), client);
    client->begin();
  }
}

void Swarm::queue_connect(std::shared_ptr<SwarmClient> client) {
  to_connect_.push_back(std::move(client));
  connect_some();
}

void Swarm::connect_some() {
  while (connecting_ < kMaxConnecting && !to_connect_.empty()) {
    const std::shared_ptr<SwarmClient> client = std::move(to_connect_.front());
    to_connect_.pop_front();
    if (client->session().done()) continue;
    ++connecting_;
    client->connect();
  }
}

void Swarm::on_connect_settled() {
  --connecting_;
  connect_some();
}

bool Swarm::may_retry(const asio::error_code& error) const {
  const bool temporary = error == asio::error::connection_refused || error == asio::error::timed_out ||
                         error == asio::error::connection_reset || error == asio::error::try_again ||
                         error == asio::error_code(EADDRNOTAVAIL, asio::error::get_system_category());
  return temporary && !stopping_ && Clock::now() < retry_until_;
}

void Swarm::sweep_later() {
  sweep_timer_.expires_after(kSwarmSweepInterval);
  sweep_timer_.async_wait([this](const asio::error_code& error) {
    if (error || ended_) return;
    const Clock::time_point oldest = Clock::now() - options_.timeout;
    std::vector<std::shared_ptr<SwarmClient>> open;
    open.reserve(clients_.size());
    for (const auto& [key, client] : clients_)
      open.push_back(client);
    for (const auto& client : open)
      client->check_deadline(oldest);
    sweep_later();
  });
}

void Swarm::on_finished(Connection& connection, Outcome outcome, const std::string& detail) {
  report_.outcomes.add(outcome);
  if (!detail.empty()) report_.peer_errors.add(detail);
  report_.last_ns = now_ns();
  if (outcome != Outcome::kAgreed) return;
  const auto latency = static_cast<SwarmClient&>(connection).latency();
  report_.latency_us.push_back(
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(latency).count()));
}

void Swarm::on_closed(Connection& connection) {
  clients_.erase(&connection);
  // Posted, so that a client that fails at once does not start the next one from within its own start.
  asio::post(loop_, [this] {
    start_clients();
    end_if_empty();
  });
}

void Swarm::stop() {
  if (std::exchange(stopping_, true)) return;
  std::vector<std::shared_ptr<SwarmClient>> open;
  for (const auto& [key, client] : clients_)
    open.push_back(client);
  for (const auto& client : open)
    client->session().stop();
  for (std::uint64_t i = started_; i < options_.clients; ++i)
    report_.outcomes.add(Outcome::kStopped);
  started_ = options_.clients;
  end_if_empty();
}

void Swarm::end_if_empty() {
  if (!clients_.empty() || started_ < options_.clients) return;
  ended_ = true;
  sweep_timer_.cancel();
  if (on_end_) std::exchange(on_end_, nullptr)();
}

EndReport Swarm::report() const {
  EndReport out = report_;
  out.batches = operations_.stats();
  return out;
}

}  // namespace polykem::cli::net
