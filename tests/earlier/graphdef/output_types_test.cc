// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/output_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/graph/text.h"
#include "tests/testing/graphdef_values.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::SizeIs;

// "name Op input... key=value..."
std::string node_line(const std::string& line) {
  std::istringstream words(line);
  std::string name;
  std::string op;
  words >> name >> op;
  std::string text = "node { name: '" + name + "' op: '" + op + "' ";
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      text += "input: '" + word + "' ";
    } else {
      const std::string key = word.substr(0, equals);
      text += "attr { key: '" + key + "' value { " + value_text(key, word.substr(equals + 1)) + " } } ";
    }
  }
  return text + "}\n";
}

std::string graph_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += node_line(line);
  return text;
}

// The outputs of the last node.
Result<std::vector<OutputType>> last_outputs(const std::vector<std::string>& lines) {
  const auto types = infer_output_types(*read_graphdef(graph_text(lines)));
  if (!types) return types.error();
  return types->back();
}

OutputType last_output(const std::vector<std::string>& lines) { return last_outputs(lines)->front(); }

std::string input(const std::string& name, const std::string& shape) {
  return name + " Placeholder dtype=#1 shape=" + shape;
}

// A vector, or a matrix "2x1:4,5".
std::string list(const std::string& name, const std::string& tensor) {
  return name + " Const dtype=#3 value=@" + tensor;
}

// The rows of the paddings are [1,2] and [0,3]: 4 + 1 + 2 = 7 and 5 + 0 + 3 = 8.
TEST(OutputTypes, PaddingsAreAMatrix) {
  EXPECT_THAT(last_output({input("x", "4x5"), list("p", "2x2:1,2,0,3"), "y Pad x p T=#1"}).extents,
              Optional(ElementsAre(7, 8)));
}

// What tf.gradients writes for the sum over a broadcast operand: x is [8,1,3], and y is [5,1], so x is summed over
// axis 1, and y over axes 0 and 2.
TEST(OutputTypes, GradientsOfBroadcastsAreFollowed) {
  const std::vector<std::string> graph = {input("x", "8x1x3"),     input("y", "5x1"),
                                          "z AddV2 x y T=#1",      "sx Shape x T=#1",
                                          "sy Shape y T=#1",       "args BroadcastGradientArgs sx sy",
                                          "sum Sum z args:1 T=#1", "back Reshape sum sy T=#1"};
  EXPECT_THAT(last_output(graph).extents, Optional(ElementsAre(5, 1)));
  const auto types = infer_output_types(*read_graphdef(graph_text(graph)));
  EXPECT_THAT((*types)[5][0].content, Optional(ElementsAre(1)));
  EXPECT_THAT((*types)[5][1].content, Optional(ElementsAre(0, 2)));
  EXPECT_THAT((*types)[6][0].extents, Optional(ElementsAre(5)));
}

// The batch of x is known once it is given, and then so is the shape that the program computes: [6, 2 * 7].
TEST(OutputTypes, ShapesOfGivenInputsAreFollowed) {
  const std::string graph = graph_text(
      {input("x", "-1x7"), "s Shape x T=#1", list("zero", "1:0"), list("one", "1:1"), list("two", "1:2"),
       "batch Slice s zero one T=#3", "width Slice s one one T=#3", "wide Mul width two T=#3", list("axis", "scalar:0"),
       "shape ConcatV2 batch wide axis N=2 T=#3", "half Const dtype=#1 value=@scalar:", "y Fill shape half T=#1"});
  const Result<GraphOfGraphDef> made = graph_of_graphdef(*read_graphdef(graph), {.shapes = {{"x", {6, 7}}}});
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(print_graph(made->graph), HasSubstr("\"y\" {T = opaque \"type: DT_FLOAT\"} : f32[6,14]"));
  EXPECT_EQ(last_output({input("x", "-1x7"), "s Shape x T=#1"}).content, std::nullopt);
}

// TensorFlow's own Python writes no such nodes any more, but old files have them.
TEST(OutputTypes, OldNormalizationHasGradients) {
  const std::vector<std::string> operands = {input("x", "2x5x5x3"), input("m", "3")};
  std::vector<std::string> graph = operands;
  graph.emplace_back("y BatchNormWithGlobalNormalization x m m m m T=#1");
  EXPECT_THAT(last_output(graph).extents, Optional(ElementsAre(2, 5, 5, 3)));
  graph = operands;
  graph.insert(graph.end(), {"d BatchNormWithGlobalNormalizationGrad x m m m x T=#1", "read Relu d:4 T=#1"});
  EXPECT_THAT(last_output(graph).extents, Optional(ElementsAre(3)));
  EXPECT_THAT(last_output({input("x", "4x9"), "y TopK x k=2 T=#1"}).extents, Optional(ElementsAre(4, 2)));
}

