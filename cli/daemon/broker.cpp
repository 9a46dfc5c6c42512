// SPDX-License-Identifier: Apache-2.0
#include "daemon/broker.hpp"

#include <fmt/format.h>
#include <polykem/polykem.hpp>

#include <cerrno>
#include <cstring>

#include "common/exit_codes.hpp"
#include "common/table.hpp"
#include "daemon/limits.hpp"

namespace polykem::cli {

BrokerConfig::BrokerConfig(const DaemonOptions& options, const ListeningSocket& socket)
    : uids_(user_ids(options.uids)), gids_(group_ids(options.gids)) {
  config_.struct_size = sizeof config_;
  config_.path = socket.inherited < 0 ? socket.path.c_str() : nullptr;
  config_.listen_fd = socket.inherited;
  config_.mode = socket_mode(options);
  config_.uids = uids_.data();
  config_.uid_count = uids_.size();
  config_.gids = gids_.data();
  config_.gid_count = gids_.size();
  config_.clients = options.clients;
  config_.clients_of_user = options.clients_per_user;
  config_.slots = options.slots;
  config_.memory_mib = memory_mib(options);
}

BrokerHandle make_broker(polykem_batcher* batcher, const DaemonOptions& options, const ListeningSocket& socket) {
  const BrokerConfig config(options, socket);
  polykem_broker* broker = nullptr;
  const polykem_status status = polykem_broker_new(batcher, config.get(), &broker);
  const std::string where = socket.inherited < 0 ? fmt::format("'{}'", socket.path) : "the socket that systemd passed";
  if (status == POLYKEM_ERR_BUSY)
    throw CliError(kExitIo, fmt::format("another process listens at {}", where), "one polykemd serves all workers");
  if (status == POLYKEM_ERR_ARGUMENT) {
    throw CliError(kExitIo, fmt::format("cannot listen at {}: {}", where, std::strerror(errno)),
                   "name another path with --socket; its folder must exist");
  }
  check(status, "broker");
  return BrokerHandle(broker);
}

polykem_broker_stats_t stats_of(const polykem_broker* broker) {
  polykem_broker_stats_t stats{};
  stats.struct_size = sizeof stats;
  check(polykem_broker_stats(broker, &stats), "broker");
  return stats;
}

std::string describe_stats(const polykem_broker_stats_t& s) {
  return fmt::format("{} clients, {} operations, {} failed ({} too late), {} dropped, {} in flight", s.clients,
                     with_commas(s.operations), with_commas(s.failed), with_commas(s.late), with_commas(s.dropped),
                     s.in_flight);
}

Json fields_of(const polykem_broker_stats_t& s) {
  return {{"clients", s.clients}, {"operations", s.operations}, {"failed", s.failed},
          {"late", s.late},       {"dropped", s.dropped},       {"in_flight", s.in_flight}};
}

}  // namespace polykem::cli
