// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/graph/graph.h"

namespace lowtide {

// The names that rooms `import` and `lower` write and other rooms recognize.

// The domain of operators that exist only in lowered graphs.
inline constexpr std::string_view kOwnDomain = "lowtide";

// The node that stands for the caller, which writes the inputs into the arena (inputs_in_arena.h).
inline constexpr std::string_view kCallerType = "Inputs";
inline constexpr std::string_view kCallerFullName = "lowtide::Inputs";  // full_name(Operator)

// A kernel that gives integers another scale (integer_operators.h).
inline constexpr std::string_view kRequantizeType = "Requantize";

// Kernels on tensors in formats of a machine (target/formats.h). The graph states a format by the shape of the tensor.
//
//   lowtide::Conv     x, packed weights, bias?   strides, pads, dilations and group of Conv, with pads explicit; the
//                                                extents of the weights in the model; both formats; order; and
//                                                algorithm, if it is not the sum of products in its definition
//   lowtide::Pack     weights                    puts weights into the order that a kernel reads; order; group, or
//                                                transB if they are a matrix
//   lowtide::PackedMatMul  x, packed matrix, bias?  x [..., K] times a constant of the model, which is [K, N] or, with
//                                                transB, [N, K]; `weights`, its extents there; transB; order
//   lowtide::Reorder  x                          gives a tensor another format; both formats, channels
//   lowtide::MaxPool, lowtide::AveragePool, lowtide::GlobalAveragePool, lowtide::BatchNormalization
//                     x, ...                     the operator of ONNX with x and the result in blocks of channels: its
//                                                attributes; format, channels
//   lowtide::Concat   x, y, ...                  a Concat along the channels of tensors in blocks, where some operand
//                                                does not fill its blocks; format; channels, a list for the operands
//   lowtide::Transpose  x                        from blocks of channels to channels as the last axis, or back; perm
//                                                as in the model, both formats, channels
//
// The lanes of a block that have no channel are zero. So operators of ONNX run on blocks only if the channels fill
// them. Otherwise a lowtide::Chain has the attribute `channels`.
inline constexpr std::string_view kConvType = "Conv";
inline constexpr std::string_view kPackedMatMulType = "PackedMatMul";
inline constexpr std::string_view kPackType = "Pack";
inline constexpr std::string_view kReorderType = "Reorder";
inline constexpr std::string_view kConcatType = "Concat";
inline constexpr std::string_view kTransposeType = "Transpose";
inline constexpr std::string_view kMaxPoolType = "MaxPool";
inline constexpr std::string_view kAveragePoolType = "AveragePool";
inline constexpr std::string_view kGlobalAveragePoolType = "GlobalAveragePool";
inline constexpr std::string_view kBatchNormalizationType = "BatchNormalization";
inline constexpr std::string_view kWeightsAttribute = "weights";             // [M, C / group, h, w], or of a matrix
inline constexpr std::string_view kInputFormatAttribute = "input_format";    // "nchw16c"
inline constexpr std::string_view kOutputFormatAttribute = "output_format";  // "nchw16c"
inline constexpr std::string_view kFormatAttribute = "format";               // "nchw16c"
inline constexpr std::string_view kAlgorithmAttribute = "algorithm";         // of a lowtide::Conv: "winograd"
inline constexpr std::string_view kOrderAttribute = "order";                 // PackedConstant::order
inline constexpr std::string_view kChannelsAttribute = "channels";           // without padding; of a Concat a list

// Attention that is written out in the model, as one node:
//
//   lowtide::Attention  q, k, v, mask?    softmax(masked(scaled(q k))) v over the last axis, as MatMul multiplies
//
// q is [..., queries, width], k [..., width, keys], v [..., keys, columns]. A tensor that the model transposes has the
// order of the model before or after its Transpose: axis i of the matrices is axis order[i] of the tensor. A product is
// multiplied by `factor` or divided by `divisor`. A mask of f32 is added. Where a mask of bool is equal to `masked`,
// the product becomes `fill`.
inline constexpr std::string_view kAttentionType = "Attention";
inline constexpr std::string_view kAttentionFullName = "lowtide::Attention";  // full_name(Operator)
inline constexpr std::string_view kQueryOrderAttribute = "query_order";
inline constexpr std::string_view kKeyOrderAttribute = "key_order";
inline constexpr std::string_view kValueOrderAttribute = "value_order";
inline constexpr std::string_view kResultOrderAttribute = "result_order";
inline constexpr std::string_view kFactorAttribute = "factor";
inline constexpr std::string_view kDivisorAttribute = "divisor";
inline constexpr std::string_view kMaskedAttribute = "masked";  // 0 or 1
inline constexpr std::string_view kFillAttribute = "fill";

// Winograd's algorithm for windows of 3 x 3 (lower/machine/use_winograd.h).
inline constexpr std::string_view kWinogradAlgorithm = "winograd";

// Products that compute a chain on their results before they write them (graph/epilogue.h). lowtide::Conv may also have
// these attributes.
inline constexpr std::string_view kGemmType = "Gemm";
inline constexpr std::string_view kMatMulType = "MatMul";
inline constexpr std::string_view kEpilogueAttribute = "epilogue";  // a program, as of a chain
inline constexpr std::string_view kProductAttribute = "product";    // the name of the node without the epilogue

// A chain of element-wise nodes (graph/chain.h).
inline constexpr std::string_view kChainType = "Chain";
inline constexpr std::string_view kChainFullName = "lowtide::Chain";  // full_name(Operator)
inline constexpr std::string_view kProgramAttribute = "program";

// The constants of a Conv that has a BatchNormalization folded into it. Both have the attribute `epsilon`.
//
//   lowtide::ScaledWeights  weights, scale, variance             weights * scale / sqrt(variance + epsilon)
//   lowtide::ScaledBias     scale, shift, mean, variance, bias?  (bias - mean) * (the same factor) + shift
inline constexpr std::string_view kScaledWeightsType = "ScaledWeights";
inline constexpr std::string_view kScaledBiasType = "ScaledBias";
inline constexpr std::string_view kEpsilonAttribute = "epsilon";

// Products of integers with an f32 bias, which is the last operand:
//
//   lowtide::QLinearConv    the operands and attributes of QLinearConv, bias   one bias per channel
//   lowtide::QLinearMatMul  the operands of QLinearMatMul, bias?               one bias per column; with transB, the
//                                                                              second operand is [columns, inner]
//
// A result is (sum of products * both scales + bias) / the scale of the result, rounded, plus its zero point. The bias
// of QLinearConv is i32 instead, and stands for a multiple of both scales.
inline constexpr std::string_view kQuantizedConvType = "QLinearConv";
inline constexpr std::string_view kQuantizedMatMulType = "QLinearMatMul";
inline constexpr std::string_view kTransposeAttribute = "transB";  // 0 or 1

// Whether a product exists in lowered graphs alone, so that it has the domain "lowtide" without an epilogue, too.
[[nodiscard]] inline bool is_lowered_product(const Operator& op) {
  return op.domain == kOwnDomain && (op.type == kConvType || op.type == kPackedMatMulType);
}

// Whether the operator stands for the caller.
[[nodiscard]] inline bool is_caller(const Operator& op) { return op.domain == kOwnDomain && op.type == kCallerType; }

// The attribute of a node that has an older meaning of its operator, which newer opsets changed under the same
// signature. It is the opset that introduced that meaning, such as 11 for a Softmax over all axes from `axis` on. A
// node without it has the newest meaning.
inline constexpr std::string_view kSinceAttribute = "lowtide_since";

// The end of the name of a tensor that has the content of an f16 tensor in f32: "t (f32)" (lower/model/widen_halves.h).
inline constexpr std::string_view kWideSuffix = " (f32)";

}  // namespace lowtide
