// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/op_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "lowtide/earlier/graphdef/node_attributes.h"

namespace lowtide::grappler_internal {
namespace {

constexpr double kMostNanoseconds = 2305843009213693952.0;  // 2^61

struct OpPrice {
  std::string_view op;
  int per_element;
};

// Operations of Eigen for each element, as TensorFlow 2.21 for x86-64 counts them. In order.
// clang-format off
constexpr auto kElementWise = std::to_array<OpPrice>({
    {"Acos", 5}, {"Add", 1}, {"AddV2", 1}, {"All", 1}, {"ApproximateEqual", 1}, {"ArgMax", 1}, {"Asin", 5}, {"Atan", 5},
    {"Atan2", 19}, {"BiasAdd", 1}, {"Cast", 1}, {"Ceil", 1}, {"Cos", 5}, {"Dequantize", 1}, {"Div", 14}, {"Equal", 1},
    {"Erf", 1}, {"Erfc", 1}, {"Exp", 34}, {"Expm1", 34}, {"Floor", 1}, {"FloorDiv", 14}, {"FloorMod", 8},
    {"Greater", 1}, {"GreaterEqual", 1}, {"Inv", 4}, {"InvGrad", 1}, {"Less", 1}, {"LessEqual", 1}, {"Lgamma", 1},
    {"Log", 50}, {"Log1p", 50}, {"LogicalAnd", 1}, {"LogicalNot", 1}, {"LogicalOr", 1}, {"Max", 1}, {"Maximum", 1},
    {"Min", 1}, {"Minimum", 1}, {"Mod", 8}, {"Mul", 1}, {"Neg", 1}, {"NotEqual", 1}, {"Prod", 1},
    {"QuantizeAndDequantizeV2", 5}, {"QuantizeAndDequantizeV4", 5}, {"QuantizeV2", 4}, {"QuantizedAdd", 1},
    {"QuantizedBiasAdd", 1}, {"QuantizedMul", 1}, {"QuantizedSigmoid", 40}, {"RealDiv", 14}, {"Reciprocal", 4},
    {"Relu", 1}, {"Relu6", 1}, {"ReluGrad", 1}, {"Rint", 1}, {"Round", 1}, {"Rsqrt", 5}, {"Select", 1}, {"SelectV2", 1},
    {"Sigmoid", 40}, {"Sign", 3}, {"Sin", 5}, {"Sqrt", 8}, {"Square", 1}, {"SquaredDifference", 2}, {"Sub", 1},
    {"Sum", 1}, {"Tan", 5}, {"Tanh", 36}, {"TopKV2", 1}, {"TruncateDiv", 14}, {"TruncateMod", 8}, {"Where", 1},
});
constexpr auto kLeast = std::to_array<std::string_view>({
    "AutoReloadVariable", "Bitcast", "Const", "Enter", "Exit", "Identity", "IdentityN", "Merge", "NextIteration",
    "Placeholder", "PreventGradient", "Rank", "ReadVariableOp", "RefIdentity", "Reshape", "Shape", "ShapeN", "Size",
    "StopGradient", "Switch", "VarHandleOp", "Variable", "VariableV2", "_ReadVariablesOp", "_Recv", "_Send",
    "_VarHandlesOp",
});
// clang-format on
static_assert(std::ranges::is_sorted(kElementWise, {}, &OpPrice::op) && std::ranges::is_sorted(kLeast));

// How many elements the operands have when they are broadcast. An unknown extent does not count.
double broadcast_elements(const CostedNode& costed) {
  std::size_t rank = 1;
  for (const OutputType* input : costed.inputs) {
    if (input->extents) rank = std::max(rank, input->extents->size());
  }
  std::vector<std::int64_t> extents(rank, 0);
  for (const OutputType* input : costed.inputs) {
    if (!input->extents) continue;
    const std::size_t shift = rank - input->extents->size();
    for (std::size_t axis = 0; axis < input->extents->size(); ++axis) {
      extents[axis + shift] = std::max(extents[axis + shift], (*input->extents)[axis]);
    }
  }
  double count = 1;
  for (std::int64_t extent : extents) count *= static_cast<double>(extent);
  return count;
}

// The elements of the largest operand or result.
double largest_count(const CostedNode& costed) {
  double count = 0;
  for (const OutputType* input : costed.inputs) count = std::max(count, elements_of(*input));
  if (!costed.outputs.empty()) count = std::max(count, elements_of(costed.outputs.front()));
  return costed.inputs.size() < 2 ? count : std::max(count, broadcast_elements(costed));
}

void count_all_bytes(const CostedNode& costed, OpWork& work) {
  for (const OutputType* input : costed.inputs) work.read_bytes += bytes_of(*input);
  for (const OutputType& output : costed.outputs) work.written_bytes += bytes_of(output);
}

// An extent of a matrix, or 1 if it is not known.
double extent_or_one(const OutputType& type, std::size_t axis) {
  const bool is_known = type.extents && axis < type.extents->size() && (*type.extents)[axis] >= 0;
  return is_known ? static_cast<double>((*type.extents)[axis]) : 1;
}

struct MatrixExtents {
  double rows = 1;
  double columns = 1;
};

// The extents of the last two axes, which are swapped if the matrix is transposed.
MatrixExtents matrix_extents(const OutputType& type, bool is_transposed) {
  const std::size_t rank = type.extents ? type.extents->size() : 0;
  const std::size_t first = rank > 2 ? rank - 2 : 0;
  MatrixExtents matrix{extent_or_one(type, first), extent_or_one(type, first + 1)};
  if (is_transposed) std::swap(matrix.rows, matrix.columns);
  return matrix;
}

double product_operations(const MatrixExtents& a, const MatrixExtents& b) {
  if (a.columns != 1 && b.rows != 1 && a.columns != b.rows) return 0;
  return 2 * a.rows * b.columns * std::max(a.columns, b.rows);
}

double product_count(const CostedNode& costed) {
  const std::vector<std::int64_t> none;
  const std::vector<std::int64_t>& a = costed.inputs[0]->extents ? *costed.inputs[0]->extents : none;
  const std::vector<std::int64_t>& b = costed.inputs[1]->extents ? *costed.inputs[1]->extents : none;
  const std::vector<std::int64_t>& longer = b.size() > a.size() ? b : a;
  const std::vector<std::int64_t>& shorter = b.size() > a.size() ? a : b;
  const std::size_t shift = longer.size() - shorter.size();
  double count = 1;
  for (std::size_t axis = 0; axis + 2 < longer.size(); ++axis) {
    const std::int64_t other = axis < shift ? 1 : shorter[axis - shift];
    count *= static_cast<double>(std::max(longer[axis], other));
  }
  return count;
}

bool count_product_work(const CostedNode& costed, OpWork& work) {
  const std::string& op = costed.node.op;
  const bool is_plain = op == "MatMul" || op == "SparseMatMul" || op == "QuantizedMatMul" || op == "QuantizedMatMulV2";
  const bool is_batch = op == "BatchMatMul" || op == "BatchMatMulV2";
  if (!is_plain && !is_batch) return false;
  count_all_bytes(costed, work);
  if (costed.inputs.size() < 2) return true;
  const MatrixExtents a =
      matrix_extents(*costed.inputs[0], is_attribute_true(costed.node, is_plain ? "transpose_a" : "adj_x"));
  const MatrixExtents b =
      matrix_extents(*costed.inputs[1], is_attribute_true(costed.node, is_plain ? "transpose_b" : "adj_y"));
  work.operations = product_operations(a, b) * (is_batch ? product_count(costed) : 1);
  return true;
}

// What gathers reads as much as it writes, and the indices count as one byte each.
bool count_gather_work(const CostedNode& costed, OpWork& work) {
  const std::string& op = costed.node.op;
  std::size_t operands = 2;
  if (op == "Slice") operands = 3;
  if (op == "StridedSlice") operands = 4;
  if (operands == 2 && op != "Gather" && op != "GatherNd" && op != "GatherV2") return false;
  if (costed.inputs.size() < operands || costed.outputs.empty()) return true;
  work.operations = elements_of(costed.outputs.front());
  for (const OutputType& output : costed.outputs) work.written_bytes += bytes_of(output);
  work.read_bytes = work.written_bytes;
  for (std::size_t at = 1; at < operands; ++at) work.read_bytes += elements_of(*costed.inputs[at]);
  return true;
}

bool count_scatter_work(const CostedNode& costed, OpWork& work) {
  if (!costed.node.op.starts_with("Scatter") || costed.node.op.starts_with("ScatterNd")) return false;
  if (costed.inputs.size() < 3) return true;
  const OutputType& variable = *costed.inputs[0];
  double row = 1;
  for (std::size_t axis = 1; variable.extents && axis < variable.extents->size(); ++axis) {
    row *= extent_or_one(variable, axis);
  }
  work.operations = elements_of(*costed.inputs[1]) * row;
  work.written_bytes = work.operations * static_cast<double>(variable.element_bytes);
  work.read_bytes = work.written_bytes + bytes_of(*costed.inputs[1]) + bytes_of(*costed.inputs[2]);
  return true;
}

bool count_assign_work(const CostedNode& costed, OpWork& work) {
  const std::string& op = costed.node.op;
  const bool adds = op == "AssignAddVariableOp" || op == "AssignSubVariableOp";
  if (!adds && op != "AssignVariableOp") return false;
  if (costed.inputs.size() != 2) return true;
  if (adds) work.operations = elements_of(*costed.inputs[1]);
  for (const OutputType* input : costed.inputs) work.read_bytes += bytes_of(*input);
  return true;
}

void count_other_work(const CostedNode& costed, OpWork& work) {
  constexpr double kSoftmaxPerElement = 36;  // exp, sum, product
  const std::string& op = costed.node.op;
  count_all_bytes(costed, work);
  if (op == "AddN") {
    work.operations = largest_count(costed) * static_cast<double>(std::max<std::size_t>(costed.inputs.size(), 1) - 1);
  } else if (op == "Softmax" && !costed.inputs.empty()) {
    work.operations = kSoftmaxPerElement * elements_of(*costed.inputs[0]) + 4 * extent_or_one(*costed.inputs[0], 0);
  } else if (const auto* price = std::ranges::lower_bound(kElementWise, op, {}, &OpPrice::op);
             price != kElementWise.end() && price->op == op) {
    work.operations = largest_count(costed) * price->per_element;
  }
}

struct DeviceSpeed {
  double gigaops = 1;
  double gigabytes_per_second = 12;
};

// A GPU computes with all cores of its multiprocessors, two operations at a time.
DeviceSpeed gpu_speed(const ClusterDevice& device, double cores_and_frequency, double bandwidth) {
  if (device.architecture.empty()) return {.gigaops = 100, .gigabytes_per_second = 12};
  int cores = 64;
  if (device.architecture < "6") cores = 128;
  if (device.architecture < "4") cores = 192;
  if (device.architecture < "3") cores = 32;
  return {.gigaops = cores_and_frequency * cores * 2, .gigabytes_per_second = bandwidth > 0 ? bandwidth : 100};
}

DeviceSpeed speed_of(const ClusterDevice& device) {
  const double speed = static_cast<double>(device.cores * device.megahertz) * 1e-3;
  const double bandwidth = static_cast<double>(device.kilobytes_per_second) / 1e6;
  if (device.type == "CPU") return {.gigaops = speed, .gigabytes_per_second = bandwidth > 0 ? bandwidth : 32};
  return device.type == "GPU" ? gpu_speed(device, speed, bandwidth) : DeviceSpeed();
}

}  // namespace

double elements_of(const OutputType& type) {
  double count = 1;
  if (!type.extents) return count;
  for (std::int64_t extent : *type.extents) count *= extent < 0 ? 1 : static_cast<double>(extent);
  return count;
}

double bytes_of(const OutputType& type) { return elements_of(type) * static_cast<double>(type.element_bytes); }

OpWork work_of(const CostedNode& costed) {
  OpWork work;
  const std::string& op = costed.node.op;
  if (std::ranges::binary_search(kLeast, std::string_view(op))) {
    work.is_least = true;
    return work;
  }
  if (op == "NoOp" || op == "GuaranteeConst" || count_window_work(costed, work) || count_product_work(costed, work) ||
      count_gather_work(costed, work) || count_scatter_work(costed, work) || count_assign_work(costed, work)) {
    return work;
  }
  count_other_work(costed, work);
  return work;
}

std::int64_t nanoseconds_on(const OpWork& work, const ClusterDevice& device) {
  if (work.is_least) return 1;
  const DeviceSpeed speed = speed_of(device);
  const auto rounded = [](double time) {
    return static_cast<std::int64_t>(std::clamp(std::ceil(time), 0.0, kMostNanoseconds / 2));
  };
  return rounded(work.operations / speed.gigaops) +
         rounded((work.read_bytes + work.written_bytes) / speed.gigabytes_per_second);
}

}  // namespace lowtide::grappler_internal
