// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/shape.h"

#include <gmock/gmock.h>

#include "lowtide/base/limits.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TEST(Shape, CountsElements) {
  EXPECT_EQ(element_count(Shape()).value(), 1);  // a scalar
  EXPECT_EQ(element_count(Shape({2, 3, 4})).value(), 24);
  EXPECT_EQ(element_count(Shape({kHuge})).value(), kHuge);
  EXPECT_EQ(element_count(Shape({kHuge, kHuge, 0})).value(), 0);  // 0, whatever the other extents are
}

TEST(Shape, RefusesNegativeExtentsAndOverflow) {
  const Result<std::int64_t> negative = element_count(Shape({0, -5}));
  EXPECT_EQ(negative.error().code, ErrorCode::invalid);
  EXPECT_THAT(negative.error().message, HasSubstr("extent -5 of shape [0,-5]"));
  const Result<std::int64_t> overflow = element_count(Shape({std::int64_t{1} << 32, std::int64_t{1} << 31}));
  EXPECT_EQ(overflow.error().code, ErrorCode::over_limit);
  EXPECT_THAT(overflow.error().message, HasSubstr("[4294967296,2147483648]"));
}

TEST(Shape, DenseSizeRoundsBitsUpToWholeBytes) {
  EXPECT_EQ(dense_size(DType::f32, Shape({3, 5})).value(), Bytes(60));
  EXPECT_EQ(dense_size(DType::c128, Shape({2})).value(), Bytes(32));
  EXPECT_EQ(dense_size(DType::i4, Shape({3})).value(), Bytes(2));  // 12 bits
  EXPECT_EQ(dense_size(DType::u2, Shape({5})).value(), Bytes(2));  // 10 bits
  EXPECT_EQ(dense_size(DType::u2, Shape({4})).value(), Bytes(1));  // 8 bits
  EXPECT_EQ(dense_size(DType::i4, Shape({0})).value(), Bytes(0));
  EXPECT_EQ(dense_size(DType::boolean, Shape()).value(), Bytes(1));
}

TEST(Shape, DenseSizeRefusesWhatIsAboveTheLimits) {
  constexpr std::int64_t kMost = limits::kMaxTensorBytes;
  EXPECT_EQ(dense_size(DType::u8, Shape({kMost})).value(), Bytes(kMost));
  EXPECT_EQ(dense_size(DType::u8, Shape({kMost + 1})).error().code, ErrorCode::over_limit);
  EXPECT_EQ(dense_size(DType::u8, Shape({kMost, 0})).value(), Bytes(0));
  EXPECT_THAT(dense_size(DType::u8, Shape({0, kMost + 1})).error().message, HasSubstr("an extent of 0 counts as 1"));
  EXPECT_EQ(dense_size(DType::u8, Shape({kHuge, 0, kHuge})).error().code, ErrorCode::over_limit);
  EXPECT_EQ(dense_size(DType::u8, Shape({kHuge})).error().code, ErrorCode::over_limit);
  EXPECT_EQ(dense_size(DType::f64, Shape({kHuge / 2})).error().code, ErrorCode::over_limit);
  EXPECT_EQ(dense_size(DType::string, Shape({1})).error().code, ErrorCode::unsupported);
  EXPECT_TRUE(dense_size(DType::u8, Shape(std::vector<std::int64_t>(64, 1))).ok());
  const Result<Bytes> deep = dense_size(DType::u8, Shape(std::vector<std::int64_t>(65, 1)));
  EXPECT_EQ(deep.error().code, ErrorCode::over_limit);
  EXPECT_THAT(deep.error().message, HasSubstr("rank 65 is above the limit of 64"));
}

TEST(Shape, UpperBoundsAreMarkedByAxis) {
  Shape shape(std::vector<std::int64_t>(64, 2));
  EXPECT_FALSE(shape.has_upper_bounds());
  shape.mark_at_most(0);
  shape.mark_at_most(63);
  EXPECT_TRUE(shape.is_at_most(0));
  EXPECT_FALSE(shape.is_at_most(1));
  EXPECT_TRUE(shape.is_at_most(63));
  EXPECT_FALSE(shape == Shape(std::vector<std::int64_t>(64, 2)));
}

TEST(Shape, TextShowsBoundsAndStaysShort) {
  Shape shape({1, 3, 100});
  shape.mark_at_most(2);
  EXPECT_EQ(to_string(shape), "[1,3,<=100]");
  EXPECT_EQ(to_string(Shape()), "[]");
  EXPECT_LT(to_string(Shape(std::vector<std::int64_t>(1'000'000, 1))).size(), 200U);
}

}  // namespace
}  // namespace lowtide
