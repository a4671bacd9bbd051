// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "lowtide/base/check.h"
#include "lowtide/target/formats.h"

namespace lowtide {
namespace {

TEST(ShapeIn, StatesTheFormat) {
  const Shape model({2, 17, 5, 7});
  EXPECT_EQ(shape_in(Format::plain, model), model);
  EXPECT_EQ(shape_in(Format::nhwc, model), Shape({2, 5, 7, 17}));
  EXPECT_EQ(shape_in(Format::nchw16c, model), Shape({2, 2, 5, 7, 16}));
  EXPECT_EQ(shape_in(Format::nchw8c, Shape({2, 16, 5})), Shape({2, 2, 5, 8}));
  EXPECT_THROW(shape_in(Format::nhwc, Shape({2, 17})), InvariantViolation);
}

TEST(ModelShape, UndoesShapeIn) {
  for (const Shape& model : {Shape({2, 17, 5, 7}), Shape({1, 16, 9}), Shape({3, 1, 1, 1})}) {
    for (Format format : {Format::plain, Format::nhwc, Format::nchw16c, Format::nchw8c}) {
      EXPECT_EQ(model_shape(format, shape_in(format, model), model[1]), model);
      EXPECT_EQ(model_shape(format, shape_in(format, model), model[1] + 16), std::nullopt);
    }
  }
  EXPECT_EQ(model_shape(Format::nchw16c, Shape({1, 2, 5, 7, 8}), 17), std::nullopt);
  EXPECT_EQ(model_shape(Format::nchw16c, Shape({1, 2}), 17), std::nullopt);
}

}  // namespace
}  // namespace lowtide
