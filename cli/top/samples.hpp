// SPDX-License-Identifier: Apache-2.0
// Reading the text format of Prometheus, as far as polykem's own metrics need it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace polykem::cli::top {

/// One line of the text: name{label="value",...} value.
struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;

  /// Empty if it has no such label.
  const std::string& label(const std::string& key) const;
};

/// All samples; comments, and values below 0 or beyond 10^18, are left out. Throws CliError (bad input) for a line that
/// is none of these.
std::vector<Sample> parse_samples(std::string_view text);

/// The text at http://HOST:PORT/metrics, fetched within a few seconds. `place` is "HOST:PORT". Throws CliError: usage
/// for a place that is malformed, io if it cannot be fetched.
std::string fetch_metrics(const std::string& place);

}  // namespace polykem::cli::top
