// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/infer_node.h"

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/fold/fold.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/inference/bounds.h"
#include "lowtide/import/onnx/inference/control_flow.h"
#include "lowtide/import/onnx/inference/function_operators.h"
#include "lowtide/import/onnx/inference/guard.h"
#include "lowtide/import/onnx/inference/library_context.h"
#include "lowtide/import/onnx/inference/reshape_size.h"
#include "lowtide/import/onnx/inference/size_rules.h"
#include "lowtide/import/onnx/proto/constants.h"
#include "lowtide/import/onnx/proto/types.h"

namespace lowtide::import_internal {
namespace {

using Facts = std::vector<TensorFact>;

// What a node is asked with, from start to end.
struct Asked {
  const onnx::NodeProto& node;
  std::span<const TensorFact* const> inputs;
  const onnx::OpSchema& schema;
  int opset;
  const InferBody& infer_body;

  [[nodiscard]] bool is_standard() const { return schema.domain().empty(); }
};

// The library's text on one line, without its own prefixes.
std::string cleaned(std::string_view text) {
  std::string result(text);
  for (const std::string_view prefix : {"[ShapeInferenceError] ", "[TypeInferenceError] ", "[ValidationError] "}) {
    for (std::size_t at = result.find(prefix); at != std::string::npos; at = result.find(prefix)) {
      result.erase(at, prefix.size());
    }
  }
  constexpr std::size_t kMostText = 400;
  std::replace(result.begin(), result.end(), '\n', ' ');
  while (!result.empty() && (result.back() == ' ' || result.back() == '.')) result.pop_back();
  const std::string safe = quoted(result, kMostText);
  // Quotes around a whole sentence would read badly; where it was not cut they are the first and the last character.
  return safe.size() >= 2 && safe.back() == '\'' ? safe.substr(1, safe.size() - 2) : safe;
}

// The library rarely says which numbers disagree, so what is known of the inputs stands behind its words.
std::string shown_inputs(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs) {
  constexpr std::size_t kMostShown = 4;
  std::string text;
  for (std::size_t at = 0; at < std::min(inputs.size(), kMostShown); ++at) {
    if (inputs[at] == nullptr) continue;
    text += (text.empty() ? "; " : ", ") + quoted(node.input(static_cast<int>(at))) + " is " + describe(*inputs[at]);
  }
  return text + (inputs.size() > kMostShown ? ", ..." : "");
}

Error refused(std::string_view text, const onnx::NodeProto& node, std::span<const TensorFact* const> inputs) {
  return {ErrorCode::invalid, cleaned(text) + shown_inputs(node, inputs), ""};
}

Result<const onnx::OpSchema*> schema_of(const onnx::NodeProto& node, const OpsetImports& opsets, int& opset) {
  const std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
  const auto imported = opsets.find(domain);
  if (imported == opsets.end()) {
    return Error{ErrorCode::unsupported,
                 "operator " + quoted(node.op_type()) + " is of domain " + quoted(domain) +
                     ", of which the model imports no opset",
                 ""};
  }
  opset = imported->second;
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, domain);
  if (schema == nullptr) {
    return Error{ErrorCode::unsupported,
                 "operator " + quoted(node.op_type()) + " of domain " + quoted(domain) + " is not known in opset " +
                     std::to_string(opset),
                 ""};
  }
  // A deprecated operator still stands in models; its last definition says what it does.
  if (schema->Deprecated() && schema->SinceVersion() > 1) {
    const onnx::OpSchema* last = onnx::OpSchemaRegistry::Schema(node.op_type(), schema->SinceVersion() - 1, domain);
    if (last != nullptr) schema = last;
  }
  return schema;
}

// What the library's function for the operator, or for the body that defines it, says of the outputs.
Result<Facts> ask_library(const Asked& asked, BoundsAs bounds) {
  FactContext context(asked.node, asked.inputs, bounds, asked.infer_body);
  try {
    if (asked.schema.has_type_and_shape_inference_function()) {
      asked.schema.GetTypeAndShapeInferenceFunction()(context);
    } else {
      infer_by_function(asked.schema, asked.opset, asked.node, context);
    }
  } catch (const std::exception& error) {
    if (context.body_error()) return *context.body_error();
    return refused(error.what(), asked.node, asked.inputs);
  }
  Facts facts;
  facts.reserve(context.outputs().size());
  for (std::size_t i = 0; i < context.outputs().size(); ++i) {
    Result<TensorFact> fact = fact_of_type(context.outputs()[i], asked.node.output(static_cast<int>(i)));
    if (!fact.ok()) return fact.error();
    facts.push_back(std::move(fact).value());
  }
  return facts;
}

// The library, twice where there are upper bounds: see bounds.h.
Result<Facts> ask_library_with_bounds(const Asked& asked) {
  Result<Facts> facts = ask_library(asked, BoundsAs::unknown);
  if (!facts.ok() || !asked.is_standard() || !has_bounds(asked.inputs) || !is_monotonic(asked.node.op_type())) {
    return facts;
  }
  const Result<Facts> bounded = ask_library(asked, BoundsAs::value);
  if (bounded.ok()) {
    take_bounds(*bounded, *facts);
  } else if (is_broadcasting(asked.node.op_type()) && !facts->empty()) {
    bound_broadcast(asked.inputs, facts->front());
  }
  return facts;
}

Result<Facts> ask_for_sizes(const Asked& asked) {
  const std::string& type = asked.node.op_type();
  if (asked.is_standard() && type == "If") return infer_if(asked.node, asked.inputs, asked.infer_body);
  if (asked.is_standard() && type == "Loop") return infer_loop(asked.node, asked.inputs, asked.infer_body);
  if (asked.is_standard() && type == "Scan" && asked.schema.SinceVersion() >= 9) {
    return infer_scan(asked.node, asked.inputs, asked.infer_body);
  }
  Result<Facts> facts = ask_library_with_bounds(asked);
  if (!facts.ok() || !asked.is_standard()) return facts;
  apply_size_rules(asked.node, asked.inputs, *facts);
  LOWTIDE_RETURN_IF_ERROR(check_reshape(asked.node, asked.inputs, *facts));
  return facts;
}

// The element type of an output by the operator's signature: that of an input of the same type variable, or the only
// type that it allows.
std::optional<DType> dtype_by_signature(const Asked& asked, std::size_t output) {
  const auto& formals = asked.schema.outputs();
  if (formals.empty()) return std::nullopt;
  const auto& formal = formals[std::min(output, formals.size() - 1)];
  const auto& inputs = asked.schema.inputs();
  for (std::size_t i = 0; i < asked.inputs.size() && !inputs.empty(); ++i) {
    const auto& candidate = inputs[std::min(i, inputs.size() - 1)];
    const bool is_same = candidate.GetTypeStr() == formal.GetTypeStr() && candidate.GetIsHomogeneous();
    if (is_same && asked.inputs[i] != nullptr && asked.inputs[i]->known.dtype) return asked.inputs[i]->known.dtype;
  }
  const auto& allowed = formal.GetTypes();
  if (allowed.size() != 1) return std::nullopt;
  const onnx::TypeProto& only = onnx::Utils::DataTypeUtils::ToTypeProto(*allowed.begin());
  return only.has_tensor_type() ? dtype_of_onnx_number(only.tensor_type().elem_type()) : std::nullopt;
}

// Attributes that `fold` can use. Tensors go their own way.
Result<void> set_attributes(const Asked& asked, std::vector<Attribute>& attributes,
                            std::vector<ContentAttribute>& contents) {
  for (const onnx::AttributeProto& attribute : asked.node.attribute()) {
    switch (attribute.type()) {
      case onnx::AttributeProto::INT:
        attributes.push_back({attribute.name(), attribute.i()});
        break;
      case onnx::AttributeProto::FLOAT:
        attributes.push_back({attribute.name(), static_cast<double>(attribute.f())});
        break;
      case onnx::AttributeProto::STRING:
        attributes.push_back({attribute.name(), attribute.s()});
        break;
      case onnx::AttributeProto::INTS:
        attributes.push_back(
            {attribute.name(), std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end())});
        break;
      case onnx::AttributeProto::TENSOR: {
        ContentBudget budget(limits::kMaxFoldedElements);
        const Result<TensorFact> fact = fact_from_tensor(attribute.t(), budget);
        if (!fact.ok()) {
          return Error{fact.error().code, "attribute " + quoted(attribute.name()) + ": " + fact.error().message, ""};
        }
        contents.push_back({attribute.name(), fact->known.content});
        attributes.push_back({attribute.name(), OpaqueAttribute{"tensor"}});
        break;
      }
      default:
        break;
    }
  }
  return {};
}

