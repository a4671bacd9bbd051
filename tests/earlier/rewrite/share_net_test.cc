// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/share_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lowtide/earlier/netdef/compare_nets.h"
#include "tests/earlier/baselines/ports/plain_net.h"
#include "tests/earlier/netdef/net_text.h"
#include "tests/earlier/rewrite/shared_nets.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// A result waits for the step after its reader, so three alternate: x1 and x3, x2 and x4.
TEST(ShareNet, RenamesAChain) {
  const SharedNet answer = shared(chain_text(5, ""), {.rule = "caffe2_simple"});
  EXPECT_THAT(answer.names, ElementsAre(Pair("x1", "__m0_shared"), Pair("x2", "__m1_shared"), Pair("x3", "__m0_shared"),
                                        Pair("x4", "__m1_shared")));
}

TEST(ShareNet, LeavesAPlannedNetAsItIs) {
  const std::string text = chain_text(5, "name: 'n' ");
  const SharedNet once = shared(text, {.rule = "caffe2_simple"});
  const SharedNet twice = shared(*write_net(once.net, NetForm::text), {.rule = "caffe2_simple"});
  EXPECT_EQ(twice.already_has, "__m0_shared");
  EXPECT_EQ(*write_net(twice.net, NetForm::text), *write_net(once.net, NetForm::text));
  EXPECT_THAT(twice.names, IsEmpty());
}

TEST(ShareNet, KeepsWhatTheCallerLists) {
  EXPECT_FALSE(shared(chain_text(5, ""), {.rule = "caffe2_simple", .keep = {"x1"}}).names.contains("x1"));
  EXPECT_THAT(refusal(chain_text(5, ""), {.rule = "caffe2_simple", .keep = {"z"}}), HasSubstr("has no blob 'z'"));
}

// x1 to x4 in two buffers, of which x3 and x4 are the last contents. What is kept is not released either.
TEST(ShareNet, ReleasesWhatIsNotKept) {
  const SharedNet answer = shared(chain_text(5, ""), {.rule = "caffe2_simple", .free_dead = true});
  EXPECT_THAT(freed_in(answer.net), ElementsAre("__m0_shared", "__m1_shared"));
  EXPECT_EQ(answer.freed, 2);
  const SharedNet kept = shared(chain_text(3, ""), {.rule = "caffe2_simple", .keep = {"x1"}, .free_dead = true});
  EXPECT_EQ(kept.names, (BlobNames{{"x2", "__m0_shared"}}));
  EXPECT_THAT(freed_in(kept.net), ElementsAre("__m0_shared"));
  const std::string planned = *write_net(shared(chain_text(5, ""), {.rule = "caffe2_simple"}).net, NetForm::text);
  const SharedNet twice = shared(planned, {.rule = "caffe2_simple", .free_dead = true});
  EXPECT_EQ(*write_net(twice.net, NetForm::text), planned);
  EXPECT_EQ(twice.freed, 0);
}

// x1, x2 and x3 are each read once, and nothing shares.
TEST(ShareNet, ReleasesWithoutSharing) {
  const SharedNet answer = shared(chain_text(4, ""), {.rule = "none", .free_dead = true});
  EXPECT_THAT(answer.names, IsEmpty());
  EXPECT_THAT(freed_in(answer.net), ElementsAre("x1", "x2", "x3"));
  EXPECT_EQ(answer.outcome.bytes, answer.outcome.naive);
  EXPECT_EQ(answer.outcome.shared_buffers, 0);
  const SharedNet some = shared(chain_text(4, ""), {.rule = "none", .free_dead = true, .free_only = {"x2"}});
  EXPECT_THAT(freed_in(some.net), ElementsAre("x2"));
  EXPECT_THAT(refusal(chain_text(4, ""), {.rule = "none"}), HasSubstr("nothing to do without Free operators"));
  EXPECT_THAT(refusal(chain_text(4, ""), {.rule = "none", .free_dead = true, .free_only = {"z"}}),
              HasSubstr("no blob 'z', which is to be released"));
  EXPECT_THAT(refusal(chain_text(4, ""), {.free_only = {"x2"}}), HasSubstr("none are asked for"));
}

