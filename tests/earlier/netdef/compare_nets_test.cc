// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/compare_nets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lowtide/earlier/netdef/edit_net.h"
#include "tests/earlier/netdef/net_text.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "FC data -> x; Sum x,y -> z" as a net.
ProtoMessage net_from(const std::string& lines, const std::string& more = "") {
  std::string text = more;
  std::string word;
  std::string op;
  bool is_output = false;
  const auto end_word = [&] {
    if (word.empty()) return;
    if (op.empty()) {
      op = "op { type: '" + word + "' ";
    } else if (word == "->") {
      is_output = true;
    } else {
      op += (is_output ? "output: '" : "input: '") + word + "' ";
    }
    word.clear();
  };
  for (char c : lines + ";") {
    if (c == ' ' || c == ',' || c == ';') end_word();
    if (c != ' ' && c != ',' && c != ';') word += c;
    if (c != ';') continue;
    text += op + "}\n";
    op.clear();
    is_output = false;
  }
  return net_of_text(text);
}

NetComparison compare(const ProtoMessage& a, const ProtoMessage& b) { return *compare_nets(a, b); }

// The vectors of Caffe2's tests of verify_graph_equality.
TEST(CompareNets, AgreesWithTheOriginalsExamples) {
  const ProtoMessage net = net_from("FC data -> x; A x -> y; B x -> z; Sum y,z -> out");
  EXPECT_TRUE(compare(net, net_from("FC data -> other_x; A other_x -> other_y; B other_x -> other_z; "
                                    "Sum other_y,other_z -> out"))
                  .is_same);
  EXPECT_FALSE(compare(net, net_from("FC data -> x; A x -> y; B x -> y; Sum y,y -> out")).is_same);
  const ProtoMessage harder = net_from("FC data -> x; A x -> y; B x -> z; C y -> u; D z -> v; Sum u,v -> out");
  EXPECT_TRUE(compare(harder, net_from("FC data -> x; A x -> y; B x -> z; C y -> y; D z -> z; Sum y,z -> out"))
                  .differences.size() == 2);  // both write in place now
  EXPECT_FALSE(
      compare(harder, net_from("FC data -> x; A x -> y; B x -> y; C y -> u; D y -> v; Sum u,v -> out")).is_same);
}

TEST(CompareNets, CountsOtherNames) {
  const NetComparison comparison = compare(net_from("A d -> x; B x -> y"), net_from("A d -> m; B m -> y"));
  EXPECT_TRUE(comparison.is_same);
  EXPECT_TRUE(comparison.has_same_order);
  EXPECT_EQ(comparison.renamed, 1);
  EXPECT_THAT(comparison.differences, IsEmpty());
}

TEST(CompareNets, SaysWhereNetsDiffer) {
  const ProtoMessage net = net_from("A d -> x; B x,w -> y,z; C z -> o", "external_output: 'o' ");
  const auto differences = [&](const std::string& other, const std::string& more = "external_output: 'o' ") {
    return compare(net, net_from(other, more)).differences;
  };
  EXPECT_THAT(
      differences("A d -> x; B x,w -> y,z; C y -> o"),
      ElementsAre(
          "input 0 of operator 2 ('C') is output 1 of operator 1, but in the second net output 0 of operator 1"));
  EXPECT_THAT(differences("A d -> x; B x,d -> y,z; C z -> o"),
              ElementsAre("input 1 of operator 1 ('B') is from outside 'w', but in the second net from outside 'd'"));
  EXPECT_THAT(differences("A d -> x; B x,w -> x,z; C z -> o"),
              ElementsAre("operator 1 ('B') writes nothing, but in the second net output 0 over input 0"));
  EXPECT_THAT(differences("A d -> x; B x,w -> y,z; D z -> o"), ElementsAre(HasSubstr("has type 'C', device cpu")));
  EXPECT_THAT(differences("A d -> x; B x,w -> y,z; C z -> m"),
              ElementsAre("the external output 'o' is output 0 of operator 2, but in the second net from outside 'o'"));
  EXPECT_THAT(differences("A d -> x; B x,w -> y,z; C z -> o", ""),
              ElementsAre("the second net has no external output 'o'"));
  EXPECT_THAT(differences("A d -> x; B x,w -> y,z"),
              ElementsAre(HasSubstr("3 operators without Free, the second 2"), HasSubstr("external output 'o'")));
}

