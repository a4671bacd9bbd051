// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/lowering.h"

#include <algorithm>
#include <functional>

#include "lowtide/base/listed.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

// A convolution in the formats of the machine, full_name(Operator).
constexpr std::string_view kOwnConvolution = "lowtide::Conv";

}  // namespace

std::string lowering_text(const LoweringFacts& facts) {
  std::int64_t folded = 0;
  std::int64_t padded = 0;
  std::int64_t integers = 0;
  std::int64_t chains = 0;
  std::int64_t in_chains = 0;
  std::int64_t norms = 0;
  std::int64_t in_norms = 0;
  std::int64_t attentions = 0;
  std::int64_t in_attentions = 0;
  std::int64_t products = 0;
  std::int64_t in_epilogues = 0;
  for (const LoweringFacts::Rewrite& rewrite : facts.rewrites) {
    const std::int64_t nodes = static_cast<std::int64_t>(rewrite.from.size()) - (rewrite.has_padding ? 1 : 0);
    if (rewrite.has_padding) ++padded;
    if (rewrite.in_epilogue > 0) {
      ++products;
      in_epilogues += rewrite.in_epilogue;
      if (nodes - rewrite.in_epilogue > 1) ++folded;
    } else if (rewrite.op == kChainFullName) {
      ++chains;
      in_chains += nodes;
    } else if (rewrite.op == "LayerNormalization") {
      ++norms;
      in_norms += nodes;
    } else if (rewrite.op == kAttentionFullName) {
      ++attentions;
      in_attentions += nodes;
    } else if (rewrite.op == "Conv" || rewrite.op == kOwnConvolution) {
      if (nodes > 1) ++folded;
    } else if (nodes > 1) {
      ++integers;
    }
  }
  std::vector<std::string> parts;
  if (facts.left_out > 0) parts.push_back(counted(facts.left_out, "node") + " left out");
  if (facts.at_load > 0) parts.push_back(counted(facts.at_load, "node") + " computed when the model is loaded");
  if (facts.on_f32 > 0) parts.push_back(counted(facts.on_f32, "node") + " on f16 computed on f32");
  const std::string readers = padded == 1 ? "node after it" : "nodes after them";
  if (padded > 0) parts.push_back(counted(padded, "Pad") + " folded into the " + readers);
  if (folded > 0) parts.push_back(counted(folded, "BatchNormalization") + " folded into a Conv");
  if (norms > 0) parts.push_back(counted(in_norms, "node") + " fused into " + counted(norms, "LayerNormalization"));
  if (attentions > 0)
    parts.push_back(counted(in_attentions, "node") + " fused into " + counted(attentions, "Attention"));
  if (integers > 0) parts.push_back(counted(integers, "QuantizeLinear") + " merged into operators on integers");
  if (chains > 0) parts.push_back(counted(in_chains, "node") + " fused into " + counted(chains, "chain"));
  if (products > 0) parts.push_back(counted(in_epilogues, "node") + " fused into " + counted(products, "product"));
  if (facts.reorders > 0)
    parts.push_back(counted(facts.reorders, "tensor") + " (" + format_bytes(facts.reordered) +
                    ") copied into another format");
  std::string text = parts.empty() ? "no node changed" : listed(parts, "and");
  if (facts.as_written) text += ". As written, the model needs an arena of " + format_bytes(facts.as_written->arena);
  return text + ".";
}

StyledText rewrites_text(const LoweringFacts& facts, std::size_t rows, bool wide) {
  using Align = TextTable::Align;
  constexpr std::size_t kMostNames = 4;
  StyledText out;
  if (facts.rewrites.empty()) return out;
  std::vector<const LoweringFacts::Rewrite*> sorted;
  for (const LoweringFacts::Rewrite& rewrite : facts.rewrites) sorted.push_back(&rewrite);
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const LoweringFacts::Rewrite* rewrite) { return rewrite->from.size(); });
  const std::size_t columns = report_internal::node_columns(wide);
  TextTable table({Align::left, Align::right, Align::left});
  table.add_row({"node that runs", "nodes", "instead of"});
  for (std::size_t at = 0; at < std::min(rows, sorted.size()); ++at) {
    const LoweringFacts::Rewrite& rewrite = *sorted[at];
    const std::size_t shown = wide ? rewrite.from.size() : std::min(kMostNames, rewrite.from.size());
    std::vector<std::string> names(rewrite.from.begin(), rewrite.from.begin() + static_cast<std::ptrdiff_t>(shown));
    for (std::string& name : names) name = shown_name(name, columns);
    const std::size_t more = rewrite.from.size() - shown;
    if (more > 0) names.push_back(counted(static_cast<std::int64_t>(more), "other node"));
    table.add_row({report_internal::node_text({.name = rewrite.node, .op = rewrite.op}, "", columns),
                   with_thousands(static_cast<std::int64_t>(rewrite.from.size())), listed(names, "and")});
  }
  out.append(table.text());
  if (rows < sorted.size())
    out.add("  and " + counted(static_cast<std::int64_t>(sorted.size() - rows), "other node")).end_line();
  return out;
}

}  // namespace lowtide
