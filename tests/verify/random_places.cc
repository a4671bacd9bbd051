// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/random_places.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tests/verify/view_bytes.h"

namespace lowtide::testing {
namespace {

using Block = RandomPlaces::Block;

class Sharing {
 public:
  Sharing(const Graph& graph, const std::vector<NodeId>& order, Random& random)
      : graph_(graph), order_(order), random_(random) {
    const std::size_t tensors = graph.tensors().size();
    result_.block_of = IdVector<TensorId, std::size_t>(tensors);
    result_.offset_of = IdVector<TensorId, std::int64_t>(tensors, 0);
    result_.written = IdVector<TensorId, std::uint32_t>(tensors, 0);
    result_.needed_until = IdVector<TensorId, std::uint32_t>(tensors, 0);
    for (std::uint32_t step = 0; step < order.size(); ++step) {
      for (TensorId read : graph.reads(order[step])) result_.needed_until[read] = step;
    }
    const auto end = static_cast<std::uint32_t>(order.size());
    for (TensorId output : graph.outputs()) result_.needed_until[output] = end;
    for (const StateUpdate& update : graph.state_updates()) result_.needed_until[update.next] = end;
  }

  RandomPlaces run() {
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const Role role = graph_.tensor(id).role;
      if (graph_.tensor(id).producer) continue;
      const BufferKind kind = role == Role::input   ? BufferKind::input
                              : role == Role::state ? BufferKind::state
                                                    : BufferKind::constant;
      join_new(id, kind, true);
    }
    for (std::uint32_t step = 0; step < order_.size(); ++step) run_step(step);
    return std::move(result_);
  }

 private:
  struct Spot {
    TensorId tensor;
    std::size_t block;
    std::int64_t offset;
  };

  [[nodiscard]] std::int64_t size(TensorId id) const { return graph_.tensor(id).size.count(); }
  [[nodiscard]] bool is_output(TensorId id) const { return graph_.tensor(id).role == Role::output; }

  void join_new(TensorId id, BufferKind kind, bool is_given) {
    result_.blocks.push_back({.kind = kind, .is_given = is_given, .size = size(id), .members = {}});
    join({id, result_.blocks.size() - 1, 0});
  }

  void join(const Spot& spot) {
    result_.block_of[spot.tensor] = spot.block;
    result_.offset_of[spot.tensor] = spot.offset;
    Block& block = result_.blocks[spot.block];
    block.members.push_back(spot.tensor);
    if (is_output(spot.tensor)) block.kind = BufferKind::output;
  }

  bool share_bytes(const Spot& spot, TensorId other) const {
    const std::int64_t begin = result_.offset_of[other];
    return result_.block_of[other] == spot.block && begin < spot.offset + size(spot.tensor) &&
           spot.offset < begin + size(other);
  }

  void run_step(std::uint32_t step) {
    const NodeId node = order_[step];
    for (const std::optional<TensorId>& output : graph_.node(node).outputs) {
      if (output) result_.written[*output] = step;
    }
    result_.is_alias.push_back(false);
    if (random_.chance(75) && (graph_.op(node).type == "Concat" ? alias_concat(node) : alias_parts(node))) {
      result_.is_alias.back() = true;
      return;
    }
    for (std::size_t at = 0; at < graph_.node(node).outputs.size(); ++at) {
      const std::optional<TensorId>& output = graph_.node(node).outputs[at];
      if (!output || (at == 0 && random_.chance(75) && write_in_place(node, step))) continue;
      if (random_.chance(75) && write_into_state(*output, step)) continue;
      join_new(*output, BufferKind::temporary, false);
    }
  }

  // The place of an output as bytes of input 0, in the block of that input.
  std::optional<Spot> spot_of_part(NodeId node, std::size_t at) const {
    const TensorId output = *graph_.node(node).outputs[at];
    const auto bytes = view_bytes(graph_, node, at);
    if (!bytes) return std::nullopt;
    const TensorId source = *graph_.node(node).inputs[0];
    const std::int64_t first = bytes->empty() ? 0 : bytes->front().byte;
    for (std::size_t byte = 0; byte < bytes->size(); ++byte) {
      if ((*bytes)[byte].byte != first + static_cast<std::int64_t>(byte)) return std::nullopt;
    }
    return Spot{output, result_.block_of[source], result_.offset_of[source] + first};
  }

  bool may_join(const Spot& spot) const {
    const Block& block = result_.blocks[spot.block];
    if (!is_output(spot.tensor)) return true;
    return !block.is_given && std::none_of(block.members.begin(), block.members.end(), [&](TensorId other) {
      return is_output(other) && share_bytes(spot, other);
    });
  }

  bool alias_parts(NodeId node) {
    const auto& outputs = graph_.node(node).outputs;
    std::vector<Spot> spots;
    for (std::size_t at = 0; at < outputs.size(); ++at) {
      if (!outputs[at]) return false;
      const std::optional<Spot> spot = spot_of_part(node, at);
      if (!spot || !may_join(*spot)) return false;
      spots.push_back(*spot);
    }
    for (const Spot& spot : spots) join(spot);
    return true;
  }