TEST(OutputTypes, ImpossibleOperandsHaveUnknownResults) {
  const auto is_unknown = [](const std::vector<std::string>& lines) {
    const auto outputs = last_outputs(lines);
    return !outputs || (!outputs->front().extents && !outputs->front().content);
  };
  const std::string x = input("x", "4x5");
  const auto slice = [&](const std::string& begin, const std::string& end, const std::string& stride,
                         const std::string& masks = "") {
    return std::vector<std::string>{x, list("b", begin), list("e", end), list("s", stride),
                                    "y StridedSlice x b e s T=#1 " + masks};
  };
  EXPECT_FALSE(is_unknown(slice("1:0", "1:3", "1:2")));
  EXPECT_TRUE(is_unknown(slice("1:0", "1:3", "1:0")));                                          // stride 0
  EXPECT_TRUE(is_unknown(slice("3:0,0,0", "3:1,1,1", "3:1,1,1")));                              // three axes of two
  EXPECT_TRUE(is_unknown(slice("1:4", "1:5", "1:1", "shrink_axis_mask=1")));                    // index 4 of 4
  EXPECT_TRUE(is_unknown(slice("1:1", "1:0", "1:-1", "shrink_axis_mask=1")));                   // an index backwards
  EXPECT_TRUE(is_unknown(slice("2:0,0", "2:1,1", "2:1,1", "ellipsis_mask=3")));                 // two ellipses
  EXPECT_TRUE(is_unknown({x, list("b", "2:3,0"), list("n", "2:2,5"), "y Slice x b n T=#1"}));   // 3 + 2 > 4
  EXPECT_TRUE(is_unknown({x, list("b", "2:0,0"), list("n", "2:-2,5"), "y Slice x b n T=#1"}));  // a size of -2
  EXPECT_TRUE(is_unknown({x, list("m", "2:-1,1"), "y Tile x m T=#1"}));
  EXPECT_TRUE(is_unknown({x, list("p", "2x2:-1,0,0,0"), "y Pad x p T=#1"}));
  EXPECT_TRUE(is_unknown({x, list("p", "2x2:3,2,0,0"), "y MirrorPadGrad x p T=#1"}));
  EXPECT_TRUE(is_unknown({x, list("s", "3:-1,-2,-10"), "y Reshape x s T=#1"}));  // -2 * -10 = 20
  EXPECT_TRUE(is_unknown({x, list("s", "2:-1,-1"), "y Reshape x s T=#1"}));
  EXPECT_TRUE(is_unknown({list("b", "scalar:0"), list("e", "scalar:5"), list("d", "scalar:0"), "y Range b e d"}));
  EXPECT_TRUE(is_unknown({list("b", "scalar:0"), list("e", "scalar:5"), list("d", "scalar:-1"), "y Range b e d"}));
  EXPECT_TRUE(is_unknown({list("i", "1:-1"), list("d", "1:7"), "y DynamicStitch i d T=#3 N=1"}));
  EXPECT_TRUE(is_unknown({list("a", "2:2,3"), list("b", "2:4,3"), "y BroadcastGradientArgs a b"}));
  EXPECT_TRUE(is_unknown({x, list("n", "scalar:-3"), "y OneHot x n T=#1"}));
  EXPECT_TRUE(is_unknown({input("x", "1x4x4x3"), "y DepthToSpace x block_size=2 T=#1"}));  // 3 / (2 * 2)
}

// x has an unknown rank. With a constant shape, a Reshape of it has that shape, and a rank with an open extent.
TEST(OutputTypes, ReshapesOfUnknownTensorsHaveTheGivenShape) {
  EXPECT_THAT(last_output({"x Unknown", list("s", "2:4,8"), "y Reshape x s T=#1"}).extents,
              Optional(ElementsAre(4, 8)));
  EXPECT_THAT(last_output({"x Unknown", list("s", "2:-1,8"), "y Reshape x s T=#1"}).extents,
              Optional(ElementsAre(-1, 8)));
}

