// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/convolution.h"

#include <algorithm>
#include <utility>

#include "lowtide/kernels/common/convolution_shape.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/engine.h"

namespace lowtide::kernels_internal {
namespace {

// Without operations after it.
std::optional<Convolution> problem_of(std::optional<ConvolutionShape> shape) {
  if (!shape) return std::nullopt;
  return Convolution{.source = std::move(shape->source),
                     .weights = std::move(shape->weights),
                     .result = std::move(shape->result),
                     .strides = std::move(shape->strides),
                     .gaps = std::move(shape->gaps),
                     .pads_begin = std::move(shape->pads_begin),
                     .pads_end = std::move(shape->pads_end),
                     .group = shape->group,
                     .has_bias = shape->has_bias,
                     .input = shape->input,
                     .output = shape->output};
}

}  // namespace

std::optional<Convolution> standard_convolution(const Graph& graph, NodeId id, std::string& missing) {
  return problem_of(standard_convolution_shape(graph, id, missing));
}

std::optional<Convolution> lowered_convolution(const Graph& graph, NodeId id, std::string& missing) {
  const std::optional<ConvolutionShape> shape = lowered_convolution_shape(graph, id, missing);
  if (shape && shape->has_winograd) {
    missing = "oneDNN does not use Winograd's algorithm here";
    return std::nullopt;
  }
  return problem_of(shape);
}

std::optional<PostOps> operations_after(const Convolution& convolution, const Graph& program, const NumberOf& number) {
  const std::size_t axes = convolution.result.size();
  const bool is_blocked = convolution.output == Format::nchw16c || convolution.output == Format::nchw8c;
  if (!is_blocked) return std::nullopt;
  const auto extents = [&](const Shape& shape) -> std::optional<ExtentList> {
    const auto is_one = [](std::int64_t extent) { return extent == 1; };
    if (std::ranges::all_of(shape.extents(), is_one)) return ExtentList(axes, 1);
    const std::optional<Shape> model = model_shape(convolution.output, shape, convolution.weights[0]);
    return model && static_cast<std::size_t>(model->rank()) == axes ? std::optional(model->extents()) : std::nullopt;
  };
  return post_ops_of(program, {extents, number});
}

ExtentList onednn_weights(const ExtentList& weights, std::int64_t group) {
  ExtentList grouped = weights;
  if (group == 1) return grouped;
  grouped[0] /= group;
  grouped.insert(grouped.begin(), group);
  return grouped;
}

PrimitiveDescription describe(const Convolution& convolution) {
  const SingleThread single;
  dnnl_engine_t engine = onednn_engine();
  const PrimitiveAttributes attributes =
      attributes_with(convolution.after, order_in(convolution.output, convolution.result.size()));
  const MemoryDescription source =
      tensor_in_order(order_in(convolution.input, convolution.source.size()), convolution.source);
  const ExtentList extents = onednn_weights(convolution.weights, convolution.group);
  const MemoryDescription weights = convolution.weights_order.empty()
                                        ? tensor_in_any_order(extents)
                                        : tensor_in_order(convolution.weights_order, extents);
  const MemoryDescription bias = convolution.has_bias ? dense_tensor({convolution.weights[0]}) : nullptr;
  const MemoryDescription result =
      tensor_in_order(order_in(convolution.output, convolution.result.size()), convolution.result);
  if (attributes == nullptr || source == nullptr || weights == nullptr || result == nullptr) return nullptr;
  return first_suitable(made_by<PrimitiveDescription>([&](dnnl_primitive_desc_t* made) {
    return dnnl().convolution_forward_primitive_desc_create(
        made, engine, dnnl_forward_inference, dnnl_convolution_direct, source.get(), weights.get(), bias.get(),
        result.get(), convolution.strides.data(), convolution.gaps.data(), convolution.pads_begin.data(),
        convolution.pads_end.data(), attributes.get());
  }));
}

}  // namespace lowtide::kernels_internal
