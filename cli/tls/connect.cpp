// SPDX-License-Identifier: Apache-2.0
#include "tls/connect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "common/context.hpp"
#include "common/streams.hpp"
#include "tls/probe.hpp"
#include "tls/provider_check.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kFirst = "X25519MLKEM768";  // the post-quantum group that most servers have
// The last ones offered. In TLS 1.2 a certificate for P-256 needs that group too.
const std::vector<std::string> kClassical = {"X25519", "P-256", "P-384", "P-521", "X448"};

std::vector<std::string> names_of(const std::vector<TlsGroup>& groups) {
  std::vector<std::string> out;
  for (const TlsGroup& group : groups)
    out.push_back(group.name);
  return out;
}

/// The client's groups, the preferred one first.
std::vector<std::string> list_to_offer(const std::vector<TlsGroup>& known, const std::string& list) {
  if (list != "all") {
    std::vector<TlsGroup> all = known;
    for (const std::string& name : kClassical)
      all.push_back({name, 0, false});
    return names_of(groups_asked_for(all, list));
  }
  std::vector<std::string> out = names_of(known);
  std::stable_partition(out.begin(), out.end(), [](const std::string& name) { return name == kFirst; });
  out.insert(out.end(), kClassical.begin(), kClassical.end());
  return out;
}

Json probe_json(const Probe& probe, const std::string& server, const std::vector<std::string>& offered,
                bool post_quantum) {
  Json out = json_header("polykem-tls-connect-1");
  out["server"] = server;
  out["address"] = probe.address;
  out["protocol"] = probe.version;
  out["cipher"] = probe.cipher;
  out["group"] = probe.group;
  out["code_point"] = probe.code_point;
  out["post_quantum"] = post_quantum;
  out["retried"] = probe.retried;
  out["certificate_subject"] = probe.subject;
  out["offered"] = offered;
  out["milliseconds"] = probe.milliseconds;
  return out;
}

void print_probe(const Probe& probe, const std::string& server, const std::vector<std::string>& offered,
                 bool post_quantum) {
  print_out("server         {} ({})\n", server, probe.address);
  print_out("protocol       {}, {}\n", probe.version, probe.cipher);
  print_out("group          {}{}\n", probe.group.empty() ? "none" : probe.group,
            probe.code_point == 0 ? "" : fmt::format(" (0x{:04X})", probe.code_point));
  print_out("key share      {}\n", probe.version != "TLSv1.3" ? "none: TLS 1.3 has them"
                                   : probe.retried            ? "the server asked for another (HelloRetryRequest)"
                                                   : "the server took the one that was sent, " + offered.front());
  print_out("certificate    {} (not verified)\n", probe.subject.empty() ? "none" : probe.subject);
  print_out("handshake      {:.2f} ms\n", probe.milliseconds);
  print_out("offered        {}{}\n", offered.front(),
            offered.size() > 1 ? fmt::format(" and {} more", offered.size() - 1) : "");
  if (post_quantum)
    print_out("\nThe server negotiates {}, which is post-quantum.\n", probe.group);
  else if (probe.version != "TLSv1.3")
    print_out("\nThe server speaks {}, which has no post-quantum groups.\n", probe.version);
  else
    print_out("\nThe server negotiates {}, which is not post-quantum.\n", probe.group);
}

}  // namespace

int show_group_of_server(const ConnectOptions& options, const CommonOptions& common) {
  const Endpoint server = parse_endpoint(options.server);
  const ProviderCheck check = check_provider(view_of_file(), options.modules);
  if (check.provider == nullptr)
    throw CliError(kExitCheckFailed, "the provider does not load: " + check.problem, "'polykem tls-check' shows more");
  const std::vector<std::string> offered = list_to_offer(check.groups, options.groups);
  const auto timeout = std::chrono::milliseconds(static_cast<long long>(options.timeout_seconds * 1000));
  const Probe probe = probe_server(check.libctx.get(), server, fmt::format("{}", fmt::join(offered, ":")), timeout);
  const std::vector<std::string> ours = names_of(check.groups);
  const bool post_quantum = std::find(ours.begin(), ours.end(), probe.group) != ours.end();
  write_json(common.json, probe_json(probe, options.server, offered, post_quantum));
  if (!common.quiet && !json_to_stdout(common.json)) print_probe(probe, options.server, offered, post_quantum);
  return kExitOk;
}

}  // namespace polykem::cli
