// SPDX-License-Identifier: Apache-2.0
// Reads the text format of Prometheus, as far as polykem's own metrics use it.
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

  /// The label's value; empty if there is none.
  const std::string& label(const std::string& key) const;
};

/// All samples, without comments and values below 0 or above 10^18. Throws CliError (bad input) for a malformed line.
std::vector<Sample> parse_samples(std::string_view text);

/// Fetches http://HOST:PORT/metrics within a few seconds. endpoint: "HOST:PORT". Throws CliError: usage if it is
/// malformed, io if the text cannot be fetched.
std::string fetch_metrics(const std::string& endpoint);

}  // namespace polykem::cli::top
