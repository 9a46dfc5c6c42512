// SPDX-License-Identifier: Apache-2.0
// Tests a check of the other end of a connection, before the loop reports anything.
#include "net/connection.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <asio/ip/address_v4.hpp>
#include <asio/write.hpp>

#include "common/context.hpp"

namespace polykem::cli::net {
namespace {

/// A connection of a server and the socket of its client. The loop does not run, so only the check reports anything.
struct ALook : testing::Test, ConnectionOwner {
  ALook() {
    asio::ip::tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
    client.connect(acceptor.local_endpoint());
    asio::ip::tcp::socket accepted = acceptor.accept();
    descriptor = accepted.native_handle();
    connection = std::make_shared<Connection>(std::move(accepted), *this);
    session = std::make_shared<ServerSession>(scheme, Role::kServerDecaps, *connection);
    connection->attach(session);
    connection->start();
  }

  void on_finished(Connection& /*connection*/, Outcome outcome, const std::string& /*detail*/) override {
    outcomes.push_back(outcome);
  }
  void on_closed(Connection& /*connection*/) override {
    ++closed;
    connection.reset();
  }
  KemOperations& operations() override { return all; }

  bool knows(short event) const {
    pollfd server{descriptor, event, 0};
    return ::poll(&server, 1, 100'000) == 1;
  }
  /// Checks once, as soon as the kernel knows that the client has closed its end.
  bool is_noticed() {
    EXPECT_TRUE(knows(POLLRDHUP));
    session->kem_starting();
    return closed != 0;
  }

  asio::io_context loop{1};
  Context context{1};
  Scheme scheme = open_scheme("mlkem512");
  KemOperations all{loop, context, scheme, {64, {}}};
  asio::ip::tcp::socket client{loop};
  int descriptor = -1;  // of the server's end
  std::shared_ptr<Connection> connection;
  std::shared_ptr<ServerSession> session;
  std::vector<Outcome> outcomes;
  int closed = 0;
};

TEST_F(ALook, AtAClientThatIsThereReportsNothing) {
  session->kem_starting();
  asio::write(client, asio::buffer("x", 1));
  ASSERT_TRUE(knows(POLLIN));
  session->kem_starting();
  EXPECT_TRUE(outcomes.empty());
  EXPECT_EQ(closed, 0);
}

TEST_F(ALook, AtAClientThatHasHungUpReportsThatOnce) {
  client.close();
  EXPECT_TRUE(is_noticed());
  session->kem_starting();
  loop.run();  // where the connection waited for bytes
  EXPECT_EQ(outcomes, std::vector{Outcome::kDisconnected});
  EXPECT_EQ(closed, 1);
}

TEST_F(ALook, AtAResetReportsIt) {
  client.set_option(asio::socket_base::linger(true, 0));
  client.close();
  EXPECT_TRUE(is_noticed());
  EXPECT_EQ(outcomes, std::vector{Outcome::kDisconnected});
}

/// The operation of a closed connection is not computed.
TEST_F(ALook, CancelsWhatWasAsked) {
  all.add(POLYKEM_KEYGEN, session);
  client.close();
  EXPECT_TRUE(is_noticed());
  EXPECT_EQ(all.pending(), 0U);
  loop.run();
  EXPECT_EQ(all.stats().by_op[POLYKEM_KEYGEN].items(), 0U);
}

}  // namespace
}  // namespace polykem::cli::net
