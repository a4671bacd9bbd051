// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/products/row_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/kernels/plain/products/dot.h"
#include "tests/kernels/one_node.h"

namespace lowtide {
namespace {

using kernels_internal::RowTile;
using kernels_internal::run_row_tile;
using Floats = std::vector<float>;

Floats numbers(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  Floats values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.between(-1000, 1000)) / 512.5F;
  return values;
}
std::string shape_text(const std::vector<std::int64_t>& extents) { return to_string(Shape(extents)); }

// By the definition: one result after another.
float result_of(const RowTile& tile, std::int64_t row, std::int64_t column) {
  volatile float sum = tile.begin == nullptr ? 0.0F : tile.begin[row];  // volatile: no product is kept unrounded
  for (std::int64_t channel = 0; channel < tile.channels; ++channel) {
    for (std::int64_t down = 0; down < tile.taps_down; ++down) {
      for (std::int64_t across = 0; across < tile.taps_across; ++across) {
        const float factor =
            tile.factors[row * tile.factor_step + channel * tile.factor_channel + down * tile.factor_down + across];
        const volatile float product =
            factor *
            tile.source[channel * tile.source_channel + down * tile.source_down + across * tile.source_across + column];
        sum = sum + product;
      }
    }
  }
  return sum;
}

TEST(RowTile, AddsProductsInTheOrderOfItsDefinition) {
  Random random(5);
  const Floats pool = numbers(20'000, 3);
  for (int round = 0; round < 600; ++round) {
    RowTile tile{.factors = pool.data() + random.below(1000),
                 .source = pool.data() + 2000 + random.below(1000),
                 .channels = random.between(0, 9),
                 .taps_down = random.between(1, 3),
                 .taps_across = random.between(1, 3),
                 .rows = random.between(1, 4),
                 .columns = random.chance(50) ? random.between(1, 20) : random.between(1, 300)};
    tile.factor_down = tile.taps_across + random.between(0, 2);
    tile.factor_channel = tile.factor_down * tile.taps_down;
    tile.factor_step = tile.factor_channel * std::max<std::int64_t>(tile.channels, 1);
    tile.source_across = random.between(1, 2);
    tile.source_down = tile.columns + 5;
    tile.source_channel = tile.source_down * random.between(3, 5);
    if (random.chance(50)) tile.begin = pool.data() + random.below(100);
    tile.result_step = tile.columns + random.between(0, 3);
    constexpr float kUntouched = -77;
    Floats results(static_cast<std::size_t>(tile.rows * tile.result_step), kUntouched);
    tile.result = results.data();
    run_row_tile(tile);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      for (std::int64_t column = 0; column < tile.result_step; ++column) {
        const float wanted = column < tile.columns ? result_of(tile, row, column) : kUntouched;
        ASSERT_EQ(results[static_cast<std::size_t>(row * tile.result_step + column)], wanted)
            << "round " << round << ", row " << row << ", column " << column << " of " << tile.columns;
      }
    }
  }
}

// A random convolution of images, and its result by the definition: the bias, then channels, rows and columns of taps.
struct RandomConvolution {
  std::int64_t group, read, written, height, width, down, across, stride, dilation, pad;

  explicit RandomConvolution(Random& random)
      : group(random.between(1, 3)),
        read(random.between(1, 4)),
        written(random.between(1, 6)),
        height(random.between(1, 9)),
        width(random.chance(30) ? random.between(60, 90) : random.between(1, 20)),
        down(random.between(1, 3)),
        across(random.between(1, 4)),
        stride(random.chance(30) ? 2 : 1),
        dilation(random.between(1, 2)),
        pad(random.between(0, 4)) {}

  [[nodiscard]] std::int64_t out(std::int64_t extent, std::int64_t taps) const {
    return (extent + 2 * pad - dilation * (taps - 1) - 1) / stride + 1;
  }
  [[nodiscard]] bool is_valid() const {
    return height + 2 * pad > dilation * (down - 1) && width + 2 * pad > dilation * (across - 1);
  }
  [[nodiscard]] std::vector<std::int64_t> image() const { return {2, group * read, height, width}; }
  [[nodiscard]] std::vector<std::int64_t> weights() const { return {group * written, read, down, across}; }
  [[nodiscard]] std::vector<std::int64_t> result() const {
    return {2, group * written, out(height, down), out(width, across)};
  }
  [[nodiscard]] std::string text() const {
    const std::string pads = std::to_string(pad);
    return "graph \"g\" {\n input x : f32" + shape_text(image()) + "\n input w : f32" + shape_text(weights()) +
           "\n input b : f32" + shape_text({group * written}) +
           "\n y = Conv(x, w, b) {group = " + std::to_string(group) + ", strides = " + shape_text({stride, stride}) +
           ", dilations = " + shape_text({dilation, dilation}) + ", pads = " + shape_text({pad, pad, pad, pad}) +
           "} : f32" + shape_text(result()) + "\n output y\n}";
  }

