// SPDX-License-Identifier: Apache-2.0
#include "top/samples.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <iterator>
#include <utility>

#include <asio/ip/tcp.hpp>

#include "common/exit_codes.hpp"
#include "metrics/endpoint.hpp"

namespace polykem::cli::top {
namespace {

constexpr auto kTimeout = std::chrono::seconds(5);
constexpr double kMaxValue = 1e18;
constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxLabelBytes = 100;

/// Parses a line from its beginning. Throws CliError if it is malformed.
class LineParser {
 public:
  explicit LineParser(std::string_view text) : whole_(text), rest_(text) {}

  bool empty() const { return rest_.empty(); }
  bool skip(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!skip(c)) fail();
  }
  std::string up_to(const char* ends) {
    const std::size_t end = rest_.find_first_of(ends);
    if (end == 0 || end == std::string_view::npos) fail();
    std::string out(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return out;
  }
  std::string quoted() {
    expect('"');
    std::string out;
    while (!rest_.empty() && rest_.front() != '"') {
      const bool escaped = skip('\\');
      if (rest_.empty()) fail();
      out += escaped && rest_.front() == 'n' ? '\n' : rest_.front();
      rest_.remove_prefix(1);
    }
    expect('"');
    return out;
  }
  double number() {
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  [[noreturn]] void fail() const {
    bad_input(fmt::format("not a line of metrics: '{}'", printable(whole_)), "is that polykem's --metrics address?");
  }

 private:
  std::string_view whole_, rest_;
};

Sample parse_line(std::string_view text) {
  LineParser line(text);
  Sample out;
  out.name = line.up_to("{ ");
  if (line.skip('{')) {
    while (!line.skip('}')) {
      const std::string key = line.up_to("=");
      line.expect('=');
      out.labels[key] = printable(line.quoted(), kMaxLabelBytes);  // it goes to a terminal
      line.skip(',');
    }
  }
  line.expect(' ');
  out.value = line.number();
  return out;
}

}  // namespace

const std::string& Sample::label(const std::string& key) const {
  static const std::string none;
  const auto found = labels.find(key);
  return found == labels.end() ? none : found->second;
}

std::vector<Sample> parse_samples(std::string_view text) {
  std::vector<Sample> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    Sample sample = parse_line(line);
    if (sample.value >= 0 && sample.value < kMaxValue) out.push_back(std::move(sample));
  }
  return out;
}

std::string fetch_metrics(const std::string& endpoint) {
  if (!is_host_and_port(endpoint)) {
    throw CliError(kExitUsage, fmt::format("--metrics: '{}' is not HOST:PORT", printable(endpoint)),
                   "for example 127.0.0.1:9464");
  }
  const std::size_t colon = endpoint.rfind(':');
  std::string host = endpoint.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  asio::ip::tcp::iostream stream;
  stream.expires_after(kTimeout);
  stream.connect(host, endpoint.substr(colon + 1));
  stream << "GET /metrics HTTP/1.0\r\nHost: " << endpoint << "\r\nConnection: close\r\n\r\n" << std::flush;
  std::string answer;
  char part[4096];
  while (answer.size() < kMaxBytes && (stream.read(part, sizeof part) || stream.gcount() > 0))
    answer.append(part, static_cast<std::size_t>(stream.gcount()));
  const std::size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos) {
    throw CliError(kExitIo, fmt::format("no metrics at {}: {}", endpoint, stream.error().message()),
                   "start 'polykemd --metrics HOST:PORT' or 'polykem serve --metrics HOST:PORT'");
  }
  if (answer.rfind("HTTP/1.", 0) != 0 || answer.substr(8, 4) != " 200")
    throw CliError(kExitIo, fmt::format("{} answers '{}'", endpoint, printable(answer.substr(0, answer.find('\r')))));
  return answer.substr(body + 4);
}

}  // namespace polykem::cli::top
