// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/views.h"

#include <gtest/gtest.h>

#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// Returns the views of the last node of a text graph, as lines "part in whole at offset".
std::string views_of_last(const std::string& text) {
  const Graph graph = graph_of("graph \"g\" {\n" + text + "\n}\n");
  std::string lines;
  for (const View& view : views_of(graph, NodeId(static_cast<std::uint32_t>(graph.nodes().size() - 1)))) {
    lines += graph.tensor(view.part).name + " in " + graph.tensor(view.whole).name + " at " +
             std::to_string(view.offset.count()) + "\n";
  }
  return lines;
}

TEST(Views, ReshapeIsAViewOfItsInput) {
  EXPECT_EQ(views_of_last("input x : f32[2,6]\n constant s : i64[2]\n y = Reshape(x, s) : f32[3,4]\n output y"),
            "y in x at 0\n");
}

TEST(Views, TransposeIsAViewIfOnlyAxesOfExtentOneMove) {
  const auto views = [](const std::string& from, const std::string& to, const std::string& perm) {
    return views_of_last("input x : " + from + "\n y = Transpose(x)" + perm + " : " + to + "\n output y");
  };
  EXPECT_EQ(views("f32[1,4,1,3]", "f32[4,1,3,1]", " {perm = [1, 0, 3, 2]}"), "y in x at 0\n");
  EXPECT_EQ(views("f32[1,5]", "f32[5,1]", ""), "y in x at 0\n");
  EXPECT_EQ(views("f32[4,5]", "f32[5,4]", ""), "");
  EXPECT_EQ(views("f32[1,4,3]", "f32[3,1,4]", " {perm = [2, 0, 1]}"), "");
  EXPECT_EQ(views("f32[1,6]", "f32[6,1]", " {perm = [1, 1]}"), "");
  EXPECT_EQ(views("f32[1,6]", "f32[1,6]", " {perm = [1, 0]}"), "");
  EXPECT_EQ(views("f32[<=1,6]", "f32[6,<=1]", " {perm = [1, 0]}"), "");  // perhaps 0, and not known to be 1
}

TEST(Views, DropoutIsAViewOnlyInInference) {
  EXPECT_EQ(views_of_last("input x : f32[4]\n y = Dropout(x) : f32[4]\n output y"), "y in x at 0\n");
  EXPECT_EQ(views_of_last("input x : f32[4]\n constant r : f32[]\n constant t : bool[] = [0]\n"
                          "y = Dropout(x, r, t) : f32[4]\n output y"),
            "y in x at 0\n");
  EXPECT_EQ(views_of_last("input x : f32[4]\n constant r : f32[]\n constant t : bool[] = [1]\n"
                          "y = Dropout(x, r, t) : f32[4]\n output y"),
            "");
  EXPECT_EQ(views_of_last("input x : f32[4]\n input r : f32[]\n input t : bool[]\n"
                          "y = Dropout(x, r, t) : f32[4]\n output y"),
            "");
}

TEST(Views, DropoutWithAMaskComputes) {
  EXPECT_EQ(views_of_last("input x : f32[4]\n y, m = Dropout(x) : f32[4], bool[4]\n output y"), "");
}

TEST(Views, SliceOfRowsIsAView) {
  // Rows 2..5 of 8 rows of 3 floats: 2 * 3 * 4 = 24 bytes before them.
  EXPECT_EQ(
      views_of_last(
          "input x : f32[8,3]\n constant b : i64[1] = [2]\n constant e : i64[1] = [5]\n constant a : i64[1] = [0]\n"
          "y = Slice(x, b, e, a) : f32[3,3]\n output y"),
      "y in x at 24\n");
}

TEST(Views, SliceWithNegativeStartCountsFromTheEnd) {
  // Row -2 of 8 is row 6: 6 * 12 = 72.
  EXPECT_EQ(
      views_of_last(
          "input x : f32[8,3]\n constant b : i64[1] = [-2]\n constant e : i64[1] = [100]\n constant a : i64[1] = [-2]\n"
          "y = Slice(x, b, e, a) : f32[2,3]\n output y"),
      "y in x at 72\n");
}

TEST(Views, SliceOfColumnsIsAViewOnlyInOneRow) {
  const std::string numbers = "constant b : i64[1] = [1]\n constant e : i64[1] = [3]\n constant a : i64[1] = [1]\n";
  EXPECT_EQ(views_of_last("input x : f32[2,4]\n" + numbers + "y = Slice(x, b, e, a) : f32[2,2]\n output y"), "");
  EXPECT_EQ(views_of_last("input x : f32[1,4]\n" + numbers + "y = Slice(x, b, e, a) : f32[1,2]\n output y"),
            "y in x at 4\n");
}