// A shared buffer is released only if each of its blobs may be: x1 and x3 are one.
TEST(ShareNet, ReleasesBuffersOfWhichAllBlobsAreListed) {
  const auto freed = [](std::vector<std::string> blobs) {
    return freed_in(
        shared(chain_text(5, ""), {.rule = "caffe2_simple", .free_dead = true, .free_only = std::move(blobs)}).net);
  };
  EXPECT_THAT(freed({"x1"}), IsEmpty());
  EXPECT_THAT(freed({"x1", "x3"}), ElementsAre("__m0_shared"));
}

// Operator If reads q in its net, where it is not yet a blob of the outer net. The later blob q keeps its name.
TEST(ShareNet, KeepsNamesOfNestedNetsThatBecomeBlobsLater) {
  const std::string text =
      "op { type: 'Copy' input: 'x' output: 'a' } op { type: 'Copy' input: 'a' output: 'b' }"
      "op { type: 'If' input: 'b' output: 'c' arg { name: 'then_net' n { op { type: 'Relu' input: 'q' output: 'r' } } "
      "} }"
      "op { type: 'Copy' input: 'c' output: 'q' } op { type: 'Copy' input: 'q' output: 'y' } external_output: 'y'";
  for (const std::string& rule : share_rules()) {
    EXPECT_FALSE(shared(text, {.rule = rule}).names.contains("q")) << rule;
  }
}

// x1 waits in a control input behind the reads of its memory.
TEST(ShareNet, KeepsWhatOperatorsWaitFor) {
  std::string text = chain_text(5, "");
  text.replace(text.find("output: 'x5'"), 12, "output: 'x5' control_input: 'x1'");
  for (const std::string& rule : share_rules()) {
    const SharedNet answer = shared(text, {.rule = rule, .free_dead = true});
    EXPECT_FALSE(answer.names.contains("x1")) << rule;
    EXPECT_TRUE(compare_nets(net_of_text(text), answer.net)->is_same) << rule;
  }
}

TEST(ShareNet, RefusesRulesThatAreWrongForTheNet) {
  EXPECT_THAT(refusal(chain_text(5, "type: 'dag' "), {.rule = "caffe2_simple"}), HasSubstr("use caffe2_dag"));
  EXPECT_THAT(refusal(chain_text(5, "type: 'async_dag' "), {}), HasSubstr("may run its operators in parallel"));
  EXPECT_EQ(refusal(chain_text(5, "type: 'dag' "), {.rule = "caffe2_dag"}), "accepted");
  EXPECT_THAT(refusal(chain_text(5, ""), {.rule = "tflite_micro_greedy"}),
              HasSubstr("known rules: lowtide, caffe2_simple"));
  const std::string frees = chain_text(3, "") + " op { type: 'Free' input: 'x1' output: 'x1' }";
  EXPECT_THAT(refusal(frees, {.rule = "caffe2_simple"}), HasSubstr("has Free operators"));
}

// Two branches: a (100 bytes) -> b (1), c (100) -> d (1). In the given order a and c are there at the same time: 100 +
// 100 + 1 + 1. One branch after the other needs one buffer of 100 for a and c: 100 + 1 + 1.
TEST(ShareNet, ChoosesAnOrderWithLessMemory) {
  const std::string text =
      "op { type: 'Copy' input: 'x' output: 'a' } op { type: 'Copy' input: 'x' output: 'c' }"
      "op { type: 'Concat' input: 'a' output: 'b' } op { type: 'Concat' input: 'c' output: 'd' }"
      "op { type: 'Sum' input: 'b' input: 'd' output: 'y' } external_input: 'x' external_output: 'y'";
  NetGraphOptions sizes;
  for (const char* name : {"x", "a", "c"}) sizes.types[name] = {DType::u8, {100, 1}};
  std::string other = text;
  for (std::size_t at = other.find("Concat"); at != std::string::npos; at = other.find("Concat"))
    other.replace(at, 6, "AveragedLoss");
  const SharedNet answer = shared(other, {}, sizes);
  EXPECT_TRUE(answer.is_reordered);
  EXPECT_EQ(answer.outcome.bytes, Bytes(100 + 4 + 4 + 4));  // b, d and y are scalars of f32
  EXPECT_THAT(answer.names, ElementsAre(Pair("a", "__m0_shared"), Pair("c", "__m0_shared")));
}

