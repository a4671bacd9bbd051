// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/lower.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/operand_types.h"
#include "lowtide/lower/load/load_time.h"
#include "lowtide/lower/load/more_load_time.h"
#include "lowtide/lower/machine/choose_formats.h"
#include "lowtide/lower/machine/fuse_chains.h"
#include "lowtide/lower/machine/fuse_epilogues.h"
#include "lowtide/lower/machine/use_winograd.h"
#include "lowtide/lower/memory/inputs_in_arena.h"
#include "lowtide/lower/memory/outputs_at_caller.h"
#include "lowtide/lower/model/fold_batch_norm.h"
#include "lowtide/lower/model/fold_padding.h"
#include "lowtide/lower/model/fuse_attention.h"
#include "lowtide/lower/model/fuse_layer_norm.h"
#include "lowtide/lower/model/quantized_kernels.h"
#include "lowtide/lower/model/remove_unneeded.h"
#include "lowtide/lower/model/widen_halves.h"

namespace lowtide {
namespace {

bool have_same_operators(const Graph& a, const Graph& b) {
  if (a.nodes().size() != b.nodes().size()) return false;
  for (NodeId id : all_ids<NodeId>(a.nodes().size())) {
    if (a.op(id).type != b.op(id).type || a.op(id).domain != b.op(id).domain) return false;
  }
  return true;
}

// Work on constants may do no more than make the constants that a body captures known there. Recursion only over
// bodies.
std::int64_t count_constants(const Graph& graph) {
  std::int64_t count = std::ranges::count(graph.tensors(), Role::constant, &Tensor::role);
  for (const Node& node : graph.nodes()) {
    for (const Body& body : node.bodies) count += count_constants(*body.graph);
  }
  return count;
}

// Applies passes one after another.
class Passes {
 public:
  Passes(const Graph& model, Graph no_load) : lowered_{model, std::move(no_load), {}} {}

  [[nodiscard]] const Graph& graph() const { return lowered_.graph; }

  // Every pass that changes a graph changes the number of its nodes, tensors or constants, or the operator of a node.
  Result<void> take(std::string_view pass, Result<Rewritten> rewritten) {
    if (!rewritten) return rewritten.error();
    if (rewritten->graph.total_nodes() == graph().total_nodes() &&
        rewritten->graph.total_tensors() == graph().total_tensors() && have_same_operators(rewritten->graph, graph()) &&
        count_constants(rewritten->graph) == count_constants(graph()))
      return {};
    keep(pass, *std::move(rewritten));
    return {};
  }

  // A pass that may change attributes alone.
  Result<void> take(std::string_view pass, Result<std::optional<Rewritten>> changed) {
    if (!changed) return changed.error();
    if (*changed) keep(pass, **std::move(changed));
    return {};
  }

  // A pass that may put one node before the others, or add tensors after the others.
  Result<void> take(std::string_view pass, Result<Graph> added) {
    if (!added) return added.error();
    Origins origins;
    const auto first = static_cast<std::uint32_t>(added->nodes().size() - graph().nodes().size());
    for (NodeId id : all_ids<NodeId>(added->nodes().size())) {
      const bool is_added = id.value() < first;
      origins.nodes.push_back(is_added ? std::vector<NodeId>() : std::vector{NodeId(id.value() - first)});
    }
    for (TensorId id : all_ids<TensorId>(added->tensors().size())) {
      const bool is_added = id.index() >= graph().tensors().size();
      origins.tensors.push_back(is_added ? std::vector<TensorId>() : std::vector{id});
    }
    return take(pass, Rewritten{*std::move(added), std::move(origins)});
  }

  Result<void> split(std::optional<std::uint32_t> constants) {
    Result<LoadTimeSplit> split = split_load_time(graph(), constants);
    if (!split) return split.error();
    lowered_.load = std::move(split->load);
    return take(kLoadTimePass, std::move(split->run));
  }

  Result<void> choose(const LowerOptions& options) {
    Result<Rewritten> chosen = choose_formats(graph(), *options.machine);
    if (!chosen || !options.load_time) return take(kFormatsPass, std::move(chosen));
    Result<LoadTimeSplit> split = lower_internal::split_more_load_time(chosen->graph, lowered_.load, options.constants);
    if (!split) return split.error();
    // The weights are packed at load, even if the model has no other work on constants.
    // Its name keeps its place in the order.
    const bool is_listed = std::ranges::find(lowered_.passes, kLoadTimePass) != lowered_.passes.end();
    if (!is_listed && !split->load.nodes().empty())
      lowered_.passes.emplace(std::ranges::find(lowered_.passes, kChainsPass), kLoadTimePass);
    lowered_.load = std::move(split->load);
    Origins origins = compose(chosen->origins, split->run.origins);
    return take(kFormatsPass, Rewritten{std::move(split->run.graph), std::move(origins)});
  }

  Lowered finish() && { return std::move(lowered_); }

 private:
  void keep(std::string_view pass, Rewritten rewritten) {
    lowered_.passes.emplace_back(pass);
    lowered_.origins = lowered_.origins ? compose(*lowered_.origins, rewritten.origins) : std::move(rewritten.origins);
    lowered_.graph = std::move(rewritten.graph);
  }