TEST(Views, SliceOfRowsWithinOnePlaneIsAView) {
  // x[3, 1:2, :] of [5,4,6]: (3 * 4 + 1) * 6 * 4 bytes = 312.
  EXPECT_EQ(views_of_last("input x : f32[5,4,6]\n constant b : i64[2] = [3, 1]\n constant e : i64[2] = [4, 3]\n"
                          "constant a : i64[2] = [0, 1]\n y = Slice(x, b, e, a) : f32[1,2,6]\n output y"),
            "y in x at 312\n");
}

TEST(Views, SliceWithAStepCopiesUnlessItTakesOneElement) {
  const std::string head =
      "input x : f32[8,3]\n constant b : i64[1] = [2]\n constant e : i64[1] = [8]\n constant a : i64[1] = [0]\n";
  EXPECT_EQ(views_of_last(head + "constant s : i64[1] = [2]\n y = Slice(x, b, e, a, s) : f32[3,3]\n output y"), "");
  EXPECT_EQ(views_of_last(head + "constant s : i64[1] = [9]\n y = Slice(x, b, e, a, s) : f32[1,3]\n output y"),
            "y in x at 24\n");
}

TEST(Views, SliceWithUnknownStartsCopies) {
  EXPECT_EQ(
      views_of_last("input x : f32[8,3]\n input b : i64[1]\n constant e : i64[1] = [5]\n constant a : i64[1] = [0]\n"
                    "y = Slice(x, b, e, a) : f32[3,3]\n output y"),
      "");
}

TEST(Views, SliceMayHaveItsBoundsInAttributes) {
  EXPECT_EQ(
      views_of_last("input x : f32[8,3]\n y = Slice(x) {starts = [2], ends = [5], axes = [0]} : f32[3,3]\n output y"),
      "y in x at 24\n");
}

TEST(Views, SliceOfATensorWithUpperBoundsCopies) {
  EXPECT_EQ(
      views_of_last("input x : f32[<=8,3]\n y = Slice(x) {starts = [2], ends = [5], axes = [0]} : f32[3,3]\n output y"),
      "");
}

TEST(Views, SliceOfHalfBytesMustStartOnAByte) {
  EXPECT_EQ(views_of_last("input x : i4[8]\n y = Slice(x) {starts = [2], ends = [4], axes = [0]} : i4[2]\n output y"),
            "y in x at 1\n");
  EXPECT_EQ(views_of_last("input x : i4[8]\n y = Slice(x) {starts = [1], ends = [3], axes = [0]} : i4[2]\n output y"),
            "");
}

// An element of 4 bits may end inside a byte that the next element also uses. The last one ends with the tensor.
TEST(Views, SliceOfHalfBytesMustEndOnAByteOrWithItsInput) {
  EXPECT_EQ(views_of_last("input x : i4[8]\n y = Slice(x) {starts = [2], ends = [3], axes = [0]} : i4[1]\n output y"),
            "");
  EXPECT_EQ(views_of_last("input x : i4[7]\n y = Slice(x) {starts = [6], ends = [7], axes = [0]} : i4[1]\n output y"),
            "y in x at 3\n");
}

// The range in the attributes and the extents of the result must agree, because a file states both.
TEST(Views, SliceCopiesIfItsBoundsAndResultDisagree) {
  const auto slice = [](const std::string& attributes, const std::string& result) {
    return views_of_last("input x : f32[8,3]\n y = Slice(x) {" + attributes + "} : " + result + "\n output y");
  };
  EXPECT_EQ(slice("starts = [2], ends = [5], axes = [0]", "f32[3,3]"), "y in x at 24\n");
  EXPECT_EQ(slice("starts = [2], ends = [5], axes = [0]", "f32[4,3]"), "");
  EXPECT_EQ(slice("starts = [2], ends = [5], axes = [0]", "i32[3,3]"), "");
  EXPECT_EQ(slice("starts = [2], axes = [0]", "f32[6,3]"), "");
  EXPECT_EQ(slice("starts = [2, 3], ends = [5, 5], axes = [0, -2]", "f32[2,3]"), "");
}

TEST(Views, SplitOnTheOuterAxisGivesConsecutiveParts) {
  EXPECT_EQ(views_of_last("input x : f32[1,6,2]\n a, b = Split(x) {axis = 1} : f32[1,2,2], f32[1,4,2]\n output a, b"),
            "a in x at 0\nb in x at 16\n");
  EXPECT_EQ(views_of_last("input x : f32[2,6]\n a, b = Split(x) {axis = 1} : f32[2,2], f32[2,4]\n output a, b"), "");
}

