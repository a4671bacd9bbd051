// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro/offline_plan.h"

#include <cstring>
#include <limits>
#include <utility>

namespace lowtide {
namespace {

// The list begins with a version and the number of subgraphs, which the runtime ignores, and the number of tensors.
constexpr std::size_t kHeadNumbers = 3;
constexpr std::int32_t kVersion = 1;
constexpr std::int32_t kChosenByRuntime = -1;

}  // namespace

Result<std::optional<MicroOffsets>> read_offline_plan(const TfliteModel& model, std::string_view bytes) {
  const TfliteMetadata* found = nullptr;  // the last one counts
  for (const TfliteMetadata& one : model.metadata) {
    if (one.name == kOfflinePlanName) found = &one;
  }
  if (found == nullptr) return std::optional<MicroOffsets>();
  const TfliteBytes& range = model.buffers[found->buffer];
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(range.size) / sizeof(std::int32_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data() + range.offset, numbers.size() * sizeof(std::int32_t));
  std::size_t tensors = 0;
  for (const TfliteSubgraph& subgraph : model.subgraphs) tensors += subgraph.tensors.size();
  const std::string place = std::string("metadata ") + kOfflinePlanName;
  if (numbers.size() < kHeadNumbers || std::cmp_not_equal(numbers[2], tensors) ||
      numbers.size() - kHeadNumbers < tensors) {
    return Error{ErrorCode::malformed,
                 "it has " + std::to_string(numbers.size()) + " numbers, and the " + std::to_string(tensors) +
                     " tensors of the model need " + std::to_string(tensors + kHeadNumbers),
                 place};
  }
  MicroOffsets offsets;
  for (std::size_t at = 0; at < tensors; ++at) {
    const std::int32_t offset = numbers[kHeadNumbers + at];
    if (offset < kChosenByRuntime) {
      return Error{ErrorCode::malformed, "tensor " + std::to_string(at) + " has the offset " + std::to_string(offset),
                   place};
    }
    offsets.push_back(offset == kChosenByRuntime ? std::nullopt : std::optional(Offset(offset)));
  }
  return std::optional(std::move(offsets));
}

std::string offline_plan_bytes(const TfliteModel& model, const MicroOffsets& offsets) {
  std::vector<std::int32_t> numbers = {kVersion, static_cast<std::int32_t>(model.subgraphs.size()),
                                       static_cast<std::int32_t>(offsets.size())};
  for (const std::optional<Offset>& offset : offsets) {
    numbers.push_back(offset ? static_cast<std::int32_t>(offset->position()) : kChosenByRuntime);
  }
  std::string bytes(numbers.size() * sizeof(std::int32_t), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace lowtide
