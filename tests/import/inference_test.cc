// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/infer_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/inference_cases.h"

namespace lowtide::import_internal {
namespace {

using namespace testing;  // the helpers of inference_cases.h
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Inference, UsesTheLibraryForMostNodes) {
  EXPECT_EQ(sizes("y = Relu(x)", {f32({2, 3})}), "f32[2,3]");
  // (32 + 2 x 1 - 3) / 2 + 1 = 16
  EXPECT_EQ(sizes("y = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w)", {f32({1, 3, 32, 32}), f32({8, 3, 3, 3})}),
            "f32[1,8,16,16]");
  EXPECT_EQ(sizes("y = MatMul(a, b)", {fact(DType::f32, {named("batch"), exactly(4)}), f32({4, 5})}), "f32[batch,5]");
  EXPECT_EQ(sizes("a, b = Split <axis = 0, num_outputs = 2> (x)", {f32({5, 1})}), "f32[3,1] f32[2,1]");
}

TEST(Inference, ReadsSizesFromContents) {
  EXPECT_EQ(sizes("y = Reshape(x, s)", {f32({4, 6}), list({2, -1})}), "f32[2,12]");
  EXPECT_EQ(sizes("y = Resize(x, , scales)", {f32({1, 3, 10, 10}), reals({1, 1, 2, 1.5})}), "f32[1,3,20,15]");
  EXPECT_EQ(sizes("y = Slice(x, s, e)", {f32({10}), list({-3}), list({1 << 30})}), "f32[3]");
  EXPECT_EQ(sizes("y = ConstantOfShape(s)", {list({2, 3})}), "f32[2,3]");
  EXPECT_EQ(sizes("y = Expand(x, s)", {f32({1, 3}), elements({extent_named("batch"), number(1)})}), "f32[batch,3]");
}

TEST(Inference, KeepsContentsThroughShapeArithmetic) {
  const auto shape = infer("s = Shape(x)", {fact(DType::f32, {named("batch"), exactly(3), at_most(7)})});
  ASSERT_TRUE(shape.ok());
  ASSERT_NE(shape->front().known.content, nullptr);
  EXPECT_EQ(shape->front().known.content->elements,
            (std::vector<KnownElement>{extent_named("batch"), number(3), bound(7)}));
  const auto squared = infer("y = Mul(x, x)", {list({3}), list({3})});
  ASSERT_TRUE(squared.ok());
  EXPECT_EQ(squared->front().known.content->elements, std::vector<KnownElement>{number(9)});
  const auto constant = infer("c = Constant <value_ints = [4, 5]> ()", {});
  ASSERT_TRUE(constant.ok());
  EXPECT_EQ(constant->front().known.content->elements, (std::vector<KnownElement>{number(4), number(5)}));
  const auto filled = infer("y = ConstantOfShape <value = int64[1] {7}> (s)", {list({2})});
  ASSERT_TRUE(filled.ok());
  EXPECT_EQ(filled->front().known.content->elements, (std::vector<KnownElement>{number(7), number(7)}));
}

TEST(Inference, DoesNotComputeLargeTables) {
  const auto small = infer("y = ConstantOfShape <value = int64[1] {7}> (s)", {list({4096})});
  ASSERT_TRUE(small.ok());
  EXPECT_NE(small->front().known.content, nullptr);
  const auto large = infer("y = ConstantOfShape <value = int64[1] {7}> (s)", {list({4097})});
  EXPECT_EQ(described(large), "i64[4097]");
  EXPECT_EQ(large->front().known.content, nullptr);
}

// The library gives a scalar no rank.
TEST(Inference, GivesAGatherNDTheRankOfWhatItsIndicesLeave) {
  EXPECT_EQ(sizes("y = GatherND(x, i)", {f32({28}), i64({1})}), "f32[]");
  EXPECT_EQ(sizes("y = GatherND(x, i)", {f32({4, 5}), i64({2})}), "f32[]");
  EXPECT_EQ(sizes("y = GatherND(x, i)", {f32({4, 5}), i64({1})}), "f32[5]");
  EXPECT_EQ(sizes("y = GatherND(x, i)", {f32({28}), i64({2, 1})}), "f32[2]");
  EXPECT_EQ(sizes("y = GatherND <batch_dims = 1> (x, i)", {f32({3, 4}), i64({3, 1})}), "f32[3]");
  EXPECT_EQ(sizes("y = GatherND(x, i)", {fact(DType::f32, {named("n")}), i64({1})}), "f32[]");
}

// The function that defines the operator has the attribute as an operand.
TEST(Inference, UsesTheDefaultsOfAttributesInFunctions) {
  for (const int opset : {13, 18, 21}) {
    EXPECT_EQ(sizes("y = MeanVarianceNormalization(x)", {f32({2, 3, 4, 4})}, opset), "f32[2,3,4,4]") << opset;
  }
}

TEST(Inference, ComputesTheLengthOfARange) {
  EXPECT_EQ(sizes("y = Range(a, b, c)", {scalar(10), scalar(6), scalar(-3)}), "i64[2]") << "10, 7";
  EXPECT_EQ(sizes("y = Range(a, b, c)", {scalar(0), list({7}), scalar(2)}), "i64[4]") << "a list of one number";
  EXPECT_EQ(sizes("y = Range(a, b, c)", {scalar(0), scalar(200'000), scalar(2)}), "i64[100000]");
  EXPECT_EQ(sizes("y = Range(a, b, c)", {scalar(3), scalar(3), scalar(1)}), "i64[0]");
  EXPECT_EQ(sizes("y = Range(a, b, c)", {reals({0}), reals({1}), reals({0.4})}), "f32[3]") << "0, 0.4, 0.8";
  const auto half = [](double real) {
    return content(DType::f16, {}, {{.knowledge = Knowledge::exact, .real = real}});
  };
  EXPECT_EQ(sizes("y = Range(a, b, c)", {half(1), half(5), half(2)}), "f16[2]") << "1, 3";
}

// The content of the Shape of a bounded extent, which exporters compute with in all opsets.
TEST(InferenceBounds, OfContentsBoundSizesInAllOpsets) {
  const TensorFact x = f32({2, 4});
  for (const int opset : {9, 11, 13, 14, 18, 21, 23}) {
    EXPECT_EQ(sizes("y = Reshape(x, s)", {x, elements({number(1), bound(4), number(-1)})}, opset), "f32[1,<=4,<=8]")
        << opset;
    EXPECT_EQ(sizes("y = Reshape(x, s)", {x, elements({number(3), bound(4)})}, opset), "f32[3,<=4]") << opset;
    // Before opset 13, the library takes an Expand for unknown if one of its numbers is.
    EXPECT_EQ(sizes("y = Expand(x, s)", {f32({1}), elements({number(2), bound(4)})}, opset),
              opset < 13 ? "f32[<=2,<=4]" : "f32[2,<=4]")
        << opset;
    EXPECT_EQ(sizes("y = ConstantOfShape(s)", {elements({number(2), bound(4)})}, opset), "f32[2,<=4]") << opset;
    EXPECT_EQ(sizes("y = Tile(x, s)", {x, elements({number(1), bound(4)})}, opset), "f32[2,<=16]") << opset;
    if (opset < 11) continue;
    EXPECT_EQ(sizes("y = Range(a, b, c)", {scalar(0), content(DType::i64, {}, {bound(7)}), scalar(2)}, opset),
              "i64[<=4]");
    const auto real = [](double value, Knowledge knowledge) {
      return content(DType::f32, {}, {{.knowledge = knowledge, .real = value}});
    };
    EXPECT_EQ(sizes("y = Range(a, b, c)",
                    {real(0, Knowledge::exact), real(7, Knowledge::at_most), real(0.5, Knowledge::exact)}, opset),
              "f32[<=14]");
    EXPECT_EQ(sizes("y = Slice(x, a, b)", {x, list({0}), elements({bound(1)})}, opset), "f32[<=1,4]") << opset;
    EXPECT_EQ(sizes("y = Pad(x, p)", {fact(DType::f32, {at_most(2), exactly(6)}), list({1, 0, 2, 0})}, opset),
              "f32[<=5,6]")
        << opset;
  }
}

TEST(Inference, NamesSumsOfOpenExtents) {
  const TensorFact x = fact(DType::f32, {named("n"), exactly(4)});
  EXPECT_EQ(sizes("y = Concat <axis = 0> (x, a, b)", {x, f32({2, 4}), f32({1, 4})}), "f32[n+3,4]");
  EXPECT_EQ(sizes("y = Concat <axis = 0> (x, a)", {fact(DType::f32, {named("n+3"), exactly(4)}), f32({2, 4})}),
            "f32[n+5,4]");
  EXPECT_EQ(sizes("y = Concat <axis = 0> (x, x)", {x, x}), "f32[y[0],4]") << "the sum of two open extents has no name";
  EXPECT_EQ(sizes("y = Pad(x, p)", {x, list({1, 0, 2, 0})}), "f32[n+3,4]");
}

TEST(Inference, RefusesWindowsThatExceedTheirOperandByMoreThanAStride) {
  const std::string refused = sizes("y = Conv (x, w)", {f32({1, 1, 2}), f32({1, 1, 5})});
  for (const char* word : {"invalid", "spans 5", "axis 2", "'x'", "f32[1,1,2]", "without padding"}) {
    EXPECT_NE(refused.find(word), std::string::npos) << "lacks: " << word << "\n" << refused;
  }
  const std::string padded = sizes("y = MaxPool <kernel_shape = [9], pads = [1, 2]> (x)", {f32({1, 1, 2})});
  EXPECT_NE(padded.find("a padding of 3"), std::string::npos) << padded;
}

TEST(Inference, NamesUnknownExtentsAfterTheOutput) {
  EXPECT_EQ(sizes("y = Slice(x, s, e)", {fact(DType::f32, {named(""), exactly(4)}), i64({1}), i64({1})}),
            "f32[y[0],4]");
  EXPECT_EQ(sizes("y = Range(a, b, c)", {i64({}), i64({}), i64({})}), "i64[y[0]]");
}

TEST(InferenceBounds, NonZeroHasAtMostOneColumnPerElement) {
  EXPECT_EQ(sizes("y = NonZero(x)", {f32({3, 4})}), "i64[2,<=12]");
  EXPECT_EQ(sizes("y = NonZero(x)", {content(DType::boolean, {3}, {number(0), number(1), number(1)})}), "i64[1,2]");
}

TEST(InferenceBounds, NonMaxSuppressionIsBoundedByItsLimits) {
  const TensorFact boxes = f32({2, 100, 4});
  const TensorFact scores = f32({2, 5, 100});
  // 2 batches x 5 classes x min(30, 100) boxes
  EXPECT_EQ(sizes("y = NonMaxSuppression(b, s, m)", {boxes, scores, list({30})}), "i64[<=300,3]");
  EXPECT_EQ(sizes("y = NonMaxSuppression(b, s, m)", {boxes, scores, list({1 << 30})}), "i64[<=1000,3]");
  EXPECT_EQ(sizes("y = NonMaxSuppression(b, s, m)", {boxes, scores, i64({1})}), "i64[<=1000,3]");
  EXPECT_EQ(sizes("y = NonMaxSuppression(b, s)", {boxes, scores}), "i64[<=0,3]");
}

TEST(InferenceBounds, UniqueCompressTopKAndSliceAreBoundedByTheirInput) {
  EXPECT_EQ(sizes("y, i, v, c = Unique(x)", {f32({3, 4})}), "f32[<=12] i64[<=12] i64[12] i64[<=12]");
  EXPECT_EQ(sizes("y = Compress <axis = 1> (x, c)", {f32({3, 4}), boolean({2})}), "f32[3,<=2]");
  EXPECT_EQ(sizes("y = Compress(x, c)", {f32({3, 4}), content(DType::boolean, {3}, {number(1), number(0), {}})}, 9),
            "f32[<=2]");
  EXPECT_EQ(sizes("v, i = TopK(x, k)", {f32({3, 40}), i64({1})}), "f32[3,<=40] i64[3,<=40]");
  EXPECT_EQ(sizes("v, i = TopK(x, k)", {f32({3, 40}), elements({bound(7)})}), "f32[3,<=7] i64[3,<=7]");
  EXPECT_EQ(sizes("y = Slice(x, s, e, a, t)", {f32({3, 10}), i64({1}), i64({1}), list({1}), list({4})}), "f32[3,<=3]");
  EXPECT_EQ(sizes("y = Slice(x, s, e, a)", {f32({3, 10}), list({2}), elements({bound(5)}), list({1})}), "f32[3,<=3]");
  EXPECT_EQ(sizes("y = Slice(x, s, e, a)", {f32({3, 10}), list({-2}), i64({1}), list({1})}), "f32[3,<=2]");
}

TEST(InferenceBounds, PassThroughMonotonicOperators) {
  const TensorFact some = fact(DType::f32, {at_most(100, "n"), exactly(4)});
  EXPECT_EQ(sizes("y = Relu(x)", {some}), "f32[<=100,4]");
  EXPECT_EQ(sizes("y = Gather <axis = 1> (x, i)", {some, scalar(0)}), "f32[<=100]");
  EXPECT_EQ(sizes("y = Concat <axis = 0> (x, x)", {some, some}), "f32[<=200,4]");
  EXPECT_EQ(sizes("y = MatMul(x, w)", {some, f32({4, 8})}), "f32[<=100,8]");
  EXPECT_EQ(sizes("y = Flatten <axis = 0> (x)", {some}), "f32[1,<=400]");
  EXPECT_EQ(sizes("y = Transpose(x)", {some}), "f32[4,<=100]");
  EXPECT_EQ(sizes("y = Tile(x, r)", {some, list({2, 1})}), "f32[<=200,4]");
  EXPECT_EQ(sizes("y = Pad(x, p)", {some, list({1, 0, 2, 0})}), "f32[<=103,4]");
  // Only the larger of two bounds holds for the sum, because one extent may be 1.
  EXPECT_EQ(sizes("y = Add(x, z)", {some, fact(DType::f32, {at_most(30), exactly(4)})}), "f32[<=100,4]");
  // An exact extent above 1 is that of the result.
  EXPECT_EQ(sizes("y = Add(x, z)", {some, f32({50, 4})}), "f32[50,4]");
}

// Slice counts from the end, and the last part of a Split can grow when the input shrinks, so a bound must not pass
// through them. 9 in 4 parts is 3, 3, 3, 0, but 8 in 4 parts is 2, 2, 2, 2.
TEST(InferenceBounds, DoNotPassThroughOtherOperators) {
  const TensorFact some = fact(DType::f32, {at_most(9)});
  EXPECT_EQ(sizes("a, b, c, d = Split <num_outputs = 4> (x)", {some}), "f32[<=3] f32[<=3] f32[<=3] f32[<=3]");
  // x[-1:5] of 9 elements is x[8:5], which is empty; of 3 elements it is x[2:5], which has one.
  EXPECT_EQ(sizes("y = Slice(x, s, e)", {some, list({-1}), list({5})}), "f32[<=1]");
  // 9 elements cannot form rows of 4; fewer can.
  EXPECT_EQ(sizes("y = Reshape(x, s)", {some, list({-1, 4})}), "f32[<=2,4]");
}

TEST(InferenceBounds, ReshapeCancelsEqualExtents) {
  const TensorFact some = fact(DType::f32, {at_most(100, "n"), exactly(4), exactly(6)});
  EXPECT_EQ(sizes("y = Reshape(x, s)", {some, list({0, -1})}), "f32[<=100,24]");
  const TensorFact open = fact(DType::f32, {named("n"), exactly(4), named("m")});
  EXPECT_EQ(sizes("y = Reshape(x, s)", {open, elements({extent_named("m"), extent_named("n"), number(-1)})}),
            "f32[m,n,4]");
  EXPECT_EQ(sizes("y = Reshape(x, s)", {open, elements({extent_named("n"), number(4), number(-1)})}), "f32[n,4,m]");
  EXPECT_EQ(sizes("y = Reshape(x, s)", {some, elements({bound(50), number(24)})}), "f32[<=100,24]");
}

TEST(InferenceBounds, BoundedContentsGiveBoundedSizes) {
  EXPECT_EQ(sizes("y = ConstantOfShape(s)", {elements({bound(20), number(3)})}), "f32[<=20,3]");
  EXPECT_EQ(sizes("y = Expand(x, s)", {f32({1, 3}), elements({bound(20), number(1)})}), "f32[<=20,3]");
  EXPECT_EQ(sizes("y = Tile(x, r)", {f32({2, 3}), elements({bound(5), number(2)})}), "f32[<=10,6]");
  EXPECT_EQ(sizes("y = Resize(x, , , s)", {f32({1, 3}), elements({number(1), bound(9)})}), "f32[1,<=9]");
  // ceil((20 - 3) / 4) = 5
  EXPECT_EQ(sizes("y = Range(a, b, c)", {scalar(3), content(DType::i64, {}, {bound(20)}), scalar(4)}), "i64[<=5]");
  EXPECT_EQ(sizes("y = Range(a, b, c)", {scalar(0), content(DType::i64, {}, {extent_named("seq")}), scalar(1)}),
            "i64[seq]");
}

// A bound may be used as a number only if no output extent shrinks when an input extent grows. This test tries every
// smaller number instead of the bound.
TEST(InferenceBounds, HoldForEverySmallerNumber) {
  const struct {
    const char* node;
    Facts inputs;  // the first input has the bound
  } kCases[] = {
      {"y = Conv <strides = [2], pads = [1, 1], dilations = [2]> (x, w)", {f32({1, 2, 1}), f32({3, 2, 3})}},
      {"y = Conv <auto_pad = \"SAME_UPPER\", strides = [3]> (x, w)", {f32({1, 2, 1}), f32({3, 2, 3})}},
      {"y = ConvTranspose <strides = [2]> (x, w)", {f32({1, 2, 1}), f32({2, 3, 3})}},
      {"y = ConvTranspose <auto_pad = \"SAME_UPPER\", strides = [3], output_padding = [1]> (x, w)",
       {f32({1, 2, 1}), f32({2, 3, 3})}},
      {"y = MaxPool <kernel_shape = [3], strides = [2], ceil_mode = 1> (x)", {f32({1, 2, 1})}},
      {"y = MaxPool <kernel_shape = [3], strides = [2], pads = [1, 2], ceil_mode = 1> (x)", {f32({1, 2, 1})}},
      {"y = AveragePool <kernel_shape = [2], pads = [1, 0]> (x)", {f32({1, 2, 1})}},
      {"y = Slice(x, s, e, a)", {f32({1, 2, 1}), list({-4}), list({7}), list({2})}},
      {"y = Slice(x, s, e, a, t)", {f32({1, 2, 1}), list({-1}), list({0}), list({2}), list({-2})}},
      {"y = Slice(x, s, e, a)", {f32({1, 2, 1}), list({3}), list({-2}), list({2})}},
      {"p, q, r = Split <axis = 2, num_outputs = 3> (x)", {f32({1, 2, 1})}},
      {"y = Reshape(x, s)", {f32({1, 2, 1}), list({-1, 4})}},
      {"y = Reshape(x, s)", {f32({1, 2, 1}), list({0, -1})}},
      {"y = Flatten <axis = 2> (x)", {f32({1, 2, 1})}},
      {"y = Resize(x, , s)", {f32({1, 2, 1}), reals({1, 1, 1.7})}},
      {"y = Pad(x, p)", {f32({1, 2, 1}), list({0, 0, -1, 0, 0, 3})}},
      {"y = DepthToSpace <blocksize = 2> (x)", {f32({1, 4, 2, 1})}},
      {"y = SpaceToDepth <blocksize = 2> (x)", {f32({1, 4, 2, 1})}},
      {"y, i = TopK <axis = 2> (x, k)", {f32({1, 2, 1}), elements({bound(4)})}},
      {"y = Compress <axis = 2> (x, c)", {f32({1, 2, 1}), boolean({5})}},
      {"y = Einsum <equation = \"abc,abc->cab\"> (x, x)", {f32({1, 2, 1}), f32({1, 2, 1})}},
  };
  for (const auto& tried : kCases) {
    constexpr std::int64_t kBound = 13;
    const auto with = [&](const KnownExtent& extent) {
      Facts inputs = tried.inputs;
      for (TensorFact& input : inputs) {
        const bool is_data = input.known.content == nullptr && input.known.dtype == DType::f32;
        if (is_data && input.known.extents->back().extent == 1) input.known.extents->back() = extent;
      }
      return infer(tried.node, inputs);
    };
    const auto bounded = with(at_most(kBound));
    ASSERT_TRUE(bounded.ok()) << tried.node << ": " << described(bounded);
    int compared = 0;
    for (std::int64_t extent = 0; extent <= kBound; ++extent) {
      const auto exact = with(exactly(extent));
      if (!exact.ok()) continue;  // a window larger than the input, or elements that do not fill rows
      for (std::size_t i = 0; i < exact->size(); ++i) {
        ASSERT_TRUE((*exact)[i].known.extents && (*bounded)[i].known.extents) << tried.node;
        for (std::size_t axis = 0; axis < (*exact)[i].known.extents->size(); ++axis) {
          const KnownExtent& truth = (*(*exact)[i].known.extents)[axis];
          const KnownExtent& claim = (*(*bounded)[i].known.extents)[axis];
          EXPECT_NE(claim.knowledge, Knowledge::unknown) << tried.node << " axis " << axis;
          EXPECT_LE(truth.extent, claim.extent)
              << tried.node << " with " << extent << ", output " << i << " axis " << axis;
          if (claim.knowledge == Knowledge::exact && truth.knowledge == Knowledge::exact) {
            EXPECT_EQ(truth.extent, claim.extent) << tried.node;
          }
          ++compared;
        }
      }
    }
    EXPECT_GT(compared, 0) << tried.node;
  }
}

TEST(Inference, FindsTheHiddenSizeOfRecurrentOperators) {
  // Without hidden_size, R is [directions, 4 x hidden, hidden].
  EXPECT_EQ(sizes("y, h, c = LSTM(x, w, r)", {f32({7, 2, 5}), f32({1, 12, 5}), f32({1, 12, 3})}),
            "f32[7,1,2,3] f32[1,2,3] f32[1,2,3]");
}

TEST(Inference, AcceptsDeprecatedOperators) {
  EXPECT_EQ(sizes("y = Upsample(x, s)", {f32({1, 1, 2, 2}), reals({1, 1, 2, 3})}, 10), "f32[1,1,4,6]");
  EXPECT_EQ(sizes("y = Scatter <axis = 0> (x, i, u)", {f32({3}), i64({1}), f32({1})}, 21), "f32[3]");
}

TEST(InferenceErrors, LackThePrefixesOfTheLibrary) {
  const std::string text = sizes("y = Add(a, b)", {f32({2, 3}), f32({4, 3})});
  EXPECT_EQ(text, "invalid: Incompatible dimensions; 'a' is f32[2,3], 'b' is f32[4,3]");
  EXPECT_THAT(sizes("y = Conv(x, w)", {f32({1, 3, 8, 8}), f32({4, 3})}), Not(HasSubstr("Error]")));
}

TEST(InferenceErrors, EscapeControlCharacters) {
  onnx::NodeProto node = node_from("y = Relu <alpha = 1> (x)");
  node.mutable_attribute(0)->set_name("a\x1b[31m\n'");
  const auto refused = infer(node, {f32({1})});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message.find('\x1b'), std::string::npos);
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
}

TEST(InferenceErrors, NameUnknownOperatorsAndDomains) {
  EXPECT_EQ(sizes("y = Frobnicate(x)", {f32({1})}),
            "unsupported: operator 'Frobnicate' of domain 'ai.onnx' is not supported: Lowtide does not know it");
  EXPECT_THAT(sizes("y = com.example.Relu(x)", {f32({1})}), HasSubstr("imports no opset"));
  EXPECT_THAT(sizes("y = Gelu(x)", {f32({1})}, 19),
              HasSubstr("it exists since version 20 of its domain, and the model imports version 19"));
  EXPECT_THAT(sizes("y = com.microsoft.Inverse(x)", {f32({1})}), HasSubstr("Lowtide does not know it"));
}

TEST(InferenceErrors, CountInputsOutputsAndAttributes) {
  EXPECT_THAT(sizes("y = Relu(x, x)", {f32({1}), f32({1})}), HasSubstr("invalid: "));
  EXPECT_THAT(sizes("y = Concat(x)", {f32({1})}), HasSubstr("axis"));
  EXPECT_THAT(sizes("y = Relu <slope = 1.5> (x)", {f32({1})}), HasSubstr("slope"));
}

}  // namespace
}  // namespace lowtide::import_internal
