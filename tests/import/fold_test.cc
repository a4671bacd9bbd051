// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/fold/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "lowtide/base/limits.h"
#include "tests/import/fold_cases.h"
#include "tests/testing/walked_slice.h"

namespace lowtide::import_internal {

// Prints an element readably, such as "exact 3 (real 0) ''" or "unknown 0 (real 0) 'n'".
void PrintTo(const KnownElement& element, std::ostream* out) {
  const char* const names[] = {"unknown", "at most", "exact"};
  *out << names[static_cast<int>(element.knowledge)] << " " << element.integer << " (real " << element.real << ") '"
       << element.symbol << "'";
}

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Extents = std::vector<std::int64_t>;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

TEST(FoldMovement, ShapeGivesNumbersBoundsAndNames) {
  const KnownInput x = shaped(DType::f32, {unknown_extent("batch"), extent(3), bounded_extent(100)});
  EXPECT_THAT(elements("Shape", {x}), ElementsAre(symbol("batch"), exactly(3), at_most(100)));
  EXPECT_THAT(elements("Shape", {x}, {{"start", std::int64_t{-2}}}), ElementsAre(exactly(3), at_most(100)));
  EXPECT_THAT(elements("Shape", {x}, {{"start", kLowest}, {"end", std::int64_t{1}}}), ElementsAre(symbol("batch")));
  EXPECT_EQ(folded("Shape", {x}, {{"start", std::int64_t{2}}, {"end", std::int64_t{1}}}).extents, Extents{0});
}

TEST(FoldMovement, SizeMultipliesAndKeepsBounds) {
  EXPECT_THAT(elements("Size", {shaped(DType::f32, {extent(3), extent(4)})}), ElementsAre(exactly(12)));
  EXPECT_THAT(elements("Size", {shaped(DType::f32, {extent(3), bounded_extent(4)})}), ElementsAre(at_most(12)));
  EXPECT_THAT(elements("Size", {shaped(DType::f32, {extent(0), unknown_extent("n")})}), ElementsAre(exactly(0)));
  EXPECT_TRUE(is_nothing(folded("Size", {shaped(DType::f32, {extent(3), unknown_extent("n")})})));
  EXPECT_TRUE(is_nothing(folded("Size", {shaped(DType::f32, {extent(kHighest), extent(2)})})));
}

// Exporters write x.view(x.size(0), -1, 8) as Concat(Unsqueeze(Gather(Shape(x), 0)), [-1], [8]).
TEST(FoldMovement, TheNameOfAnExtentReachesAReshape) {
  const KnownInput shape = list({symbol("batch"), exactly(16), exactly(64)});
  const auto first = fold_node("Gather", {shape, scalar(DType::i64, exactly(0))});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)[0]->extents, Extents{});
  const KnownInput gathered = scalar(DType::i64, (*first)[0]->elements[0]);
  const KnownContent row = folded("Unsqueeze", {gathered, integers({0})});
  EXPECT_EQ(row.extents, Extents{1});
  EXPECT_THAT(elements("Concat", {list(row.elements), integers({-1}), integers({8})}, {{"axis", std::int64_t{0}}}),
              ElementsAre(symbol("batch"), exactly(-1), exactly(8)));
}

TEST(FoldMovement, ConcatTakesTensorsWithoutKnownContent) {
  const KnownInput dynamic = shaped(DType::i64, {extent(1)});
  EXPECT_THAT(elements("Concat", {dynamic, integers({768})}, {{"axis", std::int64_t{0}}}),
              ElementsAre(unknown(), exactly(768)));
  EXPECT_TRUE(is_nothing(folded("Concat", {dynamic, dynamic}, {{"axis", std::int64_t{0}}})));
}

TEST(FoldMovement, ConcatAlongAnInnerAxisInterleavesRows) {
  const KnownInput a = tensor(DType::i64, {2, 1}, exact_list({1, 2}));
  const KnownInput b = tensor(DType::i64, {2, 2}, exact_list({3, 4, 5, 6}));
  const KnownContent both = folded("Concat", {a, b}, {{"axis", std::int64_t{-1}}});
  EXPECT_EQ(both.extents, (Extents{2, 3}));
  EXPECT_EQ(both.elements, exact_list({1, 3, 4, 2, 5, 6}));
}

