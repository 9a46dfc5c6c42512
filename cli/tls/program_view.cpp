// SPDX-License-Identifier: Apache-2.0
#include "tls/program_view.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/context.hpp"
#include "formats/tls_groups.hpp"
#include "tls/config_findings.hpp"
#include "tls/provider_check.hpp"

namespace polykem::cli {

// The messages between the two processes.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Loopback, error, milliseconds, code_point, group, version, offered)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TlsGroup, name, code_point, built_in)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GroupResult, group, loopback)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgramView, config_file, has_config_file, mentions_polykem, failure, providers,
                                   active, module, has_default, mlkem_from, section, unread_groups, groups, handshake,
                                   by_polykem, results, notes, findings)

namespace {

constexpr unsigned kMaxSeconds = 300;              // for the other process, which sanitizers slow down
constexpr const char* kOurName = "polykem:";       // the beginning of our provider's display name
constexpr const char* kOwnKem = "frodokem640aes";  // a KEM that no OpenSSL has

std::string text_parameter(const OSSL_PROVIDER* provider, const char* key) {
  char* text = nullptr;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr(key, &text, 0), OSSL_PARAM_construct_end()};
  return OSSL_PROVIDER_get_params(provider, params) == 1 && text != nullptr ? text : "";
}

std::string file_of(const OSSL_PROVIDER* provider) {
  Dl_info info{};
  const OSSL_DISPATCH* table = OSSL_PROVIDER_get0_dispatch(provider);
  return table != nullptr && dladdr(table, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

struct ActiveProviders {
  std::vector<OSSL_PROVIDER*> all;
  OSSL_PROVIDER* polykem = nullptr;
};

ActiveProviders active_providers() {
  ActiveProviders out;
  OSSL_PROVIDER_do_all(
      nullptr,
      [](OSSL_PROVIDER* provider, void* list) {
        auto& active = *static_cast<ActiveProviders*>(list);
        active.all.push_back(provider);
        if (text_parameter(provider, OSSL_PROV_PARAM_NAME).rfind(kOurName, 0) == 0) active.polykem = provider;
        return 1;
      },
      &out);
  return out;
}

/// The provider that computes a KEM by default; empty: none.
std::string provider_of_kem(const char* name) {
  ERR_set_mark();
  EVP_KEM* kem = EVP_KEM_fetch(nullptr, name, nullptr);
  const std::string out = kem == nullptr ? "" : OSSL_PROVIDER_get0_name(EVP_KEM_get0_provider(kem));
  EVP_KEM_free(kem);
  ERR_pop_to_mark();
  return out;
}

bool has_digest() {
  ERR_set_mark();
  EVP_MD* digest = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  EVP_MD_free(digest);
  ERR_pop_to_mark();
  return digest != nullptr;
}

const char* kem_of_group(const std::string& name) {
  const auto* found = std::find_if(std::begin(formats::kStandardGroups), std::end(formats::kStandardGroups),
                                   [&](const formats::TlsGroup& each) { return name == each.name; });
  return found == std::end(formats::kStandardGroups) ? nullptr : found->set;
}

/// True if polykem computes that group: one of its own, or OpenSSL's with ML-KEM from polykem.
bool is_by_polykem(const std::vector<TlsGroup>& offered, const std::string& name, const std::string& provider) {
  const auto found =
      std::find_if(offered.begin(), offered.end(), [&](const TlsGroup& each) { return each.name == name; });
  if (found == offered.end()) return false;
  return !found->built_in || provider_of_kem(kem_of_group(name)) == provider;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Runs handshakes of clients and servers that set no groups. Returns the server, or nullptr if there is none.
std::unique_ptr<LoopbackServer> run_handshakes(ProgramView& view, const std::vector<TlsGroup>& offered,
                                               const std::string& provider, const std::vector<std::string>& names) try {
  auto server = std::make_unique<LoopbackServer>(nullptr);
  view.handshake = server->handshake({});
  if (!view.handshake.error.empty()) {  // a file may exclude ECDSA, as TLS 1.2 does where the list lacks its curve
    server = std::make_unique<LoopbackServer>(nullptr, LoopbackServer::Key::kRsa);
    view.handshake = server->handshake({});
  }
  view.by_polykem = view.handshake.error.empty() && view.handshake.version == "TLSv1.3" &&
                    is_by_polykem(offered, view.handshake.group, provider);
  for (const TlsGroup& group : offered)
    if (names.empty() || contains(names, group.name)) view.results.push_back(try_group(*server, group));
  return server;
} catch (const CliError& e) {
  view.handshake.error = e.what();
  return nullptr;
}

/// Tries each configured group by itself, at a server with the file's list. Returns the group that replaces the first
/// of polykem's, as the file spells it; empty: none does.
std::string try_configured(ProgramView& view, const ConfigFindings& found, const std::vector<std::string>& ours,
                           const LoopbackServer& server) {
  std::string instead;
  for (const std::string& group : found.groups) {
    const Loopback tried = server.handshake({group, ""});
    if (tried.error.empty()) {
      if (instead.empty() && tried.group == view.handshake.group && !contains(ours, group)) instead = group;
    } else if (tried.error.find("does not take the group") == std::string::npos) {
      view.findings.push_back(
          fmt::format("{}a server with this file does not negotiate {}: {}", found.groups_line, group, tried.error));
    }
  }
  return instead;
}

/// Finds out why two such programs do not use polykem although the list is read.
void explain_handshake(ProgramView& view, const ConfigFindings& found, const std::vector<std::string>& ours,
                       const LoopbackServer* server) {
  const Loopback& got = view.handshake;
  const auto first = std::find_if(found.groups.begin(), found.groups.end(),
                                  [&](const std::string& group) { return contains(ours, group); });
  if (server == nullptr || !got.error.empty()) {
    view.findings.push_back("two programs with this file do not connect to each other: " + got.error);
    return;
  }
  if (got.version != "TLSv1.3" && first != found.groups.end()) {
    view.findings.push_back(fmt::format(
        "two programs with this file speak {}, which has no such groups: the file must allow TLSv1.3", got.version));
    return;
  }
  const std::string instead = try_configured(view, found, ours, *server);
  if (first == found.groups.end() || contains(ours, got.group)) return;
  if (!instead.empty())
    view.findings.push_back(
        fmt::format("{}two programs with this file negotiate {}: it stands before {}, so the client sends a key share "
                    "for it alone, and the server takes that",
                    found.groups_line, instead, *first));
  else
    view.findings.push_back(fmt::format("two programs with this file negotiate {}, not {}", got.group, *first));
}

/// True if the default properties hide an algorithm. Then removes them, so that later queries find other faults.
bool examine_properties(ProgramView& view, const ConfigFile& file) {
  const bool had_digest = has_digest(), had_kem = !provider_of_kem(kOwnKem).empty();
  if ((had_digest && had_kem) || !view.active || !file.mentions("default_properties")) return false;
  EVP_set_default_properties(nullptr, "");
  const std::size_t before = view.findings.size();
  if (!had_kem && !provider_of_kem(kOwnKem).empty())
    view.findings.emplace_back(
        "default_properties exclude polykem's algorithms; write default_properties = "
        "?provider=polykem");
  if (!had_digest && has_digest())
    view.findings.emplace_back(
        "default_properties exclude OpenSSL's own algorithms, SHA-256 for example, which every "
        "handshake needs; write default_properties = ?provider=polykem, with the question mark");
  return view.findings.size() > before;
}

/// Finds out why OpenSSL does not load a provider that the file activates.
void explain_load(ProgramView& view, const ConfigFile& file, const ConfigFindings& found) {
  if (view.active) view.notes = found.switched_off;
  if (view.active || !found.loads_polykem) return;
  view.findings.insert(view.findings.end(), found.switched_off.begin(), found.switched_off.end());
  const std::string why = why_not_loaded(file, found.section);
  if (!why.empty())
    view.findings.push_back(fmt::format("OpenSSL does not load polykem by section [{}]: {}", found.section, why));
  if (!found.relative_module.empty()) view.findings.push_back(found.relative_module);
}

void examine_file(ProgramView& view, const std::vector<TlsGroup>& offered, const LoopbackServer* server) {
  const ConfigFile file(view.config_file);
  view.mentions_polykem = file.mentions("polykem");
  std::vector<std::string> ours;
  for (const TlsGroup& group : offered)
    ours.push_back(group.name);
  if (!file.problem().empty()) view.mentions_polykem = true;  // perhaps: the file cannot be read
  if (!view.mentions_polykem) return;
  if (view.failure.empty() && view.active && !view.has_default)
    view.findings.emplace_back("OpenSSL's own provider, 'default', is not active; every program needs it");
  const bool hidden = view.failure.empty() && examine_properties(view, file);
  const ConfigFindings found = examine(file, ours);
  view.section = found.section;
  view.unread_groups = found.names_groups && !found.reads_groups;
  view.groups = found.groups;
  view.findings.insert(view.findings.end(), found.sentences.begin(), found.sentences.end());
  if (!view.failure.empty()) return;
  explain_load(view, file, found);
  view.notes.insert(view.notes.end(), found.notes.begin(), found.notes.end());
  if (view.active && !hidden) explain_handshake(view, found, ours, server);
}

/// Makes texts safe for a terminal, since they quote the file.
void remove_control_characters(std::vector<std::string>& sentences) {
  const auto is_control = [](unsigned char byte) { return byte < 0x20 || byte == 0x7F; };
  for (std::string& each : sentences)
    std::replace_if(each.begin(), each.end(), is_control, '?');
}

/// Makes the view in this process.
ProgramView make_view(const std::vector<std::string>& names) {
  ProgramView view;
  if (OPENSSL_init_ssl(0, nullptr) != 1) view.failure = openssl_errors();
  ERR_clear_error();
  char* path = CONF_get1_default_config_file();
  view.config_file = path == nullptr ? "" : path;
  OPENSSL_free(path);
  view.has_config_file = access(view.config_file.c_str(), R_OK) == 0;
  std::vector<TlsGroup> offered;
  std::unique_ptr<LoopbackServer> server;
  if (view.failure.empty()) {
    const ActiveProviders active = active_providers();
    for (const OSSL_PROVIDER* provider : active.all)
      view.providers.emplace_back(OSSL_PROVIDER_get0_name(provider));
    const auto has = [&](const char* name) { return OSSL_PROVIDER_available(nullptr, name) == 1; };
    view.has_default = has("default") || has("fips");
    view.mlkem_from = provider_of_kem("mlkem768");
    view.active = active.polykem != nullptr;
    if (view.active) {
      view.module = file_of(active.polykem);
      offered = groups_of(active.polykem);
      server = run_handshakes(view, offered, OSSL_PROVIDER_get0_name(active.polykem), names);
    }
  }
  if (view.has_config_file) examine_file(view, offered, server.get());
  remove_control_characters(view.findings);
  remove_control_characters(view.notes);
  return view;
}

/// Reads a pipe to its end.
std::string read_to_end(int descriptor) {
  std::string out;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(descriptor, buffer, sizeof buffer);
    if (n > 0) out.append(buffer, static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return out;
  }
}

void write_whole(int descriptor, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(descriptor, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

/// The body of the other process. It ends without running destructors or flushing buffers of its parent.
[[noreturn]] void send_view_and_exit(int pipe, const std::vector<std::string>& names) {
  alarm(kMaxSeconds);
  int code = 1;
  try {
    write_whole(pipe, nlohmann::json(make_view(names)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    code = 0;
  } catch (const std::exception&) {  // the parent sees that it received nothing
  }
  _exit(code);
}

}  // namespace

std::vector<TlsGroup> groups_of(OSSL_PROVIDER* provider) {
  std::vector<TlsGroup> out;
  OSSL_PROVIDER_get_capabilities(
      provider, "TLS-GROUP",
      [](const OSSL_PARAM params[], void* list) {
        const char* name = nullptr;
        TlsGroup group;
        if (OSSL_PARAM_get_utf8_string_ptr(OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_NAME), &name) == 1)
          group.name = name;
        OSSL_PARAM_get_uint(OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ID), &group.code_point);
        static_cast<std::vector<TlsGroup>*>(list)->push_back(group);
        return 1;
      },
      &out);
  if (!openssl_has_mlkem()) return out;
  for (const formats::TlsGroup& each : formats::kStandardGroups)
    out.push_back({each.name, each.code_point, true});
  return out;
}

GroupResult try_group(const LoopbackServer& server, const TlsGroup& group) {
  GroupResult out{group, server.handshake({group.name, group.name})};
  if (out.loopback.error.empty() && out.loopback.code_point != group.code_point)
    out.loopback.error = fmt::format("the group with code point {} was negotiated", out.loopback.code_point);
  return out;
}

bool openssl_has_mlkem() {
  return OPENSSL_version_major() > 3 || OPENSSL_version_minor() >= 5;
}

ProgramView view_of_program(const std::vector<std::string>& names) {
  int ends[2];
  if (pipe(ends) != 0) throw CliError(kExitResources, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  std::fflush(nullptr);  // otherwise the other process would print what is buffered here
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    send_view_and_exit(ends[1], names);
  }
  close(ends[1]);
  const std::string text = pid > 0 ? read_to_end(ends[0]) : "";
  close(ends[0]);
  if (pid < 0) throw CliError(kExitResources, fmt::format("cannot start a process: {}", std::strerror(errno)));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return nlohmann::json::parse(text).get<ProgramView>();
  ProgramView view;
  const char* path = secure_getenv("OPENSSL_CONF");
  view.config_file = path == nullptr ? "" : path;
  view.has_config_file = path != nullptr;
  view.mentions_polykem = true;
  view.failure = WIFSIGNALED(status)
                     ? fmt::format("signal {} kills it ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                     : "it ends without a result";
  return view;
}

}  // namespace polykem::cli
