// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/function_operators.h"

#include <memory>
#include <vector>

namespace lowtide::import_internal {
namespace {

// Builds a body that depends on the inputs and their types.
std::unique_ptr<onnx::FunctionProto> built_body(const onnx::OpSchema& schema, int opset, const onnx::NodeProto& node,
                                                FactContext& context) {
  std::vector<onnx::TypeProto> types;
  for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
    const onnx::TypeProto* type = context.getInputType(i);
    types.push_back(type == nullptr ? onnx::TypeProto() : *type);
  }
  const onnx::FunctionBodyBuildContextImpl builder(node, types);
  auto body = std::make_unique<onnx::FunctionProto>();
  if (!schema.BuildContextDependentFunction(builder, *body, opset)) return nullptr;
  return body;
}

}  // namespace

void infer_by_function(const onnx::OpSchema& schema, int opset, const onnx::NodeProto& node, FactContext& context) {
  std::unique_ptr<onnx::FunctionProto> built;
  const onnx::FunctionProto* body = nullptr;
  if (schema.HasContextDependentFunction()) {
    built = built_body(schema, opset, node, context);
    body = built.get();
  } else if (schema.HasFunction()) {
    body = schema.GetFunction(opset);
  }
  if (body == nullptr) return;
  onnx::shape_inference::DataValueMap contents;
  const onnx::ShapeInferenceOptions options(false, 0, true);
  onnx::shape_inference::InferShapeForFunctionNode(*body, onnx::OpSchemaRegistry::Instance(), context, options, {},
                                                   nullptr, &contents);
}

}  // namespace lowtide::import_internal
