// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/netdef/compare_nets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lowtide/netdef/edit_net.h"
#include "tests/netdef/net_text.h"

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
  const ProtoMessage net = net_from("A d -> x; B d -> y; Sum x,y -> z");
  const NetComparison comparison = compare(net, net_from("B d -> p; A d -> q; Sum q,p -> z"));
  EXPECT_TRUE(comparison.is_same);
  EXPECT_FALSE(comparison.has_same_order);
  EXPECT_FALSE(compare(net, net_from("B d -> p; A d -> q; Sum p,q -> z")).is_same);
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

}  // namespace
}  // namespace lowtide::testing
