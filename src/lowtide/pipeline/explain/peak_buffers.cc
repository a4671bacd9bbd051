// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/explain/peak_buffers.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/flags.h"

namespace lowtide::pipeline_internal {
namespace {

constexpr std::size_t kMostWithout = 64;  // buffers for which load_without is computed

// The nodes that must run before a node, and those that must run after it. The node itself is in both.
struct Relatives {
  Flags<NodeId> before;
  Flags<NodeId> after;
};

Relatives relatives_of(const Graph& graph, std::optional<NodeId> node) {
  Relatives relatives{Flags<NodeId>(graph.nodes().size()), Flags<NodeId>(graph.nodes().size())};
  if (!node) return relatives;
  relatives.before.set(*node);
  relatives.after.set(*node);
  const auto for_each_before = [&](NodeId id, const auto& visit) {
    for (TensorId tensor : graph.reads(id)) {
      if (graph.tensor(tensor).producer) visit(*graph.tensor(tensor).producer);
    }
    for (NodeId control : graph.node(id).control_inputs) visit(control);
  };
  // Nodes are in a topological order.
  for (std::uint32_t at = node->value() + 1; at-- > 0;) {
    if (!relatives.before.test(NodeId(at))) continue;
    for_each_before(NodeId(at), [&](NodeId earlier) { relatives.before.set(earlier); });
  }
  for (std::uint32_t at = node->value() + 1; at < graph.nodes().size(); ++at) {
    for_each_before(NodeId(at), [&](NodeId earlier) {
      if (relatives.after.test(earlier)) relatives.after.set(NodeId(at));
    });
  }
  return relatives;
}

// The steps that touch a buffer at the peak and around it. Aliases touch nothing before or after.
struct Touches {
  bool reads_now = false;
  bool writes_now = false;
  bool is_scratch_now = false;
  std::optional<StepId> before;  // the last one
  std::optional<StepId> after;   // the first one
};

// The bytes of a buffer that hold live values: disjoint, ascending.
using Spans = std::vector<Interval<Offset>>;

class PeakBuffers {
 public:
  PeakBuffers(const Graph& graph, const Peak& peak, const LiveSet& must)
      : graph_(graph),
        peak_(peak),
        plan_(*peak.plan),
        must_scratch_(must.scratch),
        must_(plan_.program.values.size()),
        // A copy has no node, so it has no relatives.
        relatives_(relatives_of(graph, peak.step ? node_of(plan_.program.steps[*peak.step]) : std::nullopt)),
        spans_(plan_.layout.buffers.size()),
        touches_(plan_.layout.buffers.size()),
        next_read_(plan_.layout.buffers.size()) {
    find_must(must);
    for (const LiveBuffer& live : peak.buffers) spans_[live.buffer] = spans_of(live.values);
    if (!peak.step) return;
    find_touches(*peak.step);
    find_next_reads(*peak.step);
  }

  [[nodiscard]] std::vector<PeakBuffer> all() const {
    std::vector<PeakBuffer> all;
    std::size_t left = peak_.step ? kMostWithout : 0;
    for (const LiveBuffer& live : peak_.buffers) {
      all.push_back(explained(live));
      if (all.back().use != PeakUse::kept || left == 0) continue;
      --left;
      all.back().load_without = load_without(live.buffer);
    }
    return all;
  }

 private:
  // The bytes of a tensor are assigned to one of its live values. It is a copy only if no other value is live.
  void find_must(const LiveSet& must) {
    IdVector<TensorId, Bytes> left(graph_.tensors().size());
    for (const LiveSet::Member& member : must.tensors) left[member.tensor] = member.bytes;
    for (bool are_copies : {false, true}) {
      for (const LiveBuffer& live : peak_.buffers) {
        for (ValueId id : live.values) {
          const Value& value = plan_.program.values[id];
          if ((value.written && is_copy(plan_.program.steps[*value.written])) != are_copies) continue;
          must_[id] = std::exchange(left[value.tensor], Bytes(0));
        }
      }
    }
  }

  void find_touches(StepId now) {
    const auto touch = [&](BufferId buffer, StepId step, bool Touches::*how) {
      Touches& touches = touches_[buffer];
      if (step == now) touches.*how = true;
      if (is_alias(plan_.program.steps[step])) return;
      if (step < now) touches.before = step;
      if (step > now && !touches.after) touches.after = step;
    };
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      const Step& step = plan_.program.steps[id];
      for (ValueId value : step.reads) touch(plan_.layout.values[value].buffer, id, &Touches::reads_now);
      for (ValueId value : step.writes) touch(plan_.layout.values[value].buffer, id, &Touches::writes_now);
      const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
      if (scratch) touch(*scratch, id, &Touches::is_scratch_now);
    }
  }

  [[nodiscard]] const Tensor& tensor(ValueId id) const { return graph_.tensor(plan_.program.values[id].tensor); }

