// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/edit_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/earlier/netdef/net_text.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string text_of(const ProtoMessage& net) { return *write_net(net, NetForm::text); }

std::string normalized(const std::string& text) { return text_of(net_of_text(text)); }

TEST(RenameBlobs, ChangesEveryMentionOfAName) {
  const ProtoMessage net = net_of_text(
      "name: 'a' op { input: 'a' input: 'b' output: 'a' name: 'a' type: 'a' control_input: 'a' }"
      "external_input: 'a' external_output: 'a'");
  EXPECT_EQ(text_of(*rename_blobs(net, {{"a", "c"}})),
            normalized("name: 'a' op { input: 'c' input: 'b' output: 'c' name: 'a' type: 'a' control_input: 'c' }"
                       "external_input: 'c' external_output: 'c'"));
}

// Names are exchanged at once, not one after another.
TEST(RenameBlobs, ExchangesNames) {
  const ProtoMessage net = net_of_text("op { input: 'a' output: 'b' type: 'F' }");
  EXPECT_EQ(text_of(*rename_blobs(net, {{"a", "b"}, {"b", "a"}})),
            normalized("op { input: 'b' output: 'a' type: 'F' }"));
}

const std::string kStep = "op { input: 'x' output: 't' type: 'F' } external_input: 'x'";
const std::string kRenamedStep =
    "op {\\n  input: \\\"m\\\"\\n  output: \\\"t\\\"\\n  type: \\\"F\\\"\\n}\\nexternal_input: \\\"m\\\"\\n";

TEST(RenameBlobs, RenamesStepNetsInBothEncodings) {
  const std::string before = "op { input: 'x' output: 'y' type: 'RecurrentNetwork' arg { name: 'step_net' ";
  const std::string after = "op { input: 'm' output: 'y' type: 'RecurrentNetwork' arg { name: 'step_net' ";
  const std::string argument = " } arg { name: 'x.rename' s: 'm' } }";
  EXPECT_EQ(text_of(*rename_blobs(net_of_text(before + "n { " + kStep + " } } }"), {{"x", "m"}})),
            normalized(after + "n { op { input: 'm' output: 't' type: 'F' } external_input: 'm' }" + argument));
  EXPECT_EQ(text_of(*rename_blobs(net_of_text(before + "s: \"" + kStep + "\" } }"), {{"x", "m"}})),
            normalized(after + "s: \"" + kRenamedStep + "\"" + argument));
}

// The step net is in the binary form: op {input "x", type "F"} has 6 bytes.
TEST(RenameBlobs, KeepsTheFormOfANestedNet) {
  const std::string before =
      R"(op { input: "x" type: "RecurrentNetworkGradient"
              arg { name: "backward_step_net" s: "\022\006\n\001x\"\001F" } })";
  const Result<ProtoMessage> renamed = rename_blobs(net_of_text(before), {{"x", "m"}});
  ASSERT_TRUE(renamed.ok()) << renamed.error().describe();
  EXPECT_THAT(text_of(*renamed), HasSubstr(R"(s: "\022\006\n\001m\"\001F")"));
  EXPECT_THAT(text_of(*renamed), HasSubstr("\"x.rename\""));
}

// Other texts are not nets, whatever they contain.
TEST(RenameBlobs, LeavesOtherArgumentsAlone) {
  const std::string text =
      "op { input: 'x' type: 'F' arg { name: 'order' s: 'x' } arg { name: 'names' strings: 'x' } }";
  EXPECT_EQ(text_of(*rename_blobs(net_of_text(text), {{"x", "m"}})),
            normalized("op { input: 'm' type: 'F' arg { name: 'order' s: 'x' } arg { name: 'names' strings: 'x' } }"));
}

std::vector<std::string> types_of_ops(const ProtoMessage& net) {
  std::vector<std::string> types;
  for (const ProtoMessage* op : messages_of(net, 2)) {
    const std::string type(find_text(*op, 4).value_or(""));
    types.push_back(type == "Free" ? "Free " + std::string(find_text(*op, 1).value_or("")) : type);
  }
  return types;
}

