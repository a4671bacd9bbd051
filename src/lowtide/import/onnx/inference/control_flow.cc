// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/control_flow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/inference/bounds.h"
#include "lowtide/import/onnx/inference/counted_loop.h"
#include "lowtide/import/onnx/inference/extent_symbol.h"
#include "lowtide/import/onnx/inference/repeated_body.h"
#include "lowtide/import/onnx/proto/attributes.h"

namespace lowtide::import_internal {
namespace {

using Facts = std::vector<TensorFact>;

Result<const onnx::GraphProto*> body_of(const onnx::NodeProto& node, const std::string& name) {
  const onnx::AttributeProto* attribute = attribute_of(node, name);
  if (attribute == nullptr || !attribute->has_g()) {
    return Error{ErrorCode::invalid, "attribute " + quoted(name) + " is not a graph", ""};
  }
  return &attribute->g();
}

TensorFact scalar_fact(DType dtype) {
  TensorFact fact;
  fact.known.dtype = dtype;
  fact.known.extents.emplace();
  return fact;
}

// Returns the only element of an input, or nullopt if it is not exact.
std::optional<std::int64_t> exact_scalar(const TensorFact* fact) {
  if (fact == nullptr || fact->known.content == nullptr || fact->known.content->elements.size() != 1)
    return std::nullopt;
  const KnownElement& element = fact->known.content->elements[0];
  if (element.knowledge != Knowledge::exact) return std::nullopt;
  return element.integer;
}

std::string axis_symbol(const onnx::NodeProto& node, std::size_t index, std::size_t axis) {
  return extent_symbol(node.output(static_cast<int>(index)), axis);
}

// Returns a fact with one more axis.
TensorFact stacked(const TensorFact& each, std::size_t axis, KnownExtent extent) {
  TensorFact result = each;
  result.known.content = nullptr;
  if (!result.known.extents) return result;
  const std::size_t at = std::min(axis, result.known.extents->size());
  result.known.extents->insert(result.known.extents->begin() + static_cast<std::ptrdiff_t>(at), std::move(extent));
  return result;
}

// Tells whether the body of a Loop returns its condition as it got it, as exporters write loops that only count. The
// condition may go through Identity nodes. O(nodes).
bool returns_its_condition(const onnx::GraphProto& body) {
  if (body.input_size() < 2 || body.output_size() < 1) return false;
  std::string_view name = body.output(0).name();
  for (int at = body.node_size() - 1; at >= 0 && name != body.input(1).name(); --at) {
    const onnx::NodeProto& node = body.node(at);
    if (std::ranges::find(node.output(), name) == node.output().end()) continue;
    if (node.op_type() != "Identity" || node.input_size() != 1) return false;
    name = node.input(0);
  }
  return name == body.input(1).name();
}

// Returns the number of iterations of a Loop, with the symbol of the extent that has it. `goes_on`: its condition is
// always true.
KnownExtent trip_count(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs, bool goes_on,
                       const std::optional<CountedIterations>& counted, std::size_t output) {
  const KnownElement* limit = nullptr;
  if (inputs[0] != nullptr && inputs[0]->known.content != nullptr && inputs[0]->known.content->elements.size() == 1 &&
      inputs[0]->known.content->elements[0].knowledge != Knowledge::unknown) {
    limit = &inputs[0]->known.content->elements[0];
  }
  const std::string symbol = axis_symbol(node, output, 0);
  if (exact_scalar(inputs[1]) == 0) return {Knowledge::exact, 0, ""};
  if (limit == nullptr && !counted) return {Knowledge::unknown, 0, symbol};
  const bool starts = inputs[1] == nullptr || exact_scalar(inputs[1]) == 1;
  const bool has_limit = inputs[0] != nullptr;
  const bool knows_end = counted ? counted->is_exact : goes_on;
  const bool knows_limit = limit == nullptr ? !has_limit : limit->knowledge == Knowledge::exact;
  std::int64_t count = counted ? counted->most : std::max<std::int64_t>(0, limit->integer);
  if (limit != nullptr) count = std::min(count, std::max<std::int64_t>(0, limit->integer));
  if (starts && knows_end && knows_limit) return {Knowledge::exact, count, ""};
  return {Knowledge::at_most, count, symbol};
}

Result<void> check_extent(const KnownExtent& extent) {
  if (extent.extent <= limits::kMaxTensorBytes) return {};
  return Error{ErrorCode::over_limit,
               "the body runs " + std::to_string(extent.extent) + " times and the outputs are stacked; the limit is " +
                   std::to_string(limits::kMaxTensorBytes) + " (kMaxTensorBytes)",
               ""};
}

// Returns the axis along which a Scan splits or stacks its sequence `index` of this rank, or nullopt if it does not
// exist.
std::optional<std::size_t> scan_axis(const onnx::NodeProto& node, const std::string& attribute, std::size_t index,
                                     std::size_t rank) {
  const onnx::AttributeProto* axes = attribute_of(node, attribute);
  if (axes == nullptr || static_cast<int>(index) >= axes->ints_size())
    return rank == 0 ? std::nullopt : std::optional<std::size_t>(0);
  const std::int64_t axis = axes->ints(static_cast<int>(index));
  const auto extent = static_cast<std::int64_t>(rank);
  if (axis < -extent || axis >= extent) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + extent : axis);
}

}  // namespace