TEST(FoldMovement, SliceClampsAndStepsBackwards) {
  const KnownInput x = integers({10, 11, 12, 13, 14});
  EXPECT_EQ(elements("Slice", {x, integers({1}), integers({kHighest})}), exact_list({11, 12, 13, 14}));
  EXPECT_EQ(elements("Slice", {x, integers({-1}), integers({kLowest}), integers({0}), integers({-2})}),
            exact_list({14, 12, 10}));
  EXPECT_EQ(elements("Slice", {x, integers({0}), integers({5}), integers({-1}), integers({kHighest})}),
            exact_list({10}));
  EXPECT_EQ(elements("Slice", {x, integers({4}), integers({kLowest}), integers({0}), integers({kLowest})}),
            exact_list({14}));
  EXPECT_EQ(folded("Slice", {x, integers({3}), integers({1})}).extents, Extents{0});
  EXPECT_TRUE(is_nothing(folded("Slice", {x, list({unknown()}), integers({1})})));
}

// Kernels take the same elements (tests/kernels/movement_test.cc), so a plan has the extents of its runs.
TEST(FoldMovement, SliceTakesWhatOnnxDefinesOnSmallAxes) {
  for (std::int64_t extent = 0; extent < 5; ++extent) {
    std::vector<std::int64_t> x(static_cast<std::size_t>(extent));
    std::iota(x.begin(), x.end(), 0);
    for (std::int64_t start = -7; start <= 7; ++start) {
      for (std::int64_t end = -7; end <= 7; ++end) {
        for (const std::int64_t step : {-5, -3, -2, -1, 1, 2, 3, 5}) {
          ASSERT_EQ(
              elements("Slice", {integers(x), integers({start}), integers({end}), integers({0}), integers({step})}),
              exact_list(testing::walked_slice(extent, start, end, step)))
              << extent << " from " << start << " to " << end << " by " << step;
        }
      }
    }
  }
}

TEST(FoldMovement, SliceReadsAttributesOfOldOpsets) {
  EXPECT_EQ(
      elements("Slice", {integers({7, 8, 9})}, {{"starts", Extents{-2}}, {"ends", Extents{9}}, {"axes", Extents{0}}}),
      exact_list({8, 9}));
}

TEST(FoldMovement, SplitCutsGivenOrEqualParts) {
  const auto given = fold_node("Split", {integers({1, 2, 3, 4, 5}), integers({1, 4})}, {}, 2);
  ASSERT_TRUE(given.ok());
  EXPECT_EQ((*given)[0]->elements, exact_list({1}));
  EXPECT_EQ((*given)[1]->elements, exact_list({2, 3, 4, 5}));
  // 5 in 2 parts is 3 and 2.
  const auto equal = fold_node("Split", {integers({1, 2, 3, 4, 5})}, {{"num_outputs", std::int64_t{2}}}, 2);
  ASSERT_TRUE(equal.ok());
  EXPECT_EQ((*equal)[1]->elements, exact_list({4, 5}));
  const auto wrong = fold_node("Split", {integers({1, 2, 3}), integers({1, 4})}, {}, 2);
  ASSERT_TRUE(wrong.ok());
  EXPECT_EQ((*wrong)[0], nullptr);
}

