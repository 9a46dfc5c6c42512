// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error: opened if they are closed, and the only place that prints.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace polykem::cli {

/// Opens those of the descriptors 0, 1 and 2 that are closed, such that reading and writing them still fails: otherwise
/// the next file that is opened would get the number, and with it what is printed. Belongs at the beginning of main();
/// ends the program if it is impossible.
void open_standard_streams() noexcept;

/// Whether a command that reads, or writes, `path` does so from standard input, or to standard output: by "-", by
/// another name such as /dev/stdout, or because the pipe at this path is that stream.
bool is_standard_input(const std::string& path) noexcept;
bool is_standard_output(const std::string& path) noexcept;

/// Why nothing can be written to `path`, if it names a standard stream ("-" or, say, /dev/stdout) that is closed or
/// only open for reading; else nullptr.
const char* closed_stream(const std::string& path) noexcept;

/// Prints on standard output. Throws CliError (io).
void print_text(const std::string& text);
template <class... T>
void print_out(fmt::format_string<T...> format, T&&... arguments) {
  print_text(fmt::format(format, std::forward<T>(arguments)...));
}

/// Writes what was printed and waits in memory. Throws CliError (io).
void flush_output();

/// The same without throwing: a sentence if something that was printed could not be written, else "". Each failure is
/// told once.
std::string lost_output();

/// Prints on standard error. What cannot be written there is lost: nowhere else could that be said.
void print_error_text(const char* text, std::size_t size) noexcept;
template <class... T>
void print_error(fmt::format_string<T...> format, T&&... arguments) noexcept {
  try {
    const std::string text = fmt::format(format, std::forward<T>(arguments)...);
    print_error_text(text.data(), text.size());
  } catch (...) {  // no memory for the sentence
  }
}

}  // namespace polykem::cli
