// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/densify.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lowtide/tflite/tflite_program/tensor_facts.h"

namespace lowtide::tflite_program_internal {
namespace {

// A level with what one step along it means in the dense tensor.
struct Level {
  const TfliteSparseLevel* stored = nullptr;
  std::int64_t extent = 1;
  std::int64_t step = 1;
};

// The extents of the blocks, per axis; 1 where an axis is not cut. nullopt: blocks do not fit.
std::optional<Shape> blocks_of(const TfliteTensor& tensor) {
  const TfliteSparsity& sparsity = tensor.sparsity;
  const std::size_t rank = tensor.shape.size();
  Shape blocks(rank, 1);
  for (std::size_t at = 0; at < sparsity.order.size(); ++at) {
    const std::int64_t axis = sparsity.order[at] - static_cast<std::int64_t>(rank);
    if (axis < 0) continue;
    const std::int64_t cut = sparsity.block_axes[static_cast<std::size_t>(axis)];
    const std::int64_t extent = sparsity.levels[at].extent;
    if (cut < 0 || static_cast<std::size_t>(cut) >= rank || extent < 1) return std::nullopt;
    if (blocks[static_cast<std::size_t>(cut)] != 1 || tensor.shape[static_cast<std::size_t>(cut)] % extent != 0) {
      return std::nullopt;
    }
    blocks[static_cast<std::size_t>(cut)] = extent;
  }
  return blocks;
}

// nullopt: the order is none of all axes and blocks, or blocks do not fit.
std::optional<std::vector<Level>> levels_of(const TfliteTensor& tensor) {
  const TfliteSparsity& sparsity = tensor.sparsity;
  const std::size_t rank = tensor.shape.size();
  const std::size_t count = rank + sparsity.block_axes.size();
  std::vector<std::int64_t> sorted = sparsity.order;
  std::ranges::sort(sorted);
  if (sorted.size() != count || sparsity.levels.size() != count) return std::nullopt;
  for (std::size_t at = 0; at < count; ++at) {
    if (sorted[at] != static_cast<std::int64_t>(at)) return std::nullopt;
  }
  const std::optional<Shape> blocks = blocks_of(tensor);
  if (!blocks) return std::nullopt;
  Shape steps(rank, 1);
  for (std::size_t at = rank; at-- > 1;) steps[at - 1] = steps[at] * tensor.shape[at];
  std::vector<Level> levels;
  for (std::size_t at = 0; at < count; ++at) {
    const auto axis = static_cast<std::size_t>(sparsity.order[at]);
    Level level{.stored = &sparsity.levels[at]};
    if (axis < rank) {
      level.extent = tensor.shape[axis] / (*blocks)[axis];
      level.step = steps[axis] * (*blocks)[axis];
    } else {
      level.extent = level.stored->extent;
      level.step = steps[static_cast<std::size_t>(sparsity.block_axes[axis - rank])];
    }
    levels.push_back(level);
  }
  return levels;
}

// The places of the entries below those that are given. nullopt: the level contradicts itself, or has too many.
std::optional<std::vector<std::int64_t>> entries_below(const std::vector<std::int64_t>& above, const Level& level,
                                                       std::int64_t most) {
  std::vector<std::int64_t> below;
  const auto& [is_sparse, stated, segments, indices] = *level.stored;
  if (!is_sparse) {
    if (stated != level.extent || static_cast<std::int64_t>(above.size()) * stated > most) return std::nullopt;
    for (const std::int64_t place : above) {
      for (std::int64_t at = 0; at < stated; ++at) below.push_back(place + at * level.step);
    }
    return below;
  }
  if (segments.size() != above.size() + 1 || segments.front() != 0 ||
      segments.back() != static_cast<std::int64_t>(indices.size()) || segments.back() > most ||
      !std::ranges::is_sorted(segments)) {
    return std::nullopt;
  }
  for (std::size_t entry = 0; entry < above.size(); ++entry) {
    for (std::int64_t at = segments[entry]; at < segments[entry + 1]; ++at) {
      const std::int64_t index = indices[static_cast<std::size_t>(at)];
      if (index < 0 || index >= level.extent) return std::nullopt;
      below.push_back(above[entry] + index * level.step);
    }
  }
  return below;
}

}  // namespace

std::optional<std::string> densified(const TfliteTensor& tensor, std::string_view bytes, std::int64_t element_bytes) {
  const std::optional<std::vector<Level>> levels = levels_of(tensor);
  if (!levels) return std::nullopt;
  const std::int64_t elements = elements_of(tensor.shape);
  std::vector<std::int64_t> places = {0};
  for (const Level& level : *levels) {
    std::optional<std::vector<std::int64_t>> below = entries_below(places, level, elements);
    if (!below) return std::nullopt;
    places = *std::move(below);
  }
  if (static_cast<std::int64_t>(bytes.size()) != static_cast<std::int64_t>(places.size()) * element_bytes) {
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(element_bytes);
  std::string dense(static_cast<std::size_t>(elements) * size, '\0');
  for (std::size_t at = 0; at < places.size(); ++at) {
    dense.replace(static_cast<std::size_t>(places[at]) * size, size, bytes.substr(at * size, size));
  }
  return dense;
}

}  // namespace lowtide::tflite_program_internal
