// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lowtide/base/bytes.h"
#include "lowtide/base/flags.h"
#include "lowtide/verify/bounds/order_count.h"
#include "lowtide/verify/bounds/pieces.h"
#include "lowtide/verify/bytes/alias_meaning.h"

namespace lowtide::verify_internal {
namespace {

using Index = OrderCount::Index;

// Bytes of a tensor that repeat bytes [begin, begin + length) of an atom: what one node computed, or one constant.
struct Segment {
  Index atom = 0;
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t at = 0;  // in the tensor
};

struct Atom {
  std::int64_t size = 0;
  bool is_outside = false;  // an input or constant: occupies no space
  bool is_alone = false;    // each holder holds all of it and nothing else, so it occupies whole units
};

class Counting {
 public:
  Counting(const Graph& graph, const OrderFacts& facts)
      : graph_(graph),
        facts_(facts),
        group_(graph.tensors().size()),
        content_(graph.tensors().size()),
        pieces_(graph, facts.alignment, count_) {}

  OrderCount make() && {
    meanings_.resize(graph_.nodes().size());
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) meanings_[id] = usable_meaning(id);
    find_lone_tensors();
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      if (!graph_.tensor(id).producer) content_[id] = {new_atom(id, !is_placed_input(id))};
    }
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) fill_outputs(id);
    add_nodes();
    add_pieces();
    add_end();
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) add_overwriting(id);
    return std::move(count_);
  }

 private:
  static constexpr std::size_t kMostSegments = 1 << 22;              // in all tensors together
  static constexpr std::int64_t kSomewhere = std::int64_t{1} << 60;  // beyond all bytes of a tensor

  [[nodiscard]] bool is_placed_input(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    return facts_.inputs_live_throughout && tensor.role == Role::input && !tensor.is_captured;
  }

  // Bytes of an output that are bytes of an operand. Some operands of a concat are never in place in its result. They
  // must be copied: those that must stay where they are, repetitions of an earlier operand, and outputs of the graph if
  // the result is one too.
  struct Part : SameBytes {
    bool must_copy = false;
    bool is_repeated = false;
  };

  // Empty if the node computes in every plan. A view that is an output of the graph also computes if its operand is an
  // output or comes from no node.
  [[nodiscard]] std::vector<Part> usable_meaning(NodeId id) const {
    if (facts_.copies.size() > 0 && facts_.copies.test(id)) return {};
    const AliasMeaning meaning = alias_meaning(graph_, id);
    if (!meaning.obstacle.empty()) return {};
    const bool is_concat = graph_.op(id).traits.view == ViewKind::concat;
    std::set<TensorId> inputs;
    std::vector<Part> parts;
    for (const SameBytes& part : meaning.parts) {
      const bool is_given = !graph_.tensor(part.input).producer;
      const bool is_kept = is_given || graph_.tensor(part.input).role == Role::output;
      const bool are_handed_out = is_kept && graph_.tensor(part.output).role == Role::output;
      if (are_handed_out && !is_concat) return {};
      const bool is_repeated = is_concat && !inputs.insert(part.input).second;
      parts.push_back({part, is_concat && (is_given || are_handed_out || is_repeated), is_repeated});
    }
    return parts;
  }

  TensorId group_of(TensorId id) {
    while (group_[id] != id) id = group_[id] = group_[group_[id]];
    return id;
  }

  // Two tensors can be in one buffer at once only where one is a part of the other, or where both are parts of a copy.
  // A buffer that never has such parts holds one tensor at a time, and is rounded up for each.
  void find_lone_tensors() {
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) group_[id] = id;
    std::vector<TensorId> partial;
    const auto join = [&](TensorId a, TensorId b) { group_[group_of(a)] = group_of(b); };
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      for (const Part& part : meanings_[id]) {
        if (!part.must_copy) join(part.input, part.output);
        const bool is_all = part.length == graph_.tensor(part.input).size.count() &&
                            part.length == graph_.tensor(part.output).size.count();
        if (!is_all) partial.push_back(part.length < graph_.tensor(part.input).size.count() ? part.input : part.output);
      }
      if (meanings_[id].empty()) add_parts_of_copy(id, partial);
      if (facts_.in_place.empty()) continue;
      for (const auto& [input, output] : facts_.in_place[id]) join(input, output);
    }
    Flags<TensorId> has_parts(graph_.tensors().size());
    for (TensorId id : partial) has_parts.set(group_of(id));
    is_alone_ = Flags<TensorId>(graph_.tensors().size());
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      if (!has_parts.test(group_of(id))) is_alone_.set(id);
    }
  }

  // The outputs of a node that computes, or that is an alias of a copy of its operand.
  void add_parts_of_copy(NodeId id, std::vector<TensorId>& partial) const {
    if (facts_.copies.size() > 0 && facts_.copies.test(id)) return;
    const AliasMeaning meaning = alias_meaning(graph_, id);
    if (!meaning.obstacle.empty()) return;
    for (const SameBytes& part : meaning.parts) {
      if (part.length < graph_.tensor(part.input).size.count()) partial.push_back(part.output);
    }
  }

  Segment new_atom(TensorId id, bool is_outside) {
    const std::int64_t size = graph_.tensor(id).size.count();
    atoms_.push_back({.size = size, .is_outside = is_outside, .is_alone = is_alone_.test(id)});
    return {static_cast<Index>(atoms_.size() - 1), 0, size, 0};
  }

  void fill_outputs(NodeId id) {
    if (meanings_[id].empty()) {
      for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
        if (output && graph_.tensor(*output).size > Bytes(0)) content_[*output] = {new_atom(*output, false)};
      }
      return;
    }
    for (const Part& part : meanings_[id]) {
      const bool is_given = !graph_.tensor(part.input).producer;
      const bool is_outside = has_outside(part.input);
      if (is_outside || !part.must_copy || (!is_given && !part.is_repeated)) copy_part(part);
      if (part.must_copy && !is_outside) add_copy(part, is_given);
    }
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (output && !is_free(*output)) bring_in(*output);
    }
  }

  [[nodiscard]] bool has_outside(TensorId id) const {
    return std::any_of(content_[id].begin(), content_[id].end(),
                       [&](const Segment& segment) { return atoms_[segment.atom].is_outside; });
  }

  // The result has bytes of its own for this operand. Only other concats may share them, so only the first copy counts.
  // If the operand is given, these bytes are at its position in the result. Otherwise no slice of the result is certain
  // to hold them.
  void add_copy(const Part& part, bool is_given) {
    if (is_given && part.length == graph_.tensor(part.output).size.count()) return;  // it may be all of the result
    if (!copied_.insert(part.input).second) return;
    atoms_.push_back({.size = part.length, .is_outside = false, .is_alone = false});
    content_[part.output].push_back(
        {static_cast<Index>(atoms_.size() - 1), 0, part.length, is_given ? part.output_begin : kSomewhere});
  }

  void copy_part(const SameBytes& part) {
    const bool is_all = part.input_begin == 0 && part.length == graph_.tensor(part.input).size.count();
    std::vector<Segment>& to = content_[part.output];
    // By index, because push_back would invalidate iterators if a tensor were a part of itself.
    for (std::size_t at = 0; at < content_[part.input].size(); ++at) {
      const Segment from = content_[part.input][at];
      const std::int64_t begin = is_all ? from.at : std::max(from.at, part.input_begin);
      const std::int64_t end =
          is_all ? from.at + from.length : std::min(from.at + from.length, part.input_begin + part.length);
      if (begin >= end) continue;
      const Segment copy{from.atom, from.begin + begin - from.at, end - begin,
                         part.output_begin + begin - part.input_begin};
      const bool continues = !to.empty() && to.back().atom == copy.atom && to.back().at + to.back().length == copy.at &&
                             to.back().begin + to.back().length == copy.begin;
      if (continues) {
        to.back().length += copy.length;
      } else if (segments_++ < kMostSegments) {
        to.push_back(copy);
      }
    }
  }

  // Whether the tensor may stay outside the arena: all of it lies in one constant or input, side by side, and it is not
  // an output of the graph.
  [[nodiscard]] bool is_free(TensorId id) const {
    const std::vector<Segment>& content = content_[id];
    if (content.empty()) return true;
    return content.size() == 1 && content[0].length == graph_.tensor(id).size.count() &&
           atoms_[content[0].atom].is_outside && graph_.tensor(id).role != Role::output;
  }

  // The bytes that a tensor has from outside are brought into the arena with it. Another tensor may bring in the same
  // bytes, and share those that are still there with the first one. It is unknown which tensors do so, so only the
  // first one counts.
  void bring_in(TensorId id) {
    for (Segment& segment : content_[id]) {
      if (!atoms_[segment.atom].is_outside) continue;
      if (!brought_by_.emplace(segment.atom, id).second && brought_by_[segment.atom] != id) {
        segment.length = 0;
        continue;
      }
      atoms_.push_back({.size = segment.length, .is_outside = false, .is_alone = is_alone_.test(id)});
      segment.atom = static_cast<Index>(atoms_.size() - 1);
      segment.begin = 0;
    }
    std::erase_if(content_[id], [](const Segment& segment) { return segment.length == 0; });
  }

  void add_nodes() {
    count_.alignment = facts_.alignment.count();
    count_.nodes.resize(graph_.nodes().size());
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      OrderCount::Node& node = count_.nodes[id.index()];
      for (TensorId tensor : graph_.reads(id)) {
        if (graph_.tensor(tensor).producer) node.before.push_back(graph_.tensor(tensor).producer->value());
      }
      for (NodeId control : graph_.node(id).control_inputs) node.before.push_back(control.value());
      sort_once(node.before);
      for (Index before : node.before) count_.nodes[before].after.push_back(id.value());
      if (!facts_.scratch.empty()) node.scratch = round_up(facts_.scratch[id], facts_.alignment).count();
    }
  }

  // For each tensor, the bytes of the largest state that may hold it. The next content of such a state shares bytes
  // with the tensor, directly or through other tensors. A state is written only once, by its next content. Unions by
  // the smaller label.
  [[nodiscard]] std::vector<Bytes> state_sizes() const {
    std::vector<Index> label(graph_.tensors().size());
    for (Index at = 0; at < label.size(); ++at) label[at] = at;
    const auto top = [&](TensorId id) {
      Index at = id.value();
      while (label[at] != at) at = label[at] = label[label[at]];
      return at;
    };
    for (const std::vector<Part>& parts : meanings_) {
      for (const Part& part : parts) {
        const Index a = top(part.input);
        const Index b = top(part.output);
        label[std::max(a, b)] = std::min(a, b);
      }
    }
    std::vector<Bytes> of_label(label.size());
    for (const StateUpdate& update : graph_.state_updates()) {
      Bytes& size = of_label[top(update.next)];
      size = std::max(size, graph_.tensor(update.state).size);
    }
    std::vector<Bytes> sizes;
    for (TensorId id : all_ids<TensorId>(label.size())) sizes.push_back(of_label[top(id)]);
    return sizes;
  }

  void add_end() {
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const Tensor& tensor = graph_.tensor(id);
      if (tensor.producer ? tensor.role != Role::output : !is_placed_input(id)) continue;
      count_.at_end += is_alone_.test(id) ? round_up(tensor.size, facts_.alignment).count() : tensor.size.count();
    }
  }

  void add_pieces() {
    const std::vector<Bytes> states = state_sizes();
    const bool has_states = !graph_.state_updates().empty();
    std::vector<std::vector<Pieces::Held>> holders(atoms_.size());
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const bool is_counted = graph_.tensor(id).producer ? !is_free(id) : is_placed_input(id);
      const Tensor& tensor = graph_.tensor(id);
      const bool may_be_in_state = has_states && tensor.role != Role::output && tensor.size <= states[id.index()];
      if (!is_counted || may_be_in_state) continue;
      for (const Segment& one : content_[id]) holders[one.atom].push_back({one.begin, one.begin + one.length, id});
    }
    for (Index atom = 0; atom < atoms_.size(); ++atom) {
      if (!atoms_[atom].is_outside) pieces_.cut(atoms_[atom].size, atoms_[atom].is_alone, holders[atom]);
    }
  }

  void add_overwriting(NodeId id) {
    if (facts_.in_place.empty() || !meanings_[id].empty()) return;
    OrderCount::Node& node = count_.nodes[id.index()];
    std::vector<TensorId> outputs;
    for (const auto& [input, output] : facts_.in_place[id]) {
      if (std::find(outputs.begin(), outputs.end(), output) == outputs.end()) outputs.push_back(output);
      node.overwritten.push_back(pieces_.of(input));
      sort_once(node.overwritten.back());
    }
    for (TensorId output : outputs) {
      for (Index piece : pieces_.of(output)) node.written += count_.pieces[piece].size;
    }
    if (outputs.size() < 2) return;
    // It is unknown which result takes over which operand. So all bytes that die may be taken over, but only once.
    std::vector<Index> all;
    for (const std::vector<Index>& one : node.overwritten) all.insert(all.end(), one.begin(), one.end());
    sort_once(all);
    node.overwritten = {std::move(all)};
  }

  const Graph& graph_;
  const OrderFacts& facts_;
  IdVector<NodeId, std::vector<Part>> meanings_;
  IdVector<TensorId, TensorId> group_;
  Flags<TensorId> is_alone_;
  IdVector<TensorId, std::vector<Segment>> content_;
  std::vector<Atom> atoms_;
  std::map<Index, TensorId> brought_by_;
  std::set<TensorId> copied_;  // operands of which some concat has a copy
  std::size_t segments_ = 0;
  OrderCount count_;
  Pieces pieces_;
};

}  // namespace

OrderCount order_count(const Graph& graph, const OrderFacts& facts) { return Counting(graph, facts).make(); }

}  // namespace lowtide::verify_internal
