// SPDX-License-Identifier: Apache-2.0
// The broker that polykemd runs, and its counters.
#pragma once

#include <polykem/polykem.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/json_out.hpp"
#include "daemon/options.hpp"

namespace polykem::cli {

struct FreeBroker {
  void operator()(polykem_broker* broker) const { polykem_broker_free(broker); }
};
using BrokerHandle = std::unique_ptr<polykem_broker, FreeBroker>;

/// The socket at which a broker listens.
struct ListeningSocket {
  int inherited = -1;  ///< the descriptor that systemd passed; -1: the broker listens at `path`
  std::string path;
};

/// A broker's configuration, and the lists that it points to.
class BrokerConfig {
 public:
  /// Keeps a reference to `socket`.
  BrokerConfig(const DaemonOptions& options, const ListeningSocket& socket);
  BrokerConfig(const BrokerConfig&) = delete;
  BrokerConfig& operator=(const BrokerConfig&) = delete;
  const polykem_broker_config* get() const { return &config_; }

 private:
  const std::vector<std::uint32_t> uids_, gids_;
  polykem_broker_config config_{};
};

/// Throws CliError (io) if it cannot listen there.
BrokerHandle make_broker(polykem_batcher* batcher, const DaemonOptions& options, const ListeningSocket& socket);

polykem_broker_stats_t stats_of(const polykem_broker* broker);
std::string describe_stats(const polykem_broker_stats_t& stats);
Json fields_of(const polykem_broker_stats_t& stats);

}  // namespace polykem::cli
