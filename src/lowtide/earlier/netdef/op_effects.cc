// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/op_effects.h"

#include <algorithm>
#include <array>

#include "lowtide/earlier/netdef/format.h"
#include "lowtide/graph/operator_traits.h"

namespace lowtide::netdef_internal {
namespace {

// A plan must not run a fill again or leave it out, so a fill is not pure in a graph. Its results do not change.
constexpr auto kRepeatable = std::to_array<std::string_view>(
    {"Alias", "ConstantFill", "GivenTensorFill", "GivenTensorInt64Fill", "GivenTensorIntFill"});
constexpr auto kRandomFills =
    std::to_array<std::string_view>({"GaussianFill", "MSRAFill", "UniformFill", "XavierFill"});

bool is_among(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool holds_net(const OpView& op) {
  return std::any_of(op.arguments().begin(), op.arguments().end(), [](const ProtoMessage* argument) {
    return find_message(*argument, argument_field::kNet) != nullptr ||
           !messages_of(*argument, argument_field::kNets).empty() ||
           may_hold_net(find_text(*argument, argument_field::kName).value_or(""));
  });
}

}  // namespace

OpEffects effects_of(const OpView& op) {
  if (holds_net(op)) return OpEffects::any;
  const OperatorTraits& traits = operator_traits("caffe2", op.type());
  if (traits.is_random || is_among(kRandomFills, op.type())) return OpEffects::random;
  const bool repeats = (traits.is_pure && !traits.is_stateful) || is_among(kRepeatable, op.type());
  return repeats ? OpEffects::none : OpEffects::any;
}

OpEffects effects_in_graph(const OpView& op) {
  return op.integer(kRepeatsArgument, 0) == 1 ? OpEffects::none : OpEffects::random;
}

}  // namespace lowtide::netdef_internal
