// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/verify/check_sharing.h"
#include "tests/testing/graphs.h"
#include "tests/testing/violations.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes 0 and 1 use a, and node 2 is the first that uses late.
class LateInputs : public ::testing::Test {
 protected:
  LateInputs()
      : graph_(graph_of(R"(graph "g" {
    input x : u8[8]
    input late : u8[8]
    a = F(x) : u8[8]
    b = F(a) : u8[8]
    o = G(b, late) : u8[8]
    output o
  })")) {
    claim_.order = given_order(graph_);
    claim_.places = IdVector<TensorId, std::optional<SharingPlace>>(graph_.tensors().size());
    claim_.blocks = {Bytes(8)};
    for (const char* name : {"a", "late"}) claim_.places[tensor_named(graph_, name)] = SharingPlace{0, Offset(0)};
  }
  std::vector<std::string> found() const { return messages_of(check_sharing(graph_, claim_)); }

  Graph graph_;
  SharingClaim claim_;
};

TEST_F(LateInputs, ShareWithWhatIsDeadBefore) {
  EXPECT_EQ(found().size(), 1U);  // inputs are there from the start
  claim_.inputs_at_first_use = true;
  EXPECT_THAT(found(), IsEmpty());
  claim_.places[tensor_named(graph_, "b")] = claim_.places[tensor_named(graph_, "a")];
  EXPECT_FALSE(found().empty());  // b is live with a, and with late
}

// In wave 0, x and a are both in use.
TEST_F(LateInputs, AreLiveFromTheFirstWaveThatUsesThem) {
  claim_.inputs_at_first_use = true;
  claim_.execution = ExecutionModel::waves;
  for (std::uint32_t wave : {0U, 1U, 2U}) claim_.wave.push_back(wave);
  EXPECT_THAT(found(), IsEmpty());
  claim_.places[tensor_named(graph_, "x")] = claim_.places[tensor_named(graph_, "a")];
  EXPECT_FALSE(found().empty());  // x and a are live in wave 0
}

TEST_F(LateInputs, AreNotForDataflow) {
  claim_.inputs_at_first_use = true;
  claim_.execution = ExecutionModel::dataflow;
  EXPECT_THAT(found(), ElementsAre("the claim has inputs at their first use, which dataflow does not allow; use "
                                   "sequence or waves"));
}

}  // namespace
}  // namespace lowtide::testing
