// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/control_flow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/inference/bounds.h"

namespace lowtide::import_internal {
namespace {

using Facts = std::vector<TensorFact>;

Error wrong_count(const std::string& what, std::size_t has, std::size_t expected) {
  return {ErrorCode::invalid, what + " " + std::to_string(has) + ", expected " + std::to_string(expected), ""};
}

const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, const std::string& name) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

Result<const onnx::GraphProto*> body_of(const onnx::NodeProto& node, const std::string& name) {
  const onnx::AttributeProto* attribute = attribute_of(node, name);
  if (attribute == nullptr || !attribute->has_g()) {
    return Error{ErrorCode::invalid, "attribute " + quoted(name) + " is not a graph", ""};
  }
  return &attribute->g();
}

// Infers a body, and checks that there is one fact per output.
Result<Facts> run_body(const onnx::GraphProto& body, const Facts& inputs, const InferBody& infer_body) {
  Result<Facts> outputs = infer_body(body, inputs);
  if (outputs.ok() && outputs->size() != static_cast<std::size_t>(body.output_size())) {
    return wrong_count("number of facts of the body's outputs:", outputs->size(),
                       static_cast<std::size_t>(body.output_size()));
  }
  return outputs;
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

std::string output_symbol(const onnx::NodeProto& node, std::size_t index) {
  return node.output(static_cast<int>(index));
}

std::string axis_symbol(const onnx::NodeProto& node, std::size_t index, std::size_t axis) {
  return output_symbol(node, index) + "[" + std::to_string(axis) + "]";
}

// Returns the deepest nesting of Loop and Scan nodes in a body. It does not recurse, because the nesting is not limited
// here.
int loop_height(const onnx::GraphProto& body) {
  std::vector<std::pair<const onnx::GraphProto*, int>> open = {{&body, 0}};
  int highest = 0;
  while (!open.empty()) {
    const auto [graph, height] = open.back();
    open.pop_back();
    highest = std::max(highest, height);
    for (const onnx::NodeProto& node : graph->node()) {
      const bool is_loop = node.op_type() == "Loop" || node.op_type() == "Scan";
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) open.emplace_back(&attribute.g(), height + (is_loop ? 1 : 0));
      }
    }
  }
  return highest;
}

// Widens the state at the start of an iteration so that it includes what the previous iteration may leave. Returns true
// if anything became unknown.
bool widen(TensorFact& state, const TensorFact& next, const std::string& symbol) {
  if (!state.is_tensor && !next.is_tensor) {
    const std::string before = state.type.SerializeAsString();
    onnx::UnionTypeInfo(next.type, state.type);  // throws if the kinds differ
    return state.type.SerializeAsString() != before;
  }
  if (!state.known.extents) return false;
  if (!next.known.extents || next.known.extents->size() != state.known.extents->size()) {
    state.known.extents.reset();
    return true;
  }
  bool is_changed = false;
  for (std::size_t axis = 0; axis < state.known.extents->size(); ++axis) {
    KnownExtent& extent = (*state.known.extents)[axis];
    const KnownExtent own = {Knowledge::unknown, 0, symbol + "[" + std::to_string(axis) + "]"};
    if (extent == (*next.known.extents)[axis] || extent == own) continue;
    extent = own;
    is_changed = true;
  }
  return is_changed;
}

// Checks that the body keeps the element type and kind of a state.
Result<void> check_kind(const TensorFact& state, const TensorFact& next, std::size_t index) {
  const bool same_kind = state.is_tensor == next.is_tensor;
  if (same_kind && (!state.known.dtype || !next.known.dtype || state.known.dtype == next.known.dtype)) return {};
  const auto name = [](const TensorFact& fact) {
    return fact.known.dtype ? std::string(to_string(*fact.known.dtype)) : std::string("a value that is not a tensor");
  };
  return Error{ErrorCode::invalid,
               "state " + std::to_string(index) + " has type " + name(state) + ", but the body returns " + name(next),
               ""};
}

void forget_extents(TensorFact& state, const std::string& symbol) {
  if (!state.known.extents) return;
  for (std::size_t axis = 0; axis < state.known.extents->size(); ++axis) {
    (*state.known.extents)[axis] = {Knowledge::unknown, 0, symbol + "[" + std::to_string(axis) + "]"};
  }
}

// A body that runs repeatedly. Both its inputs and its outputs contain the states as one range.
struct RepeatedBody {
  const onnx::NodeProto& node;
  const onnx::GraphProto& body;
  Facts inputs;
  std::size_t first_state = 0;  // index of the first state among the inputs
  std::size_t state_count = 0;
  std::size_t first_state_output = 0;  // index of the first state among the outputs
};

