// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

// Models of one operator for tests, and what they become.
namespace lowtide::tflite_program_tests {

[[nodiscard]] TfliteTensor tensor(std::vector<std::int64_t> shape, double scale = 0.5, std::int64_t zero_point = 0,
                                  TfliteType type = TfliteType::int8);

// A model of one operator, whose tensors are its inputs and then its outputs. `file` has the bytes of constants.
struct OneOperator {
  TfliteModel model;
  std::string file;
};
[[nodiscard]] OneOperator one_operator(TfliteOperator op, std::vector<TfliteTensor> inputs,
                                       std::vector<TfliteTensor> outputs);

// Makes an input a constant of INT32.
void set_integers(OneOperator& one, std::size_t input, const std::vector<std::int32_t>& numbers);

struct Calls {
  Result<std::vector<CCall>> calls;
  std::vector<CConstant> constants;
};

// The calls of the operator. Tensor i of the subgraph is tensor 10 + i of the program.
[[nodiscard]] Calls calls_of(const OneOperator& one);

// Parameters of a call.
[[nodiscard]] std::int32_t integer(const CCall& call, const std::string& name);
[[nodiscard]] std::vector<std::int32_t> integers(const CCall& call, const std::string& name);

[[nodiscard]] std::vector<std::int32_t> words(const CConstant& constant);

}  // namespace lowtide::tflite_program_tests
