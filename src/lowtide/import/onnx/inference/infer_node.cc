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
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/fold/fold.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/inference/bounds.h"
#include "lowtide/import/onnx/inference/classical_sizes.h"
#include "lowtide/import/onnx/inference/control_flow.h"
#include "lowtide/import/onnx/inference/extent_symbol.h"
#include "lowtide/import/onnx/inference/function_operators.h"
#include "lowtide/import/onnx/inference/guard.h"
#include "lowtide/import/onnx/inference/library_context.h"
#include "lowtide/import/onnx/inference/reshape_size.h"
#include "lowtide/import/onnx/inference/size_rules.h"
#include "lowtide/import/onnx/inference/window_sizes.h"
#include "lowtide/import/onnx/proto/constants.h"
#include "lowtide/import/onnx/proto/runtime_operators.h"
#include "lowtide/import/onnx/proto/types.h"

namespace lowtide::import_internal {
namespace {

using Facts = std::vector<TensorFact>;

// A node with what is needed to infer it.
struct Request {
  const onnx::NodeProto& node;
  std::span<const TensorFact* const> inputs;
  const onnx::OpSchema& schema;
  int opset;
  const InferBody& infer_body;

  [[nodiscard]] bool is_standard() const { return schema.domain().empty(); }
};

// Puts the library's text on one line, without its own prefixes.
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
  // Quotes around a whole sentence would confuse. They are the first and last character unless the text was cut.
  return safe.size() >= 2 && safe.back() == '\'' ? safe.substr(1, safe.size() - 2) : safe;
}

// Lists what is known of the inputs. The library rarely says which numbers disagree.
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
  const std::string domain = normalized_domain(node.domain());
  const auto imported = opsets.find(domain);
  if (imported == opsets.end()) {
    return Error{ErrorCode::unsupported,
                 "operator " + quoted(node.op_type()) + " belongs to domain " + quoted(domain) +
                     ", but the model imports no opset of this domain",
                 ""};
  }
  opset = imported->second;
  const onnx::OpSchema* schema = find_schema(node.op_type(), opset, domain);
  if (schema == nullptr) {
    return Error{ErrorCode::unsupported,
                 "operator " + quoted(node.op_type()) + " of domain " + quoted(domain.empty() ? "ai.onnx" : domain) +
                     " is not supported: " + why_unknown(node.op_type(), opset, domain),
                 ""};
  }
  return schema;
}

// The node with the attributes that it omits. A function refers to them by name.
onnx::NodeProto with_default_attributes(const Request& request) {
  onnx::NodeProto node = request.node;
  for (const auto& [name, attribute] : request.schema.attributes()) {
    const bool is_given = std::ranges::any_of(request.node.attribute(),
                                              [&name = name](const auto& given) { return given.name() == name; });
    if (!is_given && attribute.default_value.has_name()) *node.add_attribute() = attribute.default_value;
  }
  return node;
}

