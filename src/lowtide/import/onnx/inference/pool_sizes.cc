// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/pool_sizes.h"

namespace lowtide::import_internal {
namespace {

std::int64_t at_axis(const onnx::AttributeProto* list, std::size_t axis, std::int64_t otherwise) {
  if (list == nullptr || axis >= static_cast<std::size_t>(list->ints_size())) return otherwise;
  return list->ints(static_cast<int>(axis));
}

// With automatic padding, all windows begin before the end of the operand.
bool pads_automatically(const Sized& sized) {
  const onnx::AttributeProto* automatic = sized.attribute("auto_pad");
  return automatic != nullptr && automatic->s().starts_with("SAME");
}

}  // namespace

void size_pool(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  if (data == nullptr || data->size() < 3 || sized.integer("ceil_mode", 0) == 0 || pads_automatically(sized)) return;
  const onnx::AttributeProto* strides = sized.attribute("strides");
  const onnx::AttributeProto* automatic = sized.attribute("auto_pad");
  const bool has_pads = automatic == nullptr || automatic->s() != "VALID";
  const onnx::AttributeProto* pads = has_pads ? sized.attribute("pads") : nullptr;
  for (std::size_t index = 0; index < sized.outputs.size(); ++index) {
    KnownExtents* output = sized.output(index);
    if (output == nullptr || output->size() != data->size()) continue;
    for (std::size_t axis = 2; axis < data->size(); ++axis) {
      const KnownExtent& in = (*data)[axis];
      KnownExtent& out = (*output)[axis];
      if (in.knowledge == Knowledge::unknown || out.knowledge == Knowledge::unknown || out.extent == 0) continue;
      // guard_node: attributes are below 2^31 and extents below 2^47, so this does not overflow.
      const std::int64_t last = (out.extent - 1) * at_axis(strides, axis - 2, 1);
      if (last < in.extent + at_axis(pads, axis - 2, 0)) continue;
      --out.extent;
      sized.outputs[index].is_resized = true;
    }
  }
}

}  // namespace lowtide::import_internal
