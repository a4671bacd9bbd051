// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/import/onnx/inference/infer_node.h"
#include "lowtide/import/onnx/proto/types.h"
#include "tests/import/onnx_models.h"

// Helpers to call `infer_node` for one node.
namespace lowtide::testing {

using import_internal::InferBody;
using import_internal::Knowledge;
using import_internal::KnownContent;
using import_internal::KnownElement;
using import_internal::KnownExtent;
using import_internal::TensorFact;
using Facts = std::vector<TensorFact>;

inline KnownExtent exactly(std::int64_t number) { return {Knowledge::exact, number, ""}; }
inline KnownExtent at_most(std::int64_t number, std::string name = "") {
  return {Knowledge::at_most, number, std::move(name)};
}
inline KnownExtent named(std::string name) { return {Knowledge::unknown, 0, std::move(name)}; }

inline TensorFact fact(DType dtype, std::vector<KnownExtent> extents) {
  TensorFact result;
  result.known.dtype = dtype;
  result.known.extents = std::move(extents);
  return result;
}
inline TensorFact f32(const std::vector<std::int64_t>& extents) {
  return import_internal::fact_of(DType::f32, extents);
}
inline TensorFact i64(const std::vector<std::int64_t>& extents) {
  return import_internal::fact_of(DType::i64, extents);
}
inline TensorFact boolean(const std::vector<std::int64_t>& extents) {
  return import_internal::fact_of(DType::boolean, extents);
}
inline TensorFact unranked(DType dtype) {
  TensorFact result;
  result.known.dtype = dtype;
  return result;
}

inline TensorFact content(DType dtype, const std::vector<std::int64_t>& extents, std::vector<KnownElement> elements) {
  TensorFact result = import_internal::fact_of(dtype, extents);
  result.known.content = std::make_shared<const KnownContent>(KnownContent{dtype, extents, std::move(elements)});
  return result;
}
inline KnownElement number(std::int64_t value) { return {.knowledge = Knowledge::exact, .integer = value}; }
inline KnownElement bound(std::int64_t value) { return {.knowledge = Knowledge::at_most, .integer = value}; }
inline KnownElement extent_named(std::string name) { return {.symbol = std::move(name)}; }
inline TensorFact elements(std::vector<KnownElement> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return content(DType::i64, {count}, std::move(values));
}
inline TensorFact list(const std::vector<std::int64_t>& numbers) {
  std::vector<KnownElement> values;
  for (const std::int64_t value : numbers) values.push_back(number(value));
  return elements(std::move(values));
}
inline TensorFact scalar(std::int64_t value, DType dtype = DType::i64) { return content(dtype, {}, {number(value)}); }
inline TensorFact reals(const std::vector<double>& numbers) {
  std::vector<KnownElement> values;
  for (const double value : numbers) values.push_back({.knowledge = Knowledge::exact, .real = value});
  return content(DType::f32, {static_cast<std::int64_t>(numbers.size())}, std::move(values));
}

inline onnx::NodeProto node_from(const std::string& text) {
  onnx::NodeProto node;
  const auto status = onnx::OnnxParser::Parse(node, text.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage() << "\n" << text;
  return node;
}

// Infers the facts of the node's outputs. `inputs` has the facts of its inputs in order, without the omitted ones.
inline Result<Facts> infer(const onnx::NodeProto& node, const Facts& inputs, int opset = 21,
                           const InferBody& infer_body = {}) {
  std::vector<const TensorFact*> pointers;
  std::size_t next = 0;
  for (const std::string& name : node.input()) {
    pointers.push_back(name.empty() || next >= inputs.size() ? nullptr : &inputs[next++]);
  }
  return import_internal::infer_node(
      node, pointers, {{"", opset}, {"ai.onnx.ml", 3}, {"com.microsoft", 1}, {"com.microsoft.nchwc", 1}}, infer_body);
}
inline Result<Facts> infer(const std::string& text, const Facts& inputs, int opset = 21,
                           const InferBody& infer_body = {}) {
  return infer(node_from(text), inputs, opset, infer_body);
}

// Returns "f32[1,batch,<=100]" for each output, or the error.
inline std::string described(const Result<Facts>& facts) {
  if (!facts.ok()) return std::string(to_string(facts.error().code)) + ": " + facts.error().message;
  std::string text;
  for (const TensorFact& output : *facts) text += (text.empty() ? "" : " ") + import_internal::describe(output);
  return text;
}
inline std::string sizes(const std::string& text, const Facts& inputs, int opset = 21) {
  return described(infer(text, inputs, opset));
}

// Infers bodies node by node, without the rest of the importer. Tensors of outer graphs are found by name.
class BodyWalk {
 public:
  explicit BodyWalk(int opset = 21) : opset_(opset) {}

  std::map<std::string, TensorFact>& outer() { return scopes_.front(); }
  [[nodiscard]] int runs() const { return runs_; }

  [[nodiscard]] InferBody infer_body() {
    return [this](const onnx::GraphProto& body, std::span<const TensorFact> inputs) { return run(body, inputs); };
  }

 private:
  Result<Facts> run(const onnx::GraphProto& body, std::span<const TensorFact> inputs) {
    ++runs_;
    scopes_.emplace_back();
    for (int i = 0; i < body.input_size(); ++i) {
      scopes_.back()[body.input(i).name()] = inputs[static_cast<std::size_t>(i)];
    }
    Result<Facts> outputs = run_nodes(body);
    scopes_.pop_back();
    return outputs;
  }

  Result<Facts> run_nodes(const onnx::GraphProto& body) {
    for (const onnx::NodeProto& node : body.node()) {
      Facts inputs;
      for (const std::string& name : node.input()) {
        if (!name.empty()) inputs.push_back(find(name));
      }
      Result<Facts> outputs = infer(node, inputs, opset_, infer_body());
      if (!outputs.ok()) return outputs;
      for (int i = 0; i < node.output_size(); ++i)
        scopes_.back()[node.output(i)] = (*outputs)[static_cast<std::size_t>(i)];
    }
    Facts result;
    for (const auto& output : body.output()) result.push_back(find(output.name()));
    return result;
  }

  TensorFact find(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    }
    ADD_FAILURE() << "no tensor " << name;
    return {};
  }

  int opset_;
  int runs_ = 0;
  std::deque<std::map<std::string, TensorFact>> scopes_ = {{}};
};

}  // namespace lowtide::testing