// Whether there is anything to compute with: a content, or an operator that needs none.
bool may_have_content(const Asked& asked) {
  const std::string& type = asked.node.op_type();
  if (!asked.is_standard() || !may_fold("", type)) return false;
  if (type == "Shape" || type == "Size" || type == "EyeLike") return true;
  return std::any_of(asked.inputs.begin(), asked.inputs.end(),
                     [](const TensorFact* input) { return input != nullptr && input->known.content != nullptr; });
}

// Masks and tables of many elements are data, not shapes: computing them would take longer than all the rest.
bool is_small(const TensorFact& fact) {
  constexpr std::int64_t kMostIntegers = 4096;
  constexpr std::int64_t kMostReals = 256;
  if (!fact.known.extents || !fact.known.dtype) return true;
  std::int64_t left = is_float(*fact.known.dtype) ? kMostReals : kMostIntegers;
  for (const KnownExtent& extent : *fact.known.extents) {
    if (extent.knowledge == Knowledge::exact && extent.extent > 0) left /= extent.extent;
  }
  return left > 0;
}

bool agrees(const KnownContent& content, const KnownInput& known) {
  if (known.dtype != content.dtype) return false;
  if (!known.extents) return true;
  if (known.extents->size() != content.extents.size()) return false;
  for (std::size_t axis = 0; axis < content.extents.size(); ++axis) {
    const KnownExtent& extent = (*known.extents)[axis];
    if (extent.knowledge == Knowledge::exact && extent.extent != content.extents[axis]) return false;
  }
  return true;
}

