// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/bounds.h"

#include <algorithm>
#include <memory>
#include <string>

#include "lowtide/base/limits.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/inference/extent_symbol.h"

namespace lowtide::import_internal {
namespace {

// These are not in the list on purpose: Slice counts from the end, the last part of a Split without sizes can
// shrink, the -1 of Reshape is a quotient, Range shrinks when its start grows, Resize has keep_aspect_ratio_policy,
// and Compress, NonZero, Unique and NonMaxSuppression depend on data. They have their own rules. DFT, STFT, Col2Im,
// MaxUnpool, CenterCropPad and StringSplit stay unknown.
// clang-format off
constexpr std::string_view kMonotonic[] = {
    "Abs", "Acos", "Acosh", "Add", "And", "ArgMax", "ArgMin", "Asin", "Asinh", "Atan", "Atanh", "Attention",
    "AveragePool", "BatchNormalization", "Bernoulli", "BitCast", "BitShift", "BitwiseAnd", "BitwiseNot",
    "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil", "Celu", "Clip", "Concat", "ConstantOfShape", "Conv",
    "ConvInteger", "ConvTranspose", "Cos", "Cosh", "CumProd", "CumSum", "DeformConv", "DepthToSpace",
    "DequantizeLinear", "Det", "Div", "Dropout", "DynamicQuantizeLinear", "Einsum", "Elu", "Equal", "Erf", "Exp",
    "Expand", "EyeLike", "Flatten", "Floor", "GRU", "Gather", "GatherElements", "GatherND", "Gelu", "Gemm",
    "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "Greater", "GreaterOrEqual", "GridSample",
    "GroupNormalization", "HardSigmoid", "HardSwish", "Hardmax", "Identity", "InstanceNormalization", "IsInf",
    "IsNaN", "LRN", "LSTM", "LayerNormalization", "LeakyRelu", "Less", "LessOrEqual", "Log", "LogSoftmax",
    "LpNormalization", "LpPool", "MatMul", "MatMulInteger", "Max", "MaxPool", "MaxRoiPool", "Mean",
    "MeanVarianceNormalization", "Min", "Mish", "Mod", "Mul", "Multinomial", "Neg", "Not", "OneHot", "Or", "PRelu",
    "Pad", "Pow", "QLinearConv", "QLinearMatMul", "QuantizeLinear", "RMSNormalization", "RNN", "RandomNormalLike",
    "RandomUniformLike", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
    "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "ReverseSequence", "RoiAlign",
    "RotaryEmbedding", "Round", "Scatter", "ScatterElements", "ScatterND", "Selu", "Shape", "Shrink", "Sigmoid",
    "Sign", "Sin", "Sinh", "Size", "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Sqrt", "Squeeze", "Sub",
    "Sum", "Swish", "Tan", "Tanh", "TensorScatter", "ThresholdedRelu", "Tile", "TopK", "Transpose", "Trilu",
    "Unsqueeze", "Upsample", "Where", "Xor"
};
// clang-format on
static_assert(std::is_sorted(std::begin(kMonotonic), std::end(kMonotonic)));

constexpr std::string_view kBroadcasting[] = {
    "Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
    "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
    "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
    "Mod",        "Mul",         "Or",       "PRelu",      "Pow",
    "Sub",        "Sum",         "Where",    "Xor",
};
static_assert(std::is_sorted(std::begin(kBroadcasting), std::end(kBroadcasting)));

constexpr std::size_t kMostSizes = 2 * static_cast<std::size_t>(limits::kMaxRank);

bool is_bounded(const KnownExtent& extent) { return extent.knowledge == Knowledge::at_most; }
bool is_bounded(const KnownElement& element) { return element.knowledge == Knowledge::at_most; }

KnownExtent either_extent(const KnownExtent& a, const KnownExtent& b, const std::string& symbol) {
  if (a == b) return a;
  if (a.knowledge == Knowledge::unknown || b.knowledge == Knowledge::unknown) {
    return {Knowledge::unknown, 0, symbol};
  }
  return {Knowledge::at_most, std::max(a.extent, b.extent), symbol};
}

std::shared_ptr<const KnownContent> either_content(const KnownInput& a, const KnownInput& b) {
  if (a.content == b.content) return a.content;
  if (a.content == nullptr || b.content == nullptr || a.content->extents != b.content->extents) return nullptr;
  auto result = std::make_shared<KnownContent>(*a.content);
  for (std::size_t i = 0; i < result->elements.size(); ++i) {
    result->elements[i] = either(result->dtype, a.content->elements[i], b.content->elements[i]);
  }
  return result;
}

std::string_view kind_of(const TensorFact& fact) {
  if (fact.is_tensor) return "a tensor";
  if (fact.type.has_sequence_type()) return "a sequence";
  return fact.type.has_optional_type() ? "an optional" : "a map";
}

}  // namespace

bool has_bounds(std::span<const TensorFact* const> inputs) {
  for (const TensorFact* input : inputs) {
    if (input == nullptr) continue;
    const auto& extents = input->known.extents;
    if (extents &&
        std::any_of(extents->begin(), extents->end(), [](const auto& extent) { return is_bounded(extent); })) {
      return true;
    }
    // Only contents of at most 2 * kMaxRank elements are read as sizes.
    const auto& content = input->known.content;
    if (content != nullptr && content->elements.size() <= kMostSizes &&
        std::any_of(content->elements.begin(), content->elements.end(),
                    [](const auto& element) { return is_bounded(element); })) {
      return true;
    }
  }
  return false;
}

bool is_monotonic(std::string_view type) {
  return std::binary_search(std::begin(kMonotonic), std::end(kMonotonic), type);
}

bool is_broadcasting(std::string_view type) {
  return std::binary_search(std::begin(kBroadcasting), std::end(kBroadcasting), type);
}

void take_bounds(const std::vector<TensorFact>& bounded, std::vector<TensorFact>& facts) {
  for (std::size_t i = 0; i < facts.size() && i < bounded.size(); ++i) {
    auto& extents = facts[i].known.extents;
    const auto& bounds = bounded[i].known.extents;
    if (!extents || !bounds || extents->size() != bounds->size()) continue;
    for (std::size_t axis = 0; axis < extents->size(); ++axis) {
      KnownExtent& extent = (*extents)[axis];
      if (extent.knowledge != Knowledge::unknown || (*bounds)[axis].knowledge != Knowledge::exact) continue;
      extent.knowledge = Knowledge::at_most;
      extent.extent = (*bounds)[axis].extent;
    }
  }
}

void bound_broadcast(std::span<const TensorFact* const> inputs, TensorFact& output) {
  if (!output.known.extents) return;
  std::vector<KnownExtent>& extents = *output.known.extents;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis].knowledge != Knowledge::unknown) continue;
    const std::size_t from_end = extents.size() - axis;
    std::int64_t most = 0;
    bool is_known = true;
    for (const TensorFact* input : inputs) {
      if (input == nullptr) continue;
      if (!input->known.extents) return;
      const std::vector<KnownExtent>& own = *input->known.extents;
      if (own.size() < from_end) continue;
      const KnownExtent& extent = own[own.size() - from_end];
      is_known = is_known && extent.knowledge != Knowledge::unknown;
      most = std::max(most, extent.extent);
    }
    if (is_known) extents[axis] = {Knowledge::at_most, most, extents[axis].symbol};
  }
}

