// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
//
// The same problem and options give the same bytes on every machine. Each literal here is the hash of all answers to
// dozens of problems of one kind. A change that is meant to give other answers changes the literals. A change of
// compiler, standard library, build type or number of threads must not.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/allocate/allocate.h"
#include "lowtide/allocate/regions.h"
#include "lowtide/allocate/slots.h"
#include "tests/allocate/problems.h"
#include "tests/allocate/region_problems.h"
#include "tests/testing/answer_hash.h"

namespace lowtide::testing {
namespace {

void add(AnswerHash& hash, const Packing& packing) {
  for (Offset offset : packing.offsets) hash.add(offset.position());
  hash.add(packing.height.count());
  hash.add(packing.bound.count());
  hash.add(static_cast<std::int64_t>(packing.outcome));
  hash.add(packing.strategy);
  hash.add(packing.witness_time.value_or(-1));
  for (PackingId id : packing.witness_buffers) hash.add(id.value());
  hash.add(packing.decisions);
}

// The hash of all answers, which must be the same with each number of threads.
std::string hash_of(const std::vector<PackingProblem>& problems, std::int64_t effort) {
  std::string one_thread;
  for (int threads : {1, 3}) {
    AnswerHash hash;
    for (const PackingProblem& problem : problems) {
      const Result<Packing> packing = allocate(problem, {.effort = effort, .threads = threads});
      EXPECT_TRUE(packing.ok());
      if (packing.ok()) add(hash, *packing);
    }
    if (threads == 1) one_thread = hash.text();
    EXPECT_EQ(hash.text(), one_thread) << threads << " threads";
  }
  return one_thread;
}

std::vector<PackingProblem> random_problems(std::uint64_t seed, int count, const Features& features) {
  Random random(seed);
  std::vector<PackingProblem> problems;
  while (static_cast<int>(problems.size()) < count) problems.push_back(random_valid_problem(random, features));
  return problems;
}

TEST(SameAnswers, ForPlainLifespans) {
  std::vector<PackingProblem> problems = random_problems(1, 40, {.most_buffers = 60, .moments = 40});
  for (std::uint64_t seed : {1, 2}) {
    problems.push_back(network_like_problem(3000, seed));
    problems.push_back(cut_rectangle(seed, {}));
    problems.push_back(cut_rectangle(seed, {.moments = 1000, .bytes = 100'000, .buffers = 1500}));
  }
  EXPECT_EQ(hash_of(problems, 1), "b15d3cde6e072ff7");
  EXPECT_EQ(hash_of(problems, 100'000), "8281a267e2d9746e");
  EXPECT_EQ(hash_of(problems, 3'000'000), "ac75b3130bb28a74");
}

TEST(SameAnswers, ForGapsAlignmentsAndFixedOffsets) {
  std::vector<PackingProblem> problems = random_problems(2, 60,
                                                         {.most_buffers = 40,
                                                          .most_size = 100,
                                                          .moments = 20,
                                                          .alignments = true,
                                                          .gaps = true,
                                                          .fixed = true,
                                                          .zero_sizes = true});
  problems.push_back(cut_rectangle(3, {.moments = 500, .bytes = 9000, .buffers = 400, .gaps = 20}));
  EXPECT_EQ(hash_of(problems, 1'000'000), "b749040d6ad7cfa1");
}

TEST(SameAnswers, ForRelations) {
  std::vector<PackingProblem> problems = random_problems(3, 40, {.most_buffers = 30, .relation = true});
  problems.push_back(without_time(cut_rectangle(4, {.buffers = 200})));
  problems.push_back(without_time(network_like_problem(500, 5)));
  EXPECT_EQ(hash_of(problems, 1'000'000), "3f2cd697f7c3abcb");
}

TEST(SameAnswers, ForGroups) {
  const Features features = {.most_buffers = 9, .alignments = true, .gaps = true, .colocations = true};
  EXPECT_EQ(hash_of(random_problems(4, 100, features), 1'000'000), "0187798c7ed6bb36");
}

// The capacity is the load. Some problems fit, some are refuted by a search, and some stay undecided.
TEST(SameAnswers, ForCapacities) {
  std::vector<PackingProblem> problems = random_problems(5, 60, {.most_buffers = 60, .moments = 20});
  for (PackingProblem& problem : problems) problem.capacity = Bytes(largest_load(problem));
  EXPECT_EQ(hash_of(problems, 300'000), "1f42a925f0ebf179");
}

TEST(SameAnswers, ForRegions) {
  AnswerHash hash;
  Random random(6);
  for (int round = 0; round < 60; ++round) {
    const RegionProblem problem = random_region_problem(random, {.packing = {.most_buffers = 20, .gaps = true},
                                                                 .weights = true,
                                                                 .forbidden = round % 3 == 0,
                                                                 .alignments = true});
    const Result<RegionPacking> packing = allocate_regions(problem, {.effort = 300'000});
    ASSERT_TRUE(packing.ok());
    for (const Placement& placement : packing->placements) {
      hash.add(placement.region.value());
      hash.add(placement.offset.position());
    }
    for (std::int64_t number : packing->cost) hash.add(number);
    for (std::int64_t number : packing->bound) hash.add(number);
    hash.add(static_cast<std::int64_t>(packing->outcome));
    hash.add(packing->strategy);
    hash.add(packing->decisions);
  }
  EXPECT_EQ(hash.text(), "79bc75e1e998bdfb");
}

TEST(SameAnswers, ForSlots) {
  AnswerHash hash;
  std::vector<PackingProblem> problems =
      random_problems(7, 60, {.most_buffers = 30, .moments = 15, .gaps = true, .zero_sizes = true});
  problems.push_back(network_like_problem(2000, 8));
  problems.push_back(without_time(cut_rectangle(9, {.buffers = 60})));
  for (const PackingProblem& problem : problems) {
    const Result<SlotAssignment> slots = assign_slots(problem, {.effort = 1'000'000});
    ASSERT_TRUE(slots.ok());
    for (SlotId slot : slots->slot) hash.add(slot.value());
    for (Bytes size : slots->sizes) hash.add(size.count());
    hash.add(slots->bound.count());
    hash.add(slots->strategy);
  }
  EXPECT_EQ(hash.text(), "b164d55527ce4ac3");
}

}  // namespace
}  // namespace lowtide::testing
