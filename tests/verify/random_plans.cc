// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/random_plans.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/verify/plain_claims.h"
#include "tests/verify/random_places.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

class RandomPlan {
 public:
  RandomPlan(const Graph& graph, Random& random, bool is_body, std::int64_t alignment)
      : graph_(graph), random_(random), is_body_(is_body) {
    const bool has_second = !is_body && random.chance(25);
    for (int at = 0; at < (has_second ? 2 : 1); ++at) {
      plan_.regions.push_back({.name = at == 0 ? "fast" : "slow", .alignment = Bytes(alignment)});
    }
  }

  Plan make() {
    choose_order();
    const RandomPlaces places = random_places(graph_, order_, random_);
    add_buffers(places);
    add_values(places);
    add_steps(places);
    place_buffers();
    make_honest(graph_, plan_);
    boast();
    return plan_;
  }

 private:
  [[nodiscard]] std::uint32_t steps() const { return static_cast<std::uint32_t>(order_.size()); }

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

  // In any order, so that ids of buffers say nothing.
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
        buffer.placement = Placement{};
        if (!block.is_given && buffer.size.count() > 1 && random_.chance(60)) divide(places, block, buffer);
      }
      buffer_of_[at] = plan_.buffers.push_back(buffer);
    }
  }

  // Byte by byte: each lives as its tensors need it, or somewhat longer. A tensor without bytes is in no part, and so
  // needs the whole buffer.
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
    const bool is_given = block.kind == BufferKind::input || block.kind == BufferKind::constant;
    return !is_given || (is_body_ && block.kind == BufferKind::input && !graph_.tensor(block.members[0]).is_captured);
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
      Value value{.tensor = id, .buffer = buffer_of_[places.block_of[id]], .offset = Offset(places.offset_of[id])};
      if (graph_.tensor(id).producer) value.written = StepId(places.written[id]);
      value_of_[id] = plan_.values.push_back(value);
    }
  }

  void add_steps(const RandomPlaces& places) {
    for (std::uint32_t at = 0; at < steps(); ++at) {
      Step step{.node = order_[at], .kind = places.kinds[at]};
      for (TensorId read : graph_.reads(step.node)) step.reads.push_back(value_of_[read]);
      for (const std::optional<TensorId>& output : graph_.node(step.node).outputs) {
        if (output) step.writes.push_back(value_of_[*output]);
      }
      const std::int64_t inside = add_bodies(step);
      if (step.kind == StepKind::compute && (inside > 0 || random_.chance(20))) {
        const std::int64_t size = inside + random_.between(0, inside > 0 ? 8 : 40);
        Buffer scratch{.kind = BufferKind::scratch, .size = Bytes(size), .lifespan = {StepId(at), StepId(at + 1)}};
        if (random_.chance(10)) scratch.lifespan = {StepId(0), StepId(steps())};
        scratch.placement = Placement{};
        step.scratch = plan_.buffers.push_back(scratch);
      }
      plan_.program.push_back(step);
    }
  }

  // Bytes of scratch that the bodies need.
  std::int64_t add_bodies(Step& step) {
    std::int64_t end = 0;
    for (const Body& body : graph_.node(step.node).bodies) {
      const std::int64_t alignment = plan_.regions[0].alignment.count() >> random_.below(2);
      Plan inner = RandomPlan(*body.graph, random_, true, std::max<std::int64_t>(alignment, 1)).make();
      const std::int64_t offset = random_.chance(30) ? plan_.regions[0].alignment.count() : 0;
      end = std::max(end, offset + inner.arena[0].count());
      step.bodies.push_back({body.name, Offset(offset), std::make_shared<const Plan>(std::move(inner))});
    }
    return end;
  }

  void place_buffers() {
    std::vector<BufferId> waiting;
    for (BufferId id : all_ids<BufferId>(plan_.buffers.size())) {
      if (plan_.buffers[id].placement) waiting.push_back(id);
    }
    shuffle(waiting);
    std::vector<BufferId> placed;
    for (BufferId id : waiting) {
      Placement& place = *plan_.buffers[id].placement;
      place.region = RegionId(static_cast<std::uint32_t>(random_.below(plan_.regions.size())));
      place.offset = Offset(some_offset(id, placed));
      placed.push_back(id);
    }
  }

  // The lowest that is free, or now and then a higher one.
  std::int64_t some_offset(BufferId id, const std::vector<BufferId>& placed) {
    const std::int64_t alignment = plan_.regions[0].alignment.count();
    std::vector<std::int64_t> candidates{0};
    for (BufferId other : placed) {
      const Buffer& buffer = plan_.buffers[other];
      const std::int64_t end = buffer.placement->offset.position() + buffer.size.count();
      candidates.push_back((end + alignment - 1) / alignment * alignment);
      candidates.push_back(buffer.placement->offset.position());  // where parts of it rest
    }
    std::sort(candidates.begin(), candidates.end());
    std::erase_if(candidates, [&](std::int64_t offset) { return !is_free(id, offset, placed); });
    return candidates[random_.chance(85) ? 0 : random_.below(candidates.size())];
  }

  bool is_free(BufferId id, std::int64_t offset, const std::vector<BufferId>& placed) const {
    const Buffer& mine = plan_.buffers[id];
    return std::none_of(placed.begin(), placed.end(), [&](BufferId other) {
      const Buffer& its = plan_.buffers[other];
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
        found = found || (share && (plan_.program.empty() || my_life.overlaps(its_life)));
      });
    });
    return found;
  }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t at = items.size(); at > 1; --at) std::swap(items[at - 1], items[random_.below(at)]);
  }

  // Claims beyond the plain numbers, where they are so; and capacities that are just enough.
  void boast() {
    const Bytes most = plain_proven_load(plan_);
    if (random_.chance(50)) plan_.claims.bound = Bytes(random_.between(0, most.count()));
    if (random_.chance(30)) plan_.claims.bound = most;
    plan_.claims.schedule_optimal = plan_.claims.bound == plan_.claims.load && random_.chance(80);
    plan_.claims.allocate_optimal = arena_bytes(plan_) == plan_.claims.load && random_.chance(80);
    for (std::size_t at = 0; at < plan_.regions.size(); ++at) {
      if (random_.chance(40)) plan_.regions[at].capacity = plan_.arena[at] + Bytes(random_.chance(50) ? 0 : 100);
    }
  }

  const Graph& graph_;
  Random& random_;
  const bool is_body_;
  Plan plan_;
  std::vector<NodeId> order_;
  std::vector<BufferId> buffer_of_;  // by block
  IdVector<TensorId, ValueId> value_of_;
};

}  // namespace

Plan random_plan(const Graph& graph, Random& random) {
  static constexpr std::int64_t kAlignments[] = {1, 2, 4, 8, 16, 64};
  return RandomPlan(graph, random, false, kAlignments[random.below(6)]).make();
}

}  // namespace lowtide::testing