Result<Facts> infer_if(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                       const InferBody& infer_body) {
  LOWTIDE_TRY(const onnx::GraphProto* const then_body, body_of(node, "then_branch"));
  LOWTIDE_TRY(const onnx::GraphProto* const else_body, body_of(node, "else_branch"));
  const std::optional<std::int64_t> condition = exact_scalar(inputs.empty() ? nullptr : inputs[0]);
  const auto count = static_cast<std::size_t>(node.output_size());
  for (const onnx::GraphProto* body : {then_body, else_body}) {
    if (static_cast<std::size_t>(body->output_size()) != count) {
      return wrong_count("number of outputs of branch " + quoted(body->name()) + ":",
                         static_cast<std::size_t>(body->output_size()), count);
    }
  }
  Result<Facts> then_facts = run_body(*then_body, {}, infer_body);
  Result<Facts> else_facts = run_body(*else_body, {}, infer_body);
  if (condition) return *condition != 0 ? then_facts : else_facts;
  // A branch that violates a rule of its operators cannot run, so every run of the node takes the other branch.
  const auto cannot_run = [](const Result<Facts>& facts) {
    return !facts.ok() && facts.error().code == ErrorCode::invalid;
  };
  if (!then_facts.ok() && !(cannot_run(then_facts) && else_facts.ok())) return then_facts;
  if (!else_facts.ok() && !(cannot_run(else_facts) && then_facts.ok())) return else_facts;
  if (!then_facts.ok()) return else_facts;
  if (!else_facts.ok()) return then_facts;
  Facts result;
  for (std::size_t i = 0; i < count; ++i) {
    Result<TensorFact> fact = either_fact((*then_facts)[i], (*else_facts)[i], node.output(static_cast<int>(i)));
    if (!fact.ok()) {
      return Error{fact.error().code, "output " + std::to_string(i) + ": " + fact.error().message, fact.error().place};
    }
    result.push_back(std::move(fact).value());
  }
  return result;
}

Result<Facts> infer_loop(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                         const InferBody& infer_body) {
  const Result<const onnx::GraphProto*> body = body_of(node, "body");
  if (!body.ok()) return body.error();
  if (inputs.size() < 2) return wrong_count("number of inputs:", inputs.size(), 2);
  RepeatedBody loop{node, **body, {scalar_fact(DType::i64), scalar_fact(DType::boolean)}, 2, inputs.size() - 2, 1};
  for (std::size_t i = 2; i < inputs.size(); ++i)
    loop.inputs.push_back(inputs[i] == nullptr ? TensorFact{} : *inputs[i]);
  const auto count = static_cast<std::size_t>(node.output_size());
  if (static_cast<std::size_t>((*body)->output_size()) != count + 1) {
    return wrong_count("number of outputs of the body:", static_cast<std::size_t>((*body)->output_size()), count + 1);
  }
  if (static_cast<std::size_t>((*body)->input_size()) != inputs.size()) {
    return wrong_count("number of inputs of the body:", static_cast<std::size_t>((*body)->input_size()), inputs.size());
  }
  if (count < loop.state_count) return wrong_count("number of outputs:", count, loop.state_count);
  const std::optional<CountedIterations> counted = counted_iterations(**body, inputs, infer_body);
  const auto goes_on = [&](const Facts& outputs) {
    return exact_scalar(&outputs.front()) == 1 || returns_its_condition(**body);
  };
  const auto trips = [&](const Facts& outputs) { return trip_count(node, inputs, goes_on(outputs), counted, 0); };
  LOWTIDE_TRY(const RepeatedFacts facts, infer_repeated(loop, infer_body, trips));
  Facts result = facts.states;
  for (std::size_t i = loop.state_count; i < count; ++i) {
    const KnownExtent length = trip_count(node, inputs, goes_on(facts.outputs), counted, i);
    LOWTIDE_RETURN_IF_ERROR(check_extent(length));
    result.push_back(stacked(facts.outputs[i + 1], 0, length));
  }
  return result;
}

