// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide {

struct ProgramOfTfliteOptions {
  std::string name;                            // CProgram::name
  std::optional<CmsisSet> cmsis;               // calls CMSIS-NN where it has a function
  std::int64_t order_effort = 5'000'000'000;   // as in PlanOptions
  std::int64_t allocate_effort = 200'000'000;  // as in PlanOptions
  const std::atomic<bool>* stop = nullptr;     // as in PlanOptions
};

// A model as a program in C.
struct ProgramOfTflite {
  CProgram program;
  Bytes bound;  // for all orders and places, with the same kernels; states count
};

// Plans a model for kernels in C, which compute what TFLite's reference kernels compute. `bytes` are those of its file.
//
// The order of the operators and the places of inputs, outputs and temporaries are planned together. An
// operator such as RESHAPE does nothing if its result can be its operand. A DEQUANTIZE of constants is done here.
// Variable tensors and resource variables are states behind all else. A CALL_ONCE may give resource variables their
// first content. Scratch of CMSIS-NN is planned with the rest. Inputs and outputs have the names of the first signature
// of the model, or those of their tensors.
// Errors: unsupported (operators that run other subgraphs; operators without a kernel in C, all of which are named);
// those of graph_of_tflite() and plan_graph().
[[nodiscard]] Result<ProgramOfTflite> program_of_tflite(const TfliteModel& model, std::string_view bytes,
                                                        const ProgramOfTfliteOptions& options = {});

}  // namespace lowtide
