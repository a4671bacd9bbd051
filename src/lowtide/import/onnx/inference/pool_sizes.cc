// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/pool_sizes.h"

namespace lowtide::import_internal {
namespace {

std::int64_t at_axis(const onnx::AttributeProto* list, std::size_t axis, std::int64_t otherwise) {
  if (list == nullptr || axis >= static_cast<std::size_t>(list->ints_size())) return otherwise;
  return list->ints(static_cast<int>(axis));
}

// The attributes of one spatial axis.
struct PoolAxis {
  std::int64_t reach = 1;  // from the first to the last tap
  std::int64_t stride = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  bool is_same = false;  // auto_pad: the windows cover the operand, whatever their size
};

PoolAxis pool_axis(const Sized& sized, std::size_t axis, std::size_t axes) {
  PoolAxis of;
  const onnx::AttributeProto* automatic = sized.attribute("auto_pad");
  const onnx::AttributeProto* pads = sized.attribute("pads");
  const std::int64_t taps = at_axis(sized.attribute("kernel_shape"), axis, 1);
  of.reach = (taps - 1) * at_axis(sized.attribute("dilations"), axis, 1) + 1;
  of.stride = at_axis(sized.attribute("strides"), axis, 1);
  of.is_same = automatic != nullptr && automatic->s().starts_with("SAME");
  if (automatic != nullptr && automatic->s() == "VALID") return of;
  of.pad_begin = at_axis(pads, axis, 0);
  of.pad_end = at_axis(pads, axes + axis, 0);
  return of;
}

// The number of windows, rounded up, of which each begins before the end of the operand. guard_node: attributes are
// below 2^31 and extents below 2^47, so only `reach` may be large, and it is below 2^62.
std::int64_t rounded_up(std::int64_t extent, const PoolAxis& axis) {
  if (axis.is_same) return extent / axis.stride + (extent % axis.stride == 0 ? 0 : 1);
  const std::int64_t space = extent + axis.pad_begin + axis.pad_end - axis.reach;
  const std::int64_t windows = space / axis.stride + (space > 0 && space % axis.stride != 0 ? 2 : 1);
  const std::int64_t last = (windows - 1) * axis.stride;
  return windows > 0 && last >= extent + axis.pad_begin ? windows - 1 : windows;
}

}  // namespace

void size_pool(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  if (data == nullptr || data->size() < 3 || sized.integer("ceil_mode", 0) == 0) return;
  for (std::size_t index = 0; index < sized.outputs.size(); ++index) {
    KnownExtents* output = sized.output(index);
    if (output == nullptr || output->size() != data->size()) continue;
    for (std::size_t axis = 2; axis < data->size(); ++axis) {
      const KnownExtent& in = (*data)[axis];
      KnownExtent& out = (*output)[axis];
      if (in.knowledge == Knowledge::unknown || out.knowledge == Knowledge::unknown) continue;
      const std::int64_t windows = rounded_up(in.extent, pool_axis(sized, axis - 2, data->size() - 2));
      if (windows < 0 || windows == out.extent) continue;
      out.extent = windows;
      sized.outputs[index].is_resized = true;
    }
  }
}

}  // namespace lowtide::import_internal