Result<void> fold_contents(const Asked& asked, Facts& facts) {
  if (!may_have_content(asked) || !std::all_of(facts.begin(), facts.end(), is_small)) return {};
  std::vector<Attribute> attributes;
  std::vector<ContentAttribute> tensors;
  LOWTIDE_RETURN_IF_ERROR(set_attributes(asked, attributes, tensors));
  std::vector<KnownInput> inputs;
  inputs.reserve(asked.inputs.size());
  for (const TensorFact* input : asked.inputs) inputs.push_back(input == nullptr ? KnownInput{} : input->known);
  const auto contents = fold({.domain = "",
                              .type = asked.node.op_type(),
                              .opset = asked.opset,
                              .attributes = attributes,
                              .inputs = inputs,
                              .output_count = facts.size(),
                              .content_attributes = tensors});
  if (!contents.ok()) return contents.error();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const auto& content = (*contents)[i];
    if (content == nullptr || !facts[i].is_tensor || !agrees(*content, facts[i].known)) continue;
    std::vector<KnownExtent>& extents = facts[i].known.extents.emplace();
    for (const std::int64_t extent : content->extents) extents.push_back({Knowledge::exact, extent, ""});
    facts[i].known.content = content;
  }
  return {};
}

// An extent that nobody knows is named after the tensor, so that a message can point at it.
void name_unknown_extents(const std::string& output, TensorFact& fact) {
  if (!fact.known.extents) return;
  for (std::size_t axis = 0; axis < fact.known.extents->size(); ++axis) {
    KnownExtent& extent = (*fact.known.extents)[axis];
    if (extent.knowledge == Knowledge::unknown && extent.symbol.empty()) {
      extent.symbol = output + "[" + std::to_string(axis) + "]";
    }
  }
}

Result<Facts> infer(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs, const OpsetImports& opsets,
                    const InferBody& infer_body) {
  int opset = 0;
  const Result<const onnx::OpSchema*> schema = schema_of(node, opsets, opset);
  if (!schema.ok()) return schema.error();
  const Asked asked{node, inputs, **schema, opset, infer_body};
  (*schema)->Verify(node);
  if (asked.is_standard()) LOWTIDE_RETURN_IF_ERROR(guard_node(node, inputs));
  if (asked.is_standard() && node.op_type() == "Constant") {
    ContentBudget budget(limits::kMaxFoldedElements);
    const Result<TensorFact> fact = fact_from_constant_node(node, budget);
    if (!fact.ok()) return fact.error();
    return Facts{*fact};
  }
  Result<Facts> facts = ask_for_sizes(asked);
  if (!facts.ok()) return facts;
  for (std::size_t i = 0; i < facts->size(); ++i) {
    TensorFact& fact = (*facts)[i];
    if (fact.is_tensor && !fact.known.dtype) fact.known.dtype = dtype_by_signature(asked, i);
  }
  LOWTIDE_RETURN_IF_ERROR(fold_contents(asked, *facts));
  for (std::size_t i = 0; i < facts->size(); ++i) name_unknown_extents(node.output(static_cast<int>(i)), (*facts)[i]);
  return facts;
}

}  // namespace

Result<std::vector<TensorFact>> infer_node(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                                           const OpsetImports& opsets, const InferBody& infer_body) {
  try {
    return infer(node, inputs, opsets, infer_body);
  } catch (const InvariantViolation&) {
    throw;  // a bug of ours, not of the model
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::over_limit, "needs more memory than there is", ""};
  } catch (const std::exception& error) {
    return refused(error.what(), node, inputs);
  }
}

}  // namespace lowtide::import_internal
