// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_program/c_program.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lowtide {
namespace {

TEST(CProgram, ElementsHaveTheSizesOfC) {
  EXPECT_EQ(size_of(CType::int8), static_cast<std::int64_t>(sizeof(std::int8_t)));
  EXPECT_EQ(size_of(CType::uint8), static_cast<std::int64_t>(sizeof(std::uint8_t)));
  EXPECT_EQ(size_of(CType::int16), static_cast<std::int64_t>(sizeof(std::int16_t)));
  EXPECT_EQ(size_of(CType::int32), static_cast<std::int64_t>(sizeof(std::int32_t)));
  EXPECT_EQ(size_of(CType::int64), static_cast<std::int64_t>(sizeof(std::int64_t)));
  EXPECT_EQ(size_of(CType::float32), static_cast<std::int64_t>(sizeof(float)));
  EXPECT_EQ(size_of(CType::boolean), 1);
}

}  // namespace
}  // namespace lowtide