// Checks the numbers of inputs and outputs of a Scan node and of its body.
Result<void> check_scan_counts(const onnx::GraphProto& body, std::size_t inputs, std::int64_t scanned,
                               std::size_t outputs) {
  if (scanned < 1 || scanned > static_cast<std::int64_t>(inputs)) {
    const std::string allowed = "it must be 1 to " + std::to_string(inputs) + ", the number of inputs";
    return Error{ErrorCode::invalid, "attribute 'num_scan_inputs' is " + std::to_string(scanned) + "; " + allowed, ""};
  }
  const std::size_t states = inputs - static_cast<std::size_t>(scanned);
  if (outputs < states) return wrong_count("number of outputs, at least one for each state:", outputs, states);
  const auto body_inputs = static_cast<std::size_t>(body.input_size());
  if (body_inputs != inputs) return wrong_count("number of inputs of the body:", body_inputs, inputs);
  const auto body_outputs = static_cast<std::size_t>(body.output_size());
  if (body_outputs != outputs) return wrong_count("number of outputs of the body:", body_outputs, outputs);
  return {};
}

Result<Facts> infer_scan(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                         const InferBody& infer_body) {
  const Result<const onnx::GraphProto*> body = body_of(node, "body");
  if (!body.ok()) return body.error();
  const onnx::AttributeProto* given = attribute_of(node, "num_scan_inputs");
  const std::int64_t scanned = given == nullptr ? 0 : given->i();
  const auto count = static_cast<std::size_t>(node.output_size());
  LOWTIDE_RETURN_IF_ERROR(check_scan_counts(**body, inputs.size(), scanned, count));
  const std::size_t states = inputs.size() - static_cast<std::size_t>(scanned);
  RepeatedBody loop{node, **body, {}, 0, states, 0};
  KnownExtent length = {Knowledge::unknown, 0, axis_symbol(node, states < count ? states : 0, 0)};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TensorFact fact = inputs[i] == nullptr ? TensorFact{} : *inputs[i];
    if (i >= states) {
      fact.known.content = nullptr;
      if (fact.known.extents) {
        const auto axis = scan_axis(node, "scan_input_axes", i - states, fact.known.extents->size());
        if (!axis)
          return Error{
              ErrorCode::invalid,
              "attribute 'scan_input_axes' has an axis outside the rank of " + quoted(node.input(static_cast<int>(i))),
              ""};
        const KnownExtent& along = (*fact.known.extents)[*axis];
        const bool differs = along.knowledge == Knowledge::exact && length.knowledge == Knowledge::exact &&
                             along.extent != length.extent;
        if (differs)
          return wrong_count("length of " + quoted(node.input(static_cast<int>(i))) + ":",
                             static_cast<std::size_t>(along.extent), static_cast<std::size_t>(length.extent));
        const bool knows_more = static_cast<int>(along.knowledge) > static_cast<int>(length.knowledge) || i == states;
        if (knows_more) length = along;
        fact.known.extents->erase(fact.known.extents->begin() + static_cast<std::ptrdiff_t>(*axis));
      }
    }
    loop.inputs.push_back(std::move(fact));
  }
  LOWTIDE_TRY(const RepeatedFacts facts,
              infer_repeated(loop, infer_body, [&](const Facts& /*outputs*/) { return length; }));
  Facts result = facts.states;
  for (std::size_t i = states; i < count; ++i) {
    const TensorFact& each = facts.outputs[i];
    const std::size_t rank = each.known.extents ? each.known.extents->size() + 1 : 1;
    const auto axis = scan_axis(node, "scan_output_axes", i - states, rank);
    if (!axis)
      return Error{ErrorCode::invalid,
                   "attribute 'scan_output_axes' has an axis outside the rank of output " + std::to_string(i), ""};
    result.push_back(stacked(each, *axis, length));
  }
  return result;
}

}  // namespace lowtide::import_internal
