// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "metrics/exporter.hpp"

namespace polykem::cli {

/// The present metrics of the source, without sets and operations that were never used.
std::vector<prometheus::MetricFamily> metric_families(const MetricsSource& source);

}  // namespace polykem::cli
