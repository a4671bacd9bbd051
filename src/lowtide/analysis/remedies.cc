// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/remedies.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "lowtide/analysis/peak.h"
#include "lowtide/analysis/smaller_type.h"
#include "lowtide/base/flags.h"

namespace lowtide {
namespace {

// Operators that compute each element of a result from the elements at the same position. Sorted.
// clang-format off
constexpr std::array<std::string_view, 57> kElementWise = {
    "Abs", "Add", "And", "BatchNormalization", "Cast", "Ceil", "Celu", "Clip", "Cos", "DequantizeLinear", "Div",
    "Dropout", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid",
    "HardSwish", "Identity", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Mean", "Min", "Mish", "Mod", "Mul",
    "Neg", "Not", "Or", "PRelu", "Pow", "QuantizeLinear", "Reciprocal", "Relu", "Round", "Selu", "Shrink",
    "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tanh", "ThresholdedRelu",
    "Where", "Xor"
};
// clang-format on

// The load of each step if some bytes were live in fewer steps, or in more.
class ChangedLoad {
 public:
  explicit ChangedLoad(const std::vector<Bytes>& loads) : loads_(loads), change_(loads.size() + 1) {}

  void add(const Lifespan& lifespan, Bytes bytes) {
    change_[lifespan.begin.index()] += bytes;
    change_[lifespan.end.index()] -= bytes;
  }

  void remove(const Buffer& buffer) {
    for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
      add(lifespan, Bytes(bytes.begin - bytes.end));
    });
  }

  [[nodiscard]] Bytes peak() const {
    Bytes largest;
    Bytes by;
    for (std::size_t at = 0; at < loads_.size(); ++at) {
      by += change_[at];
      largest = std::max(largest, loads_[at] + by);
    }
    return largest;
  }

 private:
  const std::vector<Bytes>& loads_;
  std::vector<Bytes> change_;
};

struct Chain {
  BufferId buffer;
  std::vector<StepId> steps;
  std::vector<BufferId> kept;  // what the steps read; live to the last of them
};

