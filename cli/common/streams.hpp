// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error. Only this file prints.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace polykem::cli {

/// Opens those of the descriptors 0, 1 and 2 that are closed, in a way that reading and writing them still fails.
/// Otherwise the next opened file would get the number and receive what is printed. Call it at the beginning of main();
/// it ends the program on failure.
void open_standard_streams() noexcept;

/// True if `path`, when it is read or written, is standard input or output: "-", another name such as /dev/stdout, or
/// the pipe that is that stream.
bool is_standard_input(const std::string& path) noexcept;
bool is_standard_output(const std::string& path) noexcept;

/// The reason why `path` cannot be written, if it names a standard stream (such as "-" or /dev/stdout) that is closed
/// or open only for reading; otherwise nullptr.
const char* closed_stream(const std::string& path) noexcept;

/// Prints on standard output. Throws CliError (io).
void print_text(const std::string& text);
template <class... T>
void print_out(fmt::format_string<T...> format, T&&... arguments) {
  print_text(fmt::format(format, std::forward<T>(arguments)...));
}

/// Writes buffered output. Throws CliError (io).
void flush_output();

/// The same without throwing. Returns a sentence if printed text could not be written, otherwise "". Each failure is
/// reported once.
std::string lost_output();

/// Prints on standard error. Text that cannot be written is lost, since there is no other place to report it.
void print_error_text(const char* text, std::size_t size) noexcept;
template <class... T>
void print_error(fmt::format_string<T...> format, T&&... arguments) noexcept {
  try {
    const std::string text = fmt::format(format, std::forward<T>(arguments)...);
    print_error_text(text.data(), text.size());
  } catch (...) {  // no memory to format the text
  }
}

}  // namespace polykem::cli
