// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/body_names.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/findings.h"
#include "lowtide/verify/lowering/body_load.h"
#include "lowtide/verify/lowering/erased_halves.h"
#include "lowtide/verify/lowering/fused_attention.h"
#include "lowtide/verify/lowering/fused_norm.h"
#include "lowtide/verify/lowering/lowered_epilogues.h"
#include "lowtide/verify/lowering/lowered_formats.h"
#include "lowtide/verify/lowering/lowered_nodes.h"
#include "lowtide/verify/lowering/merged_padding.h"
#include "lowtide/verify/lowering/quantized_nodes.h"
#include "lowtide/verify/verify.h"

namespace lowtide {
namespace {

using verify_internal::Findings;

// The tensors of a graph whose content is equal in all runs. `is_captured_fixed` marks such tensors among the captured
// ones.
Flags<TensorId> fixed_tensors(const Graph& graph, const Flags<TensorId>& is_captured_fixed) {
  Flags<TensorId> is_fixed = is_captured_fixed;
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).role == Role::constant) is_fixed.set(id);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const OperatorTraits& traits = graph.op(id).traits;
    const std::vector<TensorId> operands = graph.operands(id);
    const bool repeats_itself =
        traits.is_pure && !traits.is_random && !traits.is_stateful && !verify_internal::may_be_training(graph, id);
    const bool reads_fixed =
        std::all_of(operands.begin(), operands.end(), [&](TensorId read) { return is_fixed.test(read); });
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output && ((repeats_itself && reads_fixed) || graph.known_integers(*output) != nullptr))
        is_fixed.set(*output);
    }
  }
  return is_fixed;
}

// What is known of a model besides its graph.
struct Known {
  const verify_internal::LoadNames& load;                 // of the whole model
  const ConstantTable* table = nullptr;                   // nullptr: no bytes are known
  std::optional<std::uint32_t> constants = std::nullopt;  // of the model itself, if there is a table
};

// What is known of a graph of the model: the model itself or a body.
struct Place {
  const verify_internal::LoadTimeResults& load;  // for this graph
  IdVector<TensorId, std::string> names;         // of its tensors in the load-time work of the model
  std::string prefix;                            // of these names: "" for the model
  Flags<TensorId> is_captured_fixed;             // the captured tensors whose content is equal in all runs
};

// The model itself.
Place whole_model(const Graph& model, const verify_internal::LoadTimeResults& load) {
  Place place{load, IdVector<TensorId, std::string>(model.tensors().size()), "",
              Flags<TensorId>(model.tensors().size())};
  for (TensorId id : all_ids<TensorId>(model.tensors().size())) place.names[id] = model.tensor(id).name;
  return place;
}

// Compares a graph with the graph that it was made from. Tensors correspond by name, and nodes by what they write.
class LoweringCheck {
 public:
  LoweringCheck(const Graph& before, const Graph& after, const Known& known, const Place& place, Findings& findings)
      : before_(before),
        after_(after),
        known_(known),
        place_(place),
        load_(&place.load),
        table_(known.table),
        findings_(findings),
        is_fixed_(fixed_tensors(before, place.is_captured_fixed)),
        is_kept_(before.nodes().size()),
        tensors_(before, known.table),
        quantized_(tensors_, after),
        body_names_(after) {
    tensors_.add_reordered(after);
    tensors_.add_reordered(load_->graph());
  }

  // Recursion only over bodies, whose nesting is limited in every Graph.
  void check() {
    for (TensorId id : all_ids<TensorId>(after_.tensors().size())) {
      if (findings_.is_full()) return;
      check_tensor(id);
    }
    Flags<NodeId> comes_after_caller(after_.nodes().size());
    for (NodeId id : all_ids<NodeId>(after_.nodes().size())) {
      if (findings_.is_full()) return;
      is_caller(after_.op(id)) ? check_caller(id) : check_node(id);
      note_order(id, comes_after_caller);
    }
    for (NodeId id : all_ids<NodeId>(before_.nodes().size())) {
      const bool may_be_left_out = before_.op(id).traits.is_pure && before_.node(id).bodies.empty();
      if (!is_kept_.test(id) && !may_be_left_out) wrong(node_name(before_, id) + " does not run");
    }
    check_ends();
    std::string fault = verify_internal::load_time_fault(tensors_, load_->graph());
    if (!fault.empty()) wrong(std::move(fault));
  }

