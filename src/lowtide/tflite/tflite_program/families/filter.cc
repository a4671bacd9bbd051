// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/families/filter.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "lowtide/base/checked.h"
#include "lowtide/base/try.h"

namespace lowtide::tflite_program_internal {
namespace {

constexpr std::int64_t kBlock = 8;  // output channels whose weights the kernel has together

// The weights of eight channels from `channel` on.
void pack_block(const std::vector<float>& weights, const Filter& filter, std::int64_t channel,
                std::vector<float>& packed) {
  for (const auto& row : filter.rows) {
    for (const auto& column : filter.columns) {
      for (std::int64_t input = 0; input < filter.depth; ++input) {
        for (std::int64_t lane = 0; lane < kBlock; ++lane) {
          const bool is_there = row && column && lane < filter.outputs;
          const std::int64_t place = is_there ? (channel + lane) * filter.output_step + *row + *column : 0;
          packed.push_back(is_there ? weights[static_cast<std::size_t>(place + input * filter.depth_step)] : 0.0F);
        }
      }
    }
  }
}

}  // namespace

std::vector<std::optional<std::int64_t>> offsets_of(std::int64_t count, std::int64_t step) {
  std::vector<std::optional<std::int64_t>> offsets;
  for (std::int64_t at = 0; at < count; ++at) offsets.emplace_back(at * step);
  return offsets;
}

Result<std::vector<float>> packed_weights(const OperatorContext& context, const Filter& filter) {
  LOWTIDE_TRY(const std::vector<float> weights, context.floats(1));
  const std::int64_t blocks = (filter.outputs + kBlock - 1) / kBlock;
  std::optional<std::int64_t> bytes = kBlock * std::int64_t{sizeof(float)};
  for (const std::int64_t count : {filter.groups, blocks, filter.depth, static_cast<std::int64_t>(filter.rows.size()),
                                   static_cast<std::int64_t>(filter.columns.size())}) {
    if (bytes) bytes = checked_multiply(*bytes, count);
  }
  if (!bytes || *bytes > std::numeric_limits<std::int32_t>::max()) {
    return context.unsupported("its weights have 2 GiB or more in blocks of 8 channels");
  }
  std::vector<float> packed;
  packed.reserve(static_cast<std::size_t>(*bytes) / sizeof(float));
  for (std::int64_t group = 0; group < filter.groups; ++group) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t last = std::max<std::int64_t>(filter.outputs - kBlock, 0);
      pack_block(weights, filter, group * filter.outputs + std::min(block * kBlock, last), packed);
    }
  }
  return packed;
}

}  // namespace lowtide::tflite_program_internal
