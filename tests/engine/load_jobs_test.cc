// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/load_jobs.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using engine_internal::load_jobs;
using engine_internal::LoadJob;
using engine_internal::LoadJobGraph;
using engine_internal::LoadJobGraphs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Work on u, which has 4 floats, on v (100 floats) and on w (8 floats). b and e meet in f.
constexpr const char* kWork = R"(graph "work" {
  constant u : f32[4] data 0
  constant v : f32[100] data 1
  constant w : f32[8] data 2
  a = Relu(u) : f32[4]
  b = Relu(v) : f32[100]
  c = Neg(a) : f32[4]
  d = Neg(w) : f32[8]
  e = Neg(v) : f32[100]
  f = Add(b, e) : f32[100]
  output d, f, c
})";

// The names of what the nodes of each job compute.
std::vector<std::string> names_of(const Graph& load, Bytes small) {
  std::vector<std::string> names;
  for (const LoadJob& job : load_jobs(load, small)) names.push_back(testing::names_of(load, job.nodes));
  return names;
}

// Bytes that are needed only meanwhile: u and a (32), v, b and e (1,200), w (32). Of u and w, u comes first.
TEST(LoadJobs, AreSeparateWhereNoTensorJoinsThem) {
  EXPECT_THAT(names_of(testing::graph_of(kWork), Bytes(0)), ElementsAre("bef", "ac", "d"));
}

// u, a and c have 48 bytes together, and w and d 64.
TEST(LoadJobs, AreJoinedAsLongAsTheyAreSmall) {
  const Graph load = testing::graph_of(kWork);
  EXPECT_THAT(names_of(load, Bytes(48 + 64)), ElementsAre("bef", "acd"));
  EXPECT_THAT(names_of(load, Bytes(48 + 64 - 1)), ElementsAre("bef", "ac", "d"));
  EXPECT_THAT(names_of(load, Bytes(1600 + 48 + 64)), ElementsAre("befacd"));
}

TEST(LoadJobs, AreNoneWithoutWork) {
  EXPECT_THAT(names_of(testing::graph_of("graph \"none\" {\n}"), Bytes(100)), IsEmpty());
}

TEST(LoadJobGraphs, HaveTheResultsOfTheirNodes) {
  const Graph load = testing::graph_of(kWork);
  const std::vector<LoadJob> jobs = load_jobs(load, Bytes(48 + 64));
  const LoadJobGraphs graphs(load);
  const Result<LoadJobGraph> large = graphs.graph_of(jobs[0]);
  ASSERT_TRUE(large.ok()) << large.error().describe();
  EXPECT_EQ(print_graph(large->graph), print_graph(testing::graph_of(R"(graph "work" {
    constant v : f32[100] data 1
    b = Relu(v) : f32[100]
    e = Neg(v) : f32[100]
    f = Add(b, e) : f32[100]
    output f
  })")));
  EXPECT_THAT(large->results, ElementsAre(1));
  const Result<LoadJobGraph> small = graphs.graph_of(jobs[1]);
  ASSERT_TRUE(small.ok()) << small.error().describe();
  EXPECT_EQ(print_graph(small->graph), print_graph(testing::graph_of(R"(graph "work" {
    constant u : f32[4] data 0
    a = Relu(u) : f32[4]
    c = Neg(a) : f32[4]
    constant w : f32[8] data 2
    d = Neg(w) : f32[8]
    output c, d
  })")));
  EXPECT_THAT(small->results, ElementsAre(2, 0));
}

}  // namespace
}  // namespace lowtide