// Operators of unknown meaning keep their order, since they may act on more than their blobs.
TEST(ShareNet, KeepsTheOrderOfUnknownOperators) {
  const std::string text =
      "op { type: 'Load' input: 'x' output: 'a' } op { type: 'Load' input: 'x' output: 'c' }"
      "op { type: 'Shrink' input: 'a' output: 'b' } op { type: 'Shrink' input: 'c' output: 'd' }"
      "op { type: 'Sum' input: 'b' input: 'd' output: 'y' } external_input: 'x' external_output: 'y'";
  NetGraphOptions sizes;
  for (const char* name : {"x", "a", "c"}) sizes.types[name] = {DType::u8, {100}};
  for (const char* name : {"b", "d"}) sizes.types[name] = {DType::u8, {1}};
  EXPECT_FALSE(shared(text, {}, sizes).is_reordered);
}

// The step net reads x1 and writes its own x3, so that the outer x3 keeps its name.
TEST(ShareNet, RenamesStepNets) {
  const std::string step = "op { input: 'x1' output: 'x3' type: 'F' } external_input: 'x1'";
  const std::string text = chain_text(5, "") + " op { type: 'RecurrentNetwork' input: 'x1' output: 'y'" +
                           " arg { name: 'step_net' n { " + step + " } } } external_output: 'y'";
  const SharedNet answer = shared(text, {.rule = "caffe2_simple"});
  EXPECT_FALSE(answer.names.contains("x3"));
  ASSERT_TRUE(answer.names.contains("x1"));
  const std::string written = *write_net(answer.net, NetForm::text);
  EXPECT_THAT(written, HasSubstr("input: \"" + answer.names.at("x1") + "\"\n        output: \"x3\""));
  EXPECT_THAT(written, HasSubstr("name: \"x1.rename\"\n    s: \"" + answer.names.at("x1") + "\""));
  EXPECT_TRUE(compare_nets(net_of_text(text), answer.net)->is_same);
}

// Three FC, whose gradients share: the net of Caffe2's own test, with fewer layers.
TEST(ShareNet, SharesGradients) {
  const std::string text = R"(type: "dag"
op { type: "FC" input: ["data", "fc1_w", "fc1_b"] output: "fc1" }
op { type: "FC" input: ["fc1", "fc2_w", "fc2_b"] output: "fc2" }
op { type: "FC" input: ["fc2", "fc3_w", "fc3_b"] output: "fc3" }
op { type: "AveragedLoss" input: "fc3" output: "loss" }
op { type: "ConstantFill" input: "loss" output: "loss_grad" }
op { type: "AveragedLossGradient" input: ["fc3", "loss_grad"] output: "fc3_grad" }
op { type: "FCGradient" input: ["fc2", "fc3_w", "fc3_grad"] output: ["fc3_w_grad", "fc3_b_grad", "fc2_grad"] }
op { type: "FCGradient" input: ["fc1", "fc2_w", "fc2_grad"] output: ["fc2_w_grad", "fc2_b_grad", "fc1_grad"] }
op { type: "FCGradient" input: ["data", "fc1_w", "fc1_grad"] output: ["fc1_w_grad", "fc1_b_grad", "data_grad"] }
external_input: ["data", "fc1_w", "fc1_b", "fc2_w", "fc2_b", "fc3_w", "fc3_b"]
external_output: "loss"
)";
  const SharedNet answer = shared(text, {.rule = "caffe2_gradients"});
  EXPECT_FALSE(answer.names.empty());
  for (const auto& [name, renamed] : answer.names) {
    EXPECT_TRUE(name.ends_with("_grad")) << name;
    EXPECT_FALSE(name.ends_with("_w_grad") || name.ends_with("_b_grad")) << name;
  }
  EXPECT_FALSE(answer.names.contains("data_grad"));  // the gradient of an external input
  const SharedNet hosted = shared(text, {.rule = "caffe2_gradients", .share_activations = true});
  EXPECT_LE(*hosted.outcome.blobs_left, *answer.outcome.blobs_left);
}