  [[nodiscard]] Interval<Offset> span_of(ValueId id) const {
    return {plan_.layout.values[id].offset, plan_.layout.values[id].offset + tensor(id).size};
  }

  [[nodiscard]] Spans spans_of(const std::vector<ValueId>& values) const {
    std::vector<Interval<Offset>> each;
    for (ValueId id : values) {
      if (!span_of(id).empty()) each.push_back(span_of(id));
    }
    std::sort(each.begin(), each.end());
    Spans spans;
    for (const Interval<Offset>& span : each) {
      if (spans.empty() || spans.back().end < span.begin) {
        spans.push_back(span);
      } else {
        spans.back().end = std::max(spans.back().end, span.end);
      }
    }
    return spans;
  }

  // Whether any byte of a value holds a value that is live at the peak.
  [[nodiscard]] bool overlaps_spans(ValueId id) const {
    const Spans& spans = spans_[plan_.layout.values[id].buffer];
    const Interval<Offset> read = span_of(id);
    const auto first = std::partition_point(spans.begin(), spans.end(),
                                            [&](const Interval<Offset>& span) { return span.end <= read.begin; });
    return first != spans.end() && first->overlaps(read);
  }

  void find_next_reads(StepId now) {
    for (std::uint32_t at = now.value() + 1; at < plan_.program.steps.size(); ++at) {
      const Step& step = plan_.program.steps[StepId(at)];
      if (is_alias(step)) continue;
      for (ValueId read : step.reads) {
        std::optional<StepId>& next = next_read_[plan_.layout.values[read].buffer];
        if (!next && overlaps_spans(read)) next = StepId(at);
      }
    }
  }

  [[nodiscard]] bool must_be_written(ValueId id) const {
    const std::optional<NodeId> producer = tensor(id).producer;
    return !producer || relatives_.before.test(*producer);
  }

  [[nodiscard]] bool must_be_needed(ValueId id) const {
    const TensorId of = plan_.program.values[id].tensor;
    if (graph_.is_needed_at_end(of) || plan_.program.values[id].written == peak_.step) return true;
    const auto readers = graph_.readers(of);
    return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return relatives_.after.test(reader); });
  }

  [[nodiscard]] PeakFreedom freedom_of(const std::vector<ValueId>& values) const {
    const bool must_live = std::any_of(values.begin(), values.end(),
                                       [&](ValueId id) { return must_be_written(id) && must_be_needed(id); });
    if (values.empty() || must_live) return PeakFreedom::shared;
    return must_be_written(values.front()) ? PeakFreedom::read_earlier : PeakFreedom::written_later;
  }

  [[nodiscard]] static PeakUse use_of(const Touches& touches) {
    if (touches.is_scratch_now) return PeakUse::scratch;
    if (touches.reads_now && touches.writes_now) return PeakUse::rewritten;
    if (touches.reads_now) return PeakUse::read;
    return touches.writes_now ? PeakUse::written : PeakUse::kept;
  }

  [[nodiscard]] PeakBuffer explained(const LiveBuffer& live) const {
    PeakBuffer one{.live = live, .use = use_of(touches_[live.buffer]), .next_read = next_read_[live.buffer]};
    for (ValueId value : live.values) {
      one.must += must_[value];
      one.written = std::max(one.written, plan_.program.values[value].written);
    }
    for (const Interval<Offset>& span : spans_[live.buffer]) one.held += span.end - span.begin;
    if (one.use == PeakUse::scratch) {
      one.held = plan_.layout.buffers[live.buffer].size;
      one.must = std::min(must_scratch_, one.held);
    }
    if (one.must == Bytes(0) && peak_.step) one.freedom = freedom_of(live.values);
    return one;
  }

  [[nodiscard]] Bytes load_without(BufferId id) const {
    const auto begin = touches_[id].before ? touches_[id].before->index() + 1 : std::size_t{0};
    const auto end = touches_[id].after ? touches_[id].after->index() : plan_.program.steps.size();
    Bytes most;
    for (StepId step : all_ids<StepId>(plan_.program.steps.size())) {
      const bool is_away = begin <= step.index() && step.index() < end;
      const Bytes spared = is_away ? living_bytes(plan_.layout.buffers[id], step) : Bytes(0);
      most = std::max(most, peak_.loads[step.index()] - spared);
    }
    return most;
  }

  const Graph& graph_;
  const Peak& peak_;
  const Plan& plan_;
  Bytes must_scratch_;
  IdVector<ValueId, Bytes> must_;
  Relatives relatives_;
  IdVector<BufferId, Spans> spans_;
  IdVector<BufferId, Touches> touches_;
  IdVector<BufferId, std::optional<StepId>> next_read_;  // of bytes in the spans
};

}  // namespace

std::vector<PeakBuffer> peak_buffers(const Graph& graph, const Peak& peak, const LiveSet& must) {
  return PeakBuffers(graph, peak, must).all();
}

}  // namespace lowtide::pipeline_internal
