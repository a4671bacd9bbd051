// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/peak_buffers.h"

#include <algorithm>
#include <tuple>

namespace lowtide::pipeline_internal {
namespace {

constexpr std::size_t kMostWithout = 64;  // buffers for which load_without is found

// What must run before a node, and what after it; the node itself is in both.
struct Relatives {
  IdVector<NodeId, char> before;
  IdVector<NodeId, char> after;
};

Relatives relatives_of(const Graph& graph, NodeId node) {
  Relatives relatives{IdVector<NodeId, char>(graph.nodes().size(), 0), IdVector<NodeId, char>(graph.nodes().size(), 0)};
  relatives.before[node] = relatives.after[node] = 1;
  const auto for_each_before = [&](NodeId id, const auto& visit) {
    for (TensorId tensor : graph.reads(id)) {
      if (graph.tensor(tensor).producer) visit(*graph.tensor(tensor).producer);
    }
    for (NodeId control : graph.node(id).control_inputs) visit(control);
  };
  // Nodes are in a topological order.
  for (std::uint32_t at = node.value() + 1; at-- > 0;) {
    if (relatives.before[NodeId(at)] == 0) continue;
    for_each_before(NodeId(at), [&](NodeId earlier) { relatives.before[earlier] = 1; });
  }
  for (std::uint32_t at = node.value() + 1; at < graph.nodes().size(); ++at) {
    for_each_before(NodeId(at), [&](NodeId earlier) { relatives.after[NodeId(at)] |= relatives.after[earlier]; });
  }
  return relatives;
}

// Who touches a buffer around the moment. Steps that only rename bytes touch nothing.
struct Touches {
  bool reads_now = false;
  bool writes_now = false;
  bool is_scratch_now = false;
  std::optional<StepId> before;  // the last kernel before
  std::optional<StepId> after;   // the first after
};

class Buffers {
 public:
  explicit Buffers(const PeakMoment& moment)
      : graph_(moment.graph),
        plan_(moment.plan),
        now_(moment.step),
        moment_(moment),
        last_read_(plan_.program.values.size()),
        held_(plan_.layout.buffers.size()),
        living_(plan_.layout.buffers.size()),
        spans_(plan_.layout.buffers.size()),
        touches_(plan_.layout.buffers.size()),
        next_read_(plan_.layout.buffers.size()),
        must_(graph_.tensors().size()),
        is_output_(plan_.program.values.size(), 0) {
    for (const MustBeLiveSet::Part& part : moment.must.tensors) must_[part.tensor] = part.bytes;
    for (ValueId output : plan_.program.outputs) is_output_[output] = 1;
    find_relatives();
    find_touches();
    find_living();
    find_spans();
    find_next_reads();
  }

  [[nodiscard]] std::vector<PeakBuffer> all() const {
    std::vector<PeakBuffer> all;
    for (BufferId id : all_ids<BufferId>(plan_.layout.buffers.size())) {
      if (plan_.layout.buffers[id].placement && lives_now(plan_.layout.buffers[id])) all.push_back(tell(id));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const PeakBuffer& a, const PeakBuffer& b) { return a.living > b.living; });
    std::size_t left = kMostWithout;
    for (PeakBuffer& one : all) {
      if (one.use != PeakUse::kept || plan_.program.steps.empty() || left == 0) continue;
      --left;
      one.load_without = load_without(one.buffer);
    }
    return all;
  }

 private:
  // Nothing must come before or after a copy.
  void find_relatives() {
    const std::size_t nodes = graph_.nodes().size();
    relatives_ = {IdVector<NodeId, char>(nodes, 0), IdVector<NodeId, char>(nodes, 0)};
    if (plan_.program.steps.empty()) return;
    if (const std::optional<NodeId> node = node_of(plan_.program.steps[now_])) relatives_ = relatives_of(graph_, *node);
  }

