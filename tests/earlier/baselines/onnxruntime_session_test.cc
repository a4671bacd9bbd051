// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// What a session of ONNX Runtime knows before a run, and what the bodies of nodes take. Bytes are counted beside the
// graphs.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/earlier/baselines/onnxruntime_cases.h"

namespace lowtide::testing {
namespace {

// b is written over a if both shapes are known and equal. Otherwise both have memory of their own.
//   a = Exp(x)   a      4 KiB
//   b = Relu(a)  b      4 KiB, or a, b  8 KiB
//   y = Cast(b)  b, y   4 + 1 KiB
constexpr std::string_view kRelu =
    "input x : f32[1,1024]; a = Exp(x) : f32[1,1024]; b = Relu(a) : f32[1,1024]; y = Cast(b) : i8[1,1024]; output y";

TEST(OnnxRuntimeSession, EqualSymbolsAreEqualExtents) {
  EXPECT_EQ(live_bytes(kRelu), 5 * kKiB);
  EXPECT_EQ(live_bytes(kRelu, {.open = {{"x", {"batch", "1024"}}, {"a", {"batch", "1024"}}, {"b", {"batch", "1024"}}}}),
            5 * kKiB);
  EXPECT_EQ(live_bytes(kRelu, {.open = {{"x", {"?", "1024"}}, {"a", {"?", "1024"}}, {"b", {"?", "1024"}}}}), 8 * kKiB);
}

TEST(OnnxRuntimeSession, ASymbolIsNotTheNumberThatItHas) {
  const std::string_view text =
      "input x : f32[1,1024]; a = Exp(x) : f32[1,1024]; b = Cast(a) {to = 11} : "
      "f64[1,1024]; d = Neg(b) : f64[1,1024]; c = Cast(d) {to = 1} : f32[1,1024]; y = Cast(c) : i8[1,1024]; output y";
  // b and d have 8 KiB each. The dead a waits with 4 KiB for c, unless only c is known to have the extent 1.
  EXPECT_EQ(live_bytes(text), 20 * kKiB);
  const OnnxRuntimeShapes open = {.open = {{"x", {"n", "1024"}}, {"a", {"n", "1024"}}}};
  EXPECT_EQ(live_bytes(text, open), 16 * kKiB);
}

TEST(OnnxRuntimeSession, SymbolsAreCopiedButNotDerived) {
  // The file declares nothing for a. The symbol of b is in no input of its node, so the session does not know it.
  const OnnxRuntimeShapes other = {
      .open = {{"x", {"batch", "1024"}}, {"a", {"half", "1024"}}, {"b", {"half", "1024"}}}};
  EXPECT_EQ(live_bytes(kRelu, other), 8 * kKiB);
  // If the file declares the symbol for a and b, it counts.
  OnnxRuntimeShapes declared = other;
  declared.declared = {{"a", {"half", "1024"}}, {"b", {"half", "1024"}}};
  EXPECT_EQ(live_bytes(kRelu, declared), 5 * kKiB);
}

TEST(OnnxRuntimeSession, AReshapeDoesNotDivideBySymbols) {
  // b = Relu(r) is written over a if the session knows the shape of r.
  const auto text = [](const std::string& wanted) {
    return "input x : f32[1,2,512]; constant s : i64[2] = " + wanted +
           "; a = Exp(x) : f32[1,2,512]; r = Reshape(a, s) : f32[1,1024]; b = Relu(r) : f32[1,1024]; "
           "y = Cast(b) : i8[1,1024]; output y";
  };
  const OnnxRuntimeShapes open = {.open = {{"x", {"batch", "2", "512"}},
                                           {"a", {"batch", "2", "512"}},
                                           {"r", {"batch", "1024"}},
                                           {"b", {"batch", "1024"}}}};
  EXPECT_EQ(live_bytes(text("[0, 1024]"), open), 5 * kKiB);
  EXPECT_EQ(live_bytes(text("[-1, 1024]"), open), 8 * kKiB);
  EXPECT_EQ(live_bytes(text("[-1, 1024]")), 5 * kKiB);
}

TEST(OnnxRuntimeSession, ContentThatFollowsFromSymbolsIsUnknown) {
  // e is the shape of x, which the session knows if x has numbers only. Then it knows that r has the shape of b.
  const std::string_view text =
      "input x : f32[1,1024]; e = Shape(x) : i64[2] = [1, 1024]; a = Exp(x) : f32[1,1024]; "
      "r = Reshape(a, e) : f32[1,1024]; b = Relu(r) : f32[1,1024]; y = Cast(b) : i8[1,1024]; output y";
  EXPECT_EQ(live_bytes(text), 5 * kKiB);
  const OnnxRuntimeShapes open = {
      .open = {{"x", {"batch", "1024"}}, {"a", {"batch", "1024"}}, {"r", {"batch", "1024"}}, {"b", {"batch", "1024"}}}};
  EXPECT_EQ(live_bytes(text, open), 8 * kKiB);
}

TEST(OnnxRuntimeSession, ADeclaredShapeIsKnown) {
  // The new shape of the Reshape comes from a Concat, which the session does not compute.
  const std::string_view text =
      "input x : f32[1,1024]; input n : i64[1]; e = Concat(n, n) {axis = 0} : i64[2] = [1, 1024]; "
      "a = Exp(x) : f32[1,1024]; r = Reshape(a, e) : f32[1,1024]; b = Relu(r) : f32[1,1024]; "
      "y = Cast(b) : i8[1,1024]; output y";
  EXPECT_EQ(live_bytes(text), 8 * kKiB);
  EXPECT_EQ(live_bytes(text, {.declared = {{"r", {"1", "1024"}}}}), 5 * kKiB);
}

TEST(OnnxRuntimeSession, AReorderKeepsDeclaredSymbols) {
  // b is written over r if both have the extents h and w, which the file declares for x and b.
  const std::string_view text =
      "input x : f32[1,16,8,8]; r = com.microsoft.nchwc::ReorderInput(x) : f32[1,16,8,8]; b = Relu(r) : f32[1,16,8,8]; "
      "y = Cast(b) : i8[1,16,8,8]; output y";
  OnnxRuntimeShapes shapes;
  for (const char* name : {"x", "r", "b"}) shapes.open[name] = {"1", "16", "?", "?"};
  EXPECT_EQ(live_bytes(text, shapes), 8 * kKiB);
  for (const char* name : {"x", "b"}) shapes.declared[name] = {"1", "16", "h", "w"};
  EXPECT_EQ(live_bytes(text, shapes), 5 * kKiB);
}

// The larger branch has p and q. q is the output t of the If, so the branch takes p alone.
constexpr std::string_view kIf = R"(
    input c : bool[]; input x : f32[1024]
    t = If(c) {
      then_branch = graph "then" captures (x) {
        captured input x : f32[1024]
        p = Exp(x) : f32[1024]
        q = Exp(p) : f32[1024]
        output q
      },
      else_branch = graph "else" captures (x) {
        captured input x : f32[1024]
        r = Exp(x) : f32[1024]
        output r
      }
    } : f32[1024]
    output t)";

TEST(OnnxRuntimeSession, ABranchWritesTheOutputsOfItsNode) {
  const OnnxRuntimeMemory memory = predicted(kIf);
  EXPECT_EQ(memory.scratch, Bytes(0));
  EXPECT_EQ(memory.live, Bytes(8 * kKiB));
  EXPECT_EQ(memory.pattern, Bytes(0));  // nothing but an output in the graph itself
}

// Each graph has a pattern of its own. Here, all tensors have 1.5 MiB. t, p and v are live at once, and w takes the
// memory of p.
TEST(OnnxRuntimeSession, ABranchHasAPatternOfItsOwn) {
  std::string text(kIf);
  text.replace(text.find("q = Exp(p)"), 10, "v = Exp(p) : f32[1024]\n w = Exp(v) : f32[1024]\n q = Exp(w)");
  for (std::size_t at = text.find("[1024]"); at != std::string::npos; at = text.find("[1024]")) {
    text.replace(at, 6, "[393216]");
  }
  const OnnxRuntimeMemory memory = predicted(text);
  EXPECT_EQ(memory.live, Bytes(4608 * kKiB));
  // Segments of 2, 2 and 4 MiB. The pattern of p and v has 3 MiB, and takes the one of 4 MiB.
  EXPECT_EQ(memory.bytes[0].first_run, Bytes(8 * kMiB));
  EXPECT_EQ(memory.bytes[0].second_run, Bytes(8 * kMiB));
  // Segments as requested: 3 of 1.5 MiB, and 3 MiB for the pattern.
  EXPECT_EQ(memory.bytes[2].first_run, Bytes(4608 * kKiB));
  EXPECT_EQ(memory.bytes[2].second_run, Bytes(7680 * kKiB));
  EXPECT_EQ(memory.bytes[3].second_run, Bytes(4608 * kKiB));
  // Without an arena, t and the pattern are live.
  EXPECT_EQ(memory.bytes[4].second_run, Bytes(4608 * kKiB));
}

// A loop runs its body again in the same run. Segments as requested:
//   first iteration   y, p, v and u    4 KiB each; w has the chunk of p or v, and l a part of the other
//   second iteration  p, v and u in a pattern of 12 KiB, because the free chunks of 4 KiB are not adjacent
TEST(OnnxRuntimeSession, ALoopTakesItsPatternInTheFirstRun) {
  const OnnxRuntimeMemory memory = predicted(R"(
    input n : i64[]; input x : f32[1024]
    y = Loop(n, _, x) {
      body = graph "body" {
        input i : i64[]; input k : bool[]; input s : f32[1024]
        l = Identity(k) : bool[]
        p = Exp(s) : f32[1024]
        v = Exp(p) : f32[1024]
        u = Add(p, v) : f32[1024]
        w = Exp(u) : f32[1024]
        output l, w
      }
    } : f32[1024]
    output y)");
  EXPECT_EQ(memory.live, Bytes(16 * kKiB));
  EXPECT_EQ(memory.bytes[3].first_run, Bytes(16 * kKiB));
  EXPECT_EQ(memory.bytes[2].first_run, Bytes(28 * kKiB));
  EXPECT_EQ(memory.bytes[2].second_run, memory.bytes[2].first_run);
}

TEST(OnnxRuntimeSession, WeightsOfAQuantizedLstmAreNotMadeReal) {
  // The import writes such an LSTM with nodes that begin with its name. Only the output and the gates remain.
  const std::string_view text =
      "input x : f32[10,1,6]; constant q : i8[1,32,6]; constant r : f32[1,32,8]; "
      "f = Cast(q) \"m/lstm/Cast\" {to = 1} : f32[1,32,6]; y = LSTM(x, f, r) \"m/lstm\" {hidden_size = 8} : "
      "f32[10,1,1,8]; output y";
  EXPECT_EQ(live_bytes(text), 10 * 8 * 4 + 10 * 4 * 8 * 4);
  std::string other(text);
  other.replace(other.find("m/lstm/Cast"), 11, "m/cast/Cast");
  EXPECT_EQ(live_bytes(other), 10 * 8 * 4 + 10 * 4 * 8 * 4 + 32 * 6 * 4);
}

}  // namespace
}  // namespace lowtide::testing
