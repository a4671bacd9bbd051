// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "lowtide/verify/verify.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

std::string padding_faults(std::string_view model, std::string_view lowered) {
  std::string lines;
  for (const Violation& violation : verify_lowering(graph_of(model), graph_of(lowered), graph_of("graph \"g\" { }"))) {
    EXPECT_EQ(violation.kind, ViolationKind::wrong_model);
    lines += violation.message + "\n";
  }
  return lines;
}

std::string with_words(std::string_view text, std::string_view words, std::string_view others) {
  std::string changed(text);
  const std::size_t at = changed.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  return changed.replace(at, words.size(), others);
}

constexpr std::string_view kPaddedModel = R"(graph "g" {
  input x : f32[1,3,8,8]
  input w : f32[4,3,3,3]
  constant pads : i64[8] = [0, 0, 1, 2, 0, 0, 1, 2]
  p = Pad(x, pads) "pad" : f32[1,3,10,12]
  y = AveragePool(p) "pool" {kernel_shape = [3, 3]} : f32[1,3,8,10]
  z = Conv(p, w) "conv" {pads = [1, 0, 1, 0]} : f32[1,4,10,10]
  output y, z
})";

constexpr std::string_view kMerged = R"(graph "g" {
  input x : f32[1,3,8,8]
  input w : f32[4,3,3,3]
  y = AveragePool(x) "pool" {kernel_shape = [3, 3], pads = [1, 2, 1, 2], count_include_pad = 1} : f32[1,3,8,10]
  z = Conv(x, w) "conv" {pads = [2, 2, 2, 2]} : f32[1,4,10,10]
  output y, z
})";

TEST(MergedPadding, IsWhatThePadAndItsReaderCompute) { EXPECT_EQ(padding_faults(kPaddedModel, kMerged), ""); }

TEST(MergedPadding, MayBeLeftToThePad) { EXPECT_EQ(padding_faults(kPaddedModel, kPaddedModel), ""); }

TEST(MergedPadding, HasTheSumOfThePads) {
  for (const auto& [words, others] : {
           std::pair("pads = [1, 2, 1, 2], count_include_pad = 1", "pads = [1, 2, 1, 1], count_include_pad = 1"),
           std::pair("pads = [1, 2, 1, 2], count_include_pad = 1", "pads = [1, 2, 1, 2]"),
           std::pair("{pads = [2, 2, 2, 2]}", "{pads = [1, 0, 1, 0]}"),
           std::pair("{pads = [2, 2, 2, 2]}", "{pads = [2, 2, 2, 2], group = 1, auto_pad = \"VALID\"}"),
       }) {
    EXPECT_NE(padding_faults(kPaddedModel, with_words(kMerged, words, others)), "") << others;
  }
}

TEST(MergedPadding, NeedsZerosAroundTheImage) {
  for (const auto& [words, others] : {
           std::pair("Pad(x, pads) \"pad\"", "Pad(x, pads) \"pad\" {mode = \"reflect\"}"),
           std::pair("Pad(x, pads) \"pad\"", "Pad(x, pads) \"pad\" {value = 2.0}"),
           std::pair("Pad(x, pads) \"pad\"", "Pad(x, pads, x) \"pad\""),
           std::pair(" = [0, 0, 1, 2, 0, 0, 1, 2]", ""),
           std::pair("{kernel_shape = [3, 3]}", "{kernel_shape = [3, 3], ceil_mode = 1}"),
           std::pair("{kernel_shape = [3, 3]}", "{kernel_shape = [3, 3], auto_pad = \"SAME_LOWER\"}"),
       }) {
    EXPECT_THAT(padding_faults(with_words(kPaddedModel, words, others), kMerged), HasSubstr("pool")) << others;
  }
}

}  // namespace
}  // namespace lowtide::testing