// Asks the library's inference function of the operator, or infers the function body that defines it.
Result<Facts> ask_library(const Request& request, BoundsAs bounds) {
  const bool has_function = !request.schema.has_type_and_shape_inference_function();
  const onnx::NodeProto whole = has_function ? with_default_attributes(request) : onnx::NodeProto();
  const onnx::NodeProto& node = has_function ? whole : request.node;
  FactContext context(node, request.inputs, bounds, request.infer_body);
  try {
    if (has_function) {
      infer_by_function(request.schema, request.opset, node, context);
    } else {
      request.schema.GetTypeAndShapeInferenceFunction()(context);
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    if (context.body_error()) return *context.body_error();
    return refused(error.what(), request.node, request.inputs);
  }
  Facts facts;
  facts.reserve(context.outputs().size());
  for (std::size_t i = 0; i < context.outputs().size(); ++i) {
    Result<TensorFact> fact = fact_of_type(context.outputs()[i], request.node.output(static_cast<int>(i)));
    if (!fact.ok()) return fact.error();
    facts.push_back(std::move(fact).value());
  }
  return facts;
}

// Asks the library. Asks it again with the bounds if there are any (bounds.h).
Result<Facts> ask_library_with_bounds(const Request& request) {
  Result<Facts> facts = ask_library(request, BoundsAs::unknown);
  if (!facts.ok() || !request.is_standard() || !has_bounds(request.inputs) || !is_monotonic(request.node.op_type())) {
    return facts;
  }
  const Result<Facts> bounded = ask_library(request, BoundsAs::value);
  if (bounded.ok()) {
    take_bounds(*bounded, *facts);
  } else if (is_broadcasting(request.node.op_type()) && !facts->empty()) {
    bound_broadcast(request.inputs, facts->front());
  }
  return facts;
}

Result<Facts> ask_for_sizes(const Request& request) {
  const std::string& type = request.node.op_type();
  if (request.is_standard() && type == "If") return infer_if(request.node, request.inputs, request.infer_body);
  if (request.is_standard() && type == "Loop") return infer_loop(request.node, request.inputs, request.infer_body);
  if (request.is_standard() && type == "Scan" && request.schema.SinceVersion() >= 9) {
    return infer_scan(request.node, request.inputs, request.infer_body);
  }
  if (is_classical_domain(request.schema.domain())) return infer_classical(request.node, request.inputs);
  // The library refuses lists of one number, which runtimes accept. The rules have all of its sizes.
  const bool is_range = request.is_standard() && type == "Range";
  Result<Facts> facts = is_range ? Facts(1) : ask_library_with_bounds(request);
  if (!facts.ok()) return facts;
  LOWTIDE_RETURN_IF_ERROR(size_windows(request.node, request.inputs, *facts));
  if (!request.is_standard()) return facts;
  apply_size_rules(request.node, request.inputs, *facts);
  LOWTIDE_RETURN_IF_ERROR(check_reshape(request.node, request.inputs, *facts));
  return facts;
}

// Derives the element type of an output from the operator's signature: that of an input with the same type variable,
// or the only type that the signature permits.
std::optional<DType> dtype_by_signature(const Request& request, std::size_t output) {
  const auto& formals = request.schema.outputs();
  if (formals.empty()) return std::nullopt;
  const auto& formal = formals[std::min(output, formals.size() - 1)];
  const auto& inputs = request.schema.inputs();
  for (std::size_t i = 0; i < request.inputs.size() && !inputs.empty(); ++i) {
    const auto& candidate = inputs[std::min(i, inputs.size() - 1)];
    const bool is_same = candidate.GetTypeStr() == formal.GetTypeStr() && candidate.GetIsHomogeneous();
    if (is_same && request.inputs[i] != nullptr && request.inputs[i]->known.dtype)
      return request.inputs[i]->known.dtype;
  }
  const auto& allowed = formal.GetTypes();
  if (allowed.size() != 1) return std::nullopt;
  const onnx::TypeProto& only = onnx::Utils::DataTypeUtils::ToTypeProto(*allowed.begin());
  return only.has_tensor_type() ? dtype_of_onnx_number(only.tensor_type().elem_type()) : std::nullopt;
}

// Collects the attributes that `fold` can use. Tensors are passed separately.
Result<void> set_attributes(const Request& request, std::vector<Attribute>& attributes,
                            std::vector<ContentAttribute>& contents) {
  for (const onnx::AttributeProto& attribute : request.node.attribute()) {
    switch (attribute.type()) {
      case onnx::AttributeProto::INT: attributes.push_back({attribute.name(), attribute.i()}); break;
      case onnx::AttributeProto::FLOAT:
        attributes.push_back({attribute.name(), static_cast<double>(attribute.f())});
        break;
      case onnx::AttributeProto::STRING: attributes.push_back({attribute.name(), attribute.s()}); break;
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
      default: break;
    }
  }
  return {};
}

// Whether `fold` may compute a content: an input has a known content, or the operator needs none.
bool may_have_content(const Request& request) {
  const std::string& type = request.node.op_type();
  if (!request.is_standard() || !may_fold("", type)) return false;
  if (type == "Shape" || type == "Size" || type == "EyeLike") return true;
  return std::any_of(request.inputs.begin(), request.inputs.end(),
                     [](const TensorFact* input) { return input != nullptr && input->known.content != nullptr; });
}

// Masks and tables with many elements are data and not shapes. Computing them would take longer than the rest of the
// import.
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

Result<void> fold_contents(const Request& request, Facts& facts) {
  if (!may_have_content(request) || !std::all_of(facts.begin(), facts.end(), is_small)) return {};
  std::vector<Attribute> attributes;
  std::vector<ContentAttribute> tensors;
  LOWTIDE_RETURN_IF_ERROR(set_attributes(request, attributes, tensors));
  std::vector<KnownInput> inputs;
  inputs.reserve(request.inputs.size());
  for (const TensorFact* input : request.inputs) inputs.push_back(input == nullptr ? KnownInput{} : input->known);
  LOWTIDE_TRY(const auto contents, fold({.domain = "",
                                         .type = request.node.op_type(),
                                         .opset = request.opset,
                                         .attributes = attributes,
                                         .inputs = inputs,
                                         .output_count = facts.size(),
                                         .content_attributes = tensors}));
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const auto& content = contents[i];
    if (content == nullptr || !facts[i].is_tensor || !agrees(*content, facts[i].known)) continue;
    std::vector<KnownExtent>& extents = facts[i].known.extents.emplace();
    for (const std::int64_t extent : content->extents) extents.push_back({Knowledge::exact, extent, ""});
    facts[i].known.content = content;
  }
  return {};
}

