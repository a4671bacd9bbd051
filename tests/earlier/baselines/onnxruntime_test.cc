// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/onnxruntime.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/limits.h"
#include "tests/earlier/baselines/onnxruntime_cases.h"
#include "tests/testing/graphs.h"

// Small graphs, whose bytes are counted beside them.
namespace lowtide::testing {
namespace {

// 64 x 1024 floats have 256 KiB. Add has its result in memory of its own, Relu may write over its input.
//   a = Exp(x)      a                  256 KiB
//   b = Relu(a)     over a             256
//   c = Add(b, x)   b, c               512
//   y = Exp(c)      c, y               512      y is an output
TEST(OnnxRuntime, ReluReplacesItsInputAndAddDoesNot) {
  const OnnxRuntimeMemory memory = predicted(
      "input x : f32[64,1024]; a = Exp(x) : f32[64,1024]; b = Relu(a) : f32[64,1024]; c = Add(b, x) : f32[64,1024]; "
      "y = Exp(c) : f32[64,1024]; output y");
  EXPECT_EQ(memory.live, Bytes(512 * kKiB));
  EXPECT_EQ(memory.peak_node, NodeId(2));
  EXPECT_EQ(memory.scratch, Bytes(0));
  // a/b at 0, c at 256 KiB; the output is not in the pattern.
  EXPECT_EQ(memory.pattern, Bytes(512 * kKiB));
}

TEST(OnnxRuntime, AnInputWithALaterReaderIsNotReplaced) {
  // At Add, a, b and c are live. If Add did not read a, only two of them would be.
  EXPECT_EQ(
      live_bytes("input x : f32[1024]; a = Exp(x) : f32[1024]; b = Relu(a) : f32[1024]; c = Add(a, b) : f32[1024]; "
                 "y = Cast(c) : f64[1024]; output y"),
      12 * kKiB);
}

TEST(OnnxRuntime, OutputsAndInputsShareNothing) {
  // Relu does not write over the input x, and y is an output, so it is not written over a. Both are live.
  EXPECT_EQ(live_bytes("input x : f32[1024]; a = Relu(x) : f32[1024]; y = Relu(a) : f32[1024]; output y"), 8 * kKiB);
}

TEST(OnnxRuntime, AReshapeKeepsTheBytesOfItsInput) {
  EXPECT_EQ(live_bytes("input x : f32[1024]; constant s : i64[2] = [2, 512]; a = Exp(x) : f32[1024]; "
                       "b = Reshape(a, s) : f32[2,512]; y = Exp(b) : f32[2,512]; output y"),
            8 * kKiB);
  // The result of the Reshape is a copy if it is an output.
  EXPECT_EQ(live_bytes("input x : f32[1024]; constant s : i64[2] = [2, 512]; a = Exp(x) : f32[1024]; "
                       "y = Reshape(a, s) : f32[2,512]; output y"),
            8 * kKiB);
}

// Dead memory is kept for a later tensor of the same shape. So a is given back only after d, although nothing uses it
// while the large c exists.
//   a = Exp(x)    a                    4 KiB
//   b = Tile(a)   a, b                 4 + 8
//   c = Tile(b)   (a), b, c            4 + 8 + 16
//   d = Slice(c)  d in the memory of a
constexpr std::string_view kGap =
    "input x : f32[1024]; constant r : i64[1] = [2]; constant z : i64[1] = [0]; constant e : i64[1] = [1024]; "
    "a = Exp(x) : f32[1024]; b = Tile(a, r) : f32[2048]; c = Tile(b, r) : f32[4096]; "
    "d = Slice(c, z, e) : f32[1024]; y = Cast(d) : i8[1024]; output y";

TEST(OnnxRuntime, DeadMemoryWaitsForATensorOfItsShape) { EXPECT_EQ(live_bytes(kGap), 28 * kKiB); }

TEST(OnnxRuntime, AShapeFromAConcatIsUnknownBeforeTheRun) {
  // The same, except that a session does not know the shape of d. So a is given back before c is written.
  std::string text(kGap);
  const std::string known = "constant e : i64[1] = [1024]; ";
  text.replace(text.find(known), known.size(), "input n : i64[1]; e = Concat(n) {axis = 0} : i64[1] = [1024]; ");
  EXPECT_EQ(live_bytes(text), 24 * kKiB);
}

TEST(OnnxRuntime, ShapesFromArithmeticOnShapesAreKnown) {
  // 1024 from the shape of x: s = [1024], and e = s x 1.
  std::string text(kGap);
  const std::string known = "constant e : i64[1] = [1024]; ";
  text.replace(text.find(known), known.size(),
               "constant one : i64[1] = [1]; s = Shape(x) : i64[1] = [1024]; e = Mul(s, one) : i64[1] = [1024]; ");
  EXPECT_EQ(live_bytes(text), 28 * kKiB);
}

TEST(OnnxRuntime, AnUnreadResultLastsUntilTheEnd) {
  // m is never read. First a and m are live, then m, b and y.
  EXPECT_EQ(live_bytes("input x : f32[1024]; a = Exp(x) : f32[1024]; b, m = Dropout(a) : f32[1024], bool[1024]; "
                       "y = Exp(b) : f32[1024]; output y"),
            9 * kKiB);
}

// The search starts at the last node without readers, and visits producers from the last to the first. So the branch
// of b runs before that of a, and both before the second output.
TEST(OnnxRuntime, NodesRunInTheOrderOfASearchFromTheEnd) {
  const Graph graph = graph_of(
      "graph \"g\" { input x : f32[8]; a = Exp(x) \"a\" : f32[8]; b = Abs(x) \"b\" : f32[8]; z = Neg(x) \"z\" : "
      "f32[8]; "
      "y = Add(a, b) \"y\" : f32[8]; output y, z }");
  const Result<OnnxRuntimeMemory> memory = predict_onnxruntime(graph);
  ASSERT_TRUE(memory.ok());
  std::string names;
  for (NodeId id : memory->order) names += graph.node(id).name;
  EXPECT_EQ(names, "bayz");
  EXPECT_TRUE(is_topological(graph, memory->order));
}

TEST(OnnxRuntime, HardSwishNeedsItsGate) {
  // a, the gate, and y.
  EXPECT_EQ(live_bytes("input x : f32[1024]; a = Exp(x) : f32[1024]; y = HardSwish(a) : f32[1024]; output y"),
            12 * kKiB);
}

TEST(OnnxRuntime, AFusedConvolutionReplacesItsSummand) {
  // c is written over its summand a, which has 2 KiB. The 3x3 convolution has 64 KiB of scratch.
  const std::string text =
      "input x : f32[1,8,8,8]; constant w : f32[8,8,3,3]; constant b : f32[8]; a = Exp(x) : f32[1,8,8,8]; "
      "c = com.microsoft::FusedConv(x, w, b, a) {pads = [1, 1, 1, 1]} : f32[1,8,8,8]; "
      "y = Cast(c) : i8[1,8,8,8]; output y";
  EXPECT_EQ(live_bytes(text), 2 * kKiB + 64 * kKiB);
  // Without a bias, the summand is still the fourth input.
  std::string bare = text;
  bare.replace(bare.find("(x, w, b, a)"), 12, "(x, w, _, a)");
  EXPECT_EQ(live_bytes(bare), 2 * kKiB + 64 * kKiB);
}

struct ConvCase {
  const char* what;
  const char* node;
  std::int64_t scratch;
};

// Each graph has one node, so `live` is its output and its scratch.
TEST(OnnxRuntime, ConvolutionsUnfoldTheirInput) {
  for (const ConvCase& one : std::vector<ConvCase>{
           {"1x1", "input x : f32[1,8,8,8]; constant w : f32[16,8,1,1]; y = Conv(x, w) : f32[1,16,8,8]", 0},
           {"1x1 with stride",
            "input x : f32[1,8,16,16]; constant w : f32[16,8,1,1]; "
            "y = Conv(x, w) {strides = [2, 2]} : f32[1,16,8,8]",
            64 * kKiB},
           {"3x3",
            "input x : f32[1,8,8,8]; constant w : f32[16,8,3,3]; y = Conv(x, w) {pads = [1, 1, 1, 1]} : "
            "f32[1,16,8,8]",
            64 * kKiB},
           // More filters than the 16 positions: all of 8 x 9 x 16 floats.
           {"many filters",
            "input x : f32[1,8,4,4]; constant w : f32[64,8,3,3]; "
            "y = Conv(x, w) {pads = [1, 1, 1, 1]} : f32[1,64,4,4]",
            8 * 9 * 16 * 4},
           {"whole width", "input x : f32[1,1,16,8]; constant w : f32[4,1,3,8]; y = Conv(x, w) : f32[1,4,14,1]", 0},
           {"whole width, two channels",
            "input x : f32[1,2,16,8]; constant w : f32[4,2,3,8]; "
            "y = Conv(x, w) : f32[1,4,14,1]",
            64 * kKiB},
           {"depthwise",
            "input x : f32[1,16,8,8]; constant w : f32[16,1,3,3]; "
            "y = Conv(x, w) {group = 16, pads = [1, 1, 1, 1]} : f32[1,16,8,8]",
            64 * kKiB},
           {"padded by auto_pad",
            "input x : f32[1,8,8,8]; constant w : f32[16,8,1,1]; "
            "y = Conv(x, w) {auto_pad = \"SAME_UPPER\"} : f32[1,16,8,8]",
            0},
       }) {
    const Graph graph = graph_of("graph \"g\" {" + std::string(one.node) + "; output y }");
    const Bytes output = graph.tensor(graph.outputs().front()).size;
    const Result<OnnxRuntimeMemory> memory = predict_onnxruntime(graph);
    ASSERT_TRUE(memory.ok()) << one.what;
    EXPECT_EQ(memory->scratch, Bytes(one.scratch)) << one.what;
    EXPECT_EQ(memory->live, output + Bytes(one.scratch)) << one.what;
  }
}

TEST(OnnxRuntime, OtherKernelsHaveScratchToo) {
  // A column buffer of 2 x 3 x 3 floats for each of 64 positions, and packed weights of 4 x 2 x 3 x 3 floats.
  const OnnxRuntimeMemory transposed = predicted(
      "input x : f32[1,4,8,8]; constant w : f32[4,2,3,3]; y = ConvTranspose(x, w) : f32[1,2,10,10]; output y");
  EXPECT_EQ(transposed.scratch, Bytes(2 * 9 * 64 * 4));
  EXPECT_EQ(transposed.bytes.back().load, Bytes(4 * 2 * 9 * 4));
  // Each choice, broadcast with the condition: 4 KiB, and 32 floats.
  EXPECT_EQ(predicted("input c : bool[1,32]; input a : f32[32,32]; input b : f32[]; y = Where(c, a, b) : f32[32,32]; "
                      "output y")
                .scratch,
            Bytes(4 * kKiB + 128));
  // Both directions have gates of 10 steps x 4 x 8 floats. The backward one also has its input and output in reverse.
  EXPECT_EQ(predicted("input x : f32[10,1,6]; constant w : f32[2,32,6]; constant r : f32[2,32,8]; "
                      "y = LSTM(x, w, r) {direction = \"bidirectional\", hidden_size = 8} : f32[10,2,1,8]; output y")
                .scratch,
            Bytes(4 * 10 * (32 + 32 + 6 + 8)));
}

// Tensors of 1.5 MiB, by powers of two:
//   a = Exp(x)     segment of 2 MiB, the first power of two that is enough. All of it is taken, because it is smaller
//                  than two such tensors.
//   b = Exp(a)     segment of 2 MiB. It was large enough, so the next segment will have 4 MiB.
//   y = Exp(b)     takes the chunk of a
//   second run     the pattern of a and b has 3 MiB, which takes the segment of 4 MiB; y takes the chunk of a
TEST(OnnxRuntime, SegmentsGrowByPowersOfTwo) {
  const OnnxRuntimeMemory memory = predicted(
      "input x : f32[393216]; a = Exp(x) : f32[393216]; b = Exp(a) : f32[393216]; y = Exp(b) : f32[393216]; output y");
  EXPECT_EQ(memory.live, Bytes(3 * kMiB));
  EXPECT_EQ(memory.pattern, Bytes(3 * kMiB));
  ASSERT_EQ(memory.bytes.size(), 6U);
  const OnnxRuntimeBytes& standard = memory.bytes[0];
  EXPECT_EQ(standard.options.growth, ArenaGrowth::next_power_of_two);
  EXPECT_TRUE(standard.options.memory_pattern);
  EXPECT_EQ(standard.first_run, Bytes(4 * kMiB));
  EXPECT_EQ(standard.second_run, Bytes(8 * kMiB));
  EXPECT_EQ(memory.bytes[1].second_run, Bytes(4 * kMiB));
  EXPECT_EQ(memory.bytes[2].first_run, Bytes(3 * kMiB));  // segments as requested
  EXPECT_EQ(memory.bytes[2].second_run, Bytes(6 * kMiB));
  EXPECT_EQ(memory.bytes[3].second_run, Bytes(3 * kMiB));
  // Without an arena: a and b, then the pattern and y.
  EXPECT_EQ(memory.bytes[4].options.growth, std::nullopt);
  EXPECT_EQ(memory.bytes[4].first_run, Bytes(3 * kMiB));
  EXPECT_EQ(memory.bytes[4].second_run, Bytes(4 * kMiB + 512 * kKiB));
  EXPECT_EQ(memory.bytes[5].second_run, Bytes(3 * kMiB));
}

TEST(OnnxRuntime, AGraphWithoutNodesNeedsNothing) {
  const OnnxRuntimeMemory memory = predicted("input x : f32[8]; output x");
  EXPECT_EQ(memory.live, Bytes(0));
  EXPECT_EQ(memory.peak_node, std::nullopt);
  for (const OnnxRuntimeBytes& bytes : memory.bytes) EXPECT_EQ(bytes.second_run, Bytes(0));
}

TEST(OnnxRuntime, HugeSizesAreRefused) {
  // A column buffer of 2^40 x 2^22 floats.
  const Graph graph = graph_of(
      "graph \"g\" { input x : f32[1,1,4194304]; constant w : f32[1,1048576,1048576]; "
      "y = ConvTranspose(x, w) : f32[1,8,8]; output y }");
  const Result<OnnxRuntimeMemory> memory = predict_onnxruntime(graph);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().code, ErrorCode::over_limit);
  EXPECT_EQ(memory.error().message, "not computed, because tensors and scratch have more than " +
                                        std::to_string(limits::kMaxTotalBytes / 16) + " bytes");
}

}  // namespace
}  // namespace lowtide::testing