  [[nodiscard]] float at(const Floats& x, const Floats& w, const Floats& b, std::int64_t index) const {
    const std::int64_t columns = out(width, across);
    const std::int64_t rows = out(height, down);
    const std::int64_t column = index % columns;
    const std::int64_t row = index / columns % rows;
    const std::int64_t channel = index / (columns * rows) % (group * written);
    const std::int64_t first = (index / (columns * rows * group * written) * group + channel / written) * read;
    volatile float sum = b[static_cast<std::size_t>(channel)];
    for (std::int64_t tap = 0; tap < read * down * across; ++tap) {
      const std::int64_t y = row * stride - pad + tap / across % down * dilation;
      const std::int64_t z = column * stride - pad + tap % across * dilation;
      if (y < 0 || y >= height || z < 0 || z >= width) continue;
      const std::int64_t from = ((first + tap / (across * down)) * height + y) * width + z;
      const volatile float product =
          w[static_cast<std::size_t>(channel * read * down * across + tap)] * x[static_cast<std::size_t>(from)];
      sum = sum + product;
    }
    return sum;
  }
};

TEST(PlainConvolution, AddsProductsInTheOrderOfItsDefinition) {
  Random random(8);
  int count = 0;
  while (count < 300) {
    const RandomConvolution of(random);
    if (!of.is_valid()) continue;
    ++count;
    SCOPED_TRACE(of.text());
    const Floats x = numbers(*element_count(Shape(of.image())), 1);
    const Floats w = numbers(*element_count(Shape(of.weights())), 2);
    const Floats b = numbers(of.group * of.written, 3);
    testing::OneNode node(of.text());
    node.run_ok({testing::floats(x), testing::floats(w), testing::floats(b)});
    const Floats y = node.result<float>();
    ASSERT_EQ(y.size(), static_cast<std::size_t>(*element_count(Shape(of.result()))));
    for (std::size_t at = 0; at < y.size(); ++at) ASSERT_EQ(y[at], of.at(x, w, b, static_cast<std::int64_t>(at))) << at;
  }
}

// Products that plain loops compute: with few multiplications, or of one row with contiguous columns.
TEST(PlainProduct, AddsProductsInTheOrderOfItsDefinition) {
  Random random(9);
  for (int round = 0; round < 400; ++round) {
    const bool is_one_row = random.chance(50);
    const bool is_transposed = is_one_row || random.chance(50);
    const std::int64_t rows = is_one_row ? 1 : random.between(1, 6);
    const std::int64_t inner = is_one_row ? random.between(2, 200) : random.between(0, 12);
    const std::int64_t columns = is_one_row ? random.between(1, 90) : random.between(1, 7);
    const std::vector<std::int64_t> matrix = is_transposed ? std::vector{columns, inner} : std::vector{inner, columns};
    testing::OneNode node("graph \"g\" {\n input a : f32" + shape_text({rows, inner}) + "\n input b : f32" +
                          shape_text(matrix) + "\n y = Gemm(a, b)" + (is_transposed ? " {transB = 1}" : "") + " : f32" +
                          shape_text({rows, columns}) + "\n output y\n}");
    SCOPED_TRACE("round " + std::to_string(round));
    const Floats a = numbers(rows * inner, 1);
    const Floats b = numbers(inner * columns, 2);
    node.run_ok({testing::floats(a), testing::floats(b)});
    const Floats y = node.result<float>();
    for (std::int64_t at = 0; at < rows * columns; ++at) {
      const float* const row = a.data() + at / columns * inner;
      float wanted = 0;
      if (is_transposed || columns == 1) {  // the columns are contiguous
        wanted = kernels_internal::dot(row, b.data() + at % columns * inner, inner);
      } else {
        wanted = result_of(
            {.factors = row, .factor_channel = 1, .source = b.data(), .source_channel = columns, .channels = inner}, 0,
            at % columns);
      }
      ASSERT_EQ(y[static_cast<std::size_t>(at)], wanted) << at;
    }
  }
}

}  // namespace
}  // namespace lowtide
