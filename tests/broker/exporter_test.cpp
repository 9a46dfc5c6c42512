// SPDX-License-Identifier: Apache-2.0
// Tests the pages at the metrics' address while a broker serves, and when it ends.
#include "metrics/exporter.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <polykem/polykem.hpp>

#include <string>

#include "folder.hpp"

namespace polykem::cli {
namespace {

/// Returns the whole answer to a request for `path`.
std::string get(std::uint16_t port, const std::string& path, const std::string& method = "GET",
                const std::string& fields = "") {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string out;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = method + " " + path + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
    EXPECT_EQ(::write(socket, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    char bytes[4096];
    for (ssize_t got = 0; (got = ::read(socket, bytes, sizeof bytes)) > 0;)
      out.append(bytes, static_cast<size_t>(got));
  }
  ::close(socket);
  return out;
}

bool begins(const std::string& text, const std::string& with) {
  return text.rfind(with, 0) == 0;
}

TEST(Exporter, IsNotReadyWhileTheBrokerEnds) {
  const broker::Folder folder;
  const std::string path = folder / "socket";
  const Context context(1);
  const Batcher batcher(context);
  polykem_broker_config config{};
  config.struct_size = sizeof config;
  config.path = path.c_str();
  polykem_broker* broker = nullptr;
  ASSERT_EQ(polykem_broker_new(batcher.handle(), &config, &broker), POLYKEM_OK);
  Exporter exporter("127.0.0.1:0", {"polykemd", batcher.handle(), broker});
  EXPECT_TRUE(begins(get(exporter.port(), "/readyz"), "HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(get(exporter.port(), "/metrics").find("polykem_broker_clients 0"), std::string::npos);
  exporter.begin_drain();
  polykem_broker_free(broker);
  EXPECT_TRUE(begins(get(exporter.port(), "/readyz"), "HTTP/1.1 503 "));
  EXPECT_TRUE(begins(get(exporter.port(), "/healthz"), "HTTP/1.1 200 OK\r\n"));
  const std::string metrics = get(exporter.port(), "/metrics");
  EXPECT_NE(metrics.find("polykem_build_info"), std::string::npos);
  EXPECT_EQ(metrics.find("polykem_broker_"), std::string::npos);
}

TEST(Exporter, ServesWithoutABroker) {
  const Context context(1);
  const Batcher batcher(context);
  const Exporter exporter("127.0.0.1:0", {"polykem serve", batcher.handle()});
  EXPECT_TRUE(begins(get(exporter.port(), "/healthz"), "HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(begins(get(exporter.port(), "/readyz"), "HTTP/1.1 200 OK\r\n"));
}

TEST(Exporter, RefusesOtherRequests) {
  const Context context(1);
  const Batcher batcher(context);
  const Exporter exporter("127.0.0.1:0", {"polykem serve", batcher.handle()});
  for (const char* path : {"/", "/x", "/metrics/x", "/metrics/", "/metricsx", "/../../etc/passwd", "/%zz%00"})
    EXPECT_TRUE(begins(get(exporter.port(), path), "HTTP/1.1 404 ")) << path;
  for (const char* method : {"POST", "DELETE"})
    EXPECT_TRUE(begins(get(exporter.port(), "/metrics", method, "Content-Length: 0\r\n"), "HTTP/1.1 405 ")) << method;
  for (const char* method : {"PUT", "PROPFIND", "OPTIONS"})
    EXPECT_TRUE(begins(get(exporter.port(), "/x", method, "Content-Length: 0\r\n"), "HTTP/1.1 404 ")) << method;
  const std::string upgrade =
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: abc\r\n";
  EXPECT_TRUE(begins(get(exporter.port(), "/x", "GET", upgrade), "HTTP/1.1 404 "));
  EXPECT_TRUE(begins(get(exporter.port(), "/healthz"), "HTTP/1.1 200 OK\r\n"));
}

}  // namespace
}  // namespace polykem::cli
