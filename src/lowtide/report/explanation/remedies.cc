// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/explanation/remedies.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "lowtide/base/quote.h"
#include "lowtide/report/explanation/proof.h"
#include "lowtide/report/text/figures.h"

namespace lowtide::report_internal {
namespace {

constexpr std::size_t kMostRemedies = 3;

// The kept buffers whose absence lowers the peak to `below` or less, the best first. The inputs of a body do not count,
// since it must keep them throughout.
std::vector<const PeakBuffer*> best_away(const PeakExplanation& level, Bytes below) {
  std::vector<const PeakBuffer*> found;
  for (const PeakBuffer& one : level.buffers) {
    const bool is_needed_later =
        one.next_read || level.peak.plan->layout.buffers[one.live.buffer].kind == BufferKind::output;
    if (one.load_without && *one.load_without <= below && is_needed_later) found.push_back(&one);
  }
  std::stable_sort(found.begin(), found.end(), [](const PeakBuffer* a, const PeakBuffer* b) {
    return std::pair(*a->load_without, a->live.buffer) < std::pair(*b->load_without, b->live.buffer);
  });
  return found;
}

StyledText list_item(const std::string& text) { return paragraph(text, "- "); }

StyledText away_text(const PeakExplanation& level, const PeakBuffer& one) {
  const Bytes size = one.live.bytes;
  const ValueId named = *level.peak.uses[one.live.buffer].name;
  const TensorId tensor = level.peak.plan->program.values[named].tensor;
  std::string name =
      value_text(level.peak.labels->tensors[tensor].name, level.peak.ordinals[named]) + " (" + exact(size);
  if (size - one.held >= first_alignment(*level.peak.plan)) name += ", of which " + exact(one.held) + " are in use";
  const std::string left = "the peak would be " + format_bytes(*one.load_without) + ".";
  if (!one.next_read) return list_item(name + ") is kept for the caller. If the caller took it earlier, " + left);
  return list_item(name + ") is kept for " + step_text(level, *one.next_read) +
                   ". If it were recomputed for that step, or swapped out until then, " + left);
}

// Mentions only what lowers the peak by at least 1 %.
StyledText kept_text(const PeakExplanation& level) {
  const Bytes little(level.peak.bytes.count() / 100);
  Bytes kept;
  for (const PeakBuffer& one : level.buffers) {
    if (one.use == PeakUse::kept) kept += one.live.bytes;
  }
  if (kept <= little) return {};
  const std::vector<const PeakBuffer*> best = best_away(level, level.peak.bytes - little - Bytes(1));
  StyledText out;
  for (std::size_t at = 0; at < std::min(kMostRemedies, best.size()); ++at) out.append(away_text(level, *best[at]));
  if (!best.empty()) return out;
  return list_item(
      format_bytes(kept) +
      " are kept for later steps. But removing any single one of these buffers would lower the peak by less "
      "than 1 %, because other steps are as high or almost as high.");
}

bool is_one_step(const PeakExplanation& level) {
  return level.ranges.size() == 1 && level.ranges[0].end.value() == level.ranges[0].begin.value() + 1;
}

StyledText touched_remedy_text(const PeakExplanation& level) {
  const std::string step = step_text(level, level.largest_touched_step);
  if (level.largest_touched < level.peak.bytes) {
    return list_item("No recomputation or swap of these buffers gets below " + format_bytes(level.largest_touched) +
                     ", which is read and written at " + step + ".");
  }
  const StepSpace& space = level.peak.plan->layout.steps[level.largest_touched_step];
  if (!space.bodies.empty() && space.scratch) {
    return list_item(format_bytes(level.peak.plan->layout.buffers[*space.scratch].size) + " are for the body of " +
                     step +
                     (level.largest_touched_step == *level.peak.step ? ", which the next section explains." : "."));
  }
  std::string text = "At " + step +
                     ", every live byte is read or written by the step itself. With these buffers, only a smaller "
                     "input, a smaller element type or an operator split into parts would need less.";
  if (is_one_step(level) && level.next_step) {
    text += " The other steps need up to " + format_bytes(level.next_load) + ".";
  }
  return list_item(text);
}

// " 'im2col'", for a target with other kernels.
std::string kernel_name(const PeakExplanation& level) {
  const auto* compute = std::get_if<Compute>(&level.peak.plan->program.steps[*level.peak.step].work);
  if (compute == nullptr || !level.lighter_kernel) return "";
  return " " + quoted(level.peak.plan->kernels[compute->kernel].name);
}

std::string lighter_text(const PeakExplanation& level) {
  if (!level.lighter_kernel) return "";
  return " The kernel " + quoted(level.lighter_kernel->name) + " needs " + exact(level.lighter_kernel->scratch) +
         "; a plan uses it if --budget requires that.";
}

// The scratch of the kernel at the peak; empty if other steps are as high.
StyledText scratch_text(const PeakExplanation& level) {
  const StepSpace& space = level.peak.plan->layout.steps[*level.peak.step];
  if (!space.scratch || !space.bodies.empty() || !is_one_step(level)) return {};
  const Bytes scratch = level.peak.plan->layout.buffers[*space.scratch].size;
  if (scratch.count() <= level.peak.bytes.count() / 100) return {};
  return list_item(exact(scratch) + " are scratch of the kernel" + kernel_name(level) +
                   ", as the target states. Without scratch, the peak would be " +
                   format_bytes(std::max(level.peak.bytes - scratch, level.next_load)) + "." + lighter_text(level));
}

std::string refusal_text(const PeakExplanation& level, const InPlaceRefusal& one) {
  const std::string text = tensor_text(level, one.output) + " (" + exact(one.bytes) + ") could be written over " +
                           tensor_text(level, one.input) + ", but ";
  switch (one.reason) {
    case InPlaceRefusal::Reason::switched_off: return text + "--no-in-place forbids it.";
    case InPlaceRefusal::Reason::external: return text + "that tensor belongs to the caller or is a constant.";
    case InPlaceRefusal::Reason::output: return text + "that tensor is an output.";
    case InPlaceRefusal::Reason::with_output: return text + "the buffer of that tensor also holds an output.";
    case InPlaceRefusal::Reason::read_later:
      return text + "the buffer of that tensor is read again at " + step_text(level, *one.reader) + ".";
  }
  return {};
}

// The steps of a chain: "step 1 (Add add), step 2 (Relu relu) and step 3 (Mul mul)".
std::string chain_text(const PeakExplanation& level, const std::vector<StepId>& steps) {
  std::string text;
  for (StepId id : steps) {
    if (!text.empty()) text += id == steps.back() ? " and " : ", ";
    text += "step " + with_thousands(id.value()) + " (" + node_text(shown_step(level, id), "") + ")";
  }
  return text;
}

StyledText model_remedies_text(const PeakExplanation& level) {
  StyledText out;
  if (const std::optional<FusionRemedy>& fusion = level.remedies.fusion) {
    std::string text = "If one operator replaced " + chain_text(level, fusion->chains.front());
    if (fusion->chains.size() > 1) {
      text += ", and likewise " + counted(static_cast<std::int64_t>(fusion->chains.size() - 1), "other chain") +
              " of element-wise operators";
    }
    text += ", no buffer would be needed between them, and the peak would be " + format_bytes(fusion->peak) + ".";
    if (fusion->peak_of_all < fusion->peak) {
      text += " With all " + with_thousands(static_cast<std::int64_t>(fusion->all_chains)) +
              " such chains, it would be " + format_bytes(fusion->peak_of_all) + ".";
    }
    out.append(list_item(text));
  }
  if (const std::optional<TypeRemedy>& type = level.remedies.type) {
    out.append(list_item("If 32-bit floating-point values had 16 bits, the peak would be " +
                         format_bytes(type->peak_16_bits) + ". With 8 bits, it would be " +
                         format_bytes(type->peak_8_bits) + "." +
                         (type->has_kernel_scratch ? " The scratch of kernels is counted as it is now." : "")));
  }
  return out;
}

}  // namespace

std::vector<std::string> refusals_of(const PeakExplanation& level) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < std::min(kMostRemedies, level.refusals.size()); ++at) {
    const InPlaceRefusal& one = level.refusals[at];
    if (one.bytes.count() > level.peak.bytes.count() / 100) texts.push_back(refusal_text(level, one));
  }
  return texts;
}

StyledText remedies_text(const PeakExplanation& level) {
  StyledText out;
  out.end_line().add("What would lower the peak", Style::heading).end_line();
  out.append(kept_text(level)).append(touched_remedy_text(level)).append(scratch_text(level));
  for (const std::string& text : refusals_of(level)) out.append(list_item(text));
  out.append(model_remedies_text(level));
  const Bytes arena = arena_bytes(*level.peak.plan);
  if (arena > level.peak.bytes) {
    out.append(list_item("The arena of " + format_bytes(arena) + " exceeds the peak by " +
                         format_bytes(arena - level.peak.bytes) + ", which is lost between buffers" +
                         (level.peak.plan->machine.regions.size() > 1 ? " and between regions." : ".")));
  }
  if (!level.peak.body.empty()) return out;
  return out.append(paragraph(
      "With --budget, nodes run again to need less, and with --link, tensors also leave the arena for a time. "
      "Lowtide does not split operators."));
}

}  // namespace lowtide::report_internal