class Remedies {
 public:
  Remedies(const Plan& plan, const Labels& labels, std::optional<RegionId> region)
      : plan_(plan), labels_(labels), loads_(load_by_step(plan.layout, region)), region_(region) {
    peak_ = *std::max_element(loads_.begin(), loads_.end());
    for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
      const std::optional<Placement>& placement = plan.layout.buffers[id].placement;
      if (placement && (!region || placement->region == *region)) placed_.push_back(id);
    }
    values_ = IdVector<BufferId, std::vector<ValueId>>(plan.layout.buffers.size());
    for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
      values_[plan.layout.values[id].buffer].push_back(id);
    }
    readers_ = IdVector<ValueId, std::vector<StepId>>(plan.program.values.size());
    for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
      for (ValueId read : plan.program.steps[id].reads) readers_[read].push_back(id);
    }
  }

  ModelRemedies find() const { return {.fusion = find_fusion(), .type = find_type()}; }

 private:
  [[nodiscard]] const Buffer& buffer(BufferId id) const { return plan_.layout.buffers[id]; }
  [[nodiscard]] const Step& step(StepId id) const { return plan_.program.steps[id]; }
  [[nodiscard]] bool is_worth(Bytes peak) const {
    return (peak_ - peak).count() >= peak_.count() / 100 && peak < peak_;
  }

  [[nodiscard]] bool is_element_wise(StepId id) const {
    if (is_alias(step(id))) return true;
    const std::optional<NodeId> node = node_of(step(id));
    return node && std::find(kElementWise.begin(), kElementWise.end(), labels_.nodes[*node].op) != kElementWise.end();
  }

  // Returns the steps that write and read the values of a buffer, if one operator could replace them: all are
  // element-wise, and only the last one writes another buffer.
  [[nodiscard]] std::vector<StepId> fusable_steps(BufferId id) const {
    std::vector<StepId> steps;
    if (buffer(id).kind != BufferKind::temporary) return {};
    for (ValueId value : values_[id]) {
      if (!plan_.program.values[value].written) return {};
      steps.push_back(*plan_.program.values[value].written);
      steps.insert(steps.end(), readers_[value].begin(), readers_[value].end());
    }
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    const auto is_inside = [&](ValueId value) { return plan_.layout.values[value].buffer == id; };
    for (StepId one : steps) {
      const std::vector<ValueId>& writes = step(one).writes;
      const bool stays = std::all_of(writes.begin(), writes.end(), is_inside);
      if (!is_element_wise(one) || stays == (one == steps.back())) return {};
    }
    return steps.size() > 1 ? steps : std::vector<StepId>();
  }

  // Returns the placed buffers that the steps before the last one read, each once. nullopt if one of them has parts, or
  // is overwritten before the last step.
  [[nodiscard]] std::optional<std::vector<BufferId>> kept_for(BufferId id, const std::vector<StepId>& steps) const {
    std::vector<BufferId> kept;
    for (StepId one : steps) {
      if (one == steps.back()) break;
      for (ValueId value : step(one).reads) {
        const BufferId source = plan_.layout.values[value].buffer;
        if (source == id || !buffer(source).placement) continue;
        const auto is_overwritten = [&](ValueId other) {
          const std::optional<StepId>& written = plan_.program.values[other].written;
          return written && *written > one && *written < steps.back();
        };
        if (!buffer(source).parts.empty()) return std::nullopt;
        if (std::any_of(values_[source].begin(), values_[source].end(), is_overwritten)) return std::nullopt;
        kept.push_back(source);
      }
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
  }

  [[nodiscard]] std::vector<Chain> chains() const {
    std::vector<Chain> found;
    for (BufferId id : placed_) {
      if (buffer(id).size.count() < peak_.count() / 100) continue;
      std::vector<StepId> steps = fusable_steps(id);
      if (steps.empty()) continue;
      std::optional<std::vector<BufferId>> kept = kept_for(id, steps);
      if (kept) found.push_back({id, std::move(steps), *std::move(kept)});
    }
    return compatible(std::move(found));
  }

  // Leaves out chains that overlap others: a step is in one chain, and no chain reads a buffer that another removes.
  // Chains at the peak come first, then those with large buffers.
  [[nodiscard]] std::vector<Chain> compatible(std::vector<Chain> chains) const {
    std::stable_sort(chains.begin(), chains.end(), [&](const Chain& a, const Chain& b) {
      return std::pair(is_at_peak(b), buffer(b.buffer).size) < std::pair(is_at_peak(a), buffer(a.buffer).size);
    });
    Flags<StepId> is_used(plan_.program.steps.size());
    Flags<BufferId> is_removed(plan_.layout.buffers.size());
    Flags<BufferId> is_kept(plan_.layout.buffers.size());
    std::vector<Chain> chosen;
    for (Chain& chain : chains) {
      const bool is_apart =
          std::none_of(chain.steps.begin(), chain.steps.end(), [&](StepId id) { return is_used.test(id); }) &&
          std::none_of(chain.kept.begin(), chain.kept.end(), [&](BufferId id) { return is_removed.test(id); }) &&
          !is_kept.test(chain.buffer);
      if (!is_apart) continue;
      for (StepId id : chain.steps) is_used.set(id);
      for (BufferId id : chain.kept) is_kept.set(id);
      is_removed.set(chain.buffer);
      chosen.push_back(std::move(chain));
    }
    std::sort(chosen.begin(), chosen.end(), [](const Chain& a, const Chain& b) { return a.buffer < b.buffer; });
    return chosen;
  }

  [[nodiscard]] Bytes peak_of_fused(const std::vector<Chain>& chains) const {
    ChangedLoad changed(loads_);
    for (const Chain& chain : chains) {
      changed.remove(buffer(chain.buffer));
      const StepId end(chain.steps.back().value() + 1);
      for (BufferId source : chain.kept) {
        const Lifespan& lifespan = buffer(source).lifespan;
        const bool counts = !region_ || buffer(source).placement->region == *region_;
        if (counts && lifespan.end < end) changed.add({lifespan.end, end}, buffer(source).size);
      }
    }
    return changed.peak();
  }

  [[nodiscard]] bool is_at_peak(const Chain& chain) const {
    const Lifespan& lifespan = buffer(chain.buffer).lifespan;
    const auto begin = loads_.begin() + lifespan.begin.value();
    return std::find(begin, loads_.begin() + lifespan.end.value(), peak_) != loads_.begin() + lifespan.end.value();
  }

  [[nodiscard]] std::optional<FusionRemedy> find_fusion() const {
    const std::vector<Chain> all = chains();
    std::vector<Chain> at_peak;
    std::copy_if(all.begin(), all.end(), std::back_inserter(at_peak),
                 [&](const Chain& chain) { return is_at_peak(chain); });
    FusionRemedy remedy{.peak = peak_of_fused(at_peak), .all_chains = all.size(), .peak_of_all = peak_of_fused(all)};
    if (at_peak.empty() || !is_worth(remedy.peak)) return std::nullopt;
    if ((remedy.peak - remedy.peak_of_all).count() < std::max<std::int64_t>(peak_.count() / 100, 1)) {
      remedy.all_chains = at_peak.size();
      remedy.peak_of_all = remedy.peak;
    }
    for (Chain& chain : at_peak) {
      std::erase_if(chain.steps, [&](StepId id) { return is_alias(step(id)); });
      remedy.chains.push_back(std::move(chain.steps));
    }
    return remedy;
  }

  [[nodiscard]] std::optional<TypeRemedy> find_type() const {
    const TypeRemedy remedy = analysis_internal::with_smaller_types(plan_, labels_, region_);
    return is_worth(remedy.peak_16_bits) ? std::optional(remedy) : std::nullopt;
  }

  const Plan& plan_;
  const Labels& labels_;
  std::vector<Bytes> loads_;
  std::optional<RegionId> region_;
  Bytes peak_;
  std::vector<BufferId> placed_;
  IdVector<BufferId, std::vector<ValueId>> values_;
  IdVector<ValueId, std::vector<StepId>> readers_;
};

}  // namespace

ModelRemedies model_remedies(const Plan& plan, const Labels& labels, std::optional<RegionId> region) {
  // A program without steps has no operators to change.
  if (plan.program.steps.empty()) return {};
  return Remedies(plan, labels, region).find();
}

}  // namespace lowtide