 private:
  void wrong(std::string message) { findings_.add(ViolationKind::wrong_model, std::move(message)); }

  static std::string node_name(const Graph& graph, NodeId id) {
    return "node " + std::to_string(id.value()) + " " + quoted(graph.node(id).name) + " (" + graph.op(id).type + ")";
  }

  std::optional<TensorId> original(TensorId id) const { return tensors_.find(after_, id); }

  bool is_same(const std::optional<TensorId>& before, const std::optional<TensorId>& after) const {
    return before.has_value() == after.has_value() && (!before || original(*after) == before);
  }

  template <typename List>
  bool are_same(const List& before, const List& after) const {
    return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                      [&](const auto& a, const auto& b) { return is_same(a, b); });
  }

  void check_tensor(TensorId id) {
    const Tensor& now = after_.tensor(id);
    const std::optional<TensorId> found = original(id);
    if (!found &&
        (is_callers_memory(id) || quantized_.has_integers(id) || verify_internal::is_made_weight(after_, id, load_)))
      return;
    if (!found) return wrong("tensor " + quoted(now.name) + " is not in the model");
    const Tensor& was = before_.tensor(*found);
    if (now.name != was.name || verify_internal::lanes_of(now, was).value_or(1) > 1) return check_format(id, *found);
    if (now.dtype != was.dtype || now.shape != was.shape || now.is_captured != was.is_captured)
      return wrong("tensor " + quoted(now.name) + " has another type or shape in the model");
    if (now.role == Role::constant && was.role == Role::constant && now.constant != was.constant)
      return wrong("constant " + quoted(now.name) + " has other bytes in the model");
    const bool is_from_caller = now.producer && is_caller(after_.op(*now.producer));
    if (is_from_caller ? was.role == Role::input : now.role == was.role) return;
    const bool is_output_of_model = was.role == Role::output && now.role == Role::temporary;
    if (is_output_of_model && after_.outputs().empty()) return;  // check_ends compares the outputs
    if (now.role == Role::constant && is_fixed_.test(*found)) return;
    wrong("tensor " + quoted(now.name) + " is planned as " + std::string(to_string(now.role)) +
          ", but may differ between runs of the model");
  }

  // A tensor in another format than in the model, or a second tensor with the same content. It is an intermediate
  // result of the run, or a constant that load-time work makes from a content that is equal in all runs.
  void check_format(TensorId id, TensorId found) {
    const Tensor& now = after_.tensor(id);
    const Tensor& was = before_.tensor(found);
    if (!verify_internal::lanes_of(now, was))
      return wrong("tensor " + quoted(now.name) + " has another type or shape in the model");
    const bool is_result = now.role == Role::temporary && now.producer && !is_caller(after_.op(*now.producer));
    const bool is_constant = is_fixed_.test(found) && verify_internal::is_reordered_constant(after_, id, load_);
    if (now.is_captured || now.is_next_state || !(is_result || is_constant))
      wrong("tensor " + quoted(now.name) + " is planned as " + std::string(to_string(now.role)) +
            ", but only an intermediate result may have another format than in the model");
  }

  void check_caller(NodeId id) {
    std::vector<std::optional<TensorId>> inputs(before_.inputs().begin(), before_.inputs().end());
    if (id != NodeId(0) || !are_same(inputs, after_.node(id).outputs) || !after_.node(id).inputs.empty())
      wrong(node_name(after_, id) + " must come first and write all inputs of the model");
  }

  // If the caller writes the inputs into the arena, every other node runs later.
  void note_order(NodeId id, Flags<NodeId>& comes_after_caller) {
    const auto is_late = [&](std::optional<NodeId> node) {
      return node && (is_caller(after_.op(*node)) || comes_after_caller.test(*node));
    };
    const std::vector<NodeId>& waits = after_.node(id).control_inputs;
    const std::span<const TensorId> reads = after_.reads(id);
    if (std::any_of(waits.begin(), waits.end(), is_late) ||
        std::any_of(reads.begin(), reads.end(), [&](TensorId read) { return is_late(after_.tensor(read).producer); })) {
      comes_after_caller.set(id);
    } else if (id > NodeId(0) && is_caller(after_.op(NodeId(0)))) {
      wrong(node_name(after_, id) + " may run before the caller has written the inputs");
    }
  }

  // The node of the model that writes the same tensors. Nodes without outputs correspond in their order.
  std::optional<NodeId> original_node(NodeId id) {
    for (const std::optional<TensorId>& output : after_.node(id).outputs) {
      if (!output) continue;
      const std::optional<TensorId> was = original(*output);
      return was ? before_.tensor(*was).producer : std::nullopt;
    }
    const auto has_output = [](const std::optional<TensorId>& output) { return output.has_value(); };
    for (; next_without_output_ < before_.nodes().size(); ++next_without_output_) {
      const NodeId node(static_cast<std::uint32_t>(next_without_output_));
      const std::vector<std::optional<TensorId>>& outputs = before_.node(node).outputs;
      if (std::any_of(outputs.begin(), outputs.end(), has_output)) continue;
      ++next_without_output_;
      return node;
    }
    return std::nullopt;
  }

  // Whether the tensors of a node are stored as in the model.
  bool has_plain_tensors(NodeId id) const {
    const auto is_plain = [&](const std::optional<TensorId>& tensor) {
      const std::optional<TensorId> was = tensor ? original(*tensor) : std::nullopt;
      return !was || verify_internal::lanes_of(after_.tensor(*tensor), before_.tensor(*was)) == 1;
    };
    return std::ranges::all_of(after_.node(id).inputs, is_plain) &&
           std::ranges::all_of(after_.node(id).outputs, is_plain);
  }

  void check_node(NodeId id) {
    if (verify_internal::makes_weights(after_.op(id))) return;  // compared where it is read
    if (verify_internal::is_reorder(after_.op(id))) {
      std::string fault = verify_internal::reorder_fault(tensors_, after_, id);
      return fault.empty() ? void() : wrong(std::move(fault));
    }
    if (const auto* fused = quantized_.work_of(id)) return check_fused(id, *fused);
    if (is_chain(after_.op(id))) return check_fused(id, verify_internal::nodes_of_chain(tensors_, after_, id));
    if (is_attention(after_.op(id)) && has_plain_tensors(id))
      return check_fused(id, verify_internal::nodes_of_attention(tensors_, after_, id, table_));
    const std::optional<NodeId> found = original_node(id);
    if (found && is_written_out_norm(id, *found) && has_plain_tensors(id))
      return check_fused(id, verify_internal::nodes_of_layer_norm(tensors_, after_, id, table_));
    if (!found || !is_kept_.insert(*found)) return wrong(node_name(after_, id) + " is not in the model");
    if (verify_internal::has_folded(tensors_, after_, id, load_, *found)) return;
    const Node& now = after_.node(id);
    const Node& was = before_.node(*found);
    const Operator& op = after_.op(id);
    const Operator& old_op = before_.op(*found);
    const bool is_in_formats = verify_internal::is_convolution_of(tensors_, after_, id, load_, *found) ||
                               verify_internal::is_matrix_product_of(tensors_, after_, id, load_, *found) ||
                               ((verify_internal::is_image_operator_of(tensors_, after_, id, *found) ||
                                 verify_internal::is_padded_concat_of(tensors_, after_, id, *found) ||
                                 verify_internal::is_transpose_of(tensors_, after_, id, *found)) &&
                                tensors_.read_same(was.inputs, after_, now.inputs));
    if (is_in_formats && now.name == was.name) return;
    const bool is_equal = now.name == was.name && op.domain == old_op.domain && op.type == old_op.type &&
                          tensors_.read_same(was.inputs, after_, now.inputs) && are_same(was.outputs, now.outputs) &&
                          now.bodies.size() == was.bodies.size() &&
                          verify_internal::have_attributes_of_model(tensors_, after_, id, *found) &&
                          verify_internal::have_fitting_formats(tensors_, after_, id, *found);
    if (!is_equal) return wrong(node_name(after_, id) + " differs from its node in the model");
    for (std::size_t at = 0; at < now.bodies.size(); ++at) check_body(id, was.bodies[at], now.bodies[at]);
  }

  // Whether a LayerNormalization is made of other nodes of the model.
  bool is_written_out_norm(NodeId id, NodeId found) const {
    const auto is_norm = [](const Operator& op) { return op.domain.empty() && op.type == "LayerNormalization"; };
    return is_norm(after_.op(id)) && !is_norm(before_.op(found));
  }

  void check_fused(NodeId id, const verify_internal::FusedNodes& fused) {
    if (!fused.fault.empty()) return wrong(node_name(after_, id) + " " + fused.fault);
    for (NodeId node : fused.nodes) {
      if (!is_kept_.insert(node)) wrong(node_name(before_, node) + " of the model runs twice");
    }
  }

  void check_body(NodeId node, const Body& was, const Body& now) {
    std::unordered_map<std::string_view, TensorId> outer_of;
    for (const auto& [outer, inner] : was.captures) outer_of.emplace(was.graph->tensor(inner).name, outer);
    for (const auto& [outer, inner] : now.captures) {
      const auto found = outer_of.find(now.graph->tensor(inner).name);
      if (found == outer_of.end() || !tensors_.reads_same(found->second, after_, outer))
        wrong("body " + quoted(now.name) + " of " + node_name(after_, node) + " captures another tensor in the model");
    }
    findings_.enter_body("node " + std::to_string(node.value()) + " " + quoted(after_.node(node).name) + ": " +
                         quoted(now.name));
    check_inside(was, now, body_names_.prefix(node, now));
    findings_.leave_body();
  }

  void check_inside(const Body& was, const Body& now, const std::string& prefix) {
    verify_internal::BodyTensors tensors{.before = *was.graph,
                                         .after = *now.graph,
                                         .names = IdVector<TensorId, std::string>(was.graph->tensors().size()),
                                         .prefix = place_.prefix + prefix};
    Flags<TensorId> is_captured_fixed(was.graph->tensors().size());
    for (TensorId id : all_ids<TensorId>(was.graph->tensors().size()))
      tensors.names[id] = tensors.prefix + was.graph->tensor(id).name;
    for (const auto& [outer, inner] : was.captures) {
      const std::string& name = place_.names[outer];  // or, if it is a copy, that of what it copies
      tensors.names[inner] = known_.load.find(name) ? name : place_.names[tensors_.content_of(outer)];
      if (is_fixed_.test(outer)) is_captured_fixed.set(inner);
    }
    tensors.constants = known_.constants;
    const Result<Graph> load = load_of_body(known_.load, tensors);
    if (!load) return wrong("the load-time work of the body is not a graph: " + load.error().message);
    const verify_internal::LoadTimeResults results(*load);
    const Place place{results, std::move(tensors.names), std::move(tensors.prefix), std::move(is_captured_fixed)};
    LoweringCheck(*was.graph, *now.graph, known_, place, findings_).check();
  }

  static bool is_chain(const Operator& op) { return op.domain == kOwnDomain && op.type == kChainType; }
  static bool is_attention(const Operator& op) { return op.domain == kOwnDomain && op.type == kAttentionType; }

  // Whether a tensor that is not in the model stands for the caller's memory of an output.
  bool is_callers_memory(TensorId id) const {
    const std::vector<StateUpdate>& updates = after_.state_updates();
    return after_.tensor(id).role == Role::state && after_.readers(id).empty() && after_.outputs().empty() &&
           std::any_of(updates.begin(), updates.end(), [&](const StateUpdate& one) { return one.state == id; });
  }

  // The outputs remain outputs, or all of them are in the caller's memory, in order.
  void check_ends() {
    const std::vector<StateUpdate>& old_updates = before_.state_updates();
    const std::vector<StateUpdate>& updates = after_.state_updates();
    const std::size_t common = std::min(old_updates.size(), updates.size());
    const std::vector<std::optional<TensorId>> was(before_.outputs().begin(), before_.outputs().end());
    std::vector<std::optional<TensorId>> now(after_.outputs().begin(), after_.outputs().end());
    for (std::size_t at = common; at < updates.size(); ++at) {
      now.emplace_back(updates[at].next);
      if (original(updates[at].state)) wrong("the states are not updated as in the model");
    }
    if (!are_same(was, now)) wrong("the outputs are not those of the model");
    const auto is_same_update = [&](const StateUpdate& a, const StateUpdate& b) {
      return is_same(a.state, b.state) && is_same(a.next, b.next);
    };
    if (!std::equal(old_updates.begin(), old_updates.end(), updates.begin(),
                    updates.begin() + static_cast<std::ptrdiff_t>(common), is_same_update))
      wrong("the states are not updated as in the model");
  }

  const Graph& before_;
  const Graph& after_;
  const Known& known_;
  const Place& place_;
  const verify_internal::LoadTimeResults* load_;
  const ConstantTable* table_;
  Findings& findings_;
  Flags<TensorId> is_fixed_;
  Flags<NodeId> is_kept_;
  verify_internal::ModelTensors tensors_;
  verify_internal::QuantizedNodes quantized_;
  BodyNames body_names_;
  std::size_t next_without_output_ = 0;
};

}  // namespace

