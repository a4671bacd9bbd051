// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/pipeline/offered_kernels.h"
#include "tests/pipeline/offers.h"
#include "tests/pipeline/planned.h"

namespace lowtide::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// The messages about a plan for `planned`, checked for another target.
std::vector<std::string> wrong_kernels(const Graph& graph, const Target& planned, const Target& checked) {
  std::vector<std::string> messages;
  const Plan plan = must_plan(graph, {}, planned).plan;
  for (const Violation& violation : verify_kernels(graph, plan, offered_kernels(checked))) {
    EXPECT_EQ(violation.kind, ViolationKind::wrong_kernel);
    messages.push_back(violation.body + violation.message);
  }
  return messages;
}

TEST(KernelCheck, AcceptsTheTargetOfThePlan) {
  EXPECT_THAT(wrong_kernels(graph_of(kTwoConvs), fast_and_small(), fast_and_small()), ElementsAre());
  EXPECT_THAT(wrong_kernels(graph_of(kIf), fast_and_small(), fast_and_small()), ElementsAre());
}

TEST(KernelCheck, NamesKernelsThatTheTargetLacks) {
  const Target other = with_offers("Conv", {{.name = "small"}, {.name = "medium"}});
  EXPECT_THAT(wrong_kernels(graph_of(kTwoConvs), fast_and_small(), other),
              Each(HasSubstr("runs kernel 'fast', but the target offers 'small', 'medium'")));
}

TEST(KernelCheck, NamesScratchThatIsTooSmall) {
  const Target larger = with_offers("Conv", {{.name = "fast", .scratch = 513}});
  EXPECT_THAT(wrong_kernels(graph_of(kTwoConvs), fast_and_small(), larger),
              Each(HasSubstr("has 512 bytes of scratch, but kernel 'fast' needs 513")));
}

TEST(KernelCheck, NamesResultsThatAreNotPermittedInPlace) {
  const Target over = with_offers("Relu", {{.name = "relu"}});
  const Target copies = with_offers("Relu", {{.name = "relu", .in_place = false}});
  EXPECT_THAT(wrong_kernels(graph_of(kChain), over, copies),
              ElementsAre(HasSubstr("over an operand, but kernel 'relu' may not work in place there")));
  EXPECT_THAT(wrong_kernels(graph_of(kChain), copies, over), ElementsAre());
}

// p, q and r are inside the bodies of the If, and z is outside.
TEST(KernelCheck, LooksIntoBodies) {
  const Target other = with_offers("Conv", {{.name = "other"}});
  EXPECT_THAT(wrong_kernels(graph_of(kIf), fast_and_small(), other),
              UnorderedElementsAre(AllOf(HasSubstr("then_branch"), HasSubstr("step 0")),
                                   AllOf(HasSubstr("then_branch"), HasSubstr("step 1")), HasSubstr("else_branch"),
                                   Not(HasSubstr("branch"))));
}

}  // namespace
}  // namespace lowtide::testing