// The rows of x have as many elements as w has rows, or columns if it is transposed, and so has what x is made of.
TEST(OutputTypes, ProductsAndBiasesTellExtents) {
  const std::string w = input("w", "16x32");
  EXPECT_THAT(last_output({w, "x Unknown", "y MatMul x w T=#1", "z Exp x T=#1"}).extents,
              Optional(ElementsAre(-1, 16)));
  EXPECT_THAT(last_output({w, "x Unknown", "y MatMul x w T=#1 transpose_b=true", "z Exp x T=#1"}).extents,
              Optional(ElementsAre(-1, 32)));
  EXPECT_THAT(
      last_output({w, "x Unknown", "e Exp x T=#1", "y MatMul e w T=#1", "z MatMul x x T=#1 transpose_a=true"}).extents,
      Optional(ElementsAre(16, 16)));
  EXPECT_THAT(last_output({input("b", "5"), input("x", "3x-1"), "y BiasAdd x b T=#1", "z Exp x T=#1"}).extents,
              Optional(ElementsAre(3, 5)));
}

// The shape is [?, 8], and its second element is also known behind other operators.
TEST(OutputTypes, ListsAreKnownInParts) {
  const std::string x = input("x", "-1x8");
  const std::string shape = "s Shape x T=#1";
  const auto extents = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {x, shape});
    return last_output(more).extents;
  };
  const std::string zero = list("zero", "scalar:0");
  EXPECT_THAT(extents({"y Reshape u s T=#1", "u Unknown"}), std::nullopt);  // u is last
  EXPECT_THAT(extents({"u Unknown", "y Reshape u s T=#1"}), Optional(ElementsAre(-1, 8)));
  EXPECT_THAT(extents({"v Unknown", "y Fill s v T=#1"}), Optional(ElementsAre(-1, 8)));
  const std::vector<std::string> slice = {list("b", "1:1"), list("e", "1:2"), list("t", "1:1"),
                                          "n StridedSlice s b e t T=#3 shrink_axis_mask=1"};
  std::vector<std::string> packed = slice;
  packed.insert(packed.end(), {list("c", "scalar:3"), "p Pack n c T=#3 N=2", "v Unknown", "y Fill p v T=#1"});
  EXPECT_THAT(extents(packed), Optional(ElementsAre(8, 3)));
  EXPECT_THAT(extents({zero, list("c", "1:3"), "p ConcatV2 s c zero T=#3 N=2", "v Unknown", "y Fill p v T=#1"}),
              Optional(ElementsAre(-1, 8, 3)));
  EXPECT_THAT(extents({zero, list("i", "2:1,0"), "p GatherV2 s i zero Tparams=#3", "v Unknown", "y Fill p v T=#1"}),
              Optional(ElementsAre(8, -1)));
}

// 2^40 * 2^40 does not fit, nor does a content of 65,536 * 65,536 into int32.
TEST(OutputTypes, SizesThatOverflowAreUnknown) {
  const std::string big = "1099511627776";
  EXPECT_EQ(last_output({input("x", big), "m Const dtype=#9 value=@1:1", "y Tile x m T=#1"}).extents,
            std::optional(std::vector<std::int64_t>{1099511627776}));
  EXPECT_EQ(last_output({input("x", big + "x" + big), "y Size x T=#1 out_type=#9"}).content, std::nullopt);
  EXPECT_EQ(last_output({input("x", big), "y Shape x T=#1"}).content, std::nullopt);
  EXPECT_THAT(last_output({input("x", big), "y Shape x T=#1 out_type=#9"}).content,
              Optional(ElementsAre(1099511627776)));
  EXPECT_EQ(last_output({list("a", "scalar:65536"), "y Mul a a T=#3"}).content, std::nullopt);
  EXPECT_EQ(last_output({list("a", "scalar:1"), list("b", "scalar:0"), "y FloorDiv a b T=#3"}).content, std::nullopt);
}

// 65,536 outputs of 100,000 axes would need 52 GB.
TEST(OutputTypes, TensorsHaveAtMost254Axes) {
  const auto extents_of_rank = [](std::size_t rank) {
    std::string shape = "1";
    for (std::size_t axis = 1; axis < rank; ++axis) shape += "x1";
    return last_output({input("x", shape), "y Unpack x num=65536 T=#1"}).extents;
  };
  EXPECT_THAT(extents_of_rank(254), Optional(SizeIs(253)));
  EXPECT_EQ(extents_of_rank(255), std::nullopt);
}

// floor(-7 / 2) = -4, and -7 - 2 * -4 = 1; in C, -7 / 2 = -3 and -7 % 2 = -1.
TEST(OutputTypes, DivisionRoundsAsTheOperatorSays) {
  const auto value = [](const std::string& op) {
    return last_output({list("a", "scalar:-7"), list("b", "scalar:2"), "y " + op + " a b T=#3"}).content;
  };
  EXPECT_THAT(value("FloorDiv"), Optional(ElementsAre(-4)));
  EXPECT_THAT(value("FloorMod"), Optional(ElementsAre(1)));
  EXPECT_THAT(value("TruncateDiv"), Optional(ElementsAre(-3)));
  EXPECT_THAT(value("TruncateMod"), Optional(ElementsAre(-1)));
}

