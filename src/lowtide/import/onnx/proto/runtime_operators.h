// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Whether the domain belongs to ONNX Runtime: com.microsoft, com.microsoft.nchwc.
[[nodiscard]] bool is_runtime_domain(const std::string& domain);

// The definitions of operators that ONNX Runtime writes when it saves an optimized model. Only those are defined that
// it writes for models of 32-bit floats on a CPU. Returns nullptr for any other operator. Sizes follow the standard
// operator with the same meaning:
//
//   com.microsoft        FusedConv as Conv, FusedGemm as Gemm, FusedMatMul as MatMul with transposed operands;
//                        BiasGelu, Gelu, QuickGelu and SkipLayerNormalization as their first input
//   com.microsoft.nchwc  Conv, MaxPool, AveragePool and GlobalAveragePool as the standard ones, on channels that are
//                        rounded up to a block; ReorderInput and ReorderOutput to and from that form; Upsample
[[nodiscard]] const onnx::OpSchema* runtime_operator(const std::string& domain, const std::string& type);

// The attribute that annotate_channel_blocks() adds to every ReorderInput.
inline constexpr const char* kChannelBlock = "lowtide_channel_block";

// ONNX Runtime rounds channels up to 8 or 16, which depends on the CPU that saved the model. A ReorderInput does not
// say which. The number is 8 if the filters of some blocked convolution are not a multiple of 16. Otherwise it is 16.
// Adds the number to every ReorderInput. Requires: functions are inlined.
void annotate_channel_blocks(onnx::GraphProto& graph);

}  // namespace lowtide::import_internal
