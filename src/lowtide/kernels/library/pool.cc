// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/library/pool.h"

#include <algorithm>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/library/dnnl.h"
#include "lowtide/kernels/library/engine.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::string_view kUnknownPool =
    "oneDNN computes MaxPool without indices and AveragePool of f32 with one or two spatial axes, and with known "
    "extents and padding";

ExtentList list_or(const Node& node, std::string_view name, const ExtentList& otherwise) {
  const ExtentList* given = integers_attribute(node, name);
  return given == nullptr ? otherwise : *given;
}

bool are_at_least(const ExtentList& list, std::size_t count, std::int64_t least) {
  return list.size() == count && std::ranges::all_of(list, [&](std::int64_t value) { return value >= least; });
}

// Moves the end of the padding so that the last window ends there, if extents were rounded up (ceil_mode). Returns
// false if the extents do not agree, or the average would count the padding beyond that of the model.
bool fit_padding(Pool& pool, bool rounds_up) {
  for (std::size_t axis = 0; axis < pool.window.size(); ++axis) {
    const std::int64_t reach = (pool.window[axis] - 1) * (pool.gaps[axis] + 1) + 1;
    const std::int64_t padded = pool.source[axis + 2] + pool.pads_begin[axis] + pool.pads_end[axis];
    const std::int64_t of_model = padded < reach ? 0 : (padded - reach) / pool.strides[axis] + 1;
    if (pool.result[axis + 2] != of_model) {
      if (!rounds_up || pool.kind == Pool::Kind::average_with_padding || pool.result[axis + 2] != of_model + 1)
        return false;
      pool.pads_end[axis] += of_model * pool.strides[axis] + reach - padded;
    }
    // A window that lies in the padding alone has no maximum and no average.
    if (pool.pads_begin[axis] >= reach || pool.pads_end[axis] >= reach) return false;
  }
  return true;
}

bool is_consistent(const Pool& pool) {
  const std::size_t spatial = pool.source.size() - 2;
  if ((spatial != 1 && spatial != 2) || pool.result.size() != pool.source.size()) return false;
  return are_at_least(pool.source, spatial + 2, 1) && are_at_least(pool.result, spatial + 2, 1) &&
         are_at_least(pool.window, spatial, 1) && are_at_least(pool.strides, spatial, 1) &&
         are_at_least(pool.gaps, spatial, 0) && are_at_least(pool.pads_begin, spatial, 0) &&
         are_at_least(pool.pads_end, spatial, 0) && pool.result[0] == pool.source[0] &&
         pool.result[1] == pool.source[1];
}

// Reads the attributes. Requires: both lists of extents are set, and have three or more axes.
bool read_pool(const Node& node, std::string_view type, Pool& pool) {
  const std::size_t spatial = pool.source.size() - 2;
  if (type == kGlobalAveragePoolType) {
    pool.kind = Pool::Kind::average;
    pool.window.assign(pool.source.begin() + 2, pool.source.end());
    pool.strides = ExtentList(spatial, 1);
    pool.gaps = pool.pads_begin = pool.pads_end = ExtentList(spatial, 0);
    return is_consistent(pool) && fit_padding(pool, false);
  }
  const std::string automatic = text_attribute(node, "auto_pad", "NOTSET");
  if ((automatic != "NOTSET" && automatic != "VALID") || integer_attribute(node, "storage_order", 0) != 0) return false;
  if (type == kAveragePoolType) {
    const bool counts_padding = integer_attribute(node, "count_include_pad", 0) != 0;
    pool.kind = counts_padding ? Pool::Kind::average_with_padding : Pool::Kind::average;
  }
  pool.window = list_or(node, "kernel_shape", {});
  pool.strides = list_or(node, "strides", ExtentList(spatial, 1));
  pool.gaps = list_or(node, "dilations", ExtentList(spatial, 1));
  for (std::int64_t& gap : pool.gaps) --gap;
  ExtentList pads(2 * spatial, 0);
  if (automatic == "NOTSET") pads = list_or(node, "pads", pads);
  if (pads.size() != 2 * spatial) return false;
  pool.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
  pool.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial), pads.end());
  return is_consistent(pool) && fit_padding(pool, integer_attribute(node, "ceil_mode", 0) != 0);
}

// Whether a node has one f32 operand and one f32 result, with known extents.
bool has_two_known_floats(const Graph& graph, const Node& node) {
  const auto is_one = [](const auto& list) {
    return !list.empty() && list[0] &&
           std::all_of(list.begin() + 1, list.end(), [](const auto& other) { return !other.has_value(); });
  };
  if (!is_one(node.inputs) || !is_one(node.outputs)) return false;
  for (TensorId id : {*node.inputs[0], *node.outputs[0]}) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.dtype != DType::f32 || tensor.shape.has_upper_bounds() || tensor.shape.rank() < 3) return false;
  }
  return true;
}

dnnl_alg_kind_t algorithm_of(Pool::Kind kind) {
  switch (kind) {
    case Pool::Kind::maximum: return dnnl_pooling_max;
    case Pool::Kind::average: return dnnl_pooling_avg_exclude_padding;
    case Pool::Kind::average_with_padding: return dnnl_pooling_avg_include_padding;
  }
  return dnnl_alg_kind_undef;
}

}  // namespace

std::optional<Pool> standard_pool(const Graph& graph, NodeId id, std::string& missing) {
  const Node& node = graph.node(id);
  missing = kUnknownPool;
  if (!has_two_known_floats(graph, node)) return std::nullopt;
  Pool pool{.source = graph.tensor(*node.inputs[0]).shape.extents(),
            .result = graph.tensor(*node.outputs[0]).shape.extents()};
  if (!read_pool(node, graph.op(id).type, pool)) return std::nullopt;
  missing.clear();
  return pool;
}

std::optional<Pool> lowered_pool(const Graph& graph, NodeId id, std::string& missing) {
  const Node& node = graph.node(id);
  missing = "its attributes do not describe a pool of its tensors";
  const std::optional<Format> format = from_string<Format>(text_attribute(node, kFormatAttribute, ""));
  const std::int64_t channels = integer_attribute(node, kChannelsAttribute, 0);
  if (!format || !has_two_known_floats(graph, node)) return std::nullopt;
  const std::optional<Shape> source = model_shape(*format, graph.tensor(*node.inputs[0]).shape, channels);
  const std::optional<Shape> result = model_shape(*format, graph.tensor(*node.outputs[0]).shape, channels);
  if (!source || !result) return std::nullopt;
  Pool pool{.source = source->extents(), .result = result->extents(), .format = *format};
  if (!read_pool(node, graph.op(id).type, pool)) return std::nullopt;
  missing.clear();
  return pool;
}

PrimitiveDescription describe(const Pool& pool) {
  const SingleThread single;
  dnnl_engine_t engine = library_engine();
  const PrimitiveAttributes attributes = caller_scratchpad();
  const std::string_view order = order_in(pool.format, pool.source.size());
  const MemoryDescription source = tensor_in_order(order, pool.source);
  const MemoryDescription result = tensor_in_order(order, pool.result);
  if (attributes == nullptr || source == nullptr || result == nullptr) return nullptr;
  return first_suitable(made_by<PrimitiveDescription>([&](dnnl_primitive_desc_t* made) {
    return dnnl().pooling_forward_primitive_desc_create(
        made, engine, dnnl_forward_inference, algorithm_of(pool.kind), source.get(), result.get(), pool.strides.data(),
        pool.window.data(), pool.gaps.data(), pool.pads_begin.data(), pool.pads_end.data(), attributes.get());
  }));
}

}  // namespace lowtide::kernels_internal