  // Either the inputs already lie one after another, or each fills a block of its own and these blocks are joined.
  bool alias_concat(NodeId node) {
    const TensorId output = *graph_.node(node).outputs[0];
    const auto bytes = view_bytes(graph_, node, 0);
    if (!bytes) return false;
    std::vector<TensorId> parts;
    for (std::size_t byte = 0; byte < bytes->size(); ++byte) {
      const ByteSource& source = (*bytes)[byte];
      if (source.byte == 0) parts.push_back(source.tensor);
      if (parts.empty() || parts.back() != source.tensor) return false;
      if (source.byte > 0 && (*bytes)[byte - 1].byte + 1 != source.byte) return false;
    }
    if (parts.empty()) {
      join_new(output, BufferKind::temporary, false);
      return true;
    }
    if (!are_in_a_row(parts)) {
      if (!may_merge(parts, output)) return false;
      merge(parts);
    }
    const Spot spot{output, result_.block_of[parts[0]], result_.offset_of[parts[0]]};
    if (!may_join(spot)) return false;  // always true after a merge
    join(spot);
    return true;
  }

  bool are_in_a_row(const std::vector<TensorId>& parts) const {
    for (std::size_t at = 1; at < parts.size(); ++at) {
      if (result_.block_of[parts[at]] != result_.block_of[parts[0]]) return false;
      if (result_.offset_of[parts[at]] != result_.offset_of[parts[at - 1]] + size(parts[at - 1])) return false;
    }
    return true;
  }

  bool may_merge(const std::vector<TensorId>& parts, TensorId output) const {
    std::set<std::size_t> blocks;
    for (TensorId part : parts) {
      const Block& block = result_.blocks[result_.block_of[part]];
      if (block.is_given || block.size != size(part) || !blocks.insert(result_.block_of[part]).second) return false;
      if (is_output(output) && block.kind == BufferKind::output) return false;
    }
    return true;
  }

  void merge(const std::vector<TensorId>& parts) {
    const std::size_t into = result_.block_of[parts[0]];
    for (std::size_t at = 1; at < parts.size(); ++at) {
      Block from = std::exchange(result_.blocks[result_.block_of[parts[at]]], Block{});
      Block& block = result_.blocks[into];
      for (TensorId member : from.members) {
        result_.block_of[member] = into;
        result_.offset_of[member] += block.size;
        block.members.push_back(member);
      }
      if (from.kind == BufferKind::output) block.kind = BufferKind::output;
      block.size += from.size;
    }
  }

  // Whether the tensor replaces the state that has these bytes, and need not be elsewhere as an output.
  bool may_replace(const Block& block, TensorId next) const {
    if (block.kind != BufferKind::state || is_output(next)) return false;
    return std::any_of(graph_.state_updates().begin(), graph_.state_updates().end(), [&](const StateUpdate& update) {
      return update.next == next && update.state == block.members[0];
    });
  }

  // The old content is not needed in this step or after it.
  bool write_into_state(TensorId output, std::uint32_t step) {
    for (std::size_t at = 0; at < result_.blocks.size(); ++at) {
      const Block& block = result_.blocks[at];
      if (block.members.empty() || !may_replace(block, output)) continue;
      const auto reads = graph_.reads(order_[step]);
      const bool is_needed = std::any_of(block.members.begin(), block.members.end(), [&](TensorId other) {
        return result_.needed_until[other] > step || std::find(reads.begin(), reads.end(), other) != reads.end();
      });
      if (is_needed) return false;
      join({output, at, 0});
      return true;
    }
    return false;
  }

  bool write_in_place(NodeId id, std::uint32_t step) {
    static const std::set<std::string> kFirst = {"Relu", "Neg", "Cast", "PRelu"};
    static const std::set<std::string> kAny = {"Add", "Mul", "Sub", "Sum"};
    const std::string& type = graph_.op(id).type;
    const Node& node = graph_.node(id);
    if (!kFirst.contains(type) && !kAny.contains(type)) return false;
    const std::size_t candidates = kFirst.contains(type) ? 1 : node.inputs.size();
    const std::size_t at = random_.below(candidates);
    const TensorId operand = *node.inputs[at];
    const TensorId output = *node.outputs[0];
    if (kFirst.contains(type) && std::count(node.inputs.begin(), node.inputs.end(), operand) > 1) return false;
    if (!may_be_overwritten(operand, output, step)) return false;
    join({output, result_.block_of[operand], result_.offset_of[operand]});
    return true;
  }

  // Whether the bytes of the operand are not needed after this step, under any name, and within it only element by
  // element.
  bool may_be_overwritten(TensorId operand, TensorId output, std::uint32_t step) const {
    const Tensor& from = graph_.tensor(operand);
    const Tensor& to = graph_.tensor(output);
    if (from.size != to.size || bytes_of_element(from) != bytes_of_element(to)) return false;
    const Block& block = result_.blocks[result_.block_of[operand]];
    if (block.is_given && !may_replace(block, output)) return false;
    const Spot spot{operand, result_.block_of[operand], result_.offset_of[operand]};
    const auto reads = graph_.reads(order_[step]);
    return std::none_of(block.members.begin(), block.members.end(), [&](TensorId other) {
      if (!share_bytes(spot, other)) return false;
      const bool is_read_now = std::find(reads.begin(), reads.end(), other) != reads.end();
      return result_.needed_until[other] > step || (is_read_now && other != operand);
    });
  }

  const Graph& graph_;
  const std::vector<NodeId>& order_;
  Random& random_;
  RandomPlaces result_;
};

}  // namespace

RandomPlaces random_places(const Graph& graph, const std::vector<NodeId>& order, Random& random) {
  return Sharing(graph, order, random).run();
}

}  // namespace lowtide::testing