// Caffe2's check of parents accepts this: s is read from outside before, and in the second net m is.
TEST(CompareNets, FindsOtherReadsFromOutside) {
  EXPECT_FALSE(compare(net_from("A s -> y; B y -> s; C s -> z"), net_from("A m -> y; B y -> m; C m -> z")).is_same);
}

TEST(CompareNets, ComparesArgumentsDevicesAndEngines) {
  const auto with = [](const std::string& field) {
    return net_of_text("op { type: 'A' input: 'x' output: 'y' " + field + " }");
  };
  EXPECT_FALSE(compare(with("arg { name: 'a' i: 1 }"), with("arg { name: 'a' i: 2 }")).is_same);
  EXPECT_TRUE(compare(with("arg { name: 'a' i: 1 } arg { name: 'b' i: 2 }"),
                      with("arg { name: 'b' i: 2 } arg { name: 'a' i: 1 }"))
                  .is_same);
  EXPECT_FALSE(compare(with("engine: 'CUDNN'"), with("")).is_same);
  EXPECT_FALSE(compare(with("device_option { device_type: 1 }"), with("")).is_same);
  EXPECT_TRUE(compare(with("device_option { device_type: 0 device_id: 4 }"), with("")).is_same);
  EXPECT_FALSE(compare(with("output: 'z'"), with("")).is_same);
}

TEST(CompareNets, AcceptsAnotherOrder) {
  const ProtoMessage net = net_from("Relu d -> x; Tanh d -> y; Sum x,y -> z");
  const NetComparison comparison = compare(net, net_from("Tanh d -> p; Relu d -> q; Sum q,p -> z"));
  EXPECT_TRUE(comparison.is_same);
  EXPECT_FALSE(comparison.has_same_order);
  EXPECT_FALSE(compare(net, net_from("Tanh d -> p; Relu d -> q; Sum p,q -> z")).is_same);
}

// Two operators of one type with equal inputs give two results, unless each run of the operator repeats its results.
TEST(CompareNets, MergesOnlyOperatorsThatRepeatTheirResults) {
  const auto merged = [](const std::string& type, const std::string& inputs) {
    const std::string begin = type + " " + inputs + " -> ";
    const std::string both = begin + "a; " + begin + "b; ";
    return compare(net_from(both + "Sub a,b -> o"), net_from(both + "Sub a,a -> o")).is_same;
  };
  for (const char* type : {"TensorProtosDBInput", "Dropout", "UniformFill", "GaussianFill", "XavierFill", "MSRAFill",
                           "RandomCrop", "AtomicIter", "Iter", "Python", "Unknown", "DequeueBlobs", "If"}) {
    EXPECT_FALSE(merged(type, "x")) << type;
  }
  for (const char* type : {"Relu", "ConstantFill", "GivenTensorFill", "Alias", "Conv", "Softmax"}) {
    EXPECT_TRUE(merged(type, "x")) << type;
  }
}

// A type that repeats its results may have a net inside that does not.
TEST(CompareNets, MergesNoOperatorWithANetInside) {
  const auto with = [](const std::string& second) {
    const std::string op =
        "op { type: 'Relu' input: 'x' arg { name: 'n' n { op { type: 'UniformFill' output: 'u' } } } output: ";
    return net_of_text(op + "'a' } " + op + "'b' } op { type: 'Sub' input: 'a' input: '" + second + "' output: 'o' }");
  };
  EXPECT_FALSE(compare(with("b"), with("a")).is_same);
}

