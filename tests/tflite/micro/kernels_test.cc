// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lowtide::micro_internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using Shape = std::vector<std::int64_t>;

struct Operand {
  Shape shape;
  TfliteType type = TfliteType::int8;
};

// The requests of an operator with these operands and one result.
std::optional<std::vector<std::int64_t>> requests(const std::string& type, const std::vector<Operand>& operands,
                                                  const Operand& result, std::vector<TfliteOption> options = {},
                                                  MicroKernels kernels = MicroKernels::reference) {
  TfliteSubgraph subgraph;
  TfliteOperator op{.type = type, .options = std::move(options)};
  for (const Operand& operand : operands) {
    op.inputs.push_back(static_cast<std::uint32_t>(subgraph.tensors.size()));
    subgraph.tensors.push_back({.type = operand.type, .shape = operand.shape});
  }
  op.outputs.push_back(static_cast<std::uint32_t>(subgraph.tensors.size()));
  subgraph.tensors.push_back({.type = result.type, .shape = result.shape});
  return scratch_requests(subgraph, op, kernels);
}

std::vector<TfliteOption> same(std::int64_t stride) {
  return {{"padding", std::string("SAME")}, {"stride_w", stride}, {"stride_h", stride}};
}

TEST(MicroKernels, MostReferenceKernelsRequestNothing) {
  EXPECT_THAT(requests("CONV_2D", {{{1, 8, 8, 4}}, {{8, 3, 3, 4}}}, {{1, 8, 8, 8}}), Optional(IsEmpty()));
  EXPECT_THAT(requests("SOFTMAX", {{{1, 8}}}, {{1, 8}}), Optional(IsEmpty()));
}

TEST(MicroKernels, FiltersOfFourBitsAreUnpacked) {
  EXPECT_THAT(requests("CONV_2D", {{{1, 8, 8, 4}}, {{8, 3, 3, 4}, TfliteType::int4}}, {{1, 8, 8, 8}}),
              Optional(ElementsAre(8 * 3 * 3 * 4)));
}

TEST(MicroKernels, SvdfSumsFiltersAndUnits) {
  EXPECT_THAT(requests("SVDF", {{{2, 10}}, {{16, 10}}}, {{2, 8}}, {{"rank", std::int64_t{2}}}),
              Optional(ElementsAre(4 * 2 * 16, 4 * 2 * 8)));
  EXPECT_THAT(requests("SVDF", {{{2, 10}, TfliteType::float32}, {{16, 10}, TfliteType::float32}},
                       {{2, 8}, TfliteType::float32}, {{"rank", std::int64_t{2}}}),
              Optional(ElementsAre(4 * 2 * 16)));
}

TEST(MicroKernels, TransposedConvolutionsSumTheirResult) {
  const Operand shape{{4}, TfliteType::int32};
  EXPECT_THAT(requests("TRANSPOSE_CONV", {shape, {{2, 3, 3, 4}}, {{1, 4, 4, 4}}}, {{1, 8, 8, 2}}),
              Optional(ElementsAre(4 * 128)));
  EXPECT_THAT(
      requests("TRANSPOSE_CONV", {shape, {{2, 3, 3, 4}}, {{1, 4, 4, 4}, TfliteType::int16}, {{2}, TfliteType::int16}},
               {{1, 8, 8, 2}, TfliteType::int16}),
      Optional(ElementsAre(8 * 2, 8 * 128)));
}

TEST(MicroKernels, ReductionsKeepTheirPlaceAndAxes) {
  const Operand axes{{2}, TfliteType::int32};
  EXPECT_THAT(requests("REDUCE_MAX", {{{1, 4, 4, 8}}, axes}, {{1, 8}}), Optional(ElementsAre(16, 8)));
  EXPECT_THAT(requests("MEAN", {{{1, 4, 4, 8}}, axes}, {{1, 8}}), Optional(ElementsAre(32, 16, 8)));
}

TEST(MicroKernels, UnknownOperatorsAreUnknown) { EXPECT_EQ(requests("TILE", {{{4}}}, {{8}}), std::nullopt); }

TEST(CmsisKernels, ConvolutionsNeedTwoColumnsOfTheirMatrix) {
  const auto cmsis = [](const std::string& type, const std::vector<Operand>& operands, const Operand& result,
                        std::vector<TfliteOption> options) {
    return requests(type, operands, result, std::move(options), MicroKernels::cmsis_nn);
  };
  // 3 x 3 x 3 elements, rounded up to 28, in 16 bits, twice.
  EXPECT_THAT(cmsis("CONV_2D", {{{1, 8, 8, 3}}, {{8, 3, 3, 3}}}, {{1, 8, 8, 8}}, same(1)),
              Optional(ElementsAre(2 * 28 * 2)));
  EXPECT_THAT(cmsis("CONV_2D", {{{1, 8, 8, 4}}, {{8, 1, 1, 4}}}, {{1, 8, 8, 8}}, same(1)), Optional(IsEmpty()));
  EXPECT_THAT(cmsis("DEPTHWISE_CONV_2D", {{{1, 8, 8, 4}}, {{1, 3, 3, 4}}}, {{1, 8, 8, 4}}, same(1)),
              Optional(IsEmpty()));
  EXPECT_THAT(cmsis("DEPTHWISE_CONV_2D", {{{1, 8, 8, 4}}, {{1, 5, 5, 4}}}, {{1, 8, 8, 4}}, same(1)),
              Optional(ElementsAre(4 * 5 * 5 * 2)));
  EXPECT_THAT(cmsis("AVERAGE_POOL_2D", {{{1, 8, 8, 4}}}, {{1, 4, 4, 4}}, same(2)), Optional(ElementsAre(16)));
  EXPECT_THAT(cmsis("MEAN", {{{4, 2}}, {{1}, TfliteType::int32}}, {{4}}, {}), Optional(ElementsAre(16, 8, 4)));
  EXPECT_EQ(
      cmsis("CONV_2D", {{{1, 8, 8, 4}, TfliteType::int16}, {{8, 3, 3, 4}}}, {{1, 8, 8, 8}, TfliteType::int16}, same(1)),
      std::nullopt);
}

TEST(InPlace, ElementwiseKernelsMayOverwriteOperands) {
  EXPECT_THAT(operands_in_place({.type = "RELU"}, MicroKernels::reference), ElementsAre(0u));
  EXPECT_THAT(operands_in_place({.type = "ADD"}, MicroKernels::reference), ElementsAre(0u, 1u));
  EXPECT_THAT(operands_in_place({.type = "CONV_2D"}, MicroKernels::reference), IsEmpty());
  EXPECT_THAT(operands_in_place({.type = "RELU", .builtin = kTfliteCustom}, MicroKernels::reference), IsEmpty());
}

TEST(InPlace, NothingIsKnownOfKernelsOfCmsis) {
  EXPECT_THAT(operands_in_place({.type = "ADD"}, MicroKernels::cmsis_nn), IsEmpty());
  EXPECT_THAT(operands_in_place({.type = "RESHAPE"}, MicroKernels::cmsis_nn), ElementsAre(0u));
}

}  // namespace
}  // namespace lowtide::micro_internal
