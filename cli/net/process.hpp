// SPDX-License-Identifier: Apache-2.0
// The child processes of `polykem exchange`, and the pipe on which they report, one JSON value per line.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/streambuf.hpp>

#include "common/json_out.hpp"

namespace polykem::cli::net {

/// A child process that runs this program with other arguments and "--pipe FD". It ends when its parent ends.
class Child {
 public:
  /// Starts the process. Throws CliError (resources) if the system refuses.
  Child(asio::io_context& loop, const std::vector<std::string>& arguments);
  /// Ends the process if it still runs, first with SIGTERM.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Called for each line that the child writes.
  void on_message(std::function<void(const Json&)> callback) { on_message_ = std::move(callback); }
  /// Called once, after the child has ended, with its exit code (128 + signal if one killed it).
  void on_exit(std::function<void(int)> callback) { on_exit_ = std::move(callback); }
  /// Starts reading.
  void start() { read_line(); }
  /// Asks it to report and end. Only the first call has an effect, because a second signal would end it without a
  /// report.
  void stop();
  bool running() const { return pid_ > 0; }

 private:
  void read_line();
  int reap();

  asio::posix::stream_descriptor pipe_;
  asio::streambuf buffer_;
  pid_t pid_ = -1;
  bool stopping_ = false;
  std::function<void(const Json&)> on_message_;
  std::function<void(int)> on_exit_;
};

/// Writes a message from the child to the pipe. Errors are ignored, because the child ends anyway if the parent is
/// gone.
void write_message(int fd, const Json& message);

}  // namespace polykem::cli::net
