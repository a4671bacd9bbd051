// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/run_peak.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const NodeId kA(0);
const NodeId kB(1);
const NodeId kC(2);
const NodeId kD(3);

// a and b of 4 bytes each, c and d of 2; d reads all.
BudgetProblem problem_of_four() {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(0)};
  for (std::int64_t size : {4, 4, 2, 2}) problem.nodes.push_back({.reads = {}, .size = Bytes(size), .cost = 1});
  problem.nodes[kD].reads = {kA, kB, kC};
  return problem;
}

const IdVector<NodeId, std::string> kNames({"a", "b", "c", "d"});
const IdVector<NodeId, std::string> kNoOrigins;

std::vector<PageBand> bands_with(const IdVector<NodeId, std::string>& phases, const std::vector<NodeId>& runs) {
  const BudgetProblem problem = problem_of_four();
  return bands_of_runs({.problem = problem, .runs = runs, .names = kNames, .origins = kNoOrigins, .phases = phases});
}

TEST(BandsOfRuns, JoinsConsecutiveRunsOfOnePhase) {
  const IdVector<NodeId, std::string> phases({"forward", "forward", "backward", "update"});
  EXPECT_THAT(bands_with(phases, {kA, kB, kC, kD}),
              ElementsAre(PageBand{"forward", 0, 2}, PageBand{"backward", 2, 3}, PageBand{"update", 3, 4}));
}

TEST(BandsOfRuns, RerunsAreBandsOfTheirOwn) {
  const IdVector<NodeId, std::string> phases({"forward", "forward", "backward", "forward"});
  // a and b run twice. Behind them, d of the same phase runs for the first time.
  EXPECT_THAT(bands_with(phases, {kA, kB, kC, kA, kB, kD}),
              ElementsAre(PageBand{"forward", 0, 2}, PageBand{"backward", 2, 3}, PageBand{"forward", 3, 5, true},
                          PageBand{"forward", 5, 6}));
}

TEST(BandsOfRuns, RunsWithoutAPhaseAreInNoBand) {
  const IdVector<NodeId, std::string> phases({"forward", "", "forward", ""});
  EXPECT_THAT(bands_with(phases, {kA, kB, kC, kD}), ElementsAre(PageBand{"forward", 0, 1}, PageBand{"forward", 2, 3}));
  EXPECT_THAT(bands_with({}, {kA, kB, kC, kD}), IsEmpty());
  EXPECT_THAT(bands_with(phases, {}), IsEmpty());
}

std::vector<std::string> figures_with(std::optional<Bytes> measured, Bytes fixed = Bytes(88)) {
  const BudgetProblem problem = problem_of_four();
  const std::vector<NodeId> runs{kA, kB, kC, kD};
  std::vector<std::string> texts;
  for (const PageFigure& one : figures_of_runs({.problem = problem,
                               .runs = runs,
                               .names = kNames,
                               .origins = kNoOrigins,
                               .fixed = fixed,
                               .measured = measured})) {
    texts.push_back(one.label + ": " + one.value + ", " + one.detail);
  }
  return texts;
}

// While d runs, 4 + 4 + 2 + 2 and what is always live are there: 100.
TEST(FiguresOfRuns, ComparePredictedAndMeasured) {
  const std::string always = "Always live: 88 B, not drawn; 100 B with the peak";
  const std::string predicted = "Predicted: 100 B, the peak, with what is always live";
  const std::string runs = "Runs: 4, none again";
  EXPECT_THAT(figures_with(std::nullopt), ElementsAre(always, runs));
  EXPECT_THAT(figures_with(Bytes(102)),
              ElementsAre(always, predicted, "Measured: 102 B, 2.0 % above the prediction", runs));
  EXPECT_THAT(figures_with(Bytes(75)),
              ElementsAre(always, predicted, "Measured: 75 B, 25.0 % below the prediction", runs));
  EXPECT_THAT(figures_with(Bytes(100)), ElementsAre(always, predicted, "Measured: 100 B, as predicted", runs));
}

}  // namespace
}  // namespace lowtide
