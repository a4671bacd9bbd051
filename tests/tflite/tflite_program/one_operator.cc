// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tflite/tflite_program/one_operator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <variant>

#include "lowtide/tflite/tflite_program/operator_call.h"

namespace lowtide::tflite_program_tests {
namespace {

const CParameter* find(const CCall& call, const std::string& name) {
  for (const CParameter& parameter : call.parameters) {
    if (parameter.name == name) return &parameter;
  }
  ADD_FAILURE() << "there is no parameter " << name;
  return nullptr;
}

}  // namespace

TfliteTensor tensor(std::vector<std::int64_t> shape, double scale, std::int64_t zero_point, TfliteType type) {
  TfliteTensor made{.name = "t", .type = type, .shape = std::move(shape)};
  made.quantization = {.scales = {scale}, .zero_points = {zero_point}};
  return made;
}

OneOperator one_operator(TfliteOperator op, std::vector<TfliteTensor> inputs, std::vector<TfliteTensor> outputs) {
  TfliteModel model;
  model.buffers.emplace_back();
  TfliteSubgraph graph;
  for (TfliteTensor& one : inputs) {
    op.inputs.emplace_back(static_cast<std::uint32_t>(graph.tensors.size()));
    graph.tensors.push_back(std::move(one));
  }
  for (TfliteTensor& one : outputs) {
    op.outputs.emplace_back(static_cast<std::uint32_t>(graph.tensors.size()));
    graph.tensors.push_back(std::move(one));
  }
  graph.operators.push_back(std::move(op));
  model.subgraphs.push_back(std::move(graph));
  return {std::move(model), ""};
}

void set_integers(OneOperator& one, std::size_t input, const std::vector<std::int32_t>& numbers) {
  TfliteTensor& tensor = one.model.subgraphs[0].tensors[input];
  tensor.type = TfliteType::int32;
  tensor.shape = {static_cast<std::int64_t>(numbers.size())};
  tensor.quantization = {};
  tensor.buffer = static_cast<std::uint32_t>(one.model.buffers.size());
  const std::size_t size = numbers.size() * sizeof(std::int32_t);
  one.model.buffers.push_back({static_cast<std::int64_t>(one.file.size()), static_cast<std::int64_t>(size)});
  one.file.append(reinterpret_cast<const char*>(numbers.data()), size);
}

Calls calls_of(const OneOperator& one) {
  std::vector<COperand> operands;
  for (std::size_t at = 0; at < one.model.subgraphs[0].tensors.size(); ++at) {
    operands.emplace_back(CTensorIndex{10 + at});
  }
  std::vector<CConstant> constants;
  Result<std::vector<CCall>> calls = calls_of_operator({one.model, one.file, 0, 0}, operands, constants);
  return {std::move(calls), std::move(constants)};
}

std::int32_t integer(const CCall& call, const std::string& name) {
  const CParameter* found = find(call, name);
  return found != nullptr ? std::get<std::int32_t>(found->value) : 0;
}

std::vector<std::int32_t> integers(const CCall& call, const std::string& name) {
  const CParameter* found = find(call, name);
  return found != nullptr ? std::get<std::vector<std::int32_t>>(found->value) : std::vector<std::int32_t>();
}

std::vector<std::int32_t> words(const CConstant& constant) {
  std::vector<std::int32_t> numbers(constant.bytes.size() / sizeof(std::int32_t));
  std::memcpy(numbers.data(), constant.bytes.data(), constant.bytes.size());
  return numbers;
}

}  // namespace lowtide::tflite_program_tests
