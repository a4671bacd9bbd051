// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Plans of the size and shape of real ones.

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "lowtide/base/random.h"
#include "tests/report/page_plans.h"

namespace lowtide {
namespace {

constexpr std::int64_t kKibibyte = 1024;
constexpr std::int64_t kAlignment = 64;

// Largest first, each at the lowest free place: O(n^2), for a few hundred buffers.
void pack_by_size(Plan& plan) {
  std::vector<BufferId> order;
  for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
    const BufferKind kind = plan.layout.buffers[id].kind;
    if (kind != BufferKind::input && kind != BufferKind::constant) order.push_back(id);
  }
  std::sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
    const IdVector<BufferId, Buffer>& buffers = plan.layout.buffers;
    return std::pair(-buffers[a].size.count(), a.value()) < std::pair(-buffers[b].size.count(), b.value());
  });
  std::vector<BufferId> placed;
  for (BufferId id : order) {
    Buffer& buffer = plan.layout.buffers[id];
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (BufferId other : placed) {
      const Buffer& there = plan.layout.buffers[other];
      if (!there.lifespan.overlaps(buffer.lifespan)) continue;
      taken.emplace_back(there.placement->offset.position(), (there.placement->offset + there.size).position());
    }
    std::sort(taken.begin(), taken.end());
    std::int64_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (at + buffer.size.count() <= begin) break;
      at = std::max(at, round_up(Offset(end), Bytes(kAlignment)).position());
    }
    buffer.placement = Placement{RegionId(0), Offset(at)};
    placed.push_back(id);
  }
}

// Free places of an arena, first fit: offset -> size, merged.
class FreeList {
 public:
  std::int64_t take(std::int64_t size) {
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      if (hole->second < size) continue;
      const auto [offset, length] = *hole;
      holes_.erase(hole);
      if (length > size) holes_.emplace(offset + size, length - size);
      return offset;
    }
    return std::exchange(top_, top_ + size);
  }

  void give_back(std::int64_t offset, std::int64_t size) {
    auto hole = holes_.emplace(offset, size).first;
    const auto next = std::next(hole);
    if (next != holes_.end() && hole->first + hole->second == next->first) {
      hole->second += next->second;
      holes_.erase(next);
    }
    if (hole != holes_.begin()) {
      const auto before = std::prev(hole);
      if (before->first + before->second == hole->first) {
        before->second += hole->second;
        holes_.erase(hole);
      }
    }
  }

 private:
  std::map<std::int64_t, std::int64_t> holes_;
  std::int64_t top_ = 0;
};

// Builds the network below step by step; lifespans are known only at the end.
class NetworkSketch {
 public:
  NetworkSketch(const std::string& graph, bool in_place) : to_(graph), in_place_(in_place) {}

  // Scratch bytes of the node added next.
  void scratch(std::int64_t size) { scratch_ = size; }

  ValueId node(const std::string& name, const std::string& op, std::int64_t size, std::vector<ValueId> reads,
               Role role = Role::temporary) {
    const bool overwrites = in_place_ && op == "Relu";
    const std::size_t buffer = overwrites ? buffer_of_[reads[0].index()] : new_buffer(role, size);
    const ValueId value = to_.value(name + "_output_0", size, BufferId(static_cast<std::uint32_t>(buffer)), 0, role);
    buffer_of_.push_back(buffer);
    std::optional<BufferId> scratch_at;
    if (scratch_ > 0) scratch_at = BufferId(static_cast<std::uint32_t>(new_buffer(Role::temporary, scratch_, true)));
    scratch_ = 0;
    for (ValueId read : reads) span_[buffer_of_[read.index()]].second = step_ + 1;
    span_[buffer].second = step_ + 1;
    to_.step(name, op, reads, StepKind::compute, scratch_at);
    ++step_;
    return value;
  }

  ValueId input(const std::string& name, std::int64_t size) {
    const std::size_t buffer = span_.size();
    span_.emplace_back(0, 1);
    to_.buffer(BufferKind::input, size, 0, 1);
    buffer_of_.push_back(buffer);
    return to_.value(name, size, BufferId(static_cast<std::uint32_t>(buffer)), 0, Role::input);
  }

  PlanSketch finish(std::int64_t bound, const std::string& schedule) && {
    PlanSketch sketch = std::move(to_).finish(0);
    for (BufferId id : all_ids<BufferId>(sketch.plan.layout.buffers.size())) {
      Buffer& buffer = sketch.plan.layout.buffers[id];
      const bool stays = buffer.kind == BufferKind::output || buffer.kind == BufferKind::input;
      buffer.lifespan = {StepId(span_[id.index()].first), StepId(stays ? step_ : span_[id.index()].second)};
    }
    pack_by_size(sketch.plan);
    // Counted again, now that lifespans and offsets are known.
    std::vector<std::int64_t> change(step_ + 1, 0);
    Bytes& arena = sketch.plan.layout.arena[0];
    for (const Buffer& buffer : sketch.plan.layout.buffers) {
      if (!buffer.placement) continue;
      arena = std::max(arena, (buffer.placement->offset + buffer.size) - Offset(0));
      change[buffer.lifespan.begin.index()] += buffer.size.count();
      change[buffer.lifespan.end.index()] -= buffer.size.count();
    }
    std::partial_sum(change.begin(), change.end(), change.begin());
    Claims& claims = sketch.plan.claims;
    claims.load = Bytes(*std::max_element(change.begin(), change.end()));
    claims.load_as_given = Bytes(claims.load.count() * 3 / 2);
    claims.bounds = {{BoundScope::run_once, Bytes(std::min(bound, claims.load.count())), "live_set"}};
    claims.schedule = schedule;
    claims.allocate = "greedy_by_size";
    claims.schedule_optimal = claims.load == claims.bounds[0].bytes;
    claims.allocate_optimal = arena == claims.load;
    return sketch;
  }

