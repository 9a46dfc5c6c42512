// SPDX-License-Identifier: Apache-2.0
// The meaning of exit codes. docs/exit_codes.md is the same list for users.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace polykem::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitCheckFailed = 1,  ///< The work ran, and what it checked was wrong: a vector, a secret, a self-test.
  kExitUsage = 2,        ///< The command line does not make sense.
  kExitBadInput = 3,     ///< A file or a peer's bytes are malformed, truncated or of another set.
  kExitBackend = 4,      ///< The backend asked for cannot run here.
  kExitIo = 5,           ///< Reading, writing or the network failed.
  kExitInternal = 6,     ///< A defect in polykem.
  kExitResources = 7,    ///< Not enough memory, file descriptors or entropy.
  kExitSignal = 128,     ///< Plus the signal's number: interrupted. The program then ends by that signal.
};

/// An error that ends the command: a sentence, a hint that says what to do (may be empty), and the exit code.
class CliError : public std::runtime_error {
 public:
  CliError(ExitCode code, const std::string& message, std::string hint = {})
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}
  ExitCode code() const noexcept { return code_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  ExitCode code_;
  std::string hint_;
};

/// Throws CliError (bad input).
[[noreturn]] void bad_input(const std::string& what, const std::string& hint = {});

/// Makes text from a file or a peer safe to print on one line: bytes that are not printable ASCII become '?', and the
/// text is cut at `limit`.
std::string printable(std::string_view text, std::size_t limit = 40);

/// The same for a path, which may be long and in any language: only control characters become '?'.
std::string without_controls(std::string text);

/// Sets the program's name in report(), which is "polykem" by default.
void report_as(const std::string& program);

/// Prints "polykem: message" and the hint, without control characters, on stderr, and as JSON if --json asks for it.
/// Returns `code`.
int report(int code, const std::string& message, const std::string& hint = {});

/// Runs a command's body. Prints any exception by report() and returns its exit code.
int run_guarded(const std::function<int()>& body);

}  // namespace polykem::cli
