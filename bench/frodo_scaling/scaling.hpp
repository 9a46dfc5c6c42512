// SPDX-License-Identifier: Apache-2.0
// Measures FrodoKEM's two expensive parts, generating A and multiplying by it, at dimensions far beyond its parameter
// sets: each backend beside `ref`, on one core.
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

/// One figure. A product is B = A S, where A is n x n and S is n x width with entries from -12 to 12.
struct ScalingRow {
  std::string part;  ///< "gen_a aes", "gen_a shake" or "product"
  size_t n, width;   ///< width is 0 for the generation of A
  std::string backend;
  double milliseconds;  ///< the best run
  double speedup;       ///< over ref
};

struct ScalingReport {
  std::vector<ScalingRow> rows;
  size_t checked = 0;   ///< number of matrices that were compared with those of `ref`, word by word
  std::string problem;  ///< names the wrong matrix; "" if all are right
};

/// Called with a description of the next measurement.
using ScalingProgress = std::function<void(const std::string& part, size_t n, size_t width)>;

/// Returns the number of figures that a call gives.
size_t scaling_points(const ScalingRequest& request);

/// Measures everything with every backend that this machine can run; stops at the first wrong matrix.
ScalingReport measure_scaling(const ScalingRequest& request, const ScalingProgress& progress);

/// The labels of the plot of products.
struct ProductLabels {
  std::string title = "Product A S, A n x n", x = "n-bar, columns of S";
};

/// Returns an SVG document with plots of both parts side by side: milliseconds over n, and over n-bar.
std::string plot_scaling(const ScalingReport& report, const std::string& title, const ProductLabels& labels = {});

}  // namespace polykem::bench
