// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/testing/violations.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// sram (16 bytes): a at 0 and b at 8. dram: c at 0, of weight 3.
//
//   a [0, 2) 8    b [1, 3) 8    c [1, 2) 4       cost: 3 x 4 = 12 outside sram
struct Case {
  RegionProblem problem;
  RegionPacking packing;
};

Case right() {
  Case out;
  const auto add = [&](TimeSpan lifespan, std::int64_t size, std::int64_t weight, Placement placement) {
    out.problem.packing.buffers.push_back({.lifespan = lifespan, .gaps = {}, .size = Bytes(size)});
    out.problem.uses.push_back({.weight = weight, .forbidden = {}});
    out.packing.placements.push_back(placement);
  };
  add({0, 2}, 8, 5, {RegionId(0), Offset(0)});
  add({1, 3}, 8, 5, {RegionId(0), Offset(8)});
  add({1, 2}, 4, 3, {RegionId(1), Offset(0)});
  out.problem.regions.push_back({.capacity = Bytes(16), .alignment = Bytes(8)});
  out.problem.regions.push_back({.capacity = Bytes(100)});
  out.packing.fills.push_back({.height = Bytes(16), .strategy = "best_fit"});
  out.packing.fills.push_back({.height = Bytes(4), .strategy = "best_fit"});
  out.packing.cost = {12};
  out.packing.bound = {12};
  out.packing.proven_optimal = true;
  return out;
}

std::vector<std::string> lines_of_case(const Case& one) {
  return testing::messages_of(check_region_packing(one.problem, one.packing));
}

TEST(RegionPackingCheck, AcceptsACorrectPacking) { EXPECT_THAT(lines_of_case(right()), IsEmpty()); }

struct Fault {
  ViolationKind kind;
  const char* line;
  std::function<void(Case&)> make;
};

TEST(RegionPackingCheck, FindsEachFault) {
  const PackingId a(0);
  const PackingId b(1);
  const PackingId c(2);
  using enum ViolationKind;
  const std::vector<Fault> faults = {
      {malformed, "region 7, but the number of regions is 2",
       [&](Case& one) { one.packing.placements[a].region = RegionId(7); }},
      {misplaced, "in region 1, which is forbidden for it",
       [&](Case& one) { one.problem.uses[c].forbidden = {RegionId(1)}; }},
      {misplaced, "fixed offset in region 0, but is in region 1",
       [&](Case& one) { one.problem.packing.buffers[c].fixed_offset = Offset(0); }},
      {misplaced, "but a colocation joins them",
       [&](Case& one) {
         one.problem.packing.colocations = {{a, c, Bytes(0)}};
       }},
      {overlap, "share bytes",
       [&](Case& one) {
         one.packing.placements[b].offset = Offset(0);
         one.packing.fills[RegionId(0)].height = Bytes(8);
       }},
      {out_of_region, "above the capacity", [&](Case& one) { one.problem.regions[RegionId(0)].capacity = Bytes(15); }},
      {misaligned, "not a multiple of its alignment 16",
       [&](Case& one) { one.problem.regions[RegionId(0)].alignment = Bytes(16); }},
      {wrong_claim, "the height is 16, not 17", [&](Case& one) { one.packing.fills[RegionId(0)].height = Bytes(17); }},
      {wrong_claim, "the cost is {12}, not {11}",
       [&](Case& one) {
         one.packing.cost = {11};
         one.packing.bound = {11};
       }},
      {wrong_claim, "the bound {13} is above the cost {12}",
       [&](Case& one) {
         one.packing.bound = {13};
         one.packing.proven_optimal = false;
       }},
      {wrong_claim, "optimality must be claimed", [&](Case& one) { one.packing.bound = {5}; }},
      {malformed, "2 placements and 2 regions, for 3 buffers", [&](Case& one) { one.packing.placements.resize(2); }},
      {wrong_claim, "but the outcome is not infeasible",
       [&](Case& one) {
         one.packing.witness = RegionWitness{.buffers = {a, b, c}, .regions = {RegionId(0), RegionId(1)}, .time = 1};
       }},
  };
  for (const Fault& fault : faults) {
    Case one = right();
    fault.make(one);
    const std::vector<Violation> found = check_region_packing(one.problem, one.packing);
    ASSERT_FALSE(found.empty()) << fault.line;
    EXPECT_THAT(found.front().message, HasSubstr(fault.line));
    EXPECT_EQ(found.front().kind, fault.kind) << fault.line;
  }
}

