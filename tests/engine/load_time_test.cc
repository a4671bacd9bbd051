// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/load_time.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <utility>

#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// w is in the table.
ConstantTable table_with_w() {
  const std::array<float, 4> w{-1, 2, -3, 4};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(w));
  ConstantTable table;
  table.sources.push_back({"w", DType::f32, Shape({4}), Bytes(16),
                           ConstantSource::Inline{std::vector<std::byte>(bytes.begin(), bytes.end())}});
  return table;
}

TEST(RunLoadTime, GivesComputedConstantsTheirBytes) {
  const Graph load = testing::graph_of(R"(graph "g" {
    constant w : f32[4] data 0
    v = Relu(w) : f32[4]
    output v
  })");
  ConstantTable table = table_with_w();
  engine_internal::add_computed(load, table);
  ASSERT_EQ(table.sources.size(), 2U);
  EXPECT_EQ(table.sources[ConstantId(1)].name, "v");
  const auto weights = std::make_shared<ModelWeights>(*ModelWeights::open("", table));
  const Result<Bytes> arena = engine_internal::run_load_time(load, 1, weights, {});
  ASSERT_TRUE(arena.ok()) << arena.error().describe();
  EXPECT_EQ(*arena, Bytes(64));  // v has 16 bytes, rounded up
  std::array<float, 4> v{};
  std::memcpy(v.data(), weights->bytes(ConstantId(1))->data(), 16);
  EXPECT_THAT(v, ElementsAre(0, 2, 0, 4));
}

TEST(RunLoadTime, NamesWorkWithoutKernel) {
  const Graph load = testing::graph_of(R"(graph "g" {
    constant w : f32[4] data 0
    v = my.domain::Odd(w) : f32[4]
    output v
  })");
  ConstantTable table = table_with_w();
  engine_internal::add_computed(load, table);
  const auto weights = std::make_shared<ModelWeights>(*ModelWeights::open("", table));
  EXPECT_THAT(engine_internal::run_load_time(load, 1, weights, {}).error().message, HasSubstr("my.domain::Odd"));
}

}  // namespace
}  // namespace lowtide
