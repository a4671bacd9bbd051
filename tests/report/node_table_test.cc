// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/node_table.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const char* const kBranches = R"(graph "g" {
  input c : bool[]
  input x : f32[2,3]
  constant w : f32[3,3]
  a = MatMul(x, w) "first, \"half\"" : f32[2,3]
  y = If(c) "choose" {
    then_branch = graph "then" captures (a) {
      captured input a : f32[2,3]
      p = com.example::Mystery(a) "=inside" : f32[2,3]
      output p
    },
    else_branch = graph "else" captures (a) {
      captured input a : f32[2,3]
      q = Relu(a) "other" : f32[2,3]
      output q
    }
  } : f32[2,3]
  output y
})";

TEST(NodeTable, HasARowPerNodeAndIndentsBodies) {
  const Graph graph = graph_of(kBranches);
  const std::string text = node_table(graph_figures(graph, dense_target())).render(false);
  EXPECT_EQ(text, R"(Nodes in the order of the file
  step  operator                name             read  written    scratch  weights         MACs    share
     0  MatMul                  'first, "half"'  24 B     24 B        0 B     36 B           18  100.0 %
     1  If                      choose            1 B     24 B        0 B      0 B         none
          then_branch           of step 1
     0    com.example::Mystery  '=inside'        24 B     24 B  not known      0 B    not known
          else_branch           of step 1
     0    Relu                  other            24 B     24 B        0 B      0 B         none
        total                   4 nodes          73 B     96 B        0 B     36 B  at least 18
  Steps are numbered from 0, in the order of the file. MACs are multiply-accumulates. The total
  counts each weight once, even if several nodes read it. Its scratch is the largest of any node.
  Nodes in bodies count once, however often they run; all branches of an If count. The MACs of 1
  node are not known and not in the total.
)");
}

TEST(NodeTable, TopKeepsTheNodesWithTheMostWorkInTheirOrder) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[4,4]
    a = Relu(x) "r" : f32[4,4]
    b = MatMul(a, x) "m" : f32[4,4]
    d = Tile(b) "t" : f32[8,4]
    output d
  })");
  const std::string text = node_table(graph_figures(graph, dense_target()), {.top = 2}).render(false);
  EXPECT_THAT(text, HasSubstr("     1  MatMul      m"));
  EXPECT_THAT(text, HasSubstr("     2  Tile        t"));
  EXPECT_THAT(text, HasSubstr("and 1 more"));
  EXPECT_THAT(text, Not(HasSubstr("Relu")));
  EXPECT_THAT(node_table(graph_figures(graph, dense_target()), {.top = 0}).render(false),
              HasSubstr("3 nodes, none listed"));
}

TEST(NodeTable, CsvHasPathsOfBodiesAndEmptyCells) {
  const Graph graph = graph_of(kBranches);
  EXPECT_EQ(node_table_csv(graph_figures(graph, dense_target())),
            "step,inside,name,operator,read_bytes,written_bytes,scratch_bytes,constants_bytes,macs\n"
            "0,,\"first, \"\"half\"\"\",MatMul,24,24,0,36,18\n"
            "1,,choose,If,1,24,0,0,0\n"
            "0,1.then_branch,=inside,com.example::Mystery,24,24,,0,\n"
            "0,1.else_branch,other,Relu,24,24,0,0,0\n");
}

TEST(NodeTable, AGraphWithoutNodesHasNoRows) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    output x
  })");
  EXPECT_EQ(node_table(graph_figures(graph, dense_target())).render(false), "Nodes in the order of the file\n  none\n");
}

}  // namespace
}  // namespace lowtide::testing
