// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/random_plans.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/verify/byte_oracle.h"
#include "tests/verify/plain_claims.h"
#include "tests/verify/random_places.h"
#include "tests/verify/random_transfers.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

class RandomPlan {
 public:
  static Plan made(const Graph& graph, Random& random, bool is_body, std::int64_t alignment);

  RandomPlan(const Graph& graph, Random& random, bool is_body, std::int64_t alignment)
      : graph_(graph), random_(random), is_body_(is_body), alignment_(alignment) {
    plan_.kernels = {{"dense"}, {"other"}};
    plan_.machine.workers = {Worker{.name = "cpu"}};
    plan_.program.streams = {Stream{.worker = WorkerId(0)}};
    add_region("fast");
    const std::uint64_t kind = is_body ? 0 : random.below(10);
    if (kind >= 6) add_region("slow");
    if (kind >= 8) add_links();
    if (random.chance(25)) plan_.program.streams.push_back({.worker = WorkerId(0)});
  }

  Plan make() {
    choose_order();
    const RandomPlaces places = random_places(graph_, order_, random_);
    add_buffers(places);
    add_values(places);
    add_steps(places);
    copy_states(graph_, plan_, random_);
    add_transfers(graph_, plan_, random_);
    spread_in_order(plan_, random_);
    place_buffers();
    if (plan_.program.streams.size() > 1) plan_.execution = ExecutionModel::streams;
    make_honest(graph_, plan_);
    boast();
    return plan_;
  }

 private:
  [[nodiscard]] std::uint32_t steps() const { return static_cast<std::uint32_t>(order_.size()); }

  void add_region(const std::string& name) {
    plan_.machine.regions.push_back({.name = name, .alignment = Bytes(alignment_)});
  }

