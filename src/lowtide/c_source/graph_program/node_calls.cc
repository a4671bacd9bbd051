// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/graph_program/node_calls.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

#include "lowtide/base/check.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/c_source/c_kernels/c_kernels.h"
#include "lowtide/c_source/graph_program/rules.h"

namespace lowtide::graph_program_internal {
namespace {

template <typename T>
CConstant constant_of(CType type, std::string name, const std::vector<T>& content) {
  CConstant made{.name = std::move(name), .type = type, .shape = {static_cast<std::int64_t>(content.size())}};
  made.bytes.resize(content.size() * sizeof(T));
  if (!content.empty()) std::memcpy(made.bytes.data(), content.data(), made.bytes.size());
  return made;
}

const std::map<std::string_view, const Rule*>& rules_by_type() {
  static const std::map<std::string_view, const Rule*> rules = [] {
    std::map<std::string_view, const Rule*> all;
    for (const std::span<const Rule>& kind :
         {elementwise_rules(), movement_rules(), normalization_rules(), pooling_rules(), product_rules(),
          reduction_rules(), resampling_rules()}) {
      for (const Rule& rule : kind) {
        const bool is_new = all.emplace(rule.type, &rule).second;
        LOWTIDE_CHECK(is_new, "an operator has one rule");
      }
    }
    return all;
  }();
  return rules;
}

// Kernels count elements and bytes in 32 bits.
Result<void> check_tensor(const Tensor& tensor) {
  if (tensor.shape.has_upper_bounds())
    return missing("the size of " + lowtide::quoted(tensor.name) + " depends on the data");
  if (!c_type_of(tensor.dtype)) {
    return missing(lowtide::quoted(tensor.name) + " is " + std::string(to_string(tensor.dtype)) +
                   ", and C has no such elements here");
  }
  if (tensor.size.count() > std::numeric_limits<std::int32_t>::max()) {
    return missing(lowtide::quoted(tensor.name) + " has " + format_bytes(tensor.size) + ", and kernels count 31 bits");
  }
  return {};
}

bool is_standard(const Operator& op) { return op.domain.empty() || op.domain == "ai.onnx"; }

}  // namespace

ConstantAt NodeCalls::add(std::string name, const std::vector<float>& content) {
  constants.push_back(constant_of(CType::float32, std::move(name), content));
  return {constants.size() - 1};
}

ConstantAt NodeCalls::add(std::string name, const std::vector<std::int32_t>& content) {
  constants.push_back(constant_of(CType::int32, std::move(name), content));
  return {constants.size() - 1};
}

Parameters& Parameters::add(std::string name, std::int64_t value) {
  LOWTIDE_CHECK(value == static_cast<std::int32_t>(value), "parameters have 32 bits");
  all_.push_back({std::move(name), static_cast<std::int32_t>(value)});
  return *this;
}

Parameters& Parameters::add(std::string name, const Extents& values) {
  std::vector<std::int32_t> list;
  for (std::int64_t value : values) {
    LOWTIDE_CHECK(value == static_cast<std::int32_t>(value), "parameters have 32 bits");
    list.push_back(static_cast<std::int32_t>(value));
  }
  all_.push_back({std::move(name), std::move(list)});
  return *this;
}

Parameters& Parameters::add_float(std::string name, float value) {
  all_.push_back({std::move(name), value});
  return *this;
}

std::vector<std::string_view> exported_operators() {
  std::vector<std::string_view> names;
  for (const auto& [name, rule] : rules_by_type()) names.push_back(name);
  return names;
}

Result<NodeCalls> calls_of(const NodeFacts& node) {
  const auto found = rules_by_type().find(node.type());
  if (!is_standard(node.graph().op(node.id())) || found == rules_by_type().end()) {
    return missing("no kernel of C has this operator");
  }
  bool has_elements = false;
  for (const auto* tensors : {&node.node().inputs, &node.node().outputs}) {
    for (const std::optional<TensorId>& id : *tensors) {
      if (id) LOWTIDE_RETURN_IF_ERROR(check_tensor(node.graph().tensor(*id)));
    }
  }
  for (const std::optional<TensorId>& id : node.node().outputs) {
    has_elements = has_elements || (id && node.graph().tensor(*id).size > Bytes(0));
  }
  if (!has_elements) return NodeCalls();
  LOWTIDE_TRY(NodeCalls calls, found->second->calls(node));
  for (const NodeCall& call : calls.calls) {
    if (find_c_kernel(call.kernel) == nullptr) return missing("C has no kernel " + call.kernel);
  }
  return calls;
}

std::optional<Limits> limits_of(const NodeCalls& node) {
  if (node.calls.size() != 1) return std::nullopt;
  const NodeCall& call = node.calls.front();
  if (call.kernel == "relu_f32") return Limits{};
  if (call.kernel != "clip_f32") return std::nullopt;
  return Limits{2, std::get<float>(call.parameters[1].value), std::get<float>(call.parameters[2].value)};
}

bool set_limits(CCall& call, const Limits& limits) {
  const auto count = std::ranges::find(call.parameters, kLimits, &CParameter::name);
  if (count == call.parameters.end() || std::get<std::int32_t>(count->value) != 0) return false;
  count->value = limits.count;
  std::next(count)->value = limits.minimum;
  std::next(count, 2)->value = limits.maximum;
  return true;
}

bool may_work_in_place(const Graph& graph, NodeId id) {
  static constexpr std::array<std::string_view, 4> kSeveralCalls = {"Max", "Mean", "Min", "Sum"};
  const bool has_several = std::ranges::find(kSeveralCalls, graph.op(id).type) != kSeveralCalls.end();
  return !has_several || graph.node(id).inputs.size() <= 2;
}

}  // namespace lowtide::graph_program_internal