  Lowered lowered_;
};

}  // namespace

LowerOptions options_for_kernels(std::shared_ptr<const KernelFormats> machine) {
  return {.unneeded = true,
          .padding = true,
          .halves = true,
          .batch_norm = true,
          .layer_norm = true,
          .attention = true,
          .quantized = true,
          .chains = true,
          .formats = true,
          .epilogues = true,
          .winograd = true,
          .machine = std::move(machine)};
}

namespace {

// The passes on nodes of the model, before the work on constants is known.
Result<void> rewrite_nodes(Passes& passes, const LowerOptions& options) {
  if (options.unneeded)
    LOWTIDE_RETURN_IF_ERROR(passes.take(kUnneededPass, remove_unneeded(passes.graph(), options.table)));
  if (options.padding) LOWTIDE_RETURN_IF_ERROR(passes.take(kPaddingPass, fold_padding(passes.graph(), options.table)));
  if (options.halves) LOWTIDE_RETURN_IF_ERROR(passes.take(kHalvesPass, widen_halves(passes.graph())));
  if (options.batch_norm) LOWTIDE_RETURN_IF_ERROR(passes.take(kBatchNormPass, fold_batch_norm(passes.graph())));
  if (options.layer_norm && options.table != nullptr)
    LOWTIDE_RETURN_IF_ERROR(passes.take(kLayerNormPass, fuse_layer_norm(passes.graph(), *options.table)));
  if (options.attention && options.table != nullptr)
    LOWTIDE_RETURN_IF_ERROR(passes.take(kAttentionPass, fuse_attention(passes.graph(), *options.table)));
  if (options.quantized) LOWTIDE_RETURN_IF_ERROR(passes.take(kQuantizedPass, use_quantized_kernels(passes.graph())));
  return {};
}

}  // namespace

// A BatchNormalization is folded first, because work on constants follows from it. Chains come after that work, so that
// they never contain any. Formats come after chains, which have one format each. They add work on constants. Epilogues
// follow, because they are chains in the format of their product, and last the algorithm of a product.
Result<Lowered> lower(const Graph& graph, const LowerOptions& options) {
  if (options.checks_types) LOWTIDE_RETURN_IF_ERROR(check_operand_types(graph));  // the passes rely on them
  Result<Graph> no_load = GraphBuilder(graph.name()).build();
  if (!no_load) return no_load.error();
  Passes passes(graph, *std::move(no_load));
  LOWTIDE_RETURN_IF_ERROR(rewrite_nodes(passes, options));
  if (options.load_time) LOWTIDE_RETURN_IF_ERROR(passes.split(options.constants));
  if (options.chains) LOWTIDE_RETURN_IF_ERROR(passes.take(kChainsPass, fuse_chains(passes.graph())));
  if (options.formats && options.machine != nullptr) LOWTIDE_RETURN_IF_ERROR(passes.choose(options));
  if (options.epilogues && options.machine != nullptr)
    LOWTIDE_RETURN_IF_ERROR(passes.take(kEpiloguesPass, fuse_epilogues(passes.graph(), *options.machine)));
  if (options.winograd && options.machine != nullptr)
    LOWTIDE_RETURN_IF_ERROR(passes.take(kWinogradPass, use_winograd(passes.graph(), *options.machine)));
  if (options.inputs_in_arena && !graph.inputs().empty())
    LOWTIDE_RETURN_IF_ERROR(passes.take(kInputsInArenaPass, place_inputs_in_arena(passes.graph())));
  if (options.outputs_at_caller && !graph.outputs().empty())
    LOWTIDE_RETURN_IF_ERROR(passes.take(kOutputsAtCallerPass, place_outputs_at_caller(passes.graph())));
  return std::move(passes).finish();
}

namespace {

struct Switch {
  std::string_view pass;
  bool LowerOptions::*is_on;
};
// In the order of lower().
constexpr Switch kSwitches[] = {
    {kUnneededPass, &LowerOptions::unneeded},
    {kPaddingPass, &LowerOptions::padding},
    {kHalvesPass, &LowerOptions::halves},
    {kBatchNormPass, &LowerOptions::batch_norm},
    {kLayerNormPass, &LowerOptions::layer_norm},
    {kAttentionPass, &LowerOptions::attention},
    {kQuantizedPass, &LowerOptions::quantized},
    {kLoadTimePass, &LowerOptions::load_time},
    {kChainsPass, &LowerOptions::chains},
    {kFormatsPass, &LowerOptions::formats},
    {kEpiloguesPass, &LowerOptions::epilogues},
    {kWinogradPass, &LowerOptions::winograd},
    {kInputsInArenaPass, &LowerOptions::inputs_in_arena},
    {kOutputsAtCallerPass, &LowerOptions::outputs_at_caller},
};

}  // namespace

bool depend_on_machine(const std::vector<std::string>& passes) {
  return std::ranges::any_of(passes, [](const std::string& pass) {
    return pass == kFormatsPass || pass == kEpiloguesPass || pass == kWinogradPass;
  });
}

Result<LowerOptions> lower_options(const std::vector<std::string>& passes,
                                   std::shared_ptr<const KernelFormats> machine) {
  LowerOptions options{.load_time = false, .machine = std::move(machine)};
  const std::string place = "$.provenance.lowering";
  const Switch* last = nullptr;
  for (const std::string& pass : passes) {
    const Switch* named = std::ranges::find(kSwitches, pass, &Switch::pass);
    if (named == std::end(kSwitches))
      return Error{ErrorCode::unsupported, "this program has no lowering pass " + quoted(pass, 40), place};
    if (named == last) return Error{ErrorCode::invalid, "the pass " + quoted(pass) + " is listed twice", place};
    if (last != nullptr && named < last) {
      return Error{ErrorCode::invalid,
                   "the pass " + quoted(pass) + " is listed after " + quoted(last->pass) + ", but runs before it",
                   place};
    }
    options.*named->is_on = true;
    last = named;
  }
  return options;
}

}  // namespace lowtide
