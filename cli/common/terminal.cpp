// SPDX-License-Identifier: Apache-2.0
#include "common/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace polykem::cli {
namespace {

constexpr std::size_t kDefaultColumns = 80;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

bool takes_escape_codes(int fd) {
  // https://no-color.org: set and not empty.
  return ::isatty(fd) == 1 && variable("TERM") != "dumb" && variable("NO_COLOR").empty();
}

std::size_t output_columns() {
  const std::string_view asked = variable("COLUMNS");
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), columns);
  if (error == std::errc() && end == asked.data() + asked.size() && columns > 0) return columns;
  if (::isatty(STDOUT_FILENO) != 1) return std::numeric_limits<std::size_t>::max();
  struct winsize size {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kDefaultColumns;
}

std::size_t text_columns() {
  constexpr std::size_t kMin = 40, kMax = 100;
  const std::size_t columns = output_columns();
  if (columns == std::numeric_limits<std::size_t>::max()) return kDefaultColumns;
  return std::clamp(columns, kMin, kMax);
}

}  // namespace polykem::cli
