// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "metrics/exporter.hpp"

namespace polykem::cli {

/// All metrics of the source, as they are now. Sets and operations that were never used are left out.
std::vector<prometheus::MetricFamily> metric_families(const MetricsSource& source);

}  // namespace polykem::cli
