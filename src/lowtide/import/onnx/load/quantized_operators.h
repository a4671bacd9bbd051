// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// Replaces the operators on integers of domain com.microsoft, which quantizers for ONNX Runtime write, by standard
// operators with the same meaning:
//
//   QLinearAdd, QLinearAveragePool, QLinearConcat, QLinearGlobalAveragePool, QLinearLeakyRelu, QLinearMul,
//   QLinearReduceMean, QLinearSigmoid, QLinearSoftmax, QLinearWhere, QGemm
//                           DequantizeLinear of the operands, the operator on real numbers, QuantizeLinear
//   DynamicQuantizeMatMul   DynamicQuantizeLinear of the first operand, MatMulInteger, and its scales
//   MatMulIntegerToFloat    MatMulInteger and its scales
//   DynamicQuantizeLSTM     LSTM on real numbers, with weights that are dequantized when the model is loaded
//   QuantizeLinear, DequantizeLinear, QLinearConv
//                           the standard operator of this name
//
// A zero point of a result that is omitted is zero, in the type of the first operand's integers.
// ONNX Runtime rounds within some of these operators where real numbers do not, so results may differ by one quantum of
// the result, and those of DynamicQuantizeLSTM by what rounding its input to 8 bits changes. Operators with images in
// another order (channels_last) and Softmax over several axes (`opset` below 13 and an axis other than -1) stay as they
// are, and so does what a model does not import. Names of results do not change.
// Requires: functions are inlined; the model is not on a protobuf arena. Errors (invalid): an operator lacks an input;
// (unsupported): a scale of DynamicQuantizeLSTM is no constant. O(nodes). Recursion only over bodies.
[[nodiscard]] Result<void> replace_quantized_operators(onnx::GraphProto& graph, OpsetScopes& opsets);

}  // namespace lowtide::import_internal
