// SPDX-License-Identifier: Apache-2.0
#include "net/stats.hpp"

#include <gtest/gtest.h>

namespace polykem::cli::net {
namespace {

TEST(SizeCounts, Summary) {
  SizeCounts counts;
  counts.add(1, 2);
  counts.add(10);
  counts.add(100);
  EXPECT_EQ(counts.batches(), 4U);
  EXPECT_EQ(counts.items(), 112U);
  EXPECT_EQ(counts.min(), 1U);
  EXPECT_EQ(counts.median(), 1U);
  EXPECT_EQ(counts.max(), 100U);
  EXPECT_DOUBLE_EQ(counts.mean(), 28.0);
  counts.add(10);
  EXPECT_EQ(counts.median(), 10U);
}

TEST(Percentile, NearestRank) {
  EXPECT_EQ(percentile({}, 50), 0U);
  EXPECT_EQ(percentile({7}, 50), 7U);
  EXPECT_EQ(percentile({7}, 99), 7U);
  EXPECT_EQ(percentile({1, 2, 3, 4}, 50), 2U);
  EXPECT_EQ(percentile({1, 2, 3, 4}, 51), 3U);
  EXPECT_EQ(percentile({1, 2, 3, 4}, 99), 4U);
  EXPECT_EQ(percentile({1, 2, 3, 4}, 100), 4U);
}

EndReport sample_report() {
  EndReport report;
  report.outcomes.add(Outcome::kAgreed);
  report.outcomes.add(Outcome::kHalfFrame);
  report.peer_errors["timeout: too late"] = 1;
  report.batches.by_op[1].add(5, 3);
  report.batches.busy = std::chrono::nanoseconds(123);
  report.stages.push_back({"encaps", "poly_Rq_mul", "poly_Rq_mul", 1, 2, 3});
  report.latency_us = {30, 10};
  report.first_ns = 100;
  report.last_ns = 900;
  report.backend = "ref";
  report.threads = 2;
  return report;
}

TEST(EndReport, SurvivesThePipe) {
  const EndReport report = sample_report();
  const EndReport copy = end_report_from_json(Json::parse(to_json(report).dump()));
  EXPECT_EQ(to_json(copy), to_json(report));
  EXPECT_EQ(copy.outcomes.of(Outcome::kHalfFrame), 1U);
  EXPECT_EQ(copy.batches.by_op[1].items(), 15U);
}

TEST(EndReport, MergesTheFiguresOfSeveralProcesses) {
  EndReport sum;
  EndReport later = sample_report();
  later.first_ns = 500;
  later.last_ns = 2000;
  merge(sum, later);
  merge(sum, sample_report());
  EXPECT_EQ(sum.outcomes.agreed(), 2U);
  EXPECT_EQ(sum.outcomes.failed(), 2U);
  EXPECT_EQ(sum.peer_errors["timeout: too late"], 2U);
  EXPECT_EQ(sum.batches.by_op[1].batches(), 6U);
  EXPECT_EQ(sum.latency_us.size(), 4U);
  EXPECT_EQ(sum.first_ns, 100);
  EXPECT_EQ(sum.last_ns, 2000);
}

TEST(Outcomes, NamesAreDistinct) {
  std::map<std::string_view, int> seen;
  for (std::size_t i = 0; i < kOutcomeCount; ++i)
    ++seen[outcome_name(static_cast<Outcome>(i))];
  EXPECT_EQ(seen.size(), kOutcomeCount);
}

}  // namespace
}  // namespace polykem::cli::net