// Every rule on random nets: the result is the net up to its names, with its results in place. share_net checks that
// as well; here it is checked with the net that is read again.
TEST(ShareNet, IsTheNetUpToItsNames) {
  Random random(63);
  int reordered = 0;
  for (int round = 0; round < 300; ++round) {
    const PlainNet plain = plain_net_of(random_plain_net(random, {.nodes = static_cast<int>(random.between(2, 20)),
                                                                  .inputs = 2,
                                                                  .written_again = 20,
                                                                  .read_twice = 10,
                                                                  .sizes = 9}));
    std::string text;
    for (const PlainNet::Op& op : plain.ops) {
      text += std::string("op { type: '") + (random.chance(70) ? "Sum" : "F") + "' ";
      for (const std::string& name : op.inputs) text += "input: '" + name + "' ";
      for (const std::string& name : op.outputs) text += "output: '" + name + "' ";
      text += "}\n";
    }
    for (const std::string& name : plain.outputs) text += "external_output: '" + name + "'\n";
    const ProtoMessage net = net_of_text(text);
    for (const std::string& rule : share_rules()) {
      const SharedNet answer = shared(text, {.rule = rule});
      const ProtoMessage freed = *add_free_ops(answer.net);
      const Result<NetComparison> comparison = compare_nets(net, net_of_text(*write_net(freed, NetForm::text)));
      ASSERT_TRUE(comparison->is_same) << rule << "\n" << text << *write_net(answer.net, NetForm::text);
      reordered += answer.is_reordered ? 1 : 0;
    }
  }
  EXPECT_GT(reordered, 0);
}

// Each net with damage is refused, or planned with a result that is the net.
TEST(ShareNet, RefusesOrPlansAnyDamage) {
  const std::string good = R"(name: "small"
op { type: "Relu" input: "x" output: "a" device_option { device_type: 1 } }
op { type: "Sum" input: ["a", "x"] output: "a" control_input: "a" }
op { type: "Copy" input: "a" output: "b" } op { type: "F" input: ["b", "a"] output: ["c", "b"] }
op { type: "RecurrentNetwork" input: "c" output: "d"
     arg { name: "step_net" s: "op { type: 'G' input: 'b' output: 'e' }" } }
op { type: "If" input: "d" output: "y" arg { name: "then_net" n { op { type: "Copy" input: "c" output: "y" } } } }
external_input: "x" external_output: "y" external_output: "b"
)";
  const std::string binary = *write_net(net_of_text(good), NetForm::binary);
  Random random(64);
  int planned = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = random.chance(50) ? good : binary;
    for (std::uint64_t count = random.below(3) + 1; count > 0; --count) {
      const std::size_t at = random.below(damaged.size());
      const std::size_t from = random.below(damaged.size());
      if (random.chance(50)) damaged[at] = damaged[from];
      if (random.chance(20)) damaged.insert(at, damaged.substr(from, random.below(60)));
      if (random.chance(20)) damaged[at] = static_cast<char>(random.below(256));
    }
    const Result<NetFile> file = read_net(damaged);
    const Result<NetGraph> graph =
        file ? graph_of_net(file->net, {.unit_sizes = true}) : Result<NetGraph>(file.error());
    if (!graph) continue;
    for (const char* rule : {"lowtide", "caffe2_simple", "caffe2_dag", "caffe2_gradients"}) {
      const Result<SharedNet> answer = share_net(file->net, *graph, {.rule = rule});
      if (!answer) continue;
      ++planned;
      EXPECT_TRUE(compare_nets(file->net, answer->net)->is_same) << damaged;
    }
  }
  EXPECT_GT(planned, 500);
}

std::vector<AssignedBlob> rows_of(const std::string& csv) {
  Result<std::vector<AssignedBlob>> rows = parse_assigned_blobs(csv);
  if (!rows) throw std::runtime_error(rows.error().describe());
  return *std::move(rows);
}

// x2 and x4 are in one slot already. x1 and x3 share another.
TEST(ShareNet, BeginsWithAssignedSlots) {
  const SharedNet plain = shared(chain_text(6, ""), {.rule = "caffe2_interference_greedy"});
  EXPECT_THAT(plain.names, ElementsAre(Pair("x1", "x5"), Pair("x2", "x4"), Pair("x3", "x5")));
  const SharedNet answer = shared(chain_text(6, ""), {.rule = "caffe2_interference_greedy",
                                                      .assigned = rows_of("slot,blob\nmine,x4\nmine,x1\nyours,x3\n")});
  // x5 follows x3, x2 finds no slot and no follower
  EXPECT_THAT(answer.names, ElementsAre(Pair("x1", "x4"), Pair("x3", "x5")));
}

