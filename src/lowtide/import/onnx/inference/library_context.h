// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowtide/import/onnx/inference/infer_body.h"

namespace lowtide::import_internal {

// How an upper bound is shown to the library, which knows only exact numbers.
enum class BoundsAs : std::uint8_t {
  unknown,  // as unknown: numbers in the result hold for all extents within the bounds
  value,    // as an exact number: numbers in the result are upper bounds if the operator is monotonic
};

// Presents a node and the facts of its inputs to the library's inference functions. Types and tensors are made on
// demand.
class FactContext final : public onnx::InferenceContext {
 public:
  // All arguments must outlive the context. A null input is omitted.
  FactContext(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs, BoundsAs bounds,
              const InferBody& infer_body);
  FactContext(const FactContext&) = delete;
  FactContext& operator=(const FactContext&) = delete;
  ~FactContext() override;

  const onnx::AttributeProto* getAttribute(const std::string& name) const override;
  size_t getNumInputs() const override { return inputs_.size(); }
  const onnx::TypeProto* getInputType(size_t index) const override;
  bool hasInput(size_t index) const override;
  const onnx::TensorProto* getInputData(size_t index) const override;
  const onnx::TensorShapeProto* getSymbolicInput(size_t index) const override;
  const onnx::SparseTensorProto* getInputSparseData(size_t /*index*/) const override { return nullptr; }
  size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(size_t index) override;
  bool hasOutput(size_t index) override;
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& attribute_name) override;
  std::string getDisplayName() const override { return ""; }  // the caller adds the place

  [[nodiscard]] const std::vector<onnx::TypeProto>& outputs() const { return outputs_; }
  // Why a body was refused. The library sees only an exception.
  [[nodiscard]] const std::optional<Error>& body_error() const { return body_error_; }

 private:
  class BodyInferencer;

  const onnx::NodeProto& node_;
  std::span<const TensorFact* const> inputs_;
  BoundsAs bounds_;
  const InferBody& infer_body_;
  mutable std::vector<std::unique_ptr<onnx::TypeProto>> types_;
  mutable std::vector<std::unique_ptr<onnx::TensorProto>> tensors_;
  mutable std::vector<std::unique_ptr<onnx::TensorShapeProto>> symbolic_;
  std::vector<onnx::TypeProto> outputs_;
  std::vector<std::unique_ptr<BodyInferencer>> bodies_;
  std::optional<Error> body_error_;
};

// Converts a fact to a type and back. An extent that the type leaves open gets the symbol "<symbol>[<axis>]".
// Errors: an extent above limits::kMaxTensorBytes or a rank above limits::kMaxRank (over_limit); an element type that
// Lowtide does not have (unsupported).
[[nodiscard]] onnx::TypeProto type_of(const TensorFact& fact, BoundsAs bounds);
[[nodiscard]] Result<TensorFact> fact_of_type(const onnx::TypeProto& type, const std::string& symbol);

}  // namespace lowtide::import_internal
