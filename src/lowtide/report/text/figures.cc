// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/figures.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <set>

#include "lowtide/base/listed.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/lower/passes.h"
#include "lowtide/report/text/text_layout.h"

namespace lowtide::report_internal {
namespace {

// Whether the name ends in the operator, as in "/layer1/conv1/Conv". Then the operator is not repeated.
bool tells_operator(const ShownStep& node) {
  const std::size_t slash = node.name.rfind('/');
  return slash != std::string::npos && node.name.compare(slash + 1, node.op.size(), node.op) == 0;
}

// The start of a text up to the first space at which a line may break. It may not break in parentheses, before an
// opening parenthesis, or before a unit.
std::string_view unbroken(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && depth > 0) --depth;
    if (text[at] != ' ' || depth > 0) continue;
    const std::string_view rest = text.substr(at + 1);
    const bool is_unit =
        rest.starts_with('B') && (rest.size() == 1 || std::isalnum(static_cast<unsigned char>(rest[1])) == 0);
    if (!is_unit && !rest.starts_with('(')) return text.substr(0, at);
  }
  return text;
}

std::string ordinal_text(std::uint32_t ordinal) { return ordinal == 1 ? "" : " #" + std::to_string(ordinal); }

// Whether this pass made the planned graph from that of the model.
bool has_pass(const Plan& plan, PassId pass) {
  return std::ranges::find(plan.provenance.lowering, name_of(pass)) != plan.provenance.lowering.end();
}

}  // namespace

StyledText model_title(const ModelFacts& model) {
  StyledText out(shown_name(model.path), Style::heading);
  out.add("  ").add(counted(model.nodes, "node"));
  // The others are load-time work, or in branches that were removed.
  if (model.planned_nodes != model.nodes) out.add(" in the file, " + with_thousands(model.planned_nodes) + " run");
  if (model.body_nodes > 0) out.add(", " + with_thousands(model.body_nodes) + " of them in bodies");
  out.add(", ").add(counted(model.tensors, "tensor"));
  out.add("  " + model.format + ", sha256 " + model.sha256.substr(0, 12), Style::dim);
  return out.end_line();
}

std::string node_text(const ShownStep& node, std::string_view none, std::size_t columns) {
  if (node.op.empty()) return std::string(none);
  if (node.op == kCallerFullName) return "the caller";
  if (tells_operator(node)) return shown_name(node.name, columns);
  std::string text = shown_name(node.op, columns);
  if (!node.name.empty()) text += " " + shown_name(node.name, columns);
  if (!node.to.empty()) text += " to " + shown_name(node.to, columns);
  return text;
}

Bytes first_alignment(const Plan& plan) {
  return plan.machine.regions[writable_regions(plan.machine, WorkerId(0)).front().index()].alignment;
}

std::string value_text(const std::string& tensor, std::uint32_t ordinal) {
  return shown_name(tensor) + ordinal_text(ordinal);
}

std::vector<std::string> buffer_names(const Peak& peak, const std::vector<BufferId>& buffers, bool wide) {
  constexpr std::size_t kTensorColumns = 36;
  std::vector<std::string> tensors;
  for (BufferId id : buffers) {
    const std::optional<ValueId>& name = peak.uses[id].name;
    tensors.push_back(name ? peak.labels->tensors[peak.plan->program.values[*name].tensor].name : "");
  }
  std::vector<std::string> names = shown_names(tensors, wide ? kWholeName : kTensorColumns);
  for (std::size_t at = 0; at < buffers.size(); ++at) {
    const std::optional<ValueId>& name = peak.uses[buffers[at]].name;
    names[at] = name ? names[at] + ordinal_text(peak.ordinals[*name]) : "(scratch)";
  }
  return names;
}

std::optional<BoundScope> scope_that_needs(const Plan& plan, Bytes bytes) {
  for (BoundScope scope : {BoundScope::all_plans, BoundScope::run_once, BoundScope::chosen_kernels}) {
    const Bound* bound = best_bound(plan.claims, scope);
    if (scope >= scope_of(plan) && bound != nullptr && bound->bytes >= bytes) return scope;
  }
  return std::nullopt;
}

std::optional<BoundScope> proven_scope(const Plan& plan, Bytes bytes) {
  return counts_all(plan.claims) ? scope_that_needs(plan, bytes) : std::nullopt;
}

bool has_outputs_at_caller(const Plan& plan) { return has_pass(plan, PassId::outputs_at_caller); }

bool has_load_time_work(const Plan& plan) { return has_pass(plan, PassId::load_time); }