TEST(ShareNet, RefusesAssignedSlotsByRow) {
  const auto refused = [](const std::string& rows, const std::string& rule) {
    return refusal(chain_text(5, ""), {.rule = rule, .assigned = rows_of("slot,blob\n" + rows)});
  };
  const std::string exact = "caffe2_interference_exact";
  EXPECT_EQ(refused("a,x1\n\na,z\n", exact), "line 4: the net has no blob 'z'");
  EXPECT_EQ(refused("a,x1\nb,x3\na,x1\n", exact), "line 4: 'x1' is assigned twice; list it once");
  EXPECT_EQ(refused("b,x3\na,x1\na,x2\n", exact),
            "line 4: 'x1' and 'x2' are assigned to one slot, but the first is still needed when the second is written, "
            "by node 2 of the order");
  EXPECT_THAT(refused("a,x0\n", exact), HasSubstr("line 2: 'x0' is assigned to a slot, but inputs"));
  EXPECT_THAT(refused("a,x1\n", "caffe2_simple"), HasSubstr("'caffe2_simple' cannot begin with assigned slots"));
  EXPECT_THAT(refused("a,x1\n", "lowtide"), HasSubstr("only caffe2_interference_greedy and"));
  EXPECT_EQ(refused("a,x1\na,x3\n", exact), "accepted");
}

TEST(AssignedBlobs, AreReadFromRows) {
  const std::vector<AssignedBlob> rows = rows_of("slot,blob\r\n 0 , a,b \n\n1,c");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].slot + "|" + rows[0].blob + "|" + rows[0].place, "0|a,b|line 2");
  EXPECT_EQ(rows[1].slot + "|" + rows[1].blob + "|" + rows[1].place, "1|c|line 4");
  const auto fault = [](const std::string& csv) { return parse_assigned_blobs(csv).error().describe(); };
  EXPECT_EQ(fault(""), "line 1: the text is empty; the header must be 'slot,blob'");
  EXPECT_EQ(fault("blob,slot\n"), "line 1: the header must be 'slot,blob', not 'blob,slot'");
  EXPECT_EQ(fault("slot,blob\na\n"), "line 2: expected two columns, slot and blob, found 'a'");
  EXPECT_EQ(fault("slot,blob\n,b\n"), "line 2: expected two columns, slot and blob, found ',b'");
  EXPECT_TRUE(rows_of("slot,blob\n").empty());
}

std::string types_of(const ProtoMessage& net) {
  std::string types;
  for (const ProtoMessage* op : messages_of(net, 2)) types += find_text(*op, 4).value_or("");
  return types;
}

// Sources with a longer path to the end come first. The original also puts D before B, which then reads the wrong b.
TEST(ShareNet, NoNameIsWrittenAgainBeforeItsReadersHaveRun) {
  const std::string text =
      "op { type: 'A' input: 'a' output: 'b' } op { type: 'B' input: 'b' output: 'c' }"
      "op { type: 'D' input: 'd' output: 'b' } op { type: 'E' input: 'b' output: 'e' }"
      "op { type: 'S' input: 's' output: 't' } op { type: 'T' input: 't' output: 'u' }"
      "op { type: 'U' input: 'u' output: 'v' } op { type: 'V' input: ['v', 'c', 'e'] output: 'o' }"
      "external_output: 'o'";
  const SharedNet answer = shared(text, {.rule = "caffe2_interference_greedy", .order = ShareOrder::longest_path});
  const std::string types = types_of(answer.net);
  EXPECT_LT(types.find('B'), types.find('D')) << types;
  EXPECT_TRUE(compare_nets(net_of_text(text), answer.net)->is_same);
}

// Upstream's own example: 2 is written in front of its reader 3, and behind 1.
TEST(ShareNet, WritesTheOrderOfTheLongestPath) {
  const std::string text =
      "op { type: '2' input: 'w2c' output: 'w2' } op { type: '0' input: 'w0c' output: 'w0' }"
      "op { type: '1' input: ['data', 'w0'] output: 'conv0' } op { type: '3' input: ['conv0', 'w2'] output: 'conv2' }"
      "external_output: 'conv2'";
  const std::string rule = "caffe2_interference_greedy";
  EXPECT_EQ(types_of(shared(text, {.rule = rule}).net), "2013");
  const SharedNet answer = shared(text, {.rule = rule, .order = ShareOrder::longest_path});
  EXPECT_TRUE(answer.is_reordered);
  EXPECT_EQ(types_of(answer.net), "0123");
  EXPECT_THAT(refusal(text, {.rule = "caffe2_simple", .order = ShareOrder::longest_path}),
              HasSubstr("'caffe2_simple' keeps the order of its own"));
}

}  // namespace
}  // namespace lowtide::testing