TEST(RegionPackingCheck, AnAttemptMayEndAboveACapacity) {
  Case one = right();
  one.problem.regions[RegionId(0)].capacity = Bytes(15);
  one.packing.outcome = PackingOutcome::not_found;
  one.packing.proven_optimal = false;
  EXPECT_THAT(lines_of_case(one), IsEmpty());
}

// At moment 1, all three are live: 20 bytes, above the capacities of 15 + 4.
TEST(RegionPackingCheck, ChecksAWitnessAgainstTheProblem) {
  Case one = right();
  one.problem.regions[RegionId(0)] = {.capacity = Bytes(15)};
  one.problem.regions[RegionId(1)] = {.capacity = Bytes(4)};
  one.packing.outcome = PackingOutcome::infeasible;
  one.packing.proven_optimal = false;
  const RegionWitness witness{.buffers = {PackingId(0), PackingId(1), PackingId(2)},
                              .regions = {RegionId(0), RegionId(1)},
                              .needed = Bytes(20),
                              .capacity = Bytes(19),
                              .time = 1};
  one.packing.witness = witness;
  EXPECT_THAT(lines_of_case(one), IsEmpty());
  one.packing.witness->time = 0;
  EXPECT_THAT(lines_of_case(one),
              ElementsAre(HasSubstr("buffer 1 does not live at 0"), HasSubstr("buffer 2 does not live at 0")));
  one.packing.witness = witness;
  one.packing.witness->regions = {RegionId(0)};
  EXPECT_THAT(lines_of_case(one), ElementsAre(HasSubstr("buffer 2 could lie in region 1")));
  one.packing.witness = witness;
  one.problem.regions[RegionId(1)].capacity = Bytes(5);
  EXPECT_THAT(lines_of_case(one), ElementsAre(HasSubstr("20 bytes fit into 20")));
}

TEST(RegionPackingCheck, RefusesAWitnessThatCannotBeRead) {
  Case one = right();
  one.problem.regions[RegionId(0)] = {.capacity = Bytes(15)};
  one.problem.regions[RegionId(1)] = {.capacity = Bytes(5)};  // all three buffers fit: 20 bytes
  one.packing.outcome = PackingOutcome::infeasible;
  one.packing.proven_optimal = false;
  const RegionWitness witness{.buffers = {PackingId(0), PackingId(1), PackingId(2)},
                              .regions = {RegionId(0), RegionId(1)},
                              .needed = Bytes(20),
                              .capacity = Bytes(20),
                              .time = 1};
  const auto finding = [&](const std::function<void(RegionWitness&)>& change) {
    one.packing.witness = witness;
    change(*one.packing.witness);
    return lines_of_case(one);
  };
  EXPECT_THAT(finding([](RegionWitness& it) { it.buffers.push_back(PackingId(0)); }),
              ElementsAre(HasSubstr("lists a buffer twice")));
  EXPECT_THAT(finding([](RegionWitness& it) { it.buffers.push_back(PackingId(3)); }),
              ElementsAre(HasSubstr("a buffer that does not exist")));
  EXPECT_THAT(finding([](RegionWitness& it) { it.regions.push_back(RegionId(2)); }),
              ElementsAre(HasSubstr("a region that does not exist")));
  EXPECT_THAT(finding([](RegionWitness& it) { it.unit = Bytes(0); }), ElementsAre(HasSubstr("unit is not positive")));
  EXPECT_THAT(finding([](RegionWitness& it) { it.time.reset(); }), ElementsAre(HasSubstr("it names no time")));
}

}  // namespace
}  // namespace lowtide
