// SPDX-License-Identifier: Apache-2.0
// polykem top: shows the activity of a polykemd or a `polykem serve` from its metrics.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "commands.hpp"
#include "common/exit_codes.hpp"
#include "common/json_out.hpp"
#include "common/options.hpp"
#include "common/signals.hpp"
#include "common/streams.hpp"
#include "common/terminal.hpp"
#include "top/figures.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kTopFooter =
    "Examples:\n"
    "  polykem top                                 the polykemd of this machine, until Ctrl-C\n"
    "  polykem top --metrics 10.0.0.7:9464 --interval 5\n"
    "  polykem top --once --json top.json\n"
    "\n"
    "Reads what 'polykemd --metrics' and 'polykem serve --metrics' publish.\n"
    "Rates, batches and times are those of the last interval, 'queue' counts the operations that wait now.\n"
    "Times and batch sizes are rounded up to powers of two.";

struct TopOptions {
  CommonOptions common;
  std::string endpoint = "127.0.0.1:9464";
  double interval = 1;
  bool once = false;
};

/// Repeatedly takes two readings an interval apart.
class Readings {
 public:
  explicit Readings(const TopOptions& options) : options_(options), before_(read()), then_(Clock::now()) {}

  top::Figures next() {
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.interval));
    std::vector<top::Sample> after = read();
    const Clock::time_point now = Clock::now();
    const top::Figures out = top::compare(before_, after, std::chrono::duration<double>(now - then_).count());
    before_ = std::move(after);
    then_ = now;
    return out;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<top::Sample> read() const { return top::parse_samples(top::fetch_metrics(options_.endpoint)); }

  const TopOptions& options_;
  std::vector<top::Sample> before_;
  Clock::time_point then_;
};

/// On a terminal, overwrites the previous display without flicker; otherwise prints below it.
void show(const std::string& text, bool terminal, bool first) {
  if (!terminal) {
    print_out("{}{}", first ? "" : "\n", text);
  } else {
    std::string lines = first ? "\x1b[2J\x1b[H" : "\x1b[H";
    for (const char c : text)
      lines += c == '\n' ? std::string("\x1b[K\n") : std::string(1, c);
    print_out("{}\x1b[J", lines);
  }
  flush_output();
}

int run_top(const TopOptions& options) {
  const bool json = !options.common.json.path.empty();
  if (json && !options.once) throw CliError(kExitUsage, "--json gives one result", "add --once");
  Readings readings(options);
  if (options.once) {
    const top::Figures figures = readings.next();
    write_json(options.common.json, top::to_json(figures, options.endpoint));
    if (!json_to_stdout(options.common.json)) print_out("{}", top::render(figures, options.endpoint));
    return kExitOk;
  }
  set_output_state(OutputState::kNotReported);
  const bool terminal = takes_escape_codes(STDOUT_FILENO);
  for (bool first = true;; first = false)
    show(top::render(readings.next(), options.endpoint), terminal, first);
}

}  // namespace

void register_top(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command = app.add_subcommand("top", "Watch a polykemd or a server: rates, batches, waiting times");
  command->footer(kTopFooter);
  command->add_option("--metrics", options->endpoint, "HOST:PORT where its metrics are (default 127.0.0.1:9464)")
      ->type_name("ADDRESS");
  command->add_option("--interval", options->interval, "Seconds between two readings (default 1)")
      ->check(within(0.1, 3600.0))
      ->type_name("SECONDS");
  command->add_flag("--once", options->once, "Print the figures of one interval and end");
  add_json(*command, options->common);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_top(*options); }); });
}

}  // namespace polykem::cli
