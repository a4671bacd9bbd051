// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/tflite/flatbuffer/tflite_model.h"

// Small TFLite files for tests, written by the library of flatbuffers.
//
//   const std::string file = build({.tensors = {{"x", {1, 8}}, {"y", {1, 8}}},
//                                   .operators = {{"RELU", {0}, {1}}},
//                                   .inputs = {0},
//                                   .outputs = {1}});
namespace lowtide::tflite_tests {

struct BuiltTensor {
  std::string name;
  std::vector<std::int32_t> shape;
  TfliteType type = TfliteType::int8;
  std::string data;  // its bytes in the file; empty: none
  std::vector<float> scales;
  std::vector<std::int64_t> zero_points;
  std::int32_t axis = 0;
  bool is_variable = false;
  std::int64_t buffer = -1;  // the number of its buffer; -1: a new one, or buffer 0 without data
  std::vector<std::int32_t> signature;
};

// Options by the names of their fields. Only those that the tests need are known.
using BuiltOptions = std::vector<std::pair<std::string, std::int64_t>>;

struct BuiltOperator {
  std::string type;  // of a builtin operator, or "custom:Name"
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  BuiltOptions options = {};
  std::string handle = {};  // of a VAR_HANDLE
  std::string custom_options = {};
  std::optional<std::string> container = "";  // of a VAR_HANDLE; nullopt: the file has none
};

struct BuiltSubgraph {
  std::vector<BuiltTensor> tensors;
  std::vector<BuiltOperator> operators;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::string name = "main";
};

struct BuiltMetadata {
  std::string name;
  std::string data;
};

struct BuiltModel {
  std::vector<BuiltSubgraph> subgraphs;
  std::vector<BuiltMetadata> metadata = {};
  std::uint32_t version = 3;
  // Whether numbers of operators are in the old field of 8 bits alone.
  bool has_old_codes = false;
  // Whether constants are after the flatbuffer.
  bool has_bytes_outside = false;
};

[[nodiscard]] std::string build(const BuiltModel& model);
[[nodiscard]] std::string build(BuiltSubgraph subgraph);

// The bytes of numbers, as files have them.
[[nodiscard]] std::string bytes_of(const std::vector<std::int32_t>& numbers);

}  // namespace lowtide::tflite_tests
