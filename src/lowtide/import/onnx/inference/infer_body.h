// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Infers the graph inside a node: takes the facts of its inputs and returns the facts of its outputs. The walk over the
// graph provides it, because it knows the tensors around the body.
class InferBody {
 public:
  using Infer =
      std::function<Result<std::vector<TensorFact>>(const onnx::GraphProto& body, std::span<const TensorFact> inputs)>;
  using Around = std::function<const TensorFact*(std::string_view name)>;

  InferBody() = default;
  InferBody(Infer infer, Around around) : infer_(std::move(infer)), around_(std::move(around)) {}
  template <std::convertible_to<Infer> Function>
  InferBody(Function infer) : infer_(std::move(infer)) {}  // NOLINT(google-explicit-constructor)

  Result<std::vector<TensorFact>> operator()(const onnx::GraphProto& body, std::span<const TensorFact> inputs) const {
    return infer_(body, inputs);
  }
  // What is known of a name around the body; nullptr if nothing is.
  [[nodiscard]] const TensorFact* around(std::string_view name) const { return around_ ? around_(name) : nullptr; }

 private:
  Infer infer_;
  Around around_;
};

}  // namespace lowtide::import_internal