  // One without bytes lives too.
  [[nodiscard]] bool lives_now(const Buffer& buffer) const {
    if (plan_.program.steps.empty()) return true;
    return buffer.size == Bytes(0) ? buffer.lifespan.contains(now_) : living_bytes(buffer, now_) > Bytes(0);
  }

  void find_touches() {
    const auto touch = [&](BufferId buffer, StepId step, bool Touches::*how) {
      Touches& of = touches_[buffer];
      if (step == now_) of.*how = true;
      if (is_alias(plan_.program.steps[step])) return;
      if (step < now_) of.before = step;
      if (step > now_ && !of.after) of.after = step;
    };
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      const Step& step = plan_.program.steps[id];
      for (ValueId value : step.reads) {
        last_read_[value] = id;
        touch(plan_.layout.values[value].buffer, id, &Touches::reads_now);
      }
      for (ValueId value : step.writes) touch(plan_.layout.values[value].buffer, id, &Touches::writes_now);
      const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
      if (scratch) touch(*scratch, id, &Touches::is_scratch_now);
    }
  }

  [[nodiscard]] const Tensor& tensor(ValueId id) const { return graph_.tensor(plan_.program.values[id].tensor); }

  [[nodiscard]] bool lives(ValueId id) const {
    const Value& value = plan_.program.values[id];
    // What a body of a Loop was given is kept throughout.
    const Buffer& buffer = plan_.layout.buffers[plan_.layout.values[id].buffer];
    if (plan_.program.steps.empty() || buffer.kind == BufferKind::input) return true;
    if (value.written && *value.written > now_) return false;
    return is_output_[id] != 0 || value.written == now_ || (last_read_[id] && *last_read_[id] >= now_);
  }

