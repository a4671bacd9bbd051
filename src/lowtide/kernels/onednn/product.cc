// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/product.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/engine.h"

namespace lowtide::kernels_internal {
namespace {

// Rows of a MatMul that all use the same matrix are one larger matrix.
void merge_rows(Product& product) {
  const auto merged = [](const ExtentList& extents) {
    return ExtentList{std::accumulate(extents.begin(), extents.end() - 1, std::int64_t{1}, std::multiplies<>()),
                      extents.back()};
  };
  if (product.right.size() != 2) return;
  product.left = merged(product.left);
  product.result = merged(product.result);
}

// The extents that MatMul gives its operands: a vector is a matrix with one row or one column, and missing axes of a
// batch are 1.
std::optional<Product> matrix_product(ExtentList left, ExtentList right, ExtentList result) {
  if (left.empty() || right.empty()) return std::nullopt;
  const bool is_row = left.size() == 1;
  const bool is_column = right.size() == 1;
  // A graph may state any result. That of two matrices has at least two axes.
  if (result.size() + (is_row ? 1 : 0) + (is_column ? 1 : 0) < 2) return std::nullopt;
  if (is_row) left.insert(left.begin(), 1);
  if (is_column) right.push_back(1);
  if (is_column) result.push_back(1);
  if (is_row) result.insert(result.end() - 1, 1);
  Product product{.left = std::move(left), .right = std::move(right), .bias = {}, .result = std::move(result)};
  merge_rows(product);
  const std::size_t axes = product.result.size();
  if (product.left.size() > axes || product.right.size() > axes) return std::nullopt;
  product.left.insert(product.left.begin(), axes - product.left.size(), 1);
  product.right.insert(product.right.begin(), axes - product.right.size(), 1);
  return product;
}

// Gemm: alpha * A * B + beta * C, where A and B may be transposed.
std::optional<Product> general_product(const Node& node, ExtentList left, ExtentList right,
                                       std::optional<ExtentList> bias, ExtentList result) {
  const auto flag = [&](std::string_view name) {
    const auto* value = find_attribute<std::int64_t>(node.attributes, name);
    return value != nullptr && *value != 0;
  };
  for (std::string_view name : {"alpha", "beta"}) {
    const auto* factor = find_attribute<double>(node.attributes, name);
    if (factor != nullptr && *factor != 1) return std::nullopt;
  }
  if (left.size() != 2 || right.size() != 2 || result.size() != 2) return std::nullopt;
  Product product{.left = std::move(left), .right = std::move(right), .bias = {}, .result = std::move(result)};
  product.is_left_transposed = flag("transA");
  product.is_right_transposed = flag("transB");
  if (product.is_left_transposed) std::swap(product.left[0], product.left[1]);
  if (product.is_right_transposed) std::swap(product.right[0], product.right[1]);
  if (!bias) return product;
  const bool is_row = bias->size() == 1 || (bias->size() == 2 && bias->front() == 1);
  if (!is_row || bias->back() != product.result.back()) return std::nullopt;
  product.bias = {1, bias->back()};
  return product;
}

// Whether all extents agree, so that oneDNN cannot be asked for what does not exist.
bool is_consistent(const Product& product) {
  const std::size_t axes = product.result.size();
  if (axes < 2 || product.left.size() != axes || product.right.size() != axes) return false;
  for (const ExtentList* list : {&product.left, &product.right, &product.result}) {
    if (std::ranges::any_of(*list, [](std::int64_t extent) { return extent < 1; })) return false;
  }
  for (std::size_t axis = 0; axis + 2 < axes; ++axis) {
    const std::int64_t left = product.left[axis];
    const std::int64_t right = product.right[axis];
    if ((left != right && left != 1 && right != 1) || product.result[axis] != std::max(left, right)) return false;
  }
  return product.left[axes - 2] == product.result[axes - 2] && product.right[axes - 1] == product.result[axes - 1] &&
         product.left[axes - 1] == product.right[axes - 2];
}

}  // namespace

std::optional<Product> product_of(const Graph& graph, NodeId id, std::string& missing) {
  const Node& node = graph.node(id);
  missing = "oneDNN multiplies matrices of f32 with known extents; in a Gemm, alpha and beta are 1, and C is one row";
  if (node.inputs.size() < 2 || !node.inputs[0] || !node.inputs[1] || node.outputs.empty() || !node.outputs[0]) {
    return std::nullopt;
  }
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (const std::optional<TensorId>& tensor : *list) {
      if (!tensor) continue;
      const Tensor& of = graph.tensor(*tensor);
      if (of.dtype != DType::f32 || of.shape.has_upper_bounds()) return std::nullopt;
    }
  }
  const auto extents = [&](TensorId tensor) { return graph.tensor(tensor).shape.extents(); };
  std::optional<ExtentList> bias;
  if (node.inputs.size() > 2 && node.inputs[2]) bias = extents(*node.inputs[2]);
  const ExtentList result = extents(*node.outputs[0]);
  std::optional<Product> product =
      graph.op(id).type == "Gemm"
          ? general_product(node, extents(*node.inputs[0]), extents(*node.inputs[1]), std::move(bias), result)
          : matrix_product(extents(*node.inputs[0]), extents(*node.inputs[1]), result);
  if (!product || !is_consistent(*product)) return std::nullopt;
  missing.clear();
  return product;
}

std::optional<PostOps> operations_after(const Product& product, const Shape& result, const Graph& program,
                                        const NumberOf& number) {
  const std::size_t axes = product.result.size();
  const auto without_ones = [](const Shape& shape) {
    const auto first = std::ranges::find_if(shape.extents(), [](std::int64_t extent) { return extent != 1; });
    return ExtentList(first, shape.extents().end());
  };
  const ExtentList of_result = without_ones(result);
  const auto extents = [&](const Shape& shape) -> std::optional<ExtentList> {
    const ExtentList own = without_ones(shape);
    if (own == of_result) return product.result;
    // Other shapes than a row might repeat along axes that are merged.
    const bool is_row = own.size() == 1 && result.rank() > 0 && own.back() == result[result.rank() - 1] &&
                        own.back() == product.result.back();
    if (!own.empty() && !is_row) return std::nullopt;
    ExtentList repeated(axes, 1);
    if (is_row) repeated.back() = own.back();
    return repeated;
  };
  return post_ops_of(program, {extents, number});
}

PrimitiveDescription describe(const Product& product) {
  const SingleThread single;
  dnnl_engine_t engine = onednn_engine();
  const auto stored = [](const ExtentList& extents, bool is_transposed) {
    return is_transposed ? transposed_tensor(extents) : dense_tensor(extents);
  };
  const PrimitiveAttributes attributes = attributes_with(product.after, "");
  const MemoryDescription left = stored(product.left, product.is_left_transposed);
  const MemoryDescription right = stored(product.right, product.is_right_transposed);
  const MemoryDescription bias = product.bias.empty() ? nullptr : dense_tensor(product.bias);
  const MemoryDescription result = dense_tensor(product.result);
  if (attributes == nullptr || left == nullptr || right == nullptr || result == nullptr) return nullptr;
  return first_suitable(made_by<PrimitiveDescription>([&](dnnl_primitive_desc_t* made) {
    return dnnl().matmul_primitive_desc_create(made, engine, left.get(), right.get(), bias.get(), result.get(),
                                               attributes.get());
  }));
}

}  // namespace lowtide::kernels_internal