// The slot m is written too, so y must not run again after the step, when it would have another result.
TEST(OutputTypes, OptimizersWriteTheirSlots) {
  const std::string state = " VariableV2 dtype=#1 shape=4";
  const Result<GraphOfGraphDef> made = graph_of_graphdef(*read_graphdef(
      graph_text({"v" + state, "m" + state, input("g", "4"), "rate Const dtype=#1 value=@scalar:", "y Relu m T=#1",
                  "step ApplyMomentum v m rate g rate T=#1", "after Relu step T=#1", "h VarHandleOp dtype=#1 shape=4",
                  "apply ResourceApplyGradientDescent h rate g T=#1 ^after"})));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(print_graph(made->graph), R"(graph "" {
  state v : f32[4]
  state m : f32[4]
  input g : f32[4]
  constant rate : f32[]
  state h : f32[4]
  y = tensorflow.once::Relu(m) "y" {T = opaque "type: DT_FLOAT"} : f32[4]
  _ = tensorflow.once::ApplyMomentum(v, m, rate, g, rate) "step" {T = opaque "type: DT_FLOAT"}
  after = tensorflow.once::Relu(v) "after" after (node 1) {T = opaque "type: DT_FLOAT"} : f32[4]
  tensorflow.once::ResourceApplyGradientDescent(h, rate, g) "apply" after (after) {T = opaque "type: DT_FLOAT"}
  output y, after
}
)");
}

TEST(OutputTypes, OperandsOfASumHaveOneShape) {
  const std::string graph = graph_text({input("a", "4"), input("b", "-1"), input("c", "5"), "s AddN a b c N=3 T=#1"});
  EXPECT_THAT(
      graph_of_graphdef(*read_graphdef(graph), {.shapes = {{"b", {4}}}}).error().describe(),
      HasSubstr("node 's' ('AddN'): its operand 2 is 5, but the operands before it are 4; all must have one shape"));
}

TEST(OutputTypes, TextsHaveNoTensors) {
  const std::string graph = graph_text({input("x", "4"), "ok IsFinite x T=#1", "message Const dtype=#7",
                                        list("axes", "1:0"), "all All ok axes", "check Assert all message"});
  const Result<GraphOfGraphDef> made = graph_of_graphdef(*read_graphdef(graph));
  ASSERT_TRUE(made.ok()) << made.error().describe();
  EXPECT_THAT(print_graph(made->graph), Not(HasSubstr("constant message")));
  EXPECT_THAT(graph_of_graphdef(*read_graphdef(graph + node_line("n StringToNumber message"))).error().describe(),
              HasSubstr("'n' of node 'n'"));
}

TEST(OutputTypes, OnlyRepeatableOperatorsArePure) {
  for (const char* op : {"Tile", "StridedSlice", "Pack", "BroadcastGradientArgs", "DynamicStitch", "GatherV2", "OneHot",
                         "Conv2DBackpropFilter", "FusedBatchNormGradV3", "SelectV2", "StatelessRandomUniform"}) {
    EXPECT_TRUE(is_pure_operator(op)) << op;
  }
  for (const char* op : {"RandomUniform",
                         "RandomUniformInt",
                         "RandomShuffle",
                         "Multinomial",
                         "TruncatedNormal",
                         "Assign",
                         "ApplyAdam",
                         "ResourceApplyAdam",
                         "ScatterAdd",
                         "ScatterNdUpdate",
                         "ReadVariableOp",
                         "Switch",
                         "Merge",
                         "VarIsInitializedOp",
                         "TemporaryVariable",
                         "Assert",
                         "CheckNumerics",
                         "EnsureShape",
                         "Empty",
                         "PlaceholderWithDefault",
                         "Placeholder",
                         "NoOp",
                         "Mystery"}) {
    EXPECT_FALSE(is_pure_operator(op)) << op;
  }
}

TEST(OutputTypes, WrittenInputsAreTheVariableAndItsSlots) {
  EXPECT_EQ(count_written_inputs("ApplyGradientDescent"), 1U);
  EXPECT_EQ(count_written_inputs("ApplyAdam"), 3U);  // the variable, m and v
  EXPECT_EQ(count_written_inputs("ResourceSparseApplyMomentum"), 2U);
  EXPECT_EQ(count_written_inputs("AssignVariableOp"), 1U);
  EXPECT_EQ(count_written_inputs("ScatterNd"), 0U);
  EXPECT_EQ(count_written_inputs("Relu"), 0U);
}

}  // namespace
}  // namespace lowtide::testing
