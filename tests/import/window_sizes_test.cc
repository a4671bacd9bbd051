// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/window_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/inference_cases.h"

namespace lowtide::import_internal {
namespace {

using namespace testing;  // the helpers of inference_cases.h

// Windows of 3 over 5 elements begin at -1, 1, 3 and, rounded up, 5. The last one begins in the padding at the end.
// Since opset 22, the specification says that it is left out, and runtimes leave it out for all opsets.
TEST(WindowSizes, LeaveOutPoolWindowsThatBeginInThePaddingAtTheEnd) {
  for (const auto& [pool, oldest] : {std::pair("MaxPool", 10), std::pair("AveragePool", 10), std::pair("LpPool", 18)}) {
    const std::string node = "y = " + std::string(pool);
    for (const int opset : {oldest, 18, 19, 21, 22}) {
      const auto extents = [&](const std::string& attributes, const TensorFact& x) {
        return sizes(node + " <ceil_mode = 1, " + attributes + "> (x)", {x}, opset);
      };
      const std::string padded = "kernel_shape = [3], strides = [2], pads = [1, 2]";
      EXPECT_EQ(extents(padded, f32({1, 1, 5})), "f32[1,1,3]") << pool << " " << opset;
      EXPECT_EQ(extents(padded, f32({1, 1, 6})), "f32[1,1,4]") << pool << " " << opset;
      EXPECT_EQ(extents(padded, fact(DType::f32, {exactly(1), exactly(1), at_most(5)})), "f32[1,1,<=3]") << opset;
      // Without padding: windows of 1 at 0 and, rounded up, 3, where 3 elements end.
      EXPECT_EQ(extents("kernel_shape = [1], strides = [3]", f32({1, 1, 3})), "f32[1,1,1]") << pool << " " << opset;
      EXPECT_EQ(extents("kernel_shape = [3], strides = [2], auto_pad = \"SAME_UPPER\"", f32({1, 1, 5})), "f32[1,1,3]");
      EXPECT_EQ(extents("kernel_shape = [1], strides = [3], auto_pad = \"SAME_LOWER\"", f32({1, 1, 5})), "f32[1,1,2]");
      EXPECT_EQ(extents("kernel_shape = [4], strides = [3]", f32({1, 1, 1})), "f32[1,1,0]") << "(1 - 4) / 3 = -1";
      EXPECT_EQ(extents("kernel_shape = [3], strides = [3]", f32({1, 1, 1})), "f32[1,1,1]") << "(1 - 3) / 3 > -1";
    }
  }
  EXPECT_EQ(sizes("y, i = MaxPool <ceil_mode = 1, kernel_shape = [3], strides = [2], pads = [1, 2]> (x)",
                  {f32({1, 1, 5})}, 12),
            "f32[1,1,3] i64[1,1,3]");
}

// 5 elements with stride 2 give 5 x 2 results, whatever the output_padding is. Windows of 1 end at 4 x 2 + 1 + 0.
TEST(WindowSizes, OfTransposedWindowsAreOneStrideEachIfTheyAreTheSame) {
  const auto extents = [](const std::string& attributes, const TensorFact& x, std::int64_t taps, int opset = 22) {
    return sizes("y = ConvTranspose <" + attributes + "> (x, w)", {x, f32({1, 1, taps})}, opset);
  };
  const TensorFact x = f32({1, 1, 5});
  for (const std::string pad : {"SAME_UPPER", "SAME_LOWER"}) {
    for (const int opset : {8, 11, 22}) {
      const std::string same = "auto_pad = \"" + pad + "\", strides = [2]";
      EXPECT_EQ(extents(same + ", output_padding = [1]", x, 3, opset), "f32[1,1,10]") << pad << " " << opset;
      EXPECT_EQ(extents(same + ", output_padding = [1]", x, 1, opset), "f32[1,1,10]") << pad << " " << opset;
      EXPECT_EQ(extents(same, x, 3, opset), "f32[1,1,10]") << pad << " " << opset;
      EXPECT_EQ(extents(same, x, 1, opset), "f32[1,1,9]") << pad << " " << opset;
      EXPECT_EQ(extents(same + ", output_padding = [1]", fact(DType::f32, {exactly(1), exactly(1), at_most(5)}), 3),
                "f32[1,1,<=10]");
    }
  }
  // The library gives fewer axes if a number is less than the extent of the operand.
  EXPECT_EQ(extents("output_shape = [4]", x, 3), "f32[1,1,4]");
  EXPECT_EQ(extents("output_shape = [9], strides = [2]", x, 3), "f32[1,1,9]");
}

// A window of 3 with stride 3 over 1 element: (1 - 3) / 3 is -0.67. Rounded down it is -1, so there are 0 results.
TEST(WindowSizes, AreZeroIfTheWindowExceedsItsOperand) {
  const TensorFact x = f32({1, 1, 8, 1});
  const TensorFact w = f32({1, 1, 3, 3});
  const std::string with = " <strides = [3, 3]> ";
  EXPECT_EQ(sizes("y = Conv" + with + "(x, w)", {x, w}), "f32[1,1,2,0]");
  EXPECT_EQ(sizes("y = Conv <auto_pad = \"VALID\", strides = [3, 3]> (x, w)", {x, w}), "f32[1,1,2,0]");
  EXPECT_EQ(sizes("y = Conv <auto_pad = \"SAME_UPPER\", strides = [3, 3]> (x, w)", {x, w}), "f32[1,1,3,1]");
  EXPECT_EQ(sizes("y = com.microsoft.FusedConv" + with + "(x, w)", {x, w}), "f32[1,1,2,0]");
  EXPECT_EQ(sizes("y = DeformConv" + with + "(x, w, o)", {x, w, f32({1, 18, 2, 0})}), "f32[1,1,2,0]");
  const auto bytes = [](const std::vector<std::int64_t>& extents) {
    return import_internal::fact_of(DType::u8, extents);
  };
  EXPECT_EQ(sizes("y = ConvInteger" + with + "(x, w)", {bytes({1, 1, 8, 1}), bytes({1, 1, 3, 3})}), "i32[1,1,2,0]");
  EXPECT_EQ(
      sizes("y = QLinearConv" + with + "(x, a, b, w, c, d, e, f)",
            {bytes({1, 1, 8, 1}), f32({}), bytes({}), bytes({1, 1, 3, 3}), f32({}), bytes({}), f32({}), bytes({})}),
      "u8[1,1,2,0]");
  for (const std::string pool : {"MaxPool", "AveragePool", "LpPool"}) {
    for (const int opset : {18, 21, 22}) {
      const auto extents = [&](const std::string& attributes, const TensorFact& data) {
        return sizes("y = " + pool + " <" + attributes + "> (x)", {data}, opset);
      };
      EXPECT_EQ(extents("kernel_shape = [3], strides = [3]", f32({1, 1, 1})), "f32[1,1,0]") << pool << " " << opset;
      EXPECT_EQ(extents("kernel_shape = [3], strides = [3], pads = [1, 0]", f32({1, 1, 1})), "f32[1,1,0]");
      EXPECT_EQ(extents("kernel_shape = [3], strides = [3]", f32({1, 1, 2})), "f32[1,1,0]") << pool << " " << opset;
      EXPECT_EQ(extents("kernel_shape = [3], strides = [3]", f32({1, 1, 3})), "f32[1,1,1]") << pool << " " << opset;
      EXPECT_EQ(extents("kernel_shape = [3]", fact(DType::f32, {exactly(1), exactly(1), at_most(2)})), "f32[1,1,<=0]");
    }
  }
  // Three taps with a dilation of 3 reach over 7 elements.
  EXPECT_EQ(sizes("y = MaxPool <kernel_shape = [3], strides = [3], dilations = [3]> (x)", {f32({1, 1, 5})}),
            "f32[1,1,0]");
}

}  // namespace
}  // namespace lowtide::import_internal
