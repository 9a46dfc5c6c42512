// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "core/build_info.hpp"

namespace polykem::lab {

std::string format(const char* how, double value) {
  char text[64];
  std::snprintf(text, sizeof text, how, value);
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string aligned(const std::vector<Cells>& lines, size_t left) {
  std::vector<size_t> widths(lines.front().size());
  for (const Cells& line : lines) {
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const Cells& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string blanks(widths[i] - line[i].size(), ' ');
      text += (i < left ? line[i] + blanks : blanks + line[i]) + "  ";
    }
    text.resize(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

std::string resources_text(const Resources& r) {
  if (r.registers == 0) return "";
  return std::to_string(r.registers) + " / " + std::to_string(r.shared_bytes) + " / " + std::to_string(r.threads) +
         " x " + std::to_string(r.blocks) + " / " + format("%.0f%%", 100 * r.occupancy);
}

std::string resources_json(const Resources& r) {
  if (r.registers == 0) return "";
  return ", \"registers\": " + std::to_string(r.registers) + ", \"shared_bytes\": " + std::to_string(r.shared_bytes) +
         ", \"threads\": " + std::to_string(r.threads) +
         ", \"blocks_per_multiprocessor\": " + std::to_string(r.blocks) +
         ", \"occupancy\": " + format("%.6g", r.occupancy);
}

std::string build_json() {
  return json_of(kBuild);
}

std::string command_line(const char* program, int argc, char** argv) {
  std::string out = program;
  for (int i = 1; i < argc; ++i)
    out.append(" ").append(argv[i]);
  return out;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "a CPU without a name";
}

}  // namespace polykem::lab