TEST(FoldMovement, ReshapeCopiesZeroAndSolvesMinusOne) {
  const KnownInput x = tensor(DType::i64, {2, 3}, exact_list({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(folded("Reshape", {x, integers({0, -1, 1})}).extents, (Extents{2, 3, 1}));
  EXPECT_TRUE(is_nothing(folded("Reshape", {x, integers({-1, -1})})));
  EXPECT_TRUE(is_nothing(folded("Reshape", {x, integers({4, -1})})));
  const KnownInput empty = tensor(DType::i64, {0, 3}, {});
  EXPECT_EQ(folded("Reshape", {empty, integers({0, 7})}, {{"allowzero", std::int64_t{1}}}).extents, (Extents{0, 7}));
}

TEST(FoldMovement, TransposeTileAndExpandRepeatTheRightElements) {
  const KnownInput x = tensor(DType::i64, {2, 2}, exact_list({1, 2, 3, 4}));
  EXPECT_EQ(elements("Transpose", {x}), exact_list({1, 3, 2, 4}));
  EXPECT_EQ(elements("Tile", {x, integers({1, 2})}), exact_list({1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(elements("Expand", {integers({5}), integers({2, 1})}), exact_list({5, 5}));
  EXPECT_TRUE(is_nothing(folded("Transpose", {x}, {{"perm", Extents{0, 0}}})));
}

TEST(FoldIndexing, GatherWithAnUnknownOrInvalidIndexIsUnknown) {
  const KnownInput x = integers({5, 6, 7});
  EXPECT_THAT(elements("Gather", {x, list({exactly(-1), unknown(), exactly(3), exactly(0)})}),
              ElementsAre(exactly(7), unknown(), unknown(), exactly(5)));
}

TEST(FoldIndexing, ScatterNdWritesIntoAPartlyKnownList) {
  const KnownInput data = list({symbol("n"), unknown(), exactly(1)});
  const KnownInput indices = tensor(DType::i64, {1, 1}, exact_list({1}));
  EXPECT_THAT(elements("ScatterND", {data, indices, integers({9})}), ElementsAre(symbol("n"), exactly(9), exactly(1)));
  const KnownInput somewhere = tensor(DType::i64, {1, 1}, {unknown()});
  EXPECT_TRUE(is_nothing(folded("ScatterND", {data, somewhere, integers({9})})));
}

TEST(FoldIndexing, PadReflectsAndCuts) {
  const KnownInput x = integers({1, 2, 3});
  EXPECT_EQ(elements("Pad", {x, integers({2, 1})}, {{"mode", std::string("reflect")}}), exact_list({3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(elements("Pad", {x, integers({-1, 1}), scalar(DType::i64, exactly(7))}), exact_list({2, 3, 7}));
  EXPECT_TRUE(is_nothing(folded("Pad", {x, integers({kLowest, kHighest})})));
}

TEST(FoldArithmetic, WrapsAroundLikeTheType) {
  EXPECT_THAT(elements("Add", {integers({kHighest}), integers({1})}), ElementsAre(exactly(kLowest)));
  const KnownInput byte = tensor(DType::u8, {1}, exact_list({200}));
  EXPECT_THAT(elements("Add", {byte, byte}), ElementsAre(exactly(144)));  // 400 - 256
  const KnownInput i8 = tensor(DType::i8, {1}, exact_list({-128}));
  EXPECT_THAT(elements("Neg", {i8}), ElementsAre(exactly(-128)));
  EXPECT_THAT(elements("Abs", {i8}), ElementsAre(exactly(-128)));
  // The result, 2^64 - 1, does not fit into KnownElement::integer.
  const KnownInput u64 = tensor(DType::u64, {1}, exact_list({0}));
  const KnownInput one = tensor(DType::u64, {1}, exact_list({1}));
  EXPECT_TRUE(is_nothing(folded("Sub", {u64, one})));
}

TEST(FoldArithmetic, RoundsToTheFloatType) {
  // 1 + 2^-11 is halfway between two f16 numbers and is rounded to the even one, 1.
  const KnownInput one = reals({1}, DType::f16);
  EXPECT_THAT(elements("Add", {one, reals({0x1p-11}, DType::f16)}), ElementsAre(exactly_real(1)));
  EXPECT_THAT(elements("Mul", {reals({65504}, DType::f16), reals({2}, DType::f16)}),
              ElementsAre(exactly_real(std::numeric_limits<double>::infinity())));
  EXPECT_THAT(elements("Add", {reals({256}, DType::bf16), reals({1}, DType::bf16)}), ElementsAre(exactly_real(256)));
  EXPECT_THAT(elements("Add", {reals({0x1p24}), reals({1})}), ElementsAre(exactly_real(0x1p24)));
  EXPECT_THAT(elements("Div", {reals({1}), reals({3})}), ElementsAre(exactly_real(static_cast<double>(1.0F / 3.0F))));
}

TEST(FoldArithmetic, DivisionAndModRoundAsOnnxDefines) {
  EXPECT_EQ(elements("Div", {integers({-7, 7}), integers({2, -2})}), exact_list({-3, -3}));
  EXPECT_EQ(elements("Mod", {integers({-7, 7}), integers({3, -3})}), exact_list({2, -2}));
  EXPECT_EQ(elements("Mod", {integers({-7, 7}), integers({3, -3})}, {{"fmod", std::int64_t{1}}}), exact_list({-1, 1}));
}

TEST(FoldArithmetic, RefusesDivisionsThatAlwaysFail) {
  const auto by_zero = fold_node("Div", {list({unknown()}), integers({0})});
  ASSERT_FALSE(by_zero.ok());
  EXPECT_EQ(by_zero.error().code, ErrorCode::invalid);
  EXPECT_THAT(by_zero.error().message, HasSubstr("divided by 0"));
  const auto lowest = fold_node("Div", {integers({kLowest}), integers({-1})});
  ASSERT_FALSE(lowest.ok());
  EXPECT_THAT(lowest.error().message, HasSubstr("-9223372036854775808"));
  EXPECT_FALSE(fold_node("Mod", {integers({1}), integers({0})}).ok());
  // A float division by zero has a result. So does Mod of the lowest integer by -1.
  EXPECT_TRUE(fold_node("Div", {reals({1}), reals({0})}).ok());
  EXPECT_THAT(elements("Mod", {integers({kLowest}), integers({-1})}), ElementsAre(exactly(0)));
  // Without elements there is no division.
  EXPECT_TRUE(fold_node("Div", {integers({}), integers({0})}).ok());
}

TEST(FoldArithmetic, OnlyMonotonicOperationsKeepBounds) {
  const KnownInput x = list({at_most(10)});
  EXPECT_THAT(elements("Add", {x, integers({5})}), ElementsAre(at_most(15)));
  EXPECT_THAT(elements("Mul", {x, integers({3})}), ElementsAre(at_most(30)));
  EXPECT_THAT(elements("Mul", {x, integers({0})}), ElementsAre(exactly(0)));
  EXPECT_THAT(elements("Div", {x, integers({3})}), ElementsAre(at_most(3)));
  EXPECT_THAT(elements("Min", {x, integers({4})}), ElementsAre(at_most(4)));
  EXPECT_THAT(elements("Max", {x, integers({20})}), ElementsAre(exactly(20)));
  EXPECT_THAT(elements("Sub", {integers({12}), x}), ElementsAre(at_most(12)));
  EXPECT_TRUE(is_nothing(folded("Sub", {x, integers({1})})));
  EXPECT_TRUE(is_nothing(folded("Mul", {x, integers({-1})})));
  EXPECT_TRUE(is_nothing(folded("Neg", {x})));
  EXPECT_TRUE(is_nothing(folded("Mul", {x, integers({kHighest})})));  // would wrap around
}

TEST(FoldArithmetic, UnknownTimesZeroIsZeroAndTimesOneIsKept) {
  EXPECT_THAT(elements("Mul", {list({unknown()}), integers({0})}), ElementsAre(exactly(0)));
  EXPECT_THAT(elements("Mul", {list({symbol("n")}), integers({1})}), ElementsAre(symbol("n")));
  EXPECT_THAT(elements("Add", {list({symbol("n")}), integers({0})}), ElementsAre(symbol("n")));
  EXPECT_THAT(elements("Mod", {list({unknown()}), integers({8})}), ElementsAre(at_most(7)));
  EXPECT_THAT(elements("Min", {list({symbol("n")}), integers({8})}), ElementsAre(at_most(8)));
}

// The sizes of a Resize: Cast(Floor(Cast(extent) * 0.5)).
TEST(FoldArithmetic, BoundsOfExtentsSurviveCastsToFloat) {
  const auto as_real = fold_node("Cast", {list({at_most(9)})}, {{"to", std::int64_t{1}}});
  ASSERT_TRUE(as_real.ok());
  EXPECT_THAT((*as_real)[0]->elements, ElementsAre(at_most_real(9)));
  const KnownInput half =
      tensor(DType::f32, {1}, elements("Mul", {tensor(DType::f32, {1}, (*as_real)[0]->elements), reals({0.5})}));
  const KnownInput floor = tensor(DType::f32, {1}, elements("Floor", {half}));
  EXPECT_THAT(elements("Cast", {floor}, {{"to", std::int64_t{7}}}), ElementsAre(at_most(4)));
}

TEST(FoldArithmetic, ClipBoundsUnknownElements) {
  EXPECT_THAT(elements("Clip", {list({unknown(), exactly(-5)}), scalar(DType::i64, exactly(0)),
                                scalar(DType::i64, exactly(7))}),
              ElementsAre(at_most(7), exactly(0)));
  EXPECT_EQ(elements("Clip", {reals({-1, 9})}, {{"min", 0.0}, {"max", 6.0}}), exact_reals({0, 6}));
}

TEST(FoldCast, KeepsLowBitsAndLeavesUndefinedFloatsUnknown) {
  EXPECT_EQ(elements("Cast", {integers({300, -1})}, {{"to", std::int64_t{2}}}), exact_list({44, 255}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(elements("Cast", {reals({-1.75, nan, 3e9, 2.5})}, {{"to", std::int64_t{6}}}),
              ElementsAre(exactly(-1), unknown(), unknown(), exactly(2)));
  EXPECT_EQ(elements("Cast", {reals({0, -0.0, nan, 0.25})}, {{"to", std::int64_t{9}}}), exact_list({0, 0, 1, 1}));
  EXPECT_EQ(elements("Cast", {integers({16777217})}, {{"to", std::int64_t{1}}}), exact_reals({16777216}));
  EXPECT_TRUE(is_nothing(folded("Cast", {integers({1})}, {{"to", std::int64_t{8}}})));     // string
  EXPECT_TRUE(is_nothing(folded("Cast", {integers({1})}, {{"to", std::int64_t{9999}}})));  // not a type
}

TEST(FoldCompare, AnExtentIsNeverMinusOne) {
  EXPECT_THAT(elements("Equal", {list({symbol("n"), unknown(), at_most(3)}), integers({-1, -1, 4})}),
              ElementsAre(exactly(0), unknown(), exactly(0)));
  EXPECT_THAT(elements("GreaterOrEqual", {list({symbol("n")}), integers({0})}), ElementsAre(exactly(1)));
  EXPECT_THAT(elements("Less", {list({at_most(3)}), integers({4})}), ElementsAre(exactly(1)));
  EXPECT_TRUE(is_nothing(folded("Less", {list({at_most(3)}), integers({3})})));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(elements("GreaterOrEqual", {reals({nan, 1}), reals({1, 1})}), exact_list({0, 1}));
}

// Exporters write x.expand(shape) as Expand(x, Where(Equal(shape, -1), Shape(x), shape)).
TEST(FoldCompare, WhereChoosesElementByElement) {
  const KnownInput condition = tensor(DType::boolean, {3}, {exactly(1), exactly(0), unknown()});
  EXPECT_THAT(elements("Where", {condition, list({symbol("n"), exactly(2), exactly(3)}), integers({5, 6, 7})}),
              ElementsAre(symbol("n"), exactly(6), at_most(7)));
  EXPECT_TRUE(is_nothing(folded("Where", {tensor(DType::boolean, {1}, {unknown()}), integers({-1}), integers({5})})));
}

TEST(FoldCompare, LogicIsThreeValued) {
  const KnownInput open = tensor(DType::boolean, {2}, {unknown(), unknown()});
  EXPECT_THAT(elements("And", {open, bools({0, 1})}), ElementsAre(exactly(0), unknown()));
  EXPECT_THAT(elements("Or", {open, bools({0, 1})}), ElementsAre(unknown(), exactly(1)));
  EXPECT_EQ(elements("Xor", {bools({0, 1}), bools({1, 1})}), exact_list({1, 0}));
}

TEST(FoldReduce, ReducesAlongAxesFromAttributeOrInput) {
  const KnownInput x = tensor(DType::i64, {2, 3}, exact_list({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(folded("ReduceSum", {x, integers({0})}).extents, (Extents{1, 3}));
  EXPECT_EQ(elements("ReduceSum", {x, integers({0})}), exact_list({5, 7, 9}));
  EXPECT_EQ(elements("ReduceProd", {x}, {{"axes", Extents{1}}, {"keepdims", std::int64_t{0}}}), exact_list({6, 120}));
  EXPECT_EQ(elements("ReduceMax", {x}), exact_list({6}));
  EXPECT_EQ(elements("ReduceSum", {x, integers({})}, {{"noop_with_empty_axes", std::int64_t{1}}}),
            exact_list({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(elements("ReduceProd", {list({at_most(3), exactly(4)})}), ElementsAre(at_most(12)));
  EXPECT_THAT(elements("ReduceProd", {list({unknown(), exactly(0)})}), ElementsAre(exactly(0)));
  EXPECT_EQ(elements("CumSum", {integers({1, 2, 3}), scalar(DType::i64, exactly(0))}, {{"exclusive", std::int64_t{1}}}),
            exact_list({0, 1, 3}));
  EXPECT_EQ(elements("ArgMax", {integers({3, 9, 9})}, {{"select_last_index", std::int64_t{1}}}), exact_list({2}));
}

TEST(FoldGenerate, MakesRangesDiagonalsAndPositions) {
  EXPECT_EQ(elements("Range",
                     {scalar(DType::i64, exactly(5)), scalar(DType::i64, exactly(0)), scalar(DType::i64, exactly(-2))}),
            exact_list({5, 3, 1}));
  EXPECT_FALSE(fold_node("Range", {scalar(DType::i64, exactly(0)), scalar(DType::i64, exactly(5)),
                                   scalar(DType::i64, exactly(0))})
                   .ok());
  EXPECT_EQ(elements("EyeLike", {shaped(DType::i64, {extent(2), extent(3)})}, {{"k", std::int64_t{1}}}),
            exact_list({0, 1, 0, 0, 0, 1}));
  const KnownContent found = folded("NonZero", {tensor(DType::boolean, {2, 2}, exact_list({0, 1, 1, 1}))});
  EXPECT_EQ(found.extents, (Extents{2, 3}));
  EXPECT_EQ(found.elements, exact_list({0, 1, 1, 1, 0, 1}));
  EXPECT_TRUE(is_nothing(folded("NonZero", {tensor(DType::boolean, {1}, {unknown()})})));
  EXPECT_EQ(elements("ConstantOfShape", {integers({2})}), exact_reals({0, 0}));
}

TEST(Fold, RespectsTheLimitOfElements) {
  const KnownInput one = scalar(DType::i64, exactly(1));
  EXPECT_EQ(elements("Expand", {one, integers({limits::kMaxFoldedElements})}).size(), 65'536U);
  for (const std::int64_t size : {limits::kMaxFoldedElements + 1, std::int64_t{1} << 40, kHighest}) {
    EXPECT_TRUE(is_nothing(folded("Expand", {one, integers({size})}))) << size;
    EXPECT_TRUE(is_nothing(folded("ConstantOfShape", {integers({size})}))) << size;
    EXPECT_TRUE(is_nothing(folded("Tile", {integers({1}), integers({size})}))) << size;
    EXPECT_TRUE(is_nothing(folded("Range", {scalar(DType::i64, exactly(0)), scalar(DType::i64, exactly(size)), one})))
        << size;
    EXPECT_TRUE(is_nothing(folded("OneHot", {integers({0}), scalar(DType::i64, exactly(size)), integers({0, 1})})))
        << size;
    EXPECT_TRUE(is_nothing(folded("Pad", {integers({1}), integers({0, size})}))) << size;
  }
  EXPECT_TRUE(is_nothing(folded("ConstantOfShape", {integers({kHighest, kHighest})})));
  EXPECT_TRUE(is_nothing(folded("ConstantOfShape", {integers({-1})})));
}

TEST(Fold, KnowsNothingOfOtherOperatorsAndDomains) {
  EXPECT_FALSE(may_fold("", "Conv"));
  EXPECT_TRUE(may_fold("ai.onnx", "Add"));
  EXPECT_FALSE(may_fold("com.example", "Add"));
  const auto outputs = fold_node("Conv", {integers({1})}, {}, 3);
  ASSERT_TRUE(outputs.ok());
  EXPECT_THAT(*outputs, ElementsAre(nullptr, nullptr, nullptr));
}

TEST(Fold, ToleratesContentThatDoesNotMatchItsExtents) {
  KnownInput broken = integers({1, 2, 3});
  broken.content = std::make_shared<const KnownContent>(KnownContent{DType::i64, {7}, exact_list({1})});
  EXPECT_TRUE(is_nothing(folded("Identity", {broken})));
  EXPECT_TRUE(is_nothing(folded("Add", {broken, integers({1})})));
}

}  // namespace
}  // namespace lowtide::import_internal