// Caffe2's own example: x, y and z are released, u and its alias and the result are not.
TEST(AddFreeOps, ReleasesWhatIsReadForTheLastTime) {
  const ProtoMessage net = net_of_text(
      "op { type: 'FC' input: 'data' output: 'x' } op { type: 'A' input: 'x' output: 'y' }"
      "op { type: 'B' input: 'x' output: 'z' } op { type: 'C' input: 'y' output: 'u' }"
      "op { type: 'Alias' input: 'u' output: 'u_alias' } op { type: 'Sum' input: ['z', 'u'] output: 'out' }"
      "external_output: 'out'");
  EXPECT_THAT(types_of_ops(*add_free_ops(net)),
              ElementsAre("FC", "A", "B", "Free x", "C", "Free y", "Alias", "Sum", "Free z"));
  EXPECT_THAT(types_of_ops(*add_free_ops(net, {"x", "z"})), ElementsAre("FC", "A", "B", "C", "Free y", "Alias", "Sum"));
}

TEST(AddFreeOps, KeepsWhatIsReadBeforeItIsWritten) {
  const ProtoMessage net = net_of_text(
      "op { type: 'A' input: 's' input: 's' output: 't' } op { type: 'B' input: 't' output: 's' }"
      "op { type: 'C' input: 's' output: 'u' }");
  EXPECT_THAT(types_of_ops(*add_free_ops(net)), ElementsAre("A", "B", "Free t", "C"));
}

// Operator C reads t in its nested net.
TEST(AddFreeOps, WaitsForNestedNets) {
  const ProtoMessage net = net_of_text(
      "op { type: 'A' input: 's' output: 't' } op { type: 'B' input: 't' output: 'u' }"
      "op { type: 'C' input: 'u' output: 'v' arg { name: 'body' n { op { type: 'D' input: 't' output: 'w' } } } }");
  EXPECT_THAT(types_of_ops(*add_free_ops(net)), ElementsAre("A", "B", "C", "Free u", "Free t"));
}

// The two branches are siblings: what then_net writes says nothing about the reads of else_net. Both orders of them.
TEST(AddFreeOps, WaitsForBothBranches) {
  const std::string writes = "arg { name: 'then_net' n { op { type: 'Copy' input: 'g' output: 'h' } } } ";
  const std::string reads = "arg { name: 'else_net' n { op { type: 'Relu' input: 'h' output: 'y' } } } ";
  for (const std::string& branches : {writes + reads, reads + writes}) {
    const ProtoMessage net = net_of_text(
        "op { type: 'Copy' input: 'x' output: 'h' } op { type: 'Copy' input: 'h' output: 'g' }"
        "op { type: 'If' input: 'g' output: 'y' " +
        branches + "} external_output: 'y'");
    EXPECT_THAT(types_of_ops(*add_free_ops(net)), ElementsAre("Copy", "Copy", "If", "Free g", "Free h"));
  }
}

// A Free operator of t would be a second writer of what C waits for.
TEST(AddFreeOps, WaitsForControlInputs) {
  const ProtoMessage net = net_of_text(
      "op { type: 'A' input: 's' output: 't' } op { type: 'B' input: 't' output: 'u' }"
      "op { type: 'C' input: 'u' output: 'v' control_input: 't' }");
  EXPECT_THAT(types_of_ops(*add_free_ops(net)), ElementsAre("A", "B", "C", "Free u", "Free t"));
}

TEST(ReorderOps, KeepsTheOtherFields) {
  const ProtoMessage net =
      net_of_text("name: 'n' op { type: 'A' } op { type: 'B' } external_input: 'x' op { type: 'C' }");
  EXPECT_EQ(text_of(reorder_ops(net, {2, 0, 1})),
            normalized("name: 'n' op { type: 'C' } op { type: 'A' } op { type: 'B' } external_input: 'x'"));
}

}  // namespace
}  // namespace lowtide::testing