std::string planned_graph_text(const Provenance& provenance, bool are_several) {
  const auto is_for_kernels = [](const std::string& name) {
    const Pass* pass = find_pass(name);
    return pass != nullptr && (pass->use == PassUse::kernels || pass->use == PassUse::integers);
  };
  const std::string target = shown_name(provenance.target);
  if (are_several) return "any graph that target " + target + " may run";
  if (std::ranges::any_of(provenance.lowering, is_for_kernels)) return "the graph that target " + target + " runs";
  const bool is_plain = provenance.target.empty() || provenance.target == "dense";
  return is_plain ? "the model as written" : "the model as written on target " + target;
}

std::string_view no_plan_text(BoundScope scope) {
  switch (scope) {
    case BoundScope::chosen_kernels: return "no plan with these kernels and without recomputation or extra copies";
    case BoundScope::run_once: return "no plan without recomputation or extra copies";
    default: return "no plan";
  }
}

std::string extra_work_text(const Plan& plan) {
  std::set<NodeId> computed;
  std::int64_t again = 0;
  std::int64_t copies = 0;
  std::int64_t moved = 0;
  for (const Step& step : plan.program.steps) {
    if (const Compute* compute = std::get_if<Compute>(&step.work))
      again += computed.insert(compute->node).second ? 0 : 1;
    const Copy* copy = std::get_if<Copy>(&step.work);
    if (copy == nullptr) continue;
    ++copies;
    const bool is_known = plan.program.streams.contains(step.stream);
    if (is_known && plan.program.streams[step.stream].link) moved += copy->bytes.end - copy->bytes.begin;
  }
  std::string text;
  const auto add = [&](std::int64_t count, const std::string& what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + what;
  };
  add(again, counted(again, "node") + (again == 1 ? " runs again" : " run again"));
  add(copies, counted(copies, "step") + (copies == 1 ? " copies bytes" : " copy bytes"));
  add(moved, with_thousands(moved) + " bytes move over links");
  return text;
}

StyledText paragraph(std::string_view text, const StyledText& lead) {
  auto block = std::make_shared<TextBlock>();
  block->lead = lead.line();
  while (!text.empty()) {
    const std::string_view word = unbroken(text);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    block->words.emplace_back(word);
  }
  return StyledText().add(std::move(block));
}

std::string exact(Bytes size) { return with_thousands(size.count()) + " B"; }

TextTable figures_table() {
  using Align = TextTable::Align;
  return TextTable({Align::left, Align::right, Align::right, Align::right, Align::left});
}

void add_figure(TextTable& table, const Figure& figure) {
  const std::string rounded = figure.size >= Bytes(1024) ? format_bytes_short(figure.size) : "";
  table.add_row({StyledText(figure.name, figure.style), StyledText(exact(figure.size), figure.style),
                 StyledText(rounded, Style::dim), StyledText(figure.share), figure.note});
}

std::string gap_text(Bytes achieved, Bytes bound) {
  const std::optional<double> gap = gap_of(achieved, bound);
  if (achieved == bound) return "0 %";
  if (!gap) return "unknown";
  return *gap < 0.001 ? "below 0.1 %" : percent((achieved - bound).count(), bound.count());
}

std::string uncounted_text(const std::vector<std::string>& uncounted) {
  return "The memory inside these operators is unknown and not counted: " + listed(shown_names(uncounted, kWholeName)) +
         ". A run may need more than is stated here. A target file can describe their kernels.";
}

std::string macs_text(std::optional<std::int64_t> macs) {
  if (!macs) return "not known";
  return *macs == 0 ? "none" : with_thousands(*macs);
}

std::string macs_text(const FigureTotals& totals) {
  if (totals.macs.left_out == 0) return macs_text(totals.macs.sum);
  if (totals.macs.left_out == totals.nodes) return "not known";
  return "at least " + with_thousands(totals.macs.sum);
}

std::string sum_text(const FigureSum& bytes) {
  return (bytes.left_out > 0 ? "at least " : "") + exact(Bytes(bytes.sum));
}

std::string weights_text(const std::optional<Weights>& weights) {
  if (!weights) return "";
  const std::optional<Bytes>& capacity = weights->region.capacity;
  const std::string use = format_bytes_short(weights->bytes) + " of " + format_bytes_short(capacity.value_or(Bytes(0)));
  return (capacity ? use + " " : "") + "in " + shown_name(weights->region.name);
}

StyledText with_proof(std::string_view strategy, bool is_optimal) {
  StyledText note(strategy);
  if (is_optimal) note.add(", ").add("proven optimal", Style::good);
  return note;
}

}  // namespace lowtide::report_internal