namespace {

// Compares graphs without epilogues.
void compare_separated(const Graph& model, const Graph& lowered, const Graph& load, const ConstantTable* table,
                       Findings& findings) {
  const verify_internal::LoadTimeResults results(load);
  const std::array<const Graph*, 2> graphs{&lowered, &load};
  const verify_internal::LoadNames names(load);
  const Known known{names, table, verify_internal::constants_of_model(table)};
  if (!verify_internal::lack_padded_tensors(model, graphs)) {
    LoweringCheck(model, lowered, known, whole_model(model, results), findings).check();
    return;
  }
  const Result<Graph> padded = verify_internal::with_merged_padding(model, graphs, table);
  if (!padded) return findings.add(ViolationKind::wrong_model, padded.error().describe());
  LoweringCheck(*padded, lowered, known, whole_model(*padded, results), findings).check();
}

}  // namespace

std::vector<Violation> verify_lowering(const Graph& model, const Graph& lowered, const Graph& load,
                                       const VerifyOptions& options, const ConstantTable* table) {
  Findings findings(options);
  const Result<Graph> separated = verify_internal::without_epilogues(lowered);
  if (!separated) {
    findings.add(ViolationKind::wrong_model, separated.error().describe());
    return std::move(findings).take();
  }
  if (!verify_internal::has_halves(model)) {
    compare_separated(model, *separated, load, table, findings);
    return std::move(findings).take();
  }
  const Result<verify_internal::ErasedHalves> erased = verify_internal::without_halves(model, *separated, load);
  if (!erased) {
    findings.add(ViolationKind::wrong_model, erased.error().describe());
  } else {
    compare_separated(erased->model, erased->lowered, erased->load, table, findings);
  }
  return std::move(findings).take();
}

}  // namespace lowtide
