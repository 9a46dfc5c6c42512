// SPDX-License-Identifier: Apache-2.0
// Tests polykemd's log in the journal, by what arrives at the journal's socket.
#include "daemon/log.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "folder.hpp"

namespace polykem::cli {
namespace {

struct Journal : testing::Test {
  Journal() {
    struct stat about {};
    ::fstat(STDERR_FILENO, &about);
    ::setenv("JOURNAL_STREAM", (std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino)).c_str(), 1);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Journal() override {
    ::unsetenv("JOURNAL_STREAM");
    ::close(socket);
  }
  /// Returns the next entry; "" if there is none.
  std::string entry() const {
    char bytes[1000];
    const ssize_t got = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
    return got > 0 ? std::string(bytes, static_cast<size_t>(got)) : "";
  }

  broker::Folder folder;
  const std::string path = folder / "journal";
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TEST_F(Journal, TakesFields) {
  const Log log("info", "auto", path);
  EXPECT_TRUE(log.is_structured());
  log.write(Priority::kWarning, "refused", "refused 3 clients", {{"clients", 3}, {"user", "www-data"}});
  EXPECT_EQ(entry(),
            "MESSAGE=refused 3 clients\nPRIORITY=4\nSYSLOG_IDENTIFIER=polykemd\nPOLYKEM_EVENT=refused\n"
            "POLYKEM_CLIENTS=3\nPOLYKEM_USER=www-data\n");
}

TEST_F(Journal, AValueMakesNoFieldOfItsOwn) {
  Log("info", "auto", path).write(Priority::kError, "fails", "a\nPRIORITY=0", {{"hint", "b\nMESSAGE=c"}});
  EXPECT_EQ(entry(),
            "MESSAGE=a?PRIORITY=0\nPRIORITY=3\nSYSLOG_IDENTIFIER=polykemd\nPOLYKEM_EVENT=fails\n"
            "POLYKEM_HINT=b?MESSAGE=c\n");
}

TEST_F(Journal, HearsNothingOfWhatIsAsFieldsElsewhere) {
  testing::internal::CaptureStderr();
  Log("info", "text", path).write(Priority::kInfo, "figures", "text");
  Log("info", "json", path).write(Priority::kInfo, "figures", "json");
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(entry(), "");
  EXPECT_EQ(told.rfind("polykemd: text\n{\"time\":\"", 0), 0U) << told;  // captured output is not the journal
}

TEST_F(Journal, LevelWarningLeavesOutInfo) {
  Log log("warning", "auto", path);
  log.write(Priority::kInfo, "figures", "nothing");
  EXPECT_EQ(entry(), "");
  log.set_level("info");
  log.write(Priority::kInfo, "figures", "something");
  EXPECT_EQ(entry().rfind("MESSAGE=something\n", 0), 0U);
}

TEST_F(Journal, GetsLinesWithoutItsSocket) {
  const Log log("info", "auto", folder / "none");
  testing::internal::CaptureStderr();
  log.write(Priority::kInfo, "figures", "text");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "<6>text\n");
}

}  // namespace
}  // namespace polykem::cli