// The counterparts of a and b are those of their names, or the first and the second one.
TEST(CompareNets, FindsRandomOperatorsInAnotherOrder) {
  const ProtoMessage net = net_from("Dropout x -> a; Dropout x -> b; Relu x -> c; Sub a,b -> d; Sum d,c -> o");
  const auto is_same = [&](const std::string& other) { return compare(net, net_from(other)).is_same; };
  EXPECT_TRUE(is_same("Relu x -> c; Dropout x -> b; Dropout x -> a; Sub a,b -> d; Sum d,c -> o"));
  EXPECT_TRUE(is_same("Relu x -> r; Dropout x -> p; Dropout x -> q; Sub p,q -> d; Sum d,r -> o"));
  EXPECT_FALSE(is_same("Relu x -> c; Dropout x -> b; Dropout x -> a; Sub b,b -> d; Sum d,c -> o"));
  EXPECT_FALSE(is_same("Relu x -> r; Dropout x -> p; Dropout x -> q; Sub q,q -> d; Sum d,r -> o"));
}

// Both nets have the batches a and b, but the second one reads b first.
TEST(CompareNets, KeepsTheOrderOfEffects) {
  const ProtoMessage net = net_from("Next r -> a; Relu a -> c; Next r -> b; Sub c,b -> o");
  EXPECT_TRUE(compare(net, net_from("Next r -> a; Next r -> b; Relu a -> c; Sub c,b -> o")).is_same);
  EXPECT_FALSE(compare(net, net_from("Next r -> b; Next r -> a; Relu a -> c; Sub c,b -> o")).is_same);
  const ProtoMessage two = net_from("Next r -> a; Close r -> b; Relu a -> c; Sub c,b -> o");
  const ProtoMessage turned = net_from("Close r -> b; Next r -> a; Relu a -> c; Sub c,b -> o");
  EXPECT_THAT(compare(two, turned).differences,
              ElementsAre("operator 0 ('Next') and operator 1 ('Close') may have effects on each other, and run in the "
                          "other order in the second net"));
  EXPECT_TRUE(compare_nets(two, turned, {.effects_keep_order = false})->is_same);
}

// The caller finds the new content in s. Without a reader, only the list of external inputs shows that s is its blob.
TEST(CompareNets, ComparesWhatTheCallerFindsInItsBlobs) {
  EXPECT_THAT(
      compare(net_from("Relu s -> x; Tanh x -> s"), net_from("Relu s -> x; Tanh x -> m")).differences,
      ElementsAre("the blob 's' of the caller ends as output 0 of operator 1, but in the second net as it began"));
  const std::string lists = "external_input: 'x' external_input: 's' ";
  EXPECT_FALSE(compare(net_from("Copy x -> s", lists), net_from("Copy x -> m", lists)).is_same);
  EXPECT_FALSE(compare(net_from("Copy x -> s; Copy x -> t", lists), net_from("Copy x -> t", lists)).is_same);
}

// In the second net, B overwrites x before C reads it.
TEST(CompareNets, FindsOverwrittenResults) {
  EXPECT_FALSE(compare(net_from("A d -> x; B d -> y; C x,y -> z"), net_from("A d -> x; B d -> x; C x,x -> z")).is_same);
}

TEST(CompareNets, FindsReadsOfReleasedBlobs) {
  const ProtoMessage net = net_from("A d -> x; B x -> y; C x,y -> z");
  EXPECT_TRUE(compare(net, *add_free_ops(net)).is_same);
  const NetComparison early = compare(net, net_from("A d -> x; B x -> y; Free x -> x; C x,y -> z"));
  EXPECT_THAT(early.differences, ElementsAre(HasSubstr("but in the second net released by operator 2")));
}

TEST(CompareNets, ComparesNestedNetsUpToNames) {
  const auto with = [](const std::string& name, const std::string& own, const std::string& type) {
    return net_of_text("op { type: 'A' input: 'd' output: '" + name + "' } op { type: 'RecurrentNetwork' input: '" +
                       name + "' output: 'y' arg { name: 'step_net' n { op { type: '" + type + "' input: '" + name +
                       "' input: 't' output: '" + own + "' } op { type: 'G' input: '" + own +
                       "' output: 'v' } } } arg { name: 'x.rename' s: '" + name + "' } }");
  };
  EXPECT_TRUE(compare(with("x", "u", "F"), with("m", "n", "F")).is_same);
  EXPECT_FALSE(compare(with("x", "u", "F"), with("m", "n", "H")).is_same);
}