// Names an unknown extent after its tensor, so that messages can refer to it.
void name_unknown_extents(const std::string& output, TensorFact& fact) {
  if (!fact.known.extents) return;
  for (std::size_t axis = 0; axis < fact.known.extents->size(); ++axis) {
    KnownExtent& extent = (*fact.known.extents)[axis];
    if (extent.knowledge == Knowledge::unknown && extent.symbol.empty()) {
      extent.symbol = extent_symbol(output, axis);
    }
  }
}

Result<Facts> infer(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs, const OpsetImports& opsets,
                    const InferBody& infer_body) {
  // The file says what they return.
  if (is_foreign_domain(normalized_domain(node.domain()))) return Facts(static_cast<std::size_t>(node.output_size()));
  int opset = 0;
  const Result<const onnx::OpSchema*> schema = schema_of(node, opsets, opset);
  if (!schema.ok()) return schema.error();
  const Request request{node, inputs, **schema, opset, infer_body};
  (*schema)->Verify(node);
  if (request.is_standard() || is_runtime_domain((*schema)->domain())) {
    LOWTIDE_RETURN_IF_ERROR(guard_node(node, inputs));
  }
  if (request.is_standard() && node.op_type() == "Constant") {
    ContentBudget budget(limits::kMaxFoldedElements);
    const Result<TensorFact> fact = fact_from_constant_node(node, budget);
    if (!fact.ok()) return fact.error();
    return Facts{*fact};
  }
  Result<Facts> facts = ask_for_sizes(request);
  if (!facts.ok()) return facts;
  for (std::size_t i = 0; i < facts->size(); ++i) {
    TensorFact& fact = (*facts)[i];
    if (fact.is_tensor && !fact.known.dtype) fact.known.dtype = dtype_by_signature(request, i);
  }
  LOWTIDE_RETURN_IF_ERROR(fold_contents(request, *facts));
  for (std::size_t i = 0; i < facts->size(); ++i) name_unknown_extents(node.output(static_cast<int>(i)), (*facts)[i]);
  return facts;
}

}  // namespace

Result<std::vector<TensorFact>> infer_node(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                                           const OpsetImports& opsets, const InferBody& infer_body) {
  try {
    return infer(node, inputs, opsets, infer_body);
  } catch (const InvariantViolation&) {
    throw;  // a bug in Lowtide, not in the model
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::no_memory, "there is not enough memory to infer the node", ""};
  } catch (const std::exception& error) {
    return refused(error.what(), node, inputs);
  }
}

}  // namespace lowtide::import_internal
