// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/runtime_operators.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lowtide/base/checked.h"

namespace lowtide::import_internal {
namespace {

using onnx::InferenceContext;
using onnx::OpSchema;
using onnx::TensorShapeProto;

constexpr const char* kRuntime = "com.microsoft";
constexpr const char* kBlocked = "com.microsoft.nchwc";

std::int64_t integer(InferenceContext& context, const char* name, std::int64_t otherwise) {
  const onnx::AttributeProto* attribute = context.getAttribute(name);
  return attribute != nullptr && attribute->has_i() ? attribute->i() : otherwise;
}

const TensorShapeProto* shape_at(InferenceContext& context, std::size_t input) {
  return onnx::hasInputShape(context, input) ? &onnx::getInputShape(context, input) : nullptr;
}

void same_as_first_input(InferenceContext& context) { onnx::propagateShapeAndTypeFromFirstInput(context); }

// Runs the inference of a standard operator that has the same inputs and attributes.
template <int kOpset>
void same_as_standard(InferenceContext& context, const char* type) {
  static const OpSchema* const schema = onnx::OpSchemaRegistry::Schema(type, kOpset, "");
  if (schema != nullptr) schema->GetTypeAndShapeInferenceFunction()(context);
}

void as_conv(InferenceContext& context) { same_as_standard<11>(context, "Conv"); }
void as_gemm(InferenceContext& context) { same_as_standard<13>(context, "Gemm"); }
void as_max_pool(InferenceContext& context) { same_as_standard<12>(context, "MaxPool"); }
void as_average_pool(InferenceContext& context) { same_as_standard<19>(context, "AveragePool"); }
void as_global_pool(InferenceContext& context) { same_as_standard<1>(context, "GlobalAveragePool"); }

void fail_unless(bool is_right, const std::string& what) {
  if (!is_right) fail_shape_inference(what);
}

// The extents of an operand after its transpositions. The first moves axis 0 behind the other batch axes. The second
// swaps the last two axes.
TensorShapeProto transposed(TensorShapeProto shape, bool moves_batch, bool swaps_last) {
  const int rank = shape.dim_size();
  for (int axis = 0; moves_batch && axis + 2 < rank; ++axis) shape.mutable_dim()->SwapElements(axis, axis + 1);
  if (swaps_last && rank >= 2) shape.mutable_dim()->SwapElements(rank - 2, rank - 1);
  return shape;
}

void infer_matmul(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  const TensorShapeProto* left = shape_at(context, 0);
  const TensorShapeProto* right = shape_at(context, 1);
  if (left == nullptr || right == nullptr) return;
  const auto is_set = [&](const char* name) { return integer(context, name, 0) != 0; };
  const TensorShapeProto a = transposed(*left, is_set("transBatchA"), is_set("transA"));
  const TensorShapeProto b = transposed(*right, is_set("transBatchB"), is_set("transB"));
  fail_unless(a.dim_size() >= 2 && b.dim_size() >= 2, "the operands have ranks " + std::to_string(a.dim_size()) +
                                                          " and " + std::to_string(b.dim_size()) +
                                                          "; expected at least 2");
  TensorShapeProto batch_a = a;
  TensorShapeProto batch_b = b;
  for (TensorShapeProto* batch : {&batch_a, &batch_b}) batch->mutable_dim()->DeleteSubrange(batch->dim_size() - 2, 2);
  TensorShapeProto result;
  onnx::bidirectionalBroadcastShapeInference(batch_a, batch_b, result);
  *result.add_dim() = a.dim(a.dim_size() - 2);
  *result.add_dim() = b.dim(b.dim_size() - 1);
  onnx::updateOutputShape(context, 0, result);
}

std::optional<std::int64_t> rounded_up(std::int64_t count, std::int64_t unit) {
  const auto sum = checked_add(count, unit - 1);
  return sum ? std::optional(*sum / unit * unit) : std::nullopt;
}

void infer_reorder_input(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  const TensorShapeProto* input = shape_at(context, 0);
  if (input == nullptr) return;
  const int rank = input->dim_size();
  fail_unless(rank == 4, "the input has rank " + std::to_string(rank) + "; expected 4");
  const bool is_last = integer(context, "channels_last", 0) != 0;
  TensorShapeProto result;
  *result.add_dim() = input->dim(0);
  TensorShapeProto::Dimension* channels = result.add_dim();
  const TensorShapeProto::Dimension& given = input->dim(is_last ? rank - 1 : 1);
  const auto count = given.has_dim_value() ? rounded_up(given.dim_value(), integer(context, kChannelBlock, 16))
                                           : std::optional<std::int64_t>();
  if (count) channels->set_dim_value(*count);
  for (int axis = is_last ? 1 : 2; axis < (is_last ? rank - 1 : rank); ++axis) *result.add_dim() = input->dim(axis);
  onnx::updateOutputShape(context, 0, result);
}

void infer_reorder_output(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  const TensorShapeProto* input = shape_at(context, 0);
  if (input == nullptr) return;
  fail_unless(input->dim_size() >= 2,
              "the input has rank " + std::to_string(input->dim_size()) + "; expected at least 2");
  const std::int64_t channels = integer(context, "channels", 0);
  fail_unless(channels > 0, "attribute channels is " + std::to_string(channels) + "; it must be positive");
  const bool is_last = integer(context, "channels_last", 0) != 0;
  TensorShapeProto result;
  *result.add_dim() = input->dim(0);
  if (!is_last) result.add_dim()->set_dim_value(channels);
  for (int axis = 2; axis < input->dim_size(); ++axis) *result.add_dim() = input->dim(axis);
  if (is_last) result.add_dim()->set_dim_value(channels);
  onnx::updateOutputShape(context, 0, result);
}

void infer_upsample(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  const TensorShapeProto* input = shape_at(context, 0);
  const onnx::AttributeProto* scales = context.getAttribute("scales");
  if (input == nullptr || scales == nullptr) return;
  fail_unless(scales->ints_size() == input->dim_size(), "attribute scales has " + std::to_string(scales->ints_size()) +
                                                            " numbers, but the input has rank " +
                                                            std::to_string(input->dim_size()));
  TensorShapeProto result;
  for (int axis = 0; axis < input->dim_size(); ++axis) {
    TensorShapeProto::Dimension* extent = result.add_dim();
    if (!input->dim(axis).has_dim_value()) continue;
    const auto product = checked_multiply(input->dim(axis).dim_value(), scales->ints(axis));
    fail_unless(product && *product >= 0, "the scale " + std::to_string(scales->ints(axis)) + " of axis " +
                                              std::to_string(axis) + " gives no extent");
    extent->set_dim_value(*product);
  }
  onnx::updateOutputShape(context, 0, result);
}

struct Row {
  const char* domain;
  const char* type;
  int least_inputs;
  int most_inputs;
  void (*infer)(InferenceContext& context);
};

constexpr Row kRows[] = {
    {"", "SimplifiedLayerNormalization", 2, 2, same_as_first_input},
    {kRuntime, "BiasGelu", 2, 2, same_as_first_input},
    {kRuntime, "FusedConv", 2, 4, as_conv},
    {kRuntime, "FusedGemm", 3, 3, as_gemm},
    {kRuntime, "FusedMatMul", 2, 2, infer_matmul},
    {kRuntime, "Gelu", 1, 1, same_as_first_input},
    {kRuntime, "QuickGelu", 1, 1, same_as_first_input},
    {kRuntime, "SkipLayerNormalization", 3, 5, same_as_first_input},
    {kBlocked, "AveragePool", 1, 1, as_average_pool},
    {kBlocked, "Conv", 2, 4, as_conv},
    {kBlocked, "GlobalAveragePool", 1, 1, as_global_pool},
    {kBlocked, "MaxPool", 1, 1, as_max_pool},
    {kBlocked, "ReorderInput", 1, 1, infer_reorder_input},
    {kBlocked, "ReorderOutput", 1, 1, infer_reorder_output},
    {kBlocked, "Upsample", 1, 1, infer_upsample},
};

OpSchema schema_of(const Row& row) {
  OpSchema schema(row.type, "ONNX Runtime", 0);
  schema.SetDomain(row.domain).SinceVersion(1).AllowUncheckedAttributes();
  for (int at = 0; at < row.most_inputs; ++at) {
    schema.Input(at, "input" + std::to_string(at), "", "T",
                 at < row.least_inputs ? OpSchema::Single : OpSchema::Optional);
  }
  schema.Output(0, "output", "", "T").TypeConstraint("T", {"tensor(float)", "tensor(float16)", "tensor(double)"}, "");
  schema.TypeAndShapeInferenceFunction(row.infer);
  schema.Finalize();
  return schema;
}

}  // namespace

bool is_runtime_domain(const std::string& domain) { return domain == kRuntime || domain == kBlocked; }

const onnx::OpSchema* runtime_operator(const std::string& domain, const std::string& type) {
  static const std::map<std::pair<std::string, std::string>, OpSchema> schemas = [] {
    std::map<std::pair<std::string, std::string>, OpSchema> made;
    for (const Row& row : kRows) made.emplace(std::pair(row.domain, row.type), schema_of(row));
    return made;
  }();
  const auto found = schemas.find({domain, type});
  return found == schemas.end() ? nullptr : &found->second;
}

void annotate_channel_blocks(onnx::GraphProto& graph) {
  std::unordered_set<std::string> filters;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.domain() == kBlocked && node.op_type() == "Conv" && node.input_size() >= 2) filters.insert(node.input(1));
  }
  const bool is_small = std::any_of(graph.initializer().begin(), graph.initializer().end(), [&](const auto& weight) {
    return filters.contains(weight.name()) && weight.dims_size() > 0 && weight.dims(0) % 16 != 0;
  });
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (node.domain() != kBlocked || node.op_type() != "ReorderInput") continue;
    onnx::AttributeProto* block = node.add_attribute();
    block->set_name(kChannelBlock);
    block->set_type(onnx::AttributeProto::INT);
    block->set_i(is_small ? 8 : 16);
  }
}

}  // namespace lowtide::import_internal
