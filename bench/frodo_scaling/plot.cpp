// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "scaling.hpp"

namespace polykem::bench {

namespace {

constexpr double kWidth = 1180, kHeight = 520, kTop = 56, kBottom = 460, kLabelWidth = 30;

/// A curve: the backend's colour, the dash pattern of the part, and points (x, milliseconds).
struct Curve {
  std::string label, colour, dashes;
  std::vector<std::pair<double, double>> points;
};

/// One of the two plots; both axes are logarithmic.
struct Panel {
  std::string title, x_label;
  double left, right;
  std::vector<double> ticks;
  std::vector<Curve> curves;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return text;
}

std::string colour_of(const std::string& backend) {
  static const std::map<std::string, std::string> colours = {{"ref", "#777777"},          {"avx2", "#d95f02"},
                                                             {"avx512", "#1b6ca8"},       {"GPU", "#2a7f3b"},
                                                             {"GPU, a batch", "#7a3fa0"}, {"a core", "#1b6ca8"}};
  const auto found = colours.find(backend);
  return found == colours.end() ? "#000000" : found->second;
}

/// Maps values logarithmically to positions between two pixels.
struct Axis {
  double low, high, from, to;
  double at(double value) const {
    return from + (to - from) * (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  }
};

std::string text_at(double x, double y, const std::string& text, const char* anchor, int size) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\" font-size=\"" +
         std::to_string(size) + "\">" + text + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
         "\" stroke=\"" + colour + "\"/>\n";
}

std::string drawn_curve(const Curve& curve, const Axis& x, const Axis& y) {
  std::string path, dots;
  for (const auto& [at, milliseconds] : curve.points) {
    path += number(x.at(at)) + "," + number(y.at(milliseconds)) + " ";
    dots += "<circle cx=\"" + number(x.at(at)) + "\" cy=\"" + number(y.at(milliseconds)) + "\" r=\"2.6\" fill=\"" +
            curve.colour + "\"/>\n";
  }
  return "<polyline fill=\"none\" stroke-width=\"1.6\" stroke=\"" + curve.colour + "\" stroke-dasharray=\"" +
         curve.dashes + "\" points=\"" + path + "\"/>\n" + dots;
}

std::string legend(const Panel& panel) {
  std::string out;
  double row = kTop + 14;
  for (const Curve& curve : panel.curves) {
    out += "<line x1=\"" + number(panel.right + 8) + "\" y1=\"" + number(row - 4) + "\" x2=\"" +
           number(panel.right + 34) + "\" y2=\"" + number(row - 4) + "\" stroke=\"" + curve.colour +
           "\" stroke-width=\"1.6\" stroke-dasharray=\"" + curve.dashes + "\"/>\n";
    out += text_at(panel.right + 38, row, curve.label, "start", 11);
    row += 15;
  }
  return out;
}

std::string drawn_panel(const Panel& panel) {
  if (panel.curves.empty()) return "";
  double low = panel.curves.front().points.front().second, high = low;
  for (const Curve& curve : panel.curves) {
    for (const auto& point : curve.points) {
      low = std::min(low, point.second);
      high = std::max(high, point.second);
    }
  }
  const double first = std::pow(10, std::floor(std::log10(low))), last = std::pow(10, std::ceil(std::log10(high)));
  const double margin = std::pow(panel.ticks.back() / panel.ticks.front(), 0.04) + 1e-3;
  const Axis x{panel.ticks.front() / margin, panel.ticks.back() * margin, panel.left, panel.right};
  const Axis y{first, last * 1.0001, kBottom, kTop};
  std::string out = text_at((panel.left + panel.right) / 2, kTop - 12, panel.title, "middle", 14);
  for (double tick = first; tick <= last * 1.001; tick *= 10) {
    out += line(panel.left, y.at(tick), panel.right, y.at(tick), "#dddddd");
    out += text_at(panel.left - 6, y.at(tick) + 4, number(tick), "end", 11);
  }
  double labelled = -kLabelWidth;
  for (const double tick : panel.ticks) {
    out += line(x.at(tick), kBottom, x.at(tick), kBottom + 4, "#000000");
    if (x.at(tick) - labelled < kLabelWidth) continue;
    labelled = x.at(tick);
    out += text_at(x.at(tick), kBottom + 18, number(tick), "middle", 11);
  }
  out += line(panel.left, kBottom, panel.right, kBottom, "#000000");
  out += line(panel.left, kTop, panel.left, kBottom, "#000000");
  out += text_at((panel.left + panel.right) / 2, kBottom + 38, panel.x_label, "middle", 12);
  out += text_at(panel.left - 44, kTop - 12, "ms", "start", 12);
  for (const Curve& curve : panel.curves)
    out += drawn_curve(curve, x, y);
  return out + legend(panel);
}

void add_point(Panel& panel, const ScalingRow& row, const std::string& label, const std::string& dashes, double x) {
  const auto found =
      std::find_if(panel.curves.begin(), panel.curves.end(), [&](const Curve& c) { return c.label == label; });
  Curve& curve = found != panel.curves.end()
                     ? *found
                     : panel.curves.emplace_back(Curve{label, colour_of(row.backend), dashes, {}});
  curve.points.push_back({x, row.milliseconds});
  if (std::find(panel.ticks.begin(), panel.ticks.end(), x) == panel.ticks.end()) panel.ticks.push_back(x);
}

}  // namespace

std::string plot_scaling(const ScalingReport& report, const std::string& title, const ProductLabels& labels) {
  Panel generation{"Generation of A (n x n)", "n", 60, 430, {}, {}};
  Panel product{labels.title, labels.x, 640, 1010, {}, {}};
  static const std::vector<std::string> kDashes = {"1 0", "9 4", "4 3", "1.5 2.5", "9 3 2 3", "5 2 1 2 1 2"};
  std::map<size_t, size_t> sizes;  // the index of each n, which chooses its dashes
  for (const ScalingRow& row : report.rows) {
    if (row.width == 0) {
      const bool aes = row.part == "gen_a aes";
      add_point(generation, row, row.backend + (aes ? ", AES-128" : ", SHAKE128"), aes ? "1 0" : "5 3",
                static_cast<double>(row.n));
    } else {
      const size_t number = sizes.emplace(row.n, sizes.size()).first->second;
      add_point(product, row, row.backend + ", n = " + std::to_string(row.n), kDashes[number % kDashes.size()],
                static_cast<double>(row.width));
    }
  }
  for (Panel* panel : {&generation, &product})
    std::sort(panel->ticks.begin(), panel->ticks.end());
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(kWidth) + "\" height=\"" + number(kHeight) +
         "\" font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         text_at(kWidth / 2, 20, title, "middle", 15) + drawn_panel(generation) + drawn_panel(product) + "</svg>\n";
}

}  // namespace polykem::bench