  // The second region can be reached over links only.
  void add_links() {
    plan_.machine.workers[WorkerId(0)].addressable = {RegionId(0)};
    for (std::uint32_t from : {0U, 1U}) {
      const LinkId link = plan_.machine.links.push_back({RegionId(from), RegionId(1 - from), 1'000, 0});
      plan_.program.streams.push_back({.link = link});
    }
  }

  Placement somewhere() {
    const bool has_choice = plan_.machine.links.empty();
    return {RegionId(static_cast<std::uint32_t>(has_choice ? random_.below(plan_.machine.regions.size()) : 0)),
            Offset(0)};
  }

  void choose_order() {
    const std::size_t nodes = graph_.nodes().size();
    std::vector<bool> is_done(nodes, false);
    while (order_.size() < nodes) {
      std::vector<NodeId> ready;
      for (NodeId id : all_ids<NodeId>(nodes)) {
        if (!is_done[id.index()] && is_ready(id, is_done)) ready.push_back(id);
      }
      order_.push_back(ready[random_.below(ready.size())]);
      is_done[order_.back().index()] = true;
    }
  }

  bool is_ready(NodeId id, const std::vector<bool>& is_done) const {
    for (TensorId read : graph_.reads(id)) {
      const std::optional<NodeId>& producer = graph_.tensor(read).producer;
      if (producer && !is_done[producer->index()]) return false;
    }
    const auto& before = graph_.node(id).control_inputs;
    return std::all_of(before.begin(), before.end(), [&](NodeId one) { return is_done[one.index()]; });
  }

  // Adds them in a random order, so that ids of buffers carry no information.
  void add_buffers(const RandomPlaces& places) {
    buffer_of_.resize(places.blocks.size());
    std::vector<std::size_t> blocks;
    for (std::size_t at = 0; at < places.blocks.size(); ++at) {
      if (!places.blocks[at].members.empty()) blocks.push_back(at);
    }
    shuffle(blocks);
    for (std::size_t at : blocks) {
      const RandomPlaces::Block& block = places.blocks[at];
      Buffer buffer{.kind = block.kind, .size = Bytes(block.size), .lifespan = life_of(places, block)};
      if (must_place(block)) {
        if (random_.chance(20)) buffer.size += Bytes(random_.between(1, 9));
        if (block.kind != BufferKind::input && random_.chance(20)) {
          buffer.lifespan.begin = StepId(static_cast<std::uint32_t>(random_.between(0, buffer.lifespan.begin.value())));
        }
        if (block.kind != BufferKind::input && random_.chance(20)) {
          buffer.lifespan.end =
              StepId(static_cast<std::uint32_t>(random_.between(buffer.lifespan.end.value(), steps())));
        }
        buffer.placement = somewhere();
        if (!block.is_given && buffer.size.count() > 1 && random_.chance(60)) divide(places, block, buffer);
      }
      buffer_of_[at] = plan_.layout.buffers.push_back(buffer);
    }
  }

  // Divides byte by byte. Each byte lives as long as its tensors need it, or somewhat longer. A tensor without bytes is
  // in no part, and so needs the whole buffer.
  void divide(const RandomPlaces& places, const RandomPlaces::Block& block, Buffer& buffer) {
    std::vector<std::optional<Lifespan>> bytes(static_cast<std::size_t>(buffer.size.count()));
    for (TensorId member : block.members) {
      if (graph_.tensor(member).size == Bytes(0)) return;
      const Lifespan needed{
          StepId(places.written[member]),
          StepId(std::max(places.written[member] + 1, std::min(places.needed_until[member] + 1, steps())))};
      const auto begin = static_cast<std::size_t>(places.offset_of[member]);
      for (std::size_t at = begin; at < begin + static_cast<std::size_t>(graph_.tensor(member).size.count()); ++at) {
        const Lifespan old = bytes[at].value_or(needed);
        bytes[at] = {std::min(old.begin, needed.begin), std::max(old.end, needed.end)};
      }
    }
    std::vector<BufferPart> parts;
    for (const std::optional<Lifespan>& byte : bytes) {
      const Lifespan life = byte.value_or(buffer.lifespan);
      const bool goes_on = !parts.empty() && parts.back().lifespan == life && !random_.chance(2);
      if (goes_on) {
        parts.back().size += Bytes(1);
      } else {
        parts.push_back({Bytes(1), life});
      }
    }
    if (parts.size() < 2) return;
    for (BufferPart& part : parts) {
      if (random_.chance(10)) part.lifespan = buffer.lifespan;
    }
    buffer.lifespan = parts[0].lifespan;
    for (const BufferPart& part : parts) {
      buffer.lifespan = {std::min(buffer.lifespan.begin, part.lifespan.begin),
                         std::max(buffer.lifespan.end, part.lifespan.end)};
    }
    buffer.parts = std::move(parts);
  }

  bool must_place(const RandomPlaces::Block& block) const {
    return !block.is_given ||
           (is_body_ && block.kind == BufferKind::input && !graph_.tensor(block.members[0]).is_captured);
  }

  Lifespan life_of(const RandomPlaces& places, const RandomPlaces::Block& block) const {
    if (block.is_given) return {StepId(0), StepId(steps())};
    std::uint32_t begin = steps();
    std::uint32_t end = 0;
    for (TensorId member : block.members) {
      begin = std::min(begin, places.written[member]);
      end = std::max({end, places.written[member] + 1, std::min(places.needed_until[member] + 1, steps())});
    }
    return {StepId(begin), StepId(end)};
  }

  void add_values(const RandomPlaces& places) {
    value_of_.resize(graph_.tensors().size());
    std::vector<TensorId> tensors;
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) tensors.push_back(id);
    shuffle(tensors);
    for (TensorId id : tensors) {
      Value value{.tensor = id};
      if (graph_.tensor(id).producer) value.written = StepId(places.written[id]);
      value_of_[id] = plan_.program.values.push_back(value);
      plan_.layout.values.push_back({buffer_of_[places.block_of[id]], Offset(places.offset_of[id])});
    }
    for (TensorId output : graph_.outputs()) plan_.program.outputs.push_back(value_of_[output]);
  }

  void add_steps(const RandomPlaces& places) {
    for (std::uint32_t at = 0; at < steps(); ++at) {
      const NodeId node = order_[at];
      Step step;
      if (places.is_alias[at]) {
        step.work = Alias{node};
      } else {
        step.work = Compute{node, KernelId(static_cast<std::uint32_t>(random_.below(2)))};
      }
      for (TensorId read : graph_.operands(node)) step.reads.push_back(value_of_[read]);
      for (const std::optional<TensorId>& output : graph_.node(node).outputs) {
        if (output) step.writes.push_back(value_of_[*output]);
      }
      StepSpace space;
      const std::int64_t inside = add_bodies(node, space);
      if (is_compute(step) && (inside > 0 || random_.chance(20))) {
        const std::int64_t size = inside + random_.between(0, inside > 0 ? 8 : 40);
        Buffer scratch{.kind = BufferKind::scratch, .size = Bytes(size), .lifespan = {StepId(at), StepId(at + 1)}};
        if (random_.chance(10)) scratch.lifespan = {StepId(0), StepId(steps())};
        scratch.placement = somewhere();
        space.scratch = plan_.layout.buffers.push_back(scratch);
      }
      plan_.program.steps.push_back(std::move(step));
      plan_.layout.steps.push_back(std::move(space));
    }
  }

  // Bytes of scratch that the bodies need.
  std::int64_t add_bodies(NodeId node, StepSpace& space) {
    std::int64_t end = 0;
    for (const Body& body : graph_.node(node).bodies) {
      Plan inner = made(*body.graph, random_, true, alignment_);
      const std::int64_t offset = random_.chance(30) ? alignment_ : 0;
      end = std::max(end, offset + inner.layout.arena[0].count());
      space.bodies.push_back({body.name, Offset(offset), std::make_shared<const Plan>(std::move(inner))});
    }
    return end;
  }

  void place_buffers() {
    std::vector<BufferId> waiting;
    for (BufferId id : all_ids<BufferId>(plan_.layout.buffers.size())) {
      if (plan_.layout.buffers[id].placement) waiting.push_back(id);
    }
    shuffle(waiting);
    std::vector<BufferId> placed;
    for (BufferId id : waiting) {
      plan_.layout.buffers[id].placement->offset = Offset(some_offset(id, placed));
      placed.push_back(id);
    }
  }

  // The lowest free offset, or sometimes a higher one.
  std::int64_t some_offset(BufferId id, const std::vector<BufferId>& placed) {
    const std::int64_t alignment = alignment_;
    std::vector<std::int64_t> candidates{0};
    for (BufferId other : placed) {
      const Buffer& buffer = plan_.layout.buffers[other];
      const std::int64_t end = buffer.placement->offset.position() + buffer.size.count();
      candidates.push_back((end + alignment - 1) / alignment * alignment);
      candidates.push_back(buffer.placement->offset.position());  // where parts of it are not live
    }
    std::sort(candidates.begin(), candidates.end());
    std::erase_if(candidates, [&](std::int64_t offset) { return !is_free(id, offset, placed); });
    return candidates[random_.chance(85) ? 0 : random_.below(candidates.size())];
  }

  bool is_free(BufferId id, std::int64_t offset, const std::vector<BufferId>& placed) const {
    const Buffer& mine = plan_.layout.buffers[id];
    return std::none_of(placed.begin(), placed.end(), [&](BufferId other) {
      const Buffer& its = plan_.layout.buffers[other];
      const std::int64_t begin = its.placement->offset.position();
      return its.placement->region == mine.placement->region && begin < offset + mine.size.count() &&
             offset < begin + its.size.count() && live_in_one_place(mine, offset, its, begin);
    });
  }

  bool live_in_one_place(const Buffer& mine, std::int64_t my_begin, const Buffer& its, std::int64_t its_begin) const {
    bool found = false;
    for_each_part(mine, [&](const Interval<std::int64_t>& a, const Lifespan& my_life) {
      for_each_part(its, [&](const Interval<std::int64_t>& b, const Lifespan& its_life) {
        const bool share = my_begin + a.begin < its_begin + b.end && its_begin + b.begin < my_begin + a.end;
        found = found || (share && (plan_.program.steps.empty() || my_life.overlaps(its_life)));
      });
    });
    return found;
  }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t at = items.size(); at > 1; --at) std::swap(items[at - 1], items[random_.below(at)]);
  }

  // Adds claims beyond the plain figures, if they are true, and capacities that are just large enough.
  void boast() {
    Claims& claims = plan_.claims;
    std::optional<Bytes> best;
    for (BoundScope scope : {BoundScope::run_once, BoundScope::all_plans}) {
      if (random_.chance(40)) continue;
      Bytes most = plain_proven_load(plan_, scope);
      const bool is_outside = scope < plain_scope(plan_);
      if (is_outside) most += Bytes(100);  // it says nothing about this plan
      const Bytes bytes = random_.chance(50) ? most : Bytes(random_.between(0, most.count()));
      claims.bounds.push_back({.scope = scope, .bytes = bytes, .name = "random"});
      if (!is_outside) best = std::max(best.value_or(bytes), bytes);
    }
    claims.schedule_optimal = best == claims.load && random_.chance(80);
    plan_.claims.allocate_optimal = arena_bytes(plan_) == plan_.claims.load && random_.chance(80);
    for (std::size_t at = 0; at < plan_.machine.regions.size(); ++at) {
      if (!random_.chance(40)) continue;
      plan_.machine.regions[at].capacity = plan_.layout.arena[at] + Bytes(random_.chance(50) ? 0 : 100);
    }
  }

  const Graph& graph_;
  Random& random_;
  const bool is_body_;
  const std::int64_t alignment_;  // of each region
  Plan plan_;
  std::vector<NodeId> order_;
  std::vector<BufferId> buffer_of_;  // by block
  IdVector<TensorId, ValueId> value_of_;
};

// A node that runs again may write a part of a larger tensor without the rest. Then the part needs units of its own,
// which this generator does not ensure. So it tries again.
Plan RandomPlan::made(const Graph& graph, Random& random, bool is_body, std::int64_t alignment) {
  while (true) {
    Plan plan = RandomPlan(graph, random, is_body, alignment).make();
    if (neighbor_faults(graph, plan).empty()) return plan;
  }
}

}  // namespace

Plan random_plan(const Graph& graph, Random& random) {
  static constexpr std::int64_t kAlignments[] = {1, 2, 4, 8, 16, 64};
  return RandomPlan::made(graph, random, false, kAlignments[random.below(6)]);
}

}  // namespace lowtide::testing
