// SPDX-License-Identifier: Apache-2.0
#include "net/inproc.hpp"

#include <utility>
#include <vector>

#include <asio/post.hpp>

namespace polykem::cli::net {

/// One handshake: a host for each end, and the bytes in transit between them.
class InprocPair final : public std::enable_shared_from_this<InprocPair> {
 public:
  explicit InprocPair(InprocExchange& exchange)
      : exchange_(exchange),
        server_end_(*this, Side::kServer),
        client_end_(*this, Side::kClient),
        client_(std::make_shared<ClientSession>(exchange.scheme_, exchange.options_.role, client_end_)) {}

  ~InprocPair() {
    client_->detach();
    if (server_) server_->detach();
  }

  void begin() { client_->start(); }
  void stop() { client_->stop(); }

 private:
  class End final : public SessionHost {
   public:
    End(InprocPair& pair, Side side) : pair_(pair), side_(side) {}
    void open() override { pair_.open(); }
    void send(ByteView bytes) override { pair_.carry(side_, bytes); }
    void compute(polykem_op op) override { pair_.compute(side_, op); }
    void finished(Outcome outcome, const std::string& detail) override { pair_.finished(side_, outcome, detail); }

   private:
    InprocPair& pair_;
    Side side_;
  };

  void open() {
    open_since_ = Clock::now();
    server_ = std::make_shared<ServerSession>(exchange_.scheme_, exchange_.options_.role, server_end_);
    client_->on_connected();
  }

  void compute(Side side, polykem_op op) {
    if (side == Side::kServer) return exchange_.server_operations_.add(op, server_);
    exchange_.client_operations_.add(op, client_);
  }

  void carry(Side from, ByteView bytes) {
    Bytes& wire = from == Side::kServer ? to_client_ : to_server_;
    wire.insert(wire.end(), bytes.begin(), bytes.end());
    deliver_later();
  }

  void finished(Side side, Outcome outcome, const std::string& detail) {
    EndReport& report = side == Side::kServer ? exchange_.server_report_ : exchange_.client_report_;
    InprocExchange::record(report, outcome, detail);
    if (side == Side::kClient && outcome == Outcome::kAgreed) {
      const auto latency = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - open_since_);
      report.latency_us.push_back(static_cast<std::uint32_t>(latency.count()));
    }
    deliver_later();
  }

  // As on a network, bytes arrive in a later turn of the loop, followed by the end of the stream.
  void deliver_later() {
    if (std::exchange(delivery_posted_, true)) return;
    asio::post(exchange_.loop_, [self = shared_from_this()] {
      self->delivery_posted_ = false;
      self->deliver();
    });
  }

  void deliver() {
    const Bytes to_server = std::exchange(to_server_, {});
    const Bytes to_client = std::exchange(to_client_, {});
    if (server_) server_->on_bytes(to_server);
    client_->on_bytes(to_client);
    if (!to_server_.empty() || !to_client_.empty()) return;  // bytes are already in transit
    if (client_->done() && server_) server_->on_disconnect();
    if (server_ && server_->done()) client_->on_disconnect();
    if (client_->done() && (!server_ || server_->done())) exchange_.on_pair_done(*this);
  }

  InprocExchange& exchange_;
  End server_end_;
  End client_end_;
  std::shared_ptr<ClientSession> client_;
  std::shared_ptr<ServerSession> server_;
  Bytes to_server_;
  Bytes to_client_;
  bool delivery_posted_ = false;
  Clock::time_point open_since_{};
};

InprocExchange::InprocExchange(asio::io_context& loop, const Context& server, const Context& client,
                               const Scheme& scheme, const InprocOptions& options)
    : loop_(loop),
      scheme_(scheme),
      options_(options),
      server_operations_(loop, server, scheme, options.batch),
      client_operations_(loop, client, scheme, options.batch) {
  server_report_.backend = server.backend(scheme);
  server_report_.threads = server.threads();
  client_report_.backend = client.backend(scheme);
  client_report_.threads = client.threads();
}

InprocExchange::~InprocExchange() = default;

void InprocExchange::start() {
  server_report_.first_ns = now_ns();
  client_report_.first_ns = server_report_.first_ns;
  client_report_.latency_us.reserve(options_.clients);
  start_pairs();
}

void InprocExchange::start_pairs() {
  while (!stopping_ && started_ < options_.clients && pairs_.size() < options_.concurrency) {
    ++started_;
    auto pair = std::make_shared<InprocPair>(*this);
    pairs_.emplace(pair.get(), pair);
    pair->begin();
  }
}

void InprocExchange::stop() {
  if (std::exchange(stopping_, true)) return;
  std::vector<std::shared_ptr<InprocPair>> open;
  for (const auto& [key, pair] : pairs_)
    open.push_back(pair);
  for (const auto& pair : open)
    pair->stop();
  for (std::uint64_t i = started_; i < options_.clients; ++i)
    client_report_.outcomes.add(Outcome::kStopped);
  started_ = options_.clients;
  if (pairs_.empty() && on_end_) std::exchange(on_end_, nullptr)();
}

void InprocExchange::on_pair_done(InprocPair& pair) {
  pairs_.erase(&pair);
  start_pairs();
  if (pairs_.empty() && started_ == options_.clients && on_end_) std::exchange(on_end_, nullptr)();
}

void InprocExchange::record(EndReport& report, Outcome outcome, const std::string& detail) {
  report.outcomes.add(outcome);
  if (!detail.empty()) report.peer_errors.add(detail);
  report.last_ns = now_ns();
}

EndReport InprocExchange::server_report() const {
  EndReport out = server_report_;
  out.batches = server_operations_.stats();
  return out;
}

EndReport InprocExchange::client_report() const {
  EndReport out = client_report_;
  out.batches = client_operations_.stats();
  return out;
}

}  // namespace polykem::cli::net
