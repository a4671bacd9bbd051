// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Whether the domain belongs to ONNX Runtime: com.microsoft, com.microsoft.nchwc.
[[nodiscard]] bool is_runtime_domain(const std::string& domain);

// Returns the definition of an operator that ONNX Runtime writes when it saves an optimized model. Only the operators
// that it writes for models of 32-bit floats on a CPU are defined. Returns nullptr for any other operator. Sizes follow
// the standard operator with the same meaning:
//
//   com.microsoft        FusedConv as Conv, FusedGemm as Gemm, FusedMatMul as MatMul with transposed operands;
//                        BiasGelu, Gelu, QuickGelu and SkipLayerNormalization as their first input
//   ai.onnx              SimplifiedLayerNormalization as its first input, in every version of the domain
//   com.microsoft.nchwc  Conv, MaxPool, AveragePool and GlobalAveragePool as the standard ones, on channels that are
//                        rounded up to a block; ReorderInput and ReorderOutput to and from that form; Upsample
[[nodiscard]] const onnx::OpSchema* runtime_operator(const std::string& domain, const std::string& type);

// The attribute that annotate_channel_blocks() adds to every ReorderInput.
inline constexpr const char* kChannelBlock = "lowtide_channel_block";

// Adds the size of a block of channels to every ReorderInput. ONNX Runtime rounds the number of channels up to a
// multiple of 8 or 16, depending on the CPU that saved the model. A ReorderInput does not say which. The size is 8 if
// the number of filters of some blocked convolution is not a multiple of 16, otherwise 16. Requires: functions are
// inlined.
void annotate_channel_blocks(onnx::GraphProto& graph);

}  // namespace lowtide::import_internal