Result<TensorFact> either_fact(const TensorFact& a, const TensorFact& b, const std::string& symbol) {
  if (a.is_tensor != b.is_tensor) {
    return Error{
        ErrorCode::invalid,
        std::string("one branch returns ") + std::string(kind_of(a)) + " and the other " + std::string(kind_of(b)), ""};
  }
  if (!a.is_tensor) return a;
  if (a.known.dtype && b.known.dtype && a.known.dtype != b.known.dtype) {
    return Error{ErrorCode::invalid,
                 "one branch returns elements of type " + std::string(to_string(*a.known.dtype)) +
                     " and the other of type " + std::string(to_string(*b.known.dtype)),
                 ""};
  }
  TensorFact result;
  result.known.dtype = a.known.dtype ? a.known.dtype : b.known.dtype;
  result.known.content = either_content(a.known, b.known);
  if (!a.known.extents || !b.known.extents || a.known.extents->size() != b.known.extents->size()) return result;
  std::vector<KnownExtent>& extents = result.known.extents.emplace();
  for (std::size_t axis = 0; axis < a.known.extents->size(); ++axis) {
    extents.push_back(either_extent((*a.known.extents)[axis], (*b.known.extents)[axis], extent_symbol(symbol, axis)));
  }
  return result;
}

}  // namespace lowtide::import_internal