 private:
  std::size_t new_buffer(Role role, std::int64_t size, bool is_scratch = false) {
    span_.emplace_back(step_, step_ + 1);
    to_.buffer(is_scratch             ? BufferKind::scratch
               : role == Role::output ? BufferKind::output
                                      : BufferKind::temporary,
               size, step_, step_ + 1);
    return span_.size() - 1;
  }

  Sketcher to_;
  bool in_place_;
  std::uint32_t step_ = 0;
  std::int64_t scratch_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> span_;  // one per buffer
  std::vector<std::size_t> buffer_of_;                         // one per value
};

}  // namespace

PlanSketch encoder_decoder_plan(int levels, bool in_place) {
  NetworkSketch net("encoder_decoder", in_place);
  std::int64_t size = 2048 * kKibibyte;
  ValueId last = net.input("image", 768 * kKibibyte);
  std::vector<std::pair<ValueId, std::int64_t>> skips;
  const auto convolve = [&](const std::string& prefix, int repeats) {
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const std::string name = prefix + "/conv" + std::to_string(repeat + 1);
      net.scratch(size / 8);
      last = net.node(name, "Conv", size, {last});
      last = net.node(name + "/relu", "Relu", size, {last});
    }
  };
  for (int level = 0; level < levels; ++level) {
    const std::string prefix = "/encoder/level" + std::to_string(level);
    convolve(prefix, 2);
    skips.emplace_back(last, size);
    size = size * 5 / 8;
    last = net.node(prefix + "/pool", "MaxPool", size, {last});
  }
  convolve("/bottleneck", 3);
  for (int level = levels - 1; level >= 0; --level) {
    const std::string prefix = "/decoder/level" + std::to_string(level);
    const auto [skip, skip_size] = skips[static_cast<std::size_t>(level)];
    last = net.node(prefix + "/up", "Resize", skip_size, {last});
    last = net.node(prefix + "/concat", "Concat", 2 * skip_size, {last, skip});
    size = skip_size;
    convolve(prefix, 2);
  }
  const ValueId logits = net.node("/head/conv", "Conv", 512 * kKibibyte, {last});
  const ValueId classes = net.node("/head/softmax", "Softmax", 512 * kKibibyte, {logits}, Role::output);
  net.node("/head/argmax", "ArgMax", 128 * kKibibyte, {classes}, Role::output);
  return std::move(net).finish(7 * 1024 * kKibibyte, in_place ? "greedy_by_freed_bytes" : "as_given");
}

PlanSketch generated_plan(std::uint32_t steps, std::uint64_t seed) {
  static const std::vector<std::string> kOps = {
      "Conv", "Relu", "Add", "Mul", "MatMul", "Softmax", "Transpose", "Gelu", "LayerNormalization", "Slice", "Gather"};
  Random random(seed);
  Sketcher to("generated");
  FreeList arena;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> dying(steps + 1);  // step -> (offset, size)
  std::vector<std::vector<ValueId>> reads(steps);
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (const auto& [offset, size] : dying[step]) arena.give_back(offset, size);
    // Sizes swell and shrink along the program; a few buffers live long, as skip connections do.
    const std::int64_t wave = 1 + static_cast<std::int64_t>((step / 997) % 7);
    const std::int64_t size = kAlignment * random.between(1, 64) * wave;
    const std::uint32_t length = random.chance(3) ? static_cast<std::uint32_t>(random.between(50, 3000))
                                                  : static_cast<std::uint32_t>(random.between(2, 12));
    const std::uint32_t end = std::min(step + length, steps);
    const std::int64_t offset = arena.take(size);
    dying[end].emplace_back(offset, size);
    const bool is_output = end == steps;
    const BufferId at = to.buffer(is_output ? BufferKind::output : BufferKind::temporary, size, step, end, offset);
    const ValueId value = to.value("/block" + std::to_string(step / 12) + "/t" + std::to_string(step), size, at, 0,
                                   is_output ? Role::output : Role::temporary);
    to.step("/block" + std::to_string(step / 12) + "/n" + std::to_string(step), kOps[random.below(kOps.size())],
            reads[step]);
    if (end - 1 > step) reads[end - 1].push_back(value);
  }
  PlanSketch sketch = std::move(to).finish(0);
  sketch.plan.claims.bounds[0].bytes = Bytes(sketch.plan.claims.load.count() * 19 / 20);
  return sketch;
}

}  // namespace lowtide