  void find_living() {
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      held_[plan_.layout.values[id].buffer].push_back(id);
      if (lives(id)) living_[plan_.layout.values[id].buffer].push_back(id);
    }
    for (std::vector<ValueId>& values : living_) {
      std::stable_sort(values.begin(), values.end(),
                       [&](ValueId a, ValueId b) { return tensor(a).size > tensor(b).size; });
    }
  }

  [[nodiscard]] Interval<Offset> span_of(ValueId id) const {
    return {plan_.layout.values[id].offset, plan_.layout.values[id].offset + tensor(id).size};
  }

  // What holds something of each buffer: disjoint, ascending.
  void find_spans() {
    for (BufferId buffer : all_ids<BufferId>(plan_.layout.buffers.size())) {
      std::vector<Interval<Offset>> each;
      for (ValueId id : living_[buffer]) {
        if (!span_of(id).empty()) each.push_back(span_of(id));
      }
      std::sort(each.begin(), each.end());
      std::vector<Interval<Offset>>& spans = spans_[buffer];
      for (const Interval<Offset>& span : each) {
        if (spans.empty() || spans.back().end < span.begin) {
          spans.push_back(span);
        } else {
          spans.back().end = std::max(spans.back().end, span.end);
        }
      }
    }
  }

  // Whether the bytes of a value hold anything.
  [[nodiscard]] bool meets_spans(ValueId id) const {
    const std::vector<Interval<Offset>>& spans = spans_[plan_.layout.values[id].buffer];
    const Interval<Offset> read = span_of(id);
    const auto first = std::partition_point(spans.begin(), spans.end(),
                                            [&](const Interval<Offset>& span) { return span.end <= read.begin; });
    return first != spans.end() && first->overlaps(read);
  }

  void find_next_reads() {
    for (std::uint32_t at = now_.value() + 1; at < plan_.program.steps.size(); ++at) {
      const Step& step = plan_.program.steps[StepId(at)];
      if (is_alias(step)) continue;
      for (ValueId read : step.reads) {
        std::optional<StepId>& next = next_read_[plan_.layout.values[read].buffer];
        if (!next && meets_spans(read)) next = StepId(at);
      }
    }
  }

  void find_name(PeakBuffer& told) const {
    const auto key = [&](ValueId id) { return std::tuple(is_output_[id] != 0, tensor(id).size, lives(id)); };
    std::optional<ValueId> best;
    for (ValueId id : held_[told.buffer]) {
      if (!best || key(id) > key(*best)) best = id;
    }
    told.name = best;
  }

  [[nodiscard]] bool must_be_written(ValueId id) const {
    const std::optional<NodeId> producer = tensor(id).producer;
    return !producer || relatives_.before[*producer] != 0;
  }

  [[nodiscard]] bool must_be_needed(ValueId id) const {
    const TensorId of = plan_.program.values[id].tensor;
    if (graph_.is_needed_at_end(of) || plan_.program.values[id].written == now_) return true;
    const auto readers = graph_.readers(of);
    return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return relatives_.after[reader] != 0; });
  }

  [[nodiscard]] PeakFreedom freedom_of(const std::vector<ValueId>& values) const {
    for (ValueId id : values) {
      if (must_be_written(id) && must_be_needed(id)) return PeakFreedom::shared;
    }
    if (values.empty()) return PeakFreedom::shared;
    return must_be_written(values.front()) ? PeakFreedom::read_earlier : PeakFreedom::written_later;
  }

  [[nodiscard]] PeakUse use_of(const Touches& touches) const {
    if (touches.is_scratch_now) return PeakUse::scratch;
    if (touches.reads_now && touches.writes_now) return PeakUse::rewritten;
    if (touches.reads_now) return PeakUse::read;
    return touches.writes_now ? PeakUse::written : PeakUse::kept;
  }

  [[nodiscard]] PeakBuffer tell(BufferId id) const {
    const std::vector<ValueId>& values = living_[id];
    const Buffer& buffer = plan_.layout.buffers[id];
    PeakBuffer told{.buffer = id,
                    .living = plan_.program.steps.empty() ? buffer.size : living_bytes(buffer, now_),
                    .use = use_of(touches_[id]),
                    .next_read = next_read_[id]};
    for (ValueId value : values) {
      told.values.push_back(value);
      told.must += must_[plan_.program.values[value].tensor];
      told.written = std::max(told.written, plan_.program.values[value].written);
    }
    for (const Interval<Offset>& span : spans_[id]) told.held += span.end - span.begin;
    find_name(told);
    if (told.use == PeakUse::scratch) {
      told.held = plan_.layout.buffers[id].size;
      told.must = std::min(moment_.must.scratch, told.held);
    }
    if (told.must == Bytes(0) && !plan_.program.steps.empty()) told.freedom = freedom_of(values);
    return told;
  }

  [[nodiscard]] Bytes load_without(BufferId id) const {
    const auto begin = touches_[id].before ? touches_[id].before->index() + 1 : std::size_t{0};
    const auto end = touches_[id].after ? touches_[id].after->index() : plan_.program.steps.size();
    Bytes most;
    for (StepId step : all_ids<StepId>(plan_.program.steps.size())) {
      const bool is_away = begin <= step.index() && step.index() < end;
      const Bytes spared = is_away ? living_bytes(plan_.layout.buffers[id], step) : Bytes(0);
      most = std::max(most, moment_.profile[step.index()] - spared);
    }
    return most;
  }

  const Graph& graph_;
  const Plan& plan_;
  StepId now_;
  const PeakMoment& moment_;
  IdVector<ValueId, std::optional<StepId>> last_read_;
  IdVector<BufferId, std::vector<ValueId>> held_;    // by each buffer at any time
  IdVector<BufferId, std::vector<ValueId>> living_;  // in each buffer then, the largest first
  IdVector<BufferId, std::vector<Interval<Offset>>> spans_;
  IdVector<BufferId, Touches> touches_;
  IdVector<BufferId, std::optional<StepId>> next_read_;  // of bytes that hold what lives
  IdVector<TensorId, Bytes> must_;
  IdVector<ValueId, char> is_output_;
  Relatives relatives_;
};

}  // namespace

std::vector<PeakBuffer> peak_buffers(const PeakMoment& moment) { return Buffers(moment).all(); }

}  // namespace lowtide::pipeline_internal
