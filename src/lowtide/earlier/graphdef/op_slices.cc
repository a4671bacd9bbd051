// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/op_slices.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "lowtide/base/checked.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::size_t kMostEntries = 32;  // of a StridedSlice, because its masks have 32 bits

// One entry of a StridedSlice, such as "1:5:2", "3" or "::-1".
struct SliceEntry {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t stride = 1;
  bool has_begin = false;
  bool has_end = false;
  bool is_index = false;  // takes one element, and the axis is left out of the result
};

// Reads the inputs and masks of a StridedSlice from left to right.
class EntryReader {
 public:
  explicit EntryReader(const NodeTypes& types) : types_(types) {}

  // Whether the three lists are known and fit together.
  [[nodiscard]] bool has_lists() const {
    if (begin_ == nullptr || end_ == nullptr || strides_ == nullptr) return false;
    return begin_->size() == strides_->size() && end_->size() == strides_->size() && size() <= kMostEntries;
  }
  [[nodiscard]] std::size_t size() const { return strides_->size(); }
  [[nodiscard]] bool is_ellipsis(std::size_t at) const { return is_in(ellipsis_, at); }
  // A place has one meaning: that of an ellipsis, or else of a new axis.
  [[nodiscard]] bool is_new_axis(std::size_t at) const { return is_in(new_axis_, at) && !is_ellipsis(at); }
  [[nodiscard]] SliceEntry entry(std::size_t at) const {
    return {.begin = (*begin_)[at],
            .end = (*end_)[at],
            .stride = (*strides_)[at],
            .has_begin = !is_in(begin_mask_, at),
            .has_end = !is_in(end_mask_, at),
            .is_index = is_in(shrink_, at)};
  }

 private:
  static bool is_in(std::int64_t mask, std::size_t at) { return ((static_cast<std::uint64_t>(mask) >> at) & 1U) != 0; }
  [[nodiscard]] std::int64_t mask(std::string_view name) const { return types_.node.integer(name, 0); }

  const NodeTypes& types_;
  const Extents* begin_ = types_.content(1);
  const Extents* end_ = types_.content(2);
  const Extents* strides_ = types_.content(3);
  std::int64_t begin_mask_ = mask("begin_mask");
  std::int64_t end_mask_ = mask("end_mask");
  std::int64_t ellipsis_ = mask("ellipsis_mask");
  std::int64_t new_axis_ = mask("new_axis_mask");
  std::int64_t shrink_ = mask("shrink_axis_mask");
};

// Negative positions count from the end, and those outside are moved to the nearest end.
std::int64_t position(std::int64_t given, std::int64_t extent, std::int64_t stride) {
  const std::int64_t from_begin = given < 0 ? extent + given : given;
  return stride > 0 ? std::clamp<std::int64_t>(from_begin, 0, extent)
                    : std::clamp<std::int64_t>(from_begin, -1, extent - 1);
}

std::optional<AxisSlice> slice_of(const SliceEntry& entry, std::int64_t extent) {
  if (entry.stride == 0 || (entry.is_index && entry.stride < 0)) return std::nullopt;
  if (extent == kOpen) return AxisSlice{.begin = 0, .stride = entry.stride, .count = entry.is_index ? 1 : kOpen};
  if (entry.is_index) {
    const std::int64_t index = entry.begin < 0 ? extent + entry.begin : entry.begin;
    if (index < 0 || index >= extent) return std::nullopt;
    return AxisSlice{.begin = index, .stride = 1, .count = 1};
  }
  const bool is_forward = entry.stride > 0;
  std::int64_t begin = is_forward ? 0 : extent - 1;
  std::int64_t end = is_forward ? extent : -1;
  if (entry.has_begin) begin = position(entry.begin, extent, entry.stride);
  if (entry.has_end) end = position(entry.end, extent, entry.stride);
  const std::int64_t length = end - begin;
  if (length == 0 || (length > 0) != is_forward) return AxisSlice{.begin = begin, .stride = entry.stride, .count = 0};
  const std::int64_t whole = length / entry.stride;
  return AxisSlice{.begin = begin, .stride = entry.stride, .count = whole + (length % entry.stride == 0 ? 0 : 1)};
}

void take_whole(SlicePlan& plan, std::int64_t extent) {
  plan.axes.push_back({.begin = 0, .stride = 1, .count = extent});
  plan.shape.push_back(extent);
}

}  // namespace

std::optional<SlicePlan> plan_slice(const NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* begin = types.content(1);
  const Extents* size = types.content(2);
  if (x == nullptr || size == nullptr || size->size() != x->size()) return std::nullopt;
  if (begin != nullptr && begin->size() != x->size()) return std::nullopt;
  SlicePlan plan;
  for (std::size_t axis = 0; axis < x->size(); ++axis) {
    const std::int64_t extent = (*x)[axis];
    const std::int64_t from = begin == nullptr ? 0 : (*begin)[axis];
    std::int64_t count = (*size)[axis];
    if (from < 0 || count < -1 || (count == -1 && begin == nullptr)) return std::nullopt;
    if (count == -1) count = extent == kOpen ? kOpen : extent - from;
    if (extent != kOpen && (count < 0 || from > extent || count > extent - from)) return std::nullopt;
    plan.axes.push_back({.begin = from, .stride = 1, .count = count});
    plan.shape.push_back(count);
  }
  return plan;
}

std::optional<SlicePlan> plan_strided_slice(const NodeTypes& types) {
  const Extents* x = types.extents(0);
  const EntryReader reader(types);
  if (x == nullptr || !reader.has_lists()) return std::nullopt;
  std::size_t behind = reader.size();  // the entries behind the ellipsis, which is at the end if there is none
  for (std::size_t at = 0; at < reader.size(); ++at) {
    if (reader.is_ellipsis(at) && std::exchange(behind, at + 1) != reader.size()) return std::nullopt;
  }
  std::size_t axes_behind = 0;
  for (std::size_t at = behind; at < reader.size(); ++at) axes_behind += reader.is_new_axis(at) ? 0 : 1;
  SlicePlan plan;
  for (std::size_t at = 0; at < reader.size(); ++at) {
    if (reader.is_ellipsis(at)) {
      while (plan.axes.size() + axes_behind < x->size()) take_whole(plan, (*x)[plan.axes.size()]);
    } else if (reader.is_new_axis(at)) {
      plan.shape.push_back(1);
    } else {
      if (plan.axes.size() >= x->size()) return std::nullopt;
      const SliceEntry entry = reader.entry(at);
      const std::optional<AxisSlice> slice = slice_of(entry, (*x)[plan.axes.size()]);
      if (!slice) return std::nullopt;
      plan.axes.push_back(*slice);
      if (!entry.is_index) plan.shape.push_back(slice->count);
    }
  }
  while (plan.axes.size() < x->size()) take_whole(plan, (*x)[plan.axes.size()]);
  return plan;
}

void infer_slice(NodeTypes& types) {
  std::optional<SlicePlan> plan = plan_slice(types);
  if (plan) types.set(0, std::move(plan->shape));
}

void infer_strided_slice(NodeTypes& types) {
  std::optional<SlicePlan> plan = plan_strided_slice(types);
  if (plan) types.set(0, std::move(plan->shape));
}

}  // namespace lowtide::graphdef_internal