TEST(Views, SplitCopiesIfItsPartsAndInputDisagree) {
  const auto split = [](const std::string& results, const std::string& lengths = "") {
    return views_of_last("input x : f32[4,6]\n a, b = Split(x) {axis = 0" + lengths + "} : " + results +
                         "\n output a, b");
  };
  EXPECT_EQ(split("f32[1,6], f32[3,6]"), "a in x at 0\nb in x at 24\n");
  EXPECT_EQ(split("f32[1,6], f32[3,6]", ", split = [1, 3]"), "a in x at 0\nb in x at 24\n");
  EXPECT_EQ(split("f32[1,6], f32[3,6]", ", split = [3, 1]"), "");
  EXPECT_EQ(split("f32[1,6], f32[3,6]", ", split = [4]"), "");
  EXPECT_EQ(split("f32[6,1], f32[3,6]"), "");  // 24 elements as well
  EXPECT_EQ(split("f32[3,6], f32[3,6]"), "");
  EXPECT_EQ(split("f32[1,6], i32[3,6]"), "");
}

TEST(Views, ReshapeToAnotherElementTypeComputes) {
  EXPECT_EQ(views_of_last("input x : f32[4]\n y = Reshape(x) : i32[4]\n output y"), "");
}

TEST(Views, ANodeWithABodyComputes) {
  EXPECT_EQ(views_of_last("input x : f32[4]\n y = Identity(x) {\n  b = graph \"b\" {\n  constant k : f32[4]\n"
                          "  output k\n  }\n} : f32[4]\n output y"),
            "");
}

TEST(Views, ConcatInputsAreViewsOfConsecutiveParts) {
  EXPECT_EQ(
      views_of_last("input a : f32[1,2]\n input b : f32[1,3]\n c = Concat(a, b) {axis = -1} : f32[1,5]\n output c"),
      "a in c at 0\nb in c at 8\n");
  EXPECT_EQ(
      views_of_last("input a : f32[2,2]\n input b : f32[2,3]\n c = Concat(a, b) {axis = 1} : f32[2,5]\n output c"), "");
}

// With leading extents above 1, parts interleave unless one of them is all of the whole: 2 * 6 * 4 = 48 bytes.
TEST(Views, APartThatIsTheWholeIsAViewOnAnyAxis) {
  EXPECT_EQ(views_of_last("input a : f32[2,6]\n c = Concat(a) {axis = 1} : f32[2,6]\n output c"), "a in c at 0\n");
  EXPECT_EQ(views_of_last("input x : f32[2,6]\n a = Split(x) {axis = 1} : f32[2,6]\n output a"), "a in x at 0\n");
  EXPECT_EQ(views_of_last("input x : f32[2,6]\n a, b = Split(x) {axis = 1} : f32[2,6], f32[2,0]\n output a, b"),
            "a in x at 0\nb in x at 48\n");
}

// 4 + 3 elements of 4 bits are 28 bits, which take 4 bytes. The second part starts at byte 2.
TEST(Views, ALastPartOfHalfBytesMayEndWithItsInput) {
  const auto split = [](const std::string& results) {
    return views_of_last("input x : i4[7]\n a, b = Split(x) {axis = 0} : " + results + "\n output a, b");
  };
  EXPECT_EQ(split("i4[4], i4[3]"), "a in x at 0\nb in x at 2\n");
  EXPECT_EQ(split("i4[3], i4[4]"), "");
  EXPECT_EQ(split("i4[7], i4[0]"), "a in x at 0\nb in x at 4\n");  // 0 bytes from the end of x on
}

TEST(Views, ConcatMayReadOneInputTwice) {
  EXPECT_EQ(views_of_last("input a : f32[2]\n c = Concat(a, a) {axis = 0} : f32[4]\n output c"),
            "a in c at 0\na in c at 8\n");
}

TEST(Views, ExpandIsAViewIfNothingRepeats) {
  EXPECT_EQ(views_of_last("input x : f32[3]\n constant s : i64[2]\n y = Expand(x, s) : f32[1,3]\n output y"),
            "y in x at 0\n");
  EXPECT_EQ(views_of_last("input x : f32[3]\n constant s : i64[2]\n y = Expand(x, s) : f32[2,3]\n output y"), "");
}

// At run time, the input may have fewer than 8 elements. Expand may repeat 1 of them 8 times, and Tile 4 of them twice.
TEST(Views, ExpandAndTileOfUpperBoundsCompute) {
  for (const std::string type : {"Expand", "Tile"}) {
    const auto views = [&](const std::string& from, const std::string& to) {
      return views_of_last("input x : " + from + "\n input s : i64[1]\n y = " + type + "(x, s) : " + to +
                           "\n output y");
    };
    EXPECT_EQ(views("f32[8]", "f32[8]"), "y in x at 0\n") << type;
    EXPECT_EQ(views("f32[<=8]", "f32[8]"), "") << type;
    EXPECT_EQ(views("f32[<=8]", "f32[1,8]"), "") << type;
    EXPECT_EQ(views("f32[<=8]", "f32[<=8]"), "") << type;
  }
}

TEST(Views, ReshapeOfAnUpperBoundIsAView) {
  EXPECT_EQ(views_of_last("input x : f32[<=8,1]\n y = Reshape(x) : f32[<=8]\n output y"), "y in x at 0\n");
}

}  // namespace
}  // namespace lowtide::testing
