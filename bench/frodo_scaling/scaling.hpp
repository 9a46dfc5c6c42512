// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's two heavy parts at dimensions far beyond its sets: generating A, and multiplying with it. Each backend
// beside `ref`, on one core.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace polykem::bench {

struct ScalingRequest {
  std::vector<size_t> dimensions;  ///< n of the A that is generated, multiples of 8 up to 65,536
  std::vector<size_t> sizes;       ///< m = n of the A that is multiplied
  std::vector<size_t> widths;      ///< n-bar: columns of S
  double seconds;                  ///< least time for each figure of a backend; `ref` runs once at least
};

/// One figure. B = A S for a product: A is n x n, S is n x width with entries of -12 to 12.
struct ScalingRow {
  std::string part;  ///< "gen_a aes", "gen_a shake" or "product"
  size_t n, width;   ///< width: 0 where A is generated
  std::string backend;
  double milliseconds;  ///< the best run
  double speedup;       ///< over ref
};

struct ScalingReport {
  std::vector<ScalingRow> rows;
  size_t checked = 0;   ///< matrices that were compared with ref's, word by word
  std::string problem;  ///< which one is wrong; "" if all are right
};

/// Told what comes next.
using ScalingProgress = std::function<void(const std::string& part, size_t n, size_t width)>;

/// Figures that one call gives.
size_t scaling_points(const ScalingRequest& request);

/// Measures everything with every backend that this machine can run; stops at the first wrong matrix.
ScalingReport measure_scaling(const ScalingRequest& request, const ScalingProgress& progress);

/// What the plot of products says.
struct ProductLabels {
  std::string title = "Product A S, A n x n", x = "n-bar, columns of S";
};

/// Both parts as plots beside each other, an SVG document: milliseconds over n, and over n-bar.
std::string plot_scaling(const ScalingReport& report, const std::string& title, const ProductLabels& labels = {});

}  // namespace polykem::bench
