// SPDX-License-Identifier: Apache-2.0
#include "net/options.hpp"

#include <fmt/format.h>

namespace polykem::cli::net {
namespace {

constexpr std::size_t kAutoBatchCap = 1024;

CLI::Validator batch_size() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (text == "auto") return {};
        const std::string objection = at_least_one()(text);
        return objection.empty() ? objection : objection + "; use 'auto' or a number of items";
      },
      "");
}

}  // namespace

BatchPolicy NetOptions::policy() const {
  BatchPolicy policy;
  policy.cap = batch == "auto" ? kAutoBatchCap : static_cast<std::size_t>(std::stoull(batch));
  policy.linger = std::chrono::microseconds(linger_us);
  return policy;
}

std::chrono::milliseconds NetOptions::timeout() const {
  return std::chrono::milliseconds(static_cast<std::int64_t>(timeout_seconds * 1000));
}

std::vector<std::string> NetOptions::as_arguments() const {
  std::vector<std::string> arguments = {"--scheme",    scheme,
                                        "--role",      role,
                                        "--batch",     batch,
                                        "--linger-us", std::to_string(linger_us),
                                        "--timeout",   fmt::format("{}", timeout_seconds),
                                        "--threads",   std::to_string(threads)};
  if (!backend.empty()) arguments.insert(arguments.end(), {"--backend", backend});
  return arguments;
}

void add_net_options(CLI::App& command, NetOptions& options, double timeout_seconds) {
  options.timeout_seconds = timeout_seconds;
  command.add_option("-s,--scheme", options.scheme, "Parameter set, see 'polykem list' (default mlkem768)")
      ->type_name("NAME");
  command
      .add_option("--role", options.role,
                  "server-decaps: the server makes a key pair for each client and decapsulates (default); "
                  "server-encaps: each client makes one and the server encapsulates")
      ->check(CLI::IsMember({"server-decaps", "server-encaps"}))
      ->type_name("ROLE");
  command.add_option("--batch", options.batch, "Most items in a batch; auto: 1024 (default), 1: one at a time")
      ->check(batch_size())
      ->type_name("auto|N");
  command
      .add_option("--linger-us", options.linger_us,
                  "How long a batch that is not full waits for more items, in microseconds (default 0: not at all)")
      ->check(CLI::Range(0U, 10'000'000U))
      ->type_name("US");
  command
      .add_option("--timeout", options.timeout_seconds,
                  fmt::format("Seconds the other end may take for its next frame (default {})", timeout_seconds))
      ->check(within(0.05, 86400.0))
      ->type_name("S");
  add_threads(command, options, 0);
  add_backend(command, options);
  add_json(command, options);
  add_quiet(command, options);
  command.add_option("--pipe", options.pipe)->group("");
}

}  // namespace polykem::cli::net
