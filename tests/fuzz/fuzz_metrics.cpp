// SPDX-License-Identifier: Apache-2.0
// The text that `polykem top` reads from an untrusted address: any text gives samples or an error, and samples can be
// shown.
#include <string_view>

#include "common.hpp"
#include "common/exit_codes.hpp"
#include "top/figures.hpp"

using polykem::fuzz::require;
namespace top = polykem::cli::top;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view before = text.substr(0, size / 2), after = text.substr(size / 2);
  try {
    const top::Figures figures = top::compare(top::parse_samples(before), top::parse_samples(after), 1);
    require(!top::render(figures, "here").empty(), "there is something to show");
    top::to_json(figures, "here").dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  } catch (const polykem::cli::CliError&) {
  }
  return 0;
}
