// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
//
// The same graph and options give the same order on every machine. Each literal here is the hash of all orders of one
// test. A change that is meant to give other orders changes the literals. A change of compiler, standard library or
// build type must not.

#include <gtest/gtest.h>

#include <string>

#include "lowtide/schedule/orders/order_search.h"
#include "lowtide/schedule/schedule.h"
#include "tests/schedule/order_problems.h"
#include "tests/testing/answer_hash.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::schedule_internal {
namespace {

using testing::AnswerHash;

void add_schedule(AnswerHash& hash, const Graph& graph, const ScheduleOptions& options) {
  const Result<OrderChoice> found = schedule(graph, testing::dense_kernels(graph), options);
  ASSERT_TRUE(found.ok());
  for (NodeId node : found->best.order) hash.add(node.value());
  hash.add(found->best.strategy);
  hash.add(found->best.load.count());
  hash.add(found->bound.count());
  hash.add(found->searched_sets);
  for (const auto& [name, load] : found->tried) {
    hash.add(name);
    hash.add(load.count());
  }
}

TEST(SameAnswers, OfEachStrategy) {
  Random random(1);
  const Graph graph = testing::random_graph(random, 600);
  AnswerHash hash;
  for (const std::string& strategy : schedule_strategies()) {
    add_schedule(hash, graph, {.order = strategy, .effort = 3'000'000});
  }
  EXPECT_EQ(hash.text(), "add8644bee100303");
}

TEST(SameAnswers, OfAllStrategiesTogether) {
  Random random(2);
  AnswerHash hash;
  for (int nodes : {5, 10, 20, 40, 80, 160, 3000}) {
    for (std::int64_t effort : {1, 1'000'000}) {
      add_schedule(hash, testing::random_graph(random, nodes), {.effort = effort});
    }
  }
  EXPECT_EQ(hash.text(), "b9b267ff2b170b69");
}

TEST(SameAnswers, OfTheSearch) {
  Random random(3);
  AnswerHash hash;
  for (int round = 0; round < 60; ++round) {
    const OrderProblem problem =
        testing::random_order_problem(random, {.most_nodes = 5 + round, .edge_percent = 8, .extras = round % 2 == 0});
    const FoundOrder found = search_order(problem, {.work = 1'000'000});
    for (OrderProblem::Index node : found.order) hash.add(node);
    hash.add(found.peak);
    hash.add(found.bound);
    hash.add(found.sets);
    hash.add(found.work);
  }
  EXPECT_EQ(hash.text(), "848d2b7e76ae26ee");
}

}  // namespace
}  // namespace lowtide::schedule_internal
