// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lowtide/tflite/micro/micro.h"

namespace lowtide {
namespace {

// Above this, the runtime's own rule would take minutes, and so would this one.
constexpr std::size_t kMostBuffers = 50'000;

std::optional<Offset> given_offset(const MicroBuffer& buffer, const MicroOffsets& given) {
  return buffer.tensor && !given.empty() ? given[*buffer.tensor] : std::nullopt;
}

class FirstFit {
 public:
  explicit FirstFit(const std::vector<MicroBuffer>& buffers) : buffers_(buffers) {
    layout_.offsets.resize(buffers.size());
  }

  void place(std::size_t buffer, Offset at) {
    layout_.offsets[buffer] = at;
    layout_.size = std::max(layout_.size, Bytes(end_of(buffer).position()));
    // Behind those with the same offset.
    const auto before = std::upper_bound(placed_.begin(), placed_.end(), at, [&](Offset offset, std::size_t other) {
      return offset < layout_.offsets[other];
    });
    placed_.insert(before, buffer);
  }

  [[nodiscard]] Offset lowest_gap(std::size_t buffer) const {
    Offset candidate;
    for (std::size_t other : placed_) {
      if (!buffers_[other].lifespan.overlaps(buffers_[buffer].lifespan)) continue;
      if (layout_.offsets[other] - candidate >= buffers_[buffer].size) break;
      candidate = std::max(candidate, end_of(other));
    }
    return candidate;
  }

  [[nodiscard]] MicroLayout take() && { return std::move(layout_); }

 private:
  [[nodiscard]] Offset end_of(std::size_t buffer) const { return layout_.offsets[buffer] + buffers_[buffer].size; }

  const std::vector<MicroBuffer>& buffers_;
  MicroLayout layout_;
  std::vector<std::size_t> placed_;  // by offset
};

}  // namespace

Result<MicroLayout> place_as_micro(const std::vector<MicroBuffer>& buffers, const MicroOffsets& given) {
  if (buffers.size() > kMostBuffers) {
    return Error{ErrorCode::over_limit,
                 "the head has " + std::to_string(buffers.size()) + " buffers, above the limit of " +
                     std::to_string(kMostBuffers),
                 ""};
  }
  FirstFit fit(buffers);
  std::vector<std::size_t> left;
  for (std::size_t at = 0; at < buffers.size(); ++at) {
    const std::optional<Offset> offset = given_offset(buffers[at], given);
    offset ? fit.place(at, *offset) : left.push_back(at);
  }
  std::sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
    return buffers[a].size != buffers[b].size ? buffers[a].size > buffers[b].size : a > b;
  });
  for (std::size_t at : left) fit.place(at, fit.lowest_gap(at));
  return std::move(fit).take();
}

}  // namespace lowtide
