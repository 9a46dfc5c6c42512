// SPDX-License-Identifier: Apache-2.0
// The effect of openssl.cnf on a user's program: a separate process starts as such a program does, and asks libcrypto
// and libssl.
#pragma once

#include <string>
#include <vector>

#include "common/json_out.hpp"
#include "tls/loopback.hpp"

namespace polykem::cli {

/// A TLS group.
struct TlsGroup {
  std::string name;
  unsigned code_point = 0;
  bool built_in = false;  ///< OpenSSL's own, with ML-KEM from polykem
};

struct GroupResult {
  TlsGroup group;
  Loopback loopback;
};

struct ProgramView {
  std::string config_file;  ///< the file that it reads; empty: none
  bool has_config_file = false;
  bool mentions_polykem = false;       ///< the file mentions polykem anywhere
  std::string failure;                 ///< why programs do not start with this file; empty: they do
  std::vector<std::string> providers;  ///< the active providers
  bool active = false;                 ///< polykem is among them, under any name
  std::string module;                  ///< the file it came from
  bool has_default = false;            ///< OpenSSL's own provider is active
  std::string mlkem_from;              ///< the provider that computes ML-KEM; empty: none
  std::string section;                 ///< polykem's section, whether OpenSSL finds it or not; empty: none
  bool unread_groups = false;          ///< the file has a line Groups, but OpenSSL reads none
  std::vector<std::string> groups;     ///< the groups on the line that OpenSSL reads
  Loopback handshake;                  ///< of a client and a server that set no groups themselves
  bool by_polykem = false;             ///< polykem computed its key exchange
  std::vector<GroupResult> results;    ///< handshakes that name a group, for each of polykem's groups
  std::vector<std::string> notes;      ///< sentences about lines that work here, but not with every OpenSSL
  std::vector<std::string> findings;   ///< sentences about lines that OpenSSL ignores, and other causes
};

/// names: the groups to try; empty: all. The other process inherits OPENSSL_CONF and OPENSSL_MODULES. This process must
/// not have used OpenSSL before, so that the other one starts as a program does.
ProgramView view_of_program(const std::vector<std::string>& names);

/// The groups that an active provider offers and, if OpenSSL has ML-KEM, the standard's.
std::vector<TlsGroup> groups_of(OSSL_PROVIDER* provider);

/// Runs a handshake in which client and server name only that group.
GroupResult try_group(const LoopbackServer& server, const TlsGroup& group);

/// True if OpenSSL itself has ML-KEM and its hybrids.
bool openssl_has_mlkem();

}  // namespace polykem::cli