// Infers the body until the states hold for every iteration. Returns the outputs, and leaves the states in
// `loop.inputs`.
Result<Facts> infer_repeated(RepeatedBody& loop, const InferBody& infer_body) {
  if (loop.body.input_size() < static_cast<int>(loop.first_state + loop.state_count) ||
      loop.body.output_size() < static_cast<int>(loop.first_state_output + loop.state_count)) {
    return wrong_count("number of outputs of the body:", static_cast<std::size_t>(loop.body.output_size()),
                       loop.first_state_output + loop.state_count);
  }
  for (std::size_t i = 0; i < loop.state_count; ++i) {
    const std::string& in = loop.body.input(static_cast<int>(loop.first_state + i)).name();
    const std::string& out = loop.body.output(static_cast<int>(loop.first_state_output + i)).name();
    if (in != out) loop.inputs[loop.first_state + i].known.content = nullptr;
  }
  const bool is_deep = loop_height(loop.body) >= 2;
  constexpr int kMostRuns = 3;
  for (int run = 1; run <= kMostRuns; ++run) {
    const bool is_last = run == kMostRuns || is_deep;
    for (std::size_t i = 0; i < loop.state_count && is_last; ++i) {
      forget_extents(loop.inputs[loop.first_state + i], output_symbol(loop.node, i));
    }
    Result<Facts> outputs = run_body(loop.body, loop.inputs, infer_body);
    if (!outputs.ok()) return outputs;
    bool is_changed = false;
    bool has_lost_rank = false;
    for (std::size_t i = 0; i < loop.state_count; ++i) {
      TensorFact& state = loop.inputs[loop.first_state + i];
      const TensorFact& next = (*outputs)[loop.first_state_output + i];
      const bool had_rank = state.known.extents.has_value();
      LOWTIDE_RETURN_IF_ERROR(check_kind(state, next, i));
      if (widen(state, next, output_symbol(loop.node, i))) is_changed = true;
      if (had_rank && !state.known.extents) has_lost_rank = true;
    }
    // An extent that changed is unknown from now on. In the last run, all extents were already unknown, but a rank may
    // still change.
    if (!is_changed || (is_last && !has_lost_rank)) return outputs;
    if (is_last) {
      for (std::size_t i = 0; i < loop.state_count; ++i) loop.inputs[loop.first_state + i].known.extents.reset();
      return run_body(loop.body, loop.inputs, infer_body);
    }
  }
  return Error{ErrorCode::invalid, "the states of the body keep changing", ""};
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

// Returns the number of iterations of a Loop.
KnownExtent trip_count(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                       const TensorFact& next_condition, const onnx::GraphProto& body, std::size_t output) {
  KnownExtent count = {Knowledge::unknown, 0, axis_symbol(node, output, 0)};
  const TensorFact* limit = inputs[0];
  if (limit == nullptr || limit->known.content == nullptr || limit->known.content->elements.size() != 1) return count;
  const KnownElement& most = limit->known.content->elements[0];
  if (most.knowledge == Knowledge::unknown) {
    return count;
  }
  count.extent = std::max<std::int64_t>(0, most.integer);
  const bool starts = inputs[1] == nullptr || exact_scalar(inputs[1]) == 1;
  const bool goes_on = exact_scalar(&next_condition) == 1 || returns_its_condition(body);
  const bool is_exact = most.knowledge == Knowledge::exact && starts && goes_on;
  count.knowledge = is_exact ? Knowledge::exact : Knowledge::at_most;
  if (is_exact) count.symbol.clear();
  return count;
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
  const Result<const onnx::GraphProto*> then_body = body_of(node, "then_branch");
  if (!then_body.ok()) return then_body.error();
  const Result<const onnx::GraphProto*> else_body = body_of(node, "else_branch");
  if (!else_body.ok()) return else_body.error();
  const std::optional<std::int64_t> condition = exact_scalar(inputs.empty() ? nullptr : inputs[0]);
  const auto count = static_cast<std::size_t>(node.output_size());
  for (const onnx::GraphProto* body : {*then_body, *else_body}) {
    if (static_cast<std::size_t>(body->output_size()) != count) {
      return wrong_count("number of outputs of branch " + quoted(body->name()) + ":",
                         static_cast<std::size_t>(body->output_size()), count);
    }
  }
  Result<Facts> then_facts = run_body(**then_body, {}, infer_body);
  Result<Facts> else_facts = run_body(**else_body, {}, infer_body);
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
    Result<TensorFact> fact = either_fact((*then_facts)[i], (*else_facts)[i], output_symbol(node, i));
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
  Result<Facts> outputs = infer_repeated(loop, infer_body);
  if (!outputs.ok()) return outputs;
  Facts result;
  for (std::size_t i = 0; i < count; ++i) {
    // Without an iteration a state stays unchanged. The facts at the start of every iteration therefore hold at
    // the end.
    if (i < loop.state_count) {
      result.push_back(loop.inputs[2 + i]);
      continue;
    }
    const KnownExtent trips = trip_count(node, inputs, outputs->front(), **body, i);
    LOWTIDE_RETURN_IF_ERROR(check_extent(trips));
    result.push_back(stacked((*outputs)[i + 1], 0, trips));
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
  Result<Facts> outputs = infer_repeated(loop, infer_body);
  if (!outputs.ok()) return outputs;
  Facts result;
  for (std::size_t i = 0; i < count; ++i) {
    if (i < states) {
      result.push_back(loop.inputs[i]);
      continue;
    }
    const TensorFact& each = (*outputs)[i];
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
