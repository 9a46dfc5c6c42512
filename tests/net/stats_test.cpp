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
  report.peer_errors.add("timeout: too late");
  report.batches.by_op[1].add(5, 3);
  report.batches.busy = std::chrono::nanoseconds(123);
  report.steps.push_back({"encaps", "poly_Rq_mul", "poly_Rq_mul", 1, 2, 3});
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
  EXPECT_EQ(sum.peer_errors.counts().at("timeout: too late"), 2U);
  EXPECT_EQ(sum.batches.by_op[1].batches(), 6U);
  EXPECT_EQ(sum.latency_us.size(), 4U);
  EXPECT_EQ(sum.first_ns, 100);
  EXPECT_EQ(sum.last_ns, 2000);
}

TEST(PeerErrors, StrangersCannotFillThem) {
  PeerErrors errors;
  errors.add("mismatch: the usual", 5);
  for (int i = 0; i < 1000; ++i)
    errors.add("garbage: " + std::to_string(i) + std::string(300, 'x'));
  errors.add("mismatch: the usual");
  const auto& counts = errors.counts();
  EXPECT_EQ(counts.size(), PeerErrors::kMaxTexts + 1);
  EXPECT_EQ(counts.at("mismatch: the usual"), 6U);
  EXPECT_EQ(counts.at("other"), 1000 - PeerErrors::kMaxTexts + 1);
  for (const auto& [text, times] : counts)
    EXPECT_LE(text.size(), PeerErrors::kMaxBytes + 3);
  PeerErrors sum = errors;
  sum.add(errors);
  EXPECT_EQ(sum.counts().size(), PeerErrors::kMaxTexts + 1);
  EXPECT_EQ(sum.counts().at("other"), 2 * counts.at("other"));
}

TEST(PeerErrors, AreFitForATerminal) {
  PeerErrors errors;
  errors.add("garbage: \x1b[2J\n");
  EXPECT_EQ(errors.counts().begin()->first, "garbage: ?[2J?");
}

TEST(Outcomes, OnlyReasonsThatMayBeSentHaveACode) {
  for (unsigned code = 0; code < 256; ++code) {
    const bool may_be_sent = code != 0 && code != 10 && code != 13 && code != 14 && code <= 16;
    EXPECT_EQ(outcome_from_code(static_cast<std::uint8_t>(code)).has_value(), may_be_sent) << code;
  }
  EXPECT_EQ(outcome_from_code(12), Outcome::kMismatch);
}

TEST(Outcomes, NamesAreDistinct) {
  std::map<std::string_view, int> seen;
  for (std::size_t i = 0; i < kOutcomeCount; ++i)
    ++seen[outcome_name(static_cast<Outcome>(i))];
  EXPECT_EQ(seen.size(), kOutcomeCount);
}

}  // namespace
}  // namespace polykem::cli::net