// Z reads the result of X in the outer one of two nested nets, or that of Y in the inner one. Both are result 0 of
// operator 0 of an argument "then_net".
TEST(CompareNets, TellsLevelsOfNestedNetsApart) {
  const auto with = [](const std::string& read) {
    return net_of_text(
        "op { type: 'If' input: 'd' output: 'o' arg { name: 'then_net' n {"
        "  op { type: 'X' input: 'd' output: 'p' }"
        "  op { type: 'If' input: 'd' output: 'o' arg { name: 'then_net' n {"
        "    op { type: 'Y' input: 'd' output: 'q' } op { type: 'Z' input: '" +
        read + "' output: 'o' } } } } } } }");
  };
  EXPECT_TRUE(compare(with("p"), with("p")).is_same);
  EXPECT_THAT(compare(with("p"), with("q")).differences,
              ElementsAre("argument 'then_net' of operator 0 ('If') differs"));
}

TEST(CompareNets, ComparesResultsInPlaceInNestedNets) {
  const auto with = [](const std::string& own) {
    return net_of_text(
        "op { type: 'If' input: 'd' output: 'o' arg { name: 'then_net' n {"
        "  op { type: 'X' input: 'd' output: 'p' } op { type: 'Y' input: 'p' output: '" +
        own + "' } } } }");
  };
  EXPECT_TRUE(compare(with("q"), with("r")).is_same);
  EXPECT_FALSE(compare(with("q"), with("p")).is_same);
}

TEST(CompareNets, ComparesControlInputs) {
  const auto with = [](const std::string& more) {
    return net_of_text("op { type: 'A' input: 'x' output: 'a' } op { type: 'B' input: 'x' output: 'b' " + more + " }");
  };
  EXPECT_THAT(compare(with("control_input: 'a'"), with("")).differences,
              ElementsAre("operator 1 ('B') waits for output 0 of operator 0, but in the second net for nothing"));
  EXPECT_TRUE(compare(with("control_input: 'x'"), with("")).is_same);  // it is there before
  const auto nested = [](const std::string& more) {
    return net_of_text(
        "op { type: 'A' input: 'x' output: 'a' } op { type: 'If' output: 'o' arg { name: 'then_net' n {"
        "  op { type: 'B' input: 'x' output: 'b' " +
        more + " } } } }");
  };
  EXPECT_FALSE(compare(nested("control_input: 'a'"), nested("")).is_same);
}

// Each level is a text in the binary form, so that no parser sees the depth.
ProtoMessage net_of_texts(int levels) {
  const auto field = [](int number, const std::string& content) {
    std::string bytes(1, static_cast<char>(number << 3 | 2));
    for (std::size_t rest = content.size(); true; rest >>= 7) {
      bytes += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
      if (rest <= 127) break;
    }
    return bytes + content;
  };
  std::string net = field(2, field(1, "x") + field(2, "y") + field(4, "A"));
  for (int level = 0; level < levels; ++level) {
    net = field(2, field(1, "x") + field(4, "R") + field(5, field(1, "step_net") + field(4, net)));
  }
  return net_of_text(net);
}

TEST(CompareNets, EndsAtTheLimitOfNestedTexts) {
  EXPECT_TRUE(compare(net_of_texts(32), net_of_texts(32)).is_same);
  for (int levels : {33, 12'000}) {
    const ProtoMessage net = net_of_texts(levels);
    const Result<NetComparison> comparison = compare_nets(net, net);
    ASSERT_FALSE(comparison.ok());
    EXPECT_THAT(comparison.error().describe(), HasSubstr("nets are nested more than 32 deep (kMaxBodyNesting)"));
    const Result<ProtoMessage> renamed = rename_blobs(net, {{"x", "z"}});
    ASSERT_FALSE(renamed.ok());
    EXPECT_THAT(renamed.error().describe(), HasSubstr("kMaxBodyNesting"));
  }
}

}  // namespace
}  // namespace lowtide::testing
