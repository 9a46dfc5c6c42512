// SPDX-License-Identifier: Apache-2.0
#include "tls/probe.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/exit_codes.hpp"
#include "tls/server_hello.hpp"

namespace polykem::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongList = 80;  // bytes

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  void reset() {
    if (number_ >= 0) close(number_);
  }
  int number_;
};

/// Waits until the descriptor is ready. Returns false after `end`.
bool wait_for(int descriptor, short events, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd entry{descriptor, events, 0};
    const int result = poll(&entry, 1, static_cast<int>(std::min<long long>(left, 1000)));
    if (result > 0) return true;
    if (result < 0 && errno != EINTR) return true;  // the caller's next call reports the error
  }
}

std::string numeric(const addrinfo& at) {
  char host[NI_MAXHOST] = "";
  getnameinfo(at.ai_addr, at.ai_addrlen, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return host;
}

/// Connects to an address. Returns 0, or an errno value.
int try_address(const addrinfo& at, Clock::time_point end, Descriptor& out) {
  out = Descriptor(socket(at.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (out.get() < 0) return errno;
  if (connect(out.get(), at.ai_addr, at.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(out.get(), POLLOUT, end)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(out.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

/// Connects to the first address that accepts. One that does not answer leaves time for the others.
Descriptor connect_to(const Endpoint& server, Clock::time_point end, std::string& address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int code = getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found);
  if (code != 0)
    throw CliError(kExitIo, fmt::format("cannot find '{}': {}", printable(server.host), gai_strerror(code)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
  int error = 0, left = 0;
  for (const addrinfo* each = all.get(); each != nullptr; each = each->ai_next)
    ++left;
  for (const addrinfo* each = all.get(); each != nullptr; each = each->ai_next) {
    Descriptor out;
    error = try_address(*each, Clock::now() + (end - Clock::now()) / left--, out);
    address = numeric(*each);
    if (error == 0) return out;
  }
  throw CliError(kExitIo, fmt::format("cannot connect to {} port {}: {}", printable(server.host), server.port,
                                      std::strerror(error)));
}

/// The ServerHellos of a handshake.
struct ReceivedHellos {
  ServerHello last;
  bool any = false, retried = false;
};

void record_hello(int is_written, int /*version*/, int type, const void* data, std::size_t size, SSL* /*ssl*/,
                  void* to) {
  if (is_written != 0 || type != SSL3_RT_HANDSHAKE) return;
  auto& hellos = *static_cast<ReceivedHellos*>(to);
  ServerHello hello;
  if (!read_server_hello({static_cast<const std::uint8_t*>(data), size}, hello)) return;
  hellos.any = true;
  hellos.retried = hellos.retried || hello.is_retry;
  hellos.last = hello;
}

/// Throws CliError for a failed handshake, of the kind that the first error in OpenSSL's queue shows.
[[noreturn]] void throw_failed_handshake(const std::string& where, const std::string& groups, bool received_hello) {
  const unsigned long code = ERR_peek_error();
  const int reason = ERR_GET_REASON(code);
  const std::string text = openssl_errors();
  if (code == 0 || ERR_SYSTEM_ERROR(code))
    throw CliError(kExitIo, fmt::format("{} closes the connection during the handshake", where),
                   "does it speak TLS at this port?");
  if (ERR_GET_LIB(code) != ERR_LIB_SSL)  // the library that parsed the server's bytes
    throw CliError(kExitBadInput, fmt::format("{}: malformed TLS handshake: {}", where, text),
                   "is this a TLS 1.3 port?");
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST || reason == SSL_R_PACKET_LENGTH_TOO_LONG)
    throw CliError(kExitBadInput, fmt::format("{} does not speak TLS: {}", where, text));
  if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
    throw CliError(kExitIo, fmt::format("{} closes the connection during the handshake", where),
                   "does it speak TLS at this port?");
  if (reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE && !received_hello)
    throw CliError(kExitCheckFailed, fmt::format("{} refuses the handshake: {}", where, text),
                   groups.size() > kLongList ? "it may have none of the groups that are offered"
                                             : fmt::format("it may have none of the groups {}", groups));
  throw CliError(kExitCheckFailed, fmt::format("the handshake with {} fails: {}", where, text));
}

void run_handshake(SSL* ssl, const std::string& where, const std::string& groups, const ReceivedHellos& hellos,
                   std::chrono::milliseconds timeout, Clock::time_point end) {
  for (;;) {
    ERR_clear_error();
    const int result = SSL_connect(ssl);
    if (result == 1) return;
    const int error = SSL_get_error(ssl, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
      throw_failed_handshake(where, groups, hellos.any);
    if (!wait_for(SSL_get_fd(ssl), error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, end))
      throw CliError(kExitIo,
                     fmt::format("{} does not end the handshake within {:g} s", where,
                                 std::chrono::duration<double>(timeout).count()),
                     "does it speak TLS at this port? --timeout waits longer");
  }
}

std::string subject_of(SSL* ssl) {
  const OpensslPtr<X509> certificate(SSL_get1_peer_certificate(ssl));
  if (certificate == nullptr) return "";
  const OpensslPtr<BIO> text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate.get()), 0, XN_FLAG_RFC2253);
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return printable(std::string_view(data, static_cast<std::size_t>(std::max(0L, size))), 200);
}

/// The group of TLS 1.2, which is not in its ServerHello.
std::string classical_group(SSL* ssl) {
  EVP_PKEY* raw = nullptr;
  if (SSL_get_peer_tmp_key(ssl, &raw) != 1) return "";
  const OpensslPtr<EVP_PKEY> key(raw);
  char name[64] = "";
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key.get(), name, sizeof name, &size) == 1) return name;
  const char* type = EVP_PKEY_get0_type_name(key.get());
  return type == nullptr ? "" : type;
}

void describe_session(SSL* ssl, const ReceivedHellos& hellos, Probe& out) {
  out.version = SSL_get_version(ssl);
  out.cipher = SSL_get_cipher_name(ssl);
  out.retried = hellos.retried;
  out.subject = subject_of(ssl);
  if (SSL_version(ssl) < TLS1_3_VERSION) {
    out.group = classical_group(ssl);
    return;
  }
  out.code_point = hellos.last.group;
  const char* name = SSL_group_to_name(ssl, static_cast<int>(SSL_get_negotiated_group(ssl)));
  out.group = name == nullptr ? "" : name;
}

bool is_address(const std::string& host) {
  unsigned char buffer[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), buffer) == 1 || inet_pton(AF_INET6, host.c_str(), buffer) == 1;
}

/// SSL_set_tlsext_host_name without its C-style cast.
void set_server_name(SSL* ssl, std::string name) {
  SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
}

}  // namespace

Endpoint parse_endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Endpoint out;
  if (colon != std::string::npos) {
    out = {text.substr(0, colon), text.substr(colon + 1)};
    if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
      out.host = out.host.substr(1, out.host.size() - 2);
    else if (out.host.find(':') != std::string::npos)
      out.host.clear();
  }
  const bool is_number =
      !out.port.empty() && out.port.size() <= 5 && out.port.find_first_not_of("0123456789") == std::string::npos;
  if (out.host.empty() || out.host == "[]" || !is_number || std::stoul(out.port) == 0 || std::stoul(out.port) > 65535)
    throw CliError(kExitUsage, fmt::format("'{}' is not HOST:PORT", printable(text)),
                   "for example --connect localhost:443, or [::1]:443");
  return out;
}

Probe probe_server(OSSL_LIB_CTX* context, const Endpoint& server, const std::string& groups,
                   std::chrono::milliseconds timeout) {
  const std::string where = fmt::format("{} port {}", printable(server.host), server.port);
  const Clock::time_point end = Clock::now() + timeout;
  ERR_clear_error();
  const OpensslPtr<SSL_CTX> settings(SSL_CTX_new_ex(context, nullptr, TLS_client_method()));
  if (settings == nullptr || SSL_CTX_set1_groups_list(settings.get(), groups.c_str()) != 1)
    throw CliError(kExitCheckFailed, "libssl does not take the groups: " + openssl_errors());
  SSL_CTX_set_min_proto_version(settings.get(), TLS1_2_VERSION);  // whatever openssl.cnf says
  SSL_CTX_set_max_proto_version(settings.get(), 0);
  SSL_CTX_set_verify(settings.get(), SSL_VERIFY_NONE, nullptr);
  const OpensslPtr<SSL> ssl(SSL_new(settings.get()));
  if (ssl == nullptr) throw std::bad_alloc();
  ReceivedHellos hellos;
  SSL_set_msg_callback(ssl.get(), record_hello);
  SSL_set_msg_callback_arg(ssl.get(), &hellos);
  if (!is_address(server.host)) set_server_name(ssl.get(), server.host);
  Probe out;
  const Descriptor connection = connect_to(server, end, out.address);
  SSL_set_fd(ssl.get(), connection.get());
  const Clock::time_point start = Clock::now();
  run_handshake(ssl.get(), where, groups, hellos, timeout, end);
  out.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  describe_session(ssl.get(), hellos, out);
  SSL_shutdown(ssl.get());
  ERR_clear_error();
  return out;
}

}  // namespace polykem::cli
