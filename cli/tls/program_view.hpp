// SPDX-License-Identifier: Apache-2.0
// What a program of the user's gets from openssl.cnf: a process of its own starts as such a program does, and libcrypto
// and libssl are asked there.
#pragma once

#include <string>
#include <vector>

#include "common/json_out.hpp"
#include "tls/loopback.hpp"

namespace polykem::cli {

/// A group that a handshake can name.
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
  std::string config_file;  ///< that it reads; empty: none
  bool has_config_file = false;
  bool mentions_polykem = false;       ///< the file does, wherever
  std::string failure;                 ///< why a program does not start with this file; empty: it does
  std::vector<std::string> providers;  ///< that are active
  bool active = false;                 ///< polykem is among them, under whatever name
  std::string module;                  ///< the file it came from
  bool has_default = false;            ///< OpenSSL's own provider is active
  std::string mlkem_from;              ///< the provider that computes ML-KEM; empty: none
  std::string section;                 ///< polykem's in the file, whether OpenSSL finds it or not; empty: none
  bool unread_groups = false;          ///< the file has a line Groups, and OpenSSL reads none
  std::vector<std::string> groups;     ///< of the line that OpenSSL reads
  Loopback handshake;                  ///< of a client and a server that set no groups themselves
  bool by_polykem = false;             ///< and polykem computed its key exchange
  std::vector<GroupResult> results;    ///< of programs that name a group themselves, for each of polykem's groups
  std::vector<std::string> notes;      ///< what works here, and not everywhere
  std::vector<std::string> findings;   ///< lines that OpenSSL ignores, and other causes, a sentence each
};

/// names: the groups to try; empty: all. OPENSSL_CONF and OPENSSL_MODULES are this process's; it must not have used
/// OpenSSL before, so that the other one begins as a program does.
ProgramView view_of_program(const std::vector<std::string>& names);

/// The groups that an active provider offers, and with an OpenSSL that has ML-KEM the standard's.
std::vector<TlsGroup> groups_of(OSSL_PROVIDER* provider);

/// A handshake whose client and server name that group and no other.
GroupResult try_group(const LoopbackServer& server, const TlsGroup& group);

/// True if OpenSSL has ML-KEM and its hybrids itself.
bool openssl_has_mlkem();

}  // namespace polykem::cli
