// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/window_sizes.h"

#include <iterator>
#include <string>
#include <string_view>

#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/types.h"

namespace lowtide::import_internal {
namespace {

// An operator with a sliding window, and which input has the weights, whose extents are those of the window.
struct Windowed {
  std::string_view type;
  std::optional<std::size_t> weights;
};
constexpr Windowed kWindowed[] = {{"AveragePool", {}}, {"Conv", 1},    {"ConvInteger", 1}, {"DeformConv", 1},
                                  {"FusedConv", 1},    {"LpPool", {}}, {"MaxPool", {}},    {"QLinearConv", 3}};

constexpr Windowed kTransposed{"ConvTranspose", 1};

std::int64_t at_axis(const onnx::AttributeProto* list, std::size_t axis, std::int64_t otherwise) {
  if (list == nullptr || axis >= static_cast<std::size_t>(list->ints_size())) return otherwise;
  return list->ints(static_cast<int>(axis));
}

// A window along one spatial axis.
struct WindowAxis {
  std::int64_t reach = 1;  // from the first to the last tap
  std::int64_t stride = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  bool is_same = false;    // auto_pad: the windows cover the operand, whatever their size
  bool rounds_up = false;  // ceil_mode
};

// The taps along a spatial axis; nullopt if they are not known.
std::optional<std::int64_t> taps_along(const Sized& sized, const Windowed& windowed, std::size_t axis) {
  if (const onnx::AttributeProto* given = sized.attribute("kernel_shape"); given != nullptr) {
    return axis < static_cast<std::size_t>(given->ints_size()) ? std::optional(at_axis(given, axis, 1)) : std::nullopt;
  }
  const KnownExtents* weights = windowed.weights ? sized.extents(*windowed.weights) : nullptr;
  if (weights == nullptr || axis + 2 >= weights->size() || is_open((*weights)[axis + 2])) return std::nullopt;
  return (*weights)[axis + 2].extent;
}

std::optional<WindowAxis> window_axis(const Sized& sized, const Windowed& windowed, std::size_t axis,
                                      std::size_t axes) {
  const std::optional<std::int64_t> taps = taps_along(sized, windowed, axis);
  if (!taps || *taps < 1) return std::nullopt;
  const auto reach = checked_multiply(*taps - 1, at_axis(sized.attribute("dilations"), axis, 1));
  if (!reach) return std::nullopt;
  const onnx::AttributeProto* automatic = sized.attribute("auto_pad");
  WindowAxis of{.reach = *reach + 1,
                .stride = at_axis(sized.attribute("strides"), axis, 1),
                .is_same = automatic != nullptr && automatic->s().starts_with("SAME"),
                .rounds_up = sized.integer("ceil_mode", 0) != 0};
  if (automatic != nullptr && automatic->s() == "VALID") return of;
  of.pad_begin = at_axis(sized.attribute("pads"), axis, 0);
  of.pad_end = at_axis(sized.attribute("pads"), axes + axis, 0);
  return of;
}

// The number of windows; below 0 if the window is too large. guard_node: attributes are below 2^31 and extents below
// 2^47, so only `reach` may be large, and it is below 2^62.
std::int64_t windows_over(std::int64_t extent, const WindowAxis& axis) {
  if (axis.is_same) return extent / axis.stride + (extent % axis.stride == 0 ? 0 : 1);
  const std::int64_t space = extent + axis.pad_begin + axis.pad_end - axis.reach;
  const std::int64_t rest = space % axis.stride;
  if (!axis.rounds_up) return space / axis.stride + (rest < 0 ? 0 : 1);
  const std::int64_t windows = space / axis.stride + (rest > 0 ? 2 : 1);
  const std::int64_t last = (windows - 1) * axis.stride;
  return windows > 0 && last >= extent + axis.pad_begin ? windows - 1 : windows;
}

Error too_large(const Sized& sized, std::size_t axis, const WindowAxis& window) {
  const std::int64_t padding = window.pad_begin + window.pad_end;
  return {ErrorCode::invalid,
          "the window spans " + std::to_string(window.reach) + " elements along axis " + std::to_string(axis) + " of " +
              quoted(sized.node.input(0)) + ", which is " + describe(*sized.inputs[0]) +
              (padding == 0 ? " without padding" : " with a padding of " + std::to_string(padding)) +
              "; the window must fit",
          ""};
}

// Sets the extent of each result along one axis.
Result<void> size_axis(const Sized& sized, const Windowed& windowed, std::size_t axis) {
  const KnownExtents& data = *sized.extents(0);
  const KnownExtent& in = data[axis];
  const std::optional<WindowAxis> window = window_axis(sized, windowed, axis - 2, data.size() - 2);
  if (in.knowledge == Knowledge::unknown || !window) return {};
  const std::int64_t windows = windows_over(in.extent, *window);
  if (windows < 0) return too_large(sized, axis, *window);
  for (std::size_t index = 0; index < sized.outputs.size(); ++index) {
    KnownExtents* output = sized.output(index);
    if (output == nullptr || output->size() != data.size()) continue;
    KnownExtent& out = (*output)[axis];
    if (in.knowledge == Knowledge::exact) out = {Knowledge::exact, windows, ""};
    if (in.knowledge == Knowledge::at_most) out = {Knowledge::at_most, windows, out.symbol};
  }
  return {};
}

// The extent of the result of a transposed convolution with auto_pad SAME: windows that do not reach as far leave it
// shorter than one stride per element. nullopt: it has no 64 bits.
Bound same_extent(std::int64_t extent, const WindowAxis& axis, std::int64_t output_padding) {
  const Bound steps = checked_multiply(extent, axis.stride);
  return least(steps, steps ? checked_add(*steps, output_padding + axis.reach - axis.stride) : std::nullopt);
}

void size_transposed(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  if (data == nullptr || data->size() < 3) return;
  sized.give_rank(0, data->size());
  if (sized.output(0) == nullptr) return;
  KnownExtents& output = *sized.output(0);
  const std::size_t axes = data->size() - 2;
  const onnx::AttributeProto* shape = sized.attribute("output_shape");
  const bool has_shape = shape != nullptr && static_cast<std::size_t>(shape->ints_size()) == axes;
  // The library ends at the first number that is less than the extent of the operand.
  if (has_shape) output.resize(data->size());
  if (output.size() != data->size()) return;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    KnownExtent& out = output[2 + axis];
    if (has_shape) out = {Knowledge::exact, shape->ints(static_cast<int>(axis)), ""};
    const KnownExtent& in = (*data)[2 + axis];
    const std::optional<WindowAxis> window = window_axis(sized, kTransposed, axis, axes);
    if (has_shape || !window || !window->is_same || in.knowledge == Knowledge::unknown) continue;
    const Bound same = same_extent(in.extent, *window, at_axis(sized.attribute("output_padding"), axis, 0));
    if (same && *same >= 0) out = {in.knowledge, *same, in.knowledge == Knowledge::exact ? "" : out.symbol};
  }
}

}  // namespace

Result<void> size_windows(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                          std::vector<TensorFact>& outputs) {
  if (node.op_type() == kTransposed.type) {
    size_transposed({node, inputs, outputs});
    return {};
  }
  const auto* windowed = std::ranges::find(kWindowed, std::string_view(node.op_type()), &Windowed::type);
  if (windowed == std::end(kWindowed)) return {};
  const Sized sized{node, inputs, outputs};
  const KnownExtents* data = sized.extents(0);
  if (data == nullptr) return {};
  for (std::size_t axis = 2; axis < data->size(); ++axis) {
    LOWTIDE_RETURN_IF_ERROR(size_axis(sized, *windowed, axis));
  }
  return {};
}

}  // namespace lowtide::import_internal
