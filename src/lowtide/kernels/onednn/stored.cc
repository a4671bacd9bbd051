// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/stored.h"

#include <cctype>

namespace lowtide::kernels_internal {
namespace {

constexpr std::string_view kAxisNames = "abcdefghijkl";

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

std::size_t axis_named(char letter) {
  return static_cast<std::size_t>(std::tolower(static_cast<unsigned char>(letter)) - 'a');
}

// How many blocks an axis has, the last of which may be padded.
std::int64_t blocks_along(std::string_view order, const ExtentList& extents, std::size_t axis) {
  const std::int64_t block = block_along(order, axis);
  return extents[axis] / block + (extents[axis] % block == 0 ? 0 : 1);
}

}  // namespace

std::string dense_order(std::size_t axes) { return std::string(kAxisNames.substr(0, axes)); }

std::int64_t block_along(std::string_view order, std::size_t axis) {
  std::int64_t block = 1;
  std::int64_t number = 0;
  for (const char letter : order) {
    if (is_digit(letter)) {
      number = number * 10 + (letter - '0');
      continue;
    }
    if (number > 0 && axis_named(letter) == axis) block *= number;
    number = 0;
  }
  return block;
}

std::optional<std::int64_t> elements_before(std::string_view order, const ExtentList& extents, std::size_t axis,
                                            std::int64_t begin) {
  if (begin % block_along(order, axis) != 0) return std::nullopt;
  // The letters before the first number name the axes, the outermost one first.
  std::size_t at = 0;
  for (; at < order.size() && axis_named(order[at]) != axis; ++at) {
    if (blocks_along(order, extents, axis_named(order[at])) != 1) return std::nullopt;
  }
  std::int64_t elements = begin;
  for (std::size_t other = 0; other < extents.size(); ++other) {
    if (other != axis) elements *= blocks_along(order, extents, other) * block_along(order, other);
  }
  return elements;
}

}  // namespace lowtide::kernels_internal
