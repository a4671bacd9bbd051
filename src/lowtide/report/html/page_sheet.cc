// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/html/page_sheet.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/analysis/peak.h"
#include "lowtide/analysis/remedies.h"
#include "lowtide/analysis/weights.h"
#include "lowtide/base/check.h"
#include "lowtide/graph/multiply_accumulates.h"
#include "lowtide/report/copies.h"
#include "lowtide/report/html/page_columns.h"
#include "lowtide/report/html/page_verdict.h"
#include "lowtide/report/shown_step.h"
#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/recomputation_text.h"

namespace lowtide::report_internal {
namespace {

constexpr std::int64_t kNone = -1;
constexpr std::int64_t kNoMove = -2;  // of a copy: within its region
constexpr std::size_t kMostChains = 2;

template <typename IdType, typename T>
const T& row_of(const IdVector<IdType, T>& table, std::size_t row) {
  return table[IdType(static_cast<std::uint32_t>(row))];
}

template <typename IdType>
std::int64_t id_or_none(const std::optional<IdType>& id) {
  return id ? static_cast<std::int64_t>(id->value()) : kNone;
}

void add_parent(JsonWriter& json, const Sheet& sheet) {
  json.key("parent");
  if (!sheet.parent) return json.null();
  json.begin_array();
  json.value(static_cast<std::int64_t>(sheet.parent->sheet));
  json.value(std::int64_t{sheet.parent->step.value()});
  json.value(name_in_page(sheet.body));
  json.value(sheet.offset);
  json.end_array();
}

void add_facts(JsonWriter& json, const Sheet& sheet) {
  const Plan& plan = *sheet.plan;
  const Provenance& provenance = plan.provenance;
  const Claims& claims = plan.claims;
  const Bound bound = bound_of(plan);
  json.key("facts");
  json.begin_object();
  add_name(json, "tool", provenance.tool);
  add_name(json, "model", provenance.model);
  add_name(json, "model_sha256", provenance.model_sha256);
  add_name(json, "graph", provenance.graph);
  json.member("nodes", provenance.nodes);
  json.member("tensors", provenance.tensors);
  add_names(json, "lowering", provenance.lowering.size(), [&](std::size_t row) { return provenance.lowering[row]; });
  add_names(json, "dims", provenance.dims.size(), [&](std::size_t row) { return provenance.dims[row]; });
  add_name(json, "target", provenance.target);
  json.member("execution", to_string(plan.execution));
  json.member("load_as_given", claims.load_as_given);
  json.member("load", claims.load);
  json.member("bound", bound.bytes);
  add_name(json, "bound_name", bound.name);
  json.member("bound_scope", to_string(bound.scope));
  add_name(json, "schedule", claims.schedule);
  json.member("schedule_optimal", is_schedule_proven(claims));
  add_name(json, "allocate", claims.allocate);
  json.member("allocate_optimal", is_allocation_proven(claims));
  add_names(json, "uncounted", claims.uncounted.size(), [&](std::size_t row) { return claims.uncounted[row]; });
  if (plan.program.streams.size() > 1) {
    json.member("streams", static_cast<std::int64_t>(plan.program.streams.size()));
  }
  if (plan.machine.constants) json.member("constants", static_cast<std::int64_t>(plan.machine.constants->value()));
  if (plan.machine.constants && sheet.graph != nullptr) {
    json.member("weights", weights_of(*sheet.graph, plan.machine)->bytes);
  }
  const Bytes arena = arena_bytes(plan);
  if (claims.shortfall > Bytes(0) && claims.shortfall < arena) json.member("missed_budget", arena - claims.shortfall);
  if (const std::string extra = extra_work_text(plan); !extra.empty()) json.member("extra_work", extra);
  if (sheet.verdict != nullptr) add_verdict(json, {plan, *sheet.labels}, *sheet.verdict);
  json.end_object();
}

// Writes a link as the names of its two regions, and a worker as null.
void add_streams(JsonWriter& json, const Plan& plan) {
  if (plan.program.streams.size() < 2) return;
  json.key("streams");
  json.begin_array();
  for (const Stream& stream : plan.program.streams) {
    if (!stream.link) {
      json.null();
      continue;
    }
    const Link& link = plan.machine.links[*stream.link];
    json.begin_array();
    json.value(name_in_page(plan.machine.regions[link.from.index()].name));
    json.value(name_in_page(plan.machine.regions[link.to.index()].name));
    json.end_array();
  }
  json.end_array();
}

// Writes what the page shows: the first chains, and the peaks that remain.
void add_model_remedies(JsonWriter& json, const ModelRemedies& remedies) {
  if (const std::optional<FusionRemedy>& fusion = remedies.fusion) {
    json.key("fusion");
    json.begin_object();
    json.key("chains");
    json.begin_array();
    for (std::size_t at = 0; at < std::min(kMostChains, fusion->chains.size()); ++at) {
      json.begin_array();
      for (StepId step : fusion->chains[at]) json.value(std::int64_t{step.value()});
      json.end_array();
    }
    json.end_array();
    json.member("count", static_cast<std::int64_t>(fusion->chains.size()));
    json.member("peak", fusion->peak);
    json.member("all", static_cast<std::int64_t>(fusion->all_chains));
    json.member("peak_of_all", fusion->peak_of_all);
    json.end_object();
  }
  if (const std::optional<TypeRemedy>& type = remedies.type) {
    json.member("peak_16_bits", type->peak_16_bits);
    json.member("peak_8_bits", type->peak_8_bits);
  }
}

void add_regions(JsonWriter& json, const Plan& plan, const Labels& labels) {
  json.key("regions");
  json.begin_array();
  for (std::size_t at = 0; at < plan.machine.regions.size(); ++at) {
    const Region& region = plan.machine.regions[at];
    const RegionId id(static_cast<std::uint32_t>(at));
    json.begin_object();
    add_name(json, "name", region.name);
    json.key("capacity");
    if (region.capacity) {
      json.value(*region.capacity);
    } else {
      json.null();
    }
    json.member("alignment", region.alignment);
    json.member("arena", plan.layout.arena[at]);
    if (is_outside(plan.machine, id)) json.member("outside", true);
    json.member("peak", id_or_none(peak_step(plan, load_by_step(plan.layout, id))));
    add_model_remedies(json, model_remedies(plan, labels, id));
    json.end_object();
  }
  json.end_array();
}

void add_labels(JsonWriter& json, const Sheet& sheet) {
  const Labels& labels = *sheet.labels;
  const auto node_at = [&](std::size_t row) -> const NodeLabel& { return row_of(labels.nodes, row); };
  const auto tensor_at = [&](std::size_t row) -> const TensorLabel& { return row_of(labels.tensors, row); };
  const std::size_t nodes = labels.nodes.size();
  SharedTexts ops;
  json.key("node");
  json.begin_object();
  add_names(json, "name", nodes, [&](std::size_t row) -> const std::string& { return node_at(row).name; });
  add_column(json, "op", nodes, [&](std::size_t row) { return ops.index_of(name_in_page(node_at(row).op)); });
  if (sheet.graph != nullptr && nodes > 0) {
    add_column(json, "macs", nodes, [&](std::size_t row) {
      return multiply_accumulates(*sheet.graph, NodeId(static_cast<std::uint32_t>(row))).value_or(kNone);
    });
  }
  json.end_object();
  const std::size_t tensors = labels.tensors.size();
  SharedTexts types;
  json.key("tensor");
  json.begin_object();
  add_names(json, "name", tensors, [&](std::size_t row) -> const std::string& { return tensor_at(row).name; });
  add_column(json, "type", tensors, [&](std::size_t row) {
    return types.index_of(std::string(to_string(tensor_at(row).dtype)) + to_string(tensor_at(row).shape));
  });
  add_column(json, "role", tensors, [&](std::size_t row) { return static_cast<int>(tensor_at(row).role); });
  add_column(json, "size", tensors, [&](std::size_t row) { return tensor_at(row).size.count(); });
  json.end_object();
  add_strings(json, "ops", ops.texts());
  add_strings(json, "types", types.texts());
}

std::int64_t destination_of(const Plan& plan, const Step& step) {
  if (!is_copy(step)) return kNone;
  const std::optional<RegionId> to = region_of(plan, step.writes[0]);
  return to && to != region_of(plan, step.reads[0]) ? static_cast<std::int64_t>(to->value()) : kNoMove;
}

// The stream of each step, the steps of other streams that it waits for, and its estimated time.
void add_concurrency(JsonWriter& json, const Sheet& sheet) {
  const IdVector<StepId, Step>& steps = sheet.plan->program.steps;
  if (sheet.plan->program.streams.size() < 2) return;
  const auto step_at = [&](std::size_t row) -> const Step& { return row_of(steps, row); };
  add_column(json, "stream", steps.size(), [&](std::size_t row) { return step_at(row).stream.value(); });
  add_column(json, "after_count", steps.size(), [&](std::size_t row) { return step_at(row).after.size(); });
  json.key("after");
  json.begin_array();
  for (const Step& step : steps) {
    for (StepId earlier : step.after) json.value(std::int64_t{earlier.value()});
  }
  json.end_array();
  if (sheet.costs == nullptr || sheet.costs->empty()) return;
  add_column(json, "picoseconds", steps.size(), [&](std::size_t row) {
    const Compute* compute = std::get_if<Compute>(&step_at(row).work);
    return compute == nullptr ? std::int64_t{0} : (*sheet.costs)[compute->node];
  });
}

void add_program(JsonWriter& json, const Sheet& sheet) {
  const Plan& plan = *sheet.plan;
  const std::size_t steps = plan.program.steps.size();
  const auto step_at = [&](std::size_t row) -> const Step& { return row_of(plan.program.steps, row); };
  json.key("step");
  json.begin_object();
  add_column(json, "node", steps, [&](std::size_t row) { return id_or_none(node_of(step_at(row))); });
  add_column(json, "alias", steps, [&](std::size_t row) { return is_alias(step_at(row)) ? 1 : 0; });
  add_column(json, "scratch", steps,
             [&](std::size_t row) { return id_or_none(row_of(plan.layout.steps, row).scratch); });
  add_concurrency(json, sheet);
  if (sheet.measured != nullptr) {
    add_column(json, "nanoseconds", steps, [&](std::size_t row) { return row_of(sheet.measured->nanoseconds, row); });
  }
  if (copies(plan.program)) {
    add_column(json, "copy", steps, [&](std::size_t row) { return destination_of(plan, step_at(row)); });
  }
  add_column(json, "read_count", steps, [&](std::size_t row) { return step_at(row).reads.size(); });
  json.key("read");
  json.begin_array();
  for (const Step& step : plan.program.steps) {
    for (ValueId value : step.reads) json.value(std::int64_t{value.value()});
  }
  json.end_array();
  json.end_object();
}

void add_values(JsonWriter& json, const Plan& plan) {
  const std::size_t count = plan.program.values.size();
  const auto at = [&](std::size_t row) -> const Value& { return row_of(plan.program.values, row); };
  const auto place_at = [&](std::size_t row) -> const ValuePlace& { return row_of(plan.layout.values, row); };
  json.key("value");
  json.begin_object();
  add_column(json, "tensor", count, [&](std::size_t row) { return at(row).tensor.value(); });
  add_column(json, "written", count, [&](std::size_t row) { return id_or_none(at(row).written); });
  add_column(json, "buffer", count, [&](std::size_t row) { return place_at(row).buffer.value(); });
  add_column(json, "offset", count, [&](std::size_t row) { return place_at(row).offset.position(); });
  json.end_object();
  const std::vector<ValueId>& outputs = plan.program.outputs;
  add_column(json, "outputs", outputs.size(), [&](std::size_t row) { return outputs[row].value(); });
}

// Writes nothing if no buffer has parts.
void add_parts(JsonWriter& json, const Plan& plan) {
  std::vector<std::pair<BufferId, BufferPart>> parts;
  for (BufferId buffer : all_ids<BufferId>(plan.layout.buffers.size())) {
    for (const BufferPart& part : plan.layout.buffers[buffer].parts) parts.emplace_back(buffer, part);
  }
  if (parts.empty()) return;
  json.key("part");
  json.begin_object();
  add_column(json, "buffer", parts.size(), [&](std::size_t row) { return parts[row].first.value(); });
  add_column(json, "size", parts.size(), [&](std::size_t row) { return parts[row].second.size.count(); });
  add_column(json, "begin", parts.size(), [&](std::size_t row) { return parts[row].second.lifespan.begin.value(); });
  add_column(json, "end", parts.size(), [&](std::size_t row) { return parts[row].second.lifespan.end.value(); });
  json.end_object();
}

void add_buffers(JsonWriter& json, const Sheet& sheet) {
  const Plan& plan = *sheet.plan;
  const Labels& labels = *sheet.labels;
  const auto at = [&](std::size_t row) -> const Buffer& { return row_of(plan.layout.buffers, row); };
  const IdVector<BufferId, BufferUse> uses = buffer_uses(plan, labels);
  const std::size_t count = plan.layout.buffers.size();
  json.key("buffer");
  json.begin_object();
  add_column(json, "kind", count, [&](std::size_t row) { return static_cast<int>(at(row).kind); });
  add_column(json, "size", count, [&](std::size_t row) { return at(row).size.count(); });
  add_column(json, "begin", count, [&](std::size_t row) { return at(row).lifespan.begin.value(); });
  add_column(json, "end", count, [&](std::size_t row) { return at(row).lifespan.end.value(); });
  add_column(json, "region", count, [&](std::size_t row) {
    return at(row).placement ? std::int64_t{at(row).placement->region.value()} : kNone;
  });
  add_column(json, "offset", count,
             [&](std::size_t row) { return at(row).placement ? at(row).placement->offset.position() : kNone; });
  add_column(json, "name", count, [&](std::size_t row) { return id_or_none(row_of(uses, row).name); });
  if (sheet.measured != nullptr && !sheet.measured->seen.empty()) {
    add_column(json, "seen", count, [&](std::size_t row) { return row_of(sheet.measured->seen, row); });
  }
  json.end_object();
  add_parts(json, plan);
}

void add_lowering(JsonWriter& json, const LoweringFacts& lowering) {
  json.member("lowered", lowering_text(lowering));
  json.key("rewrites");
  json.begin_array();
  for (const LoweringFacts::Rewrite& rewrite : lowering.rewrites) {
    json.begin_array();
    json.value(std::int64_t{rewrite.id.value()});
    json.begin_array();
    for (const std::string& name : rewrite.from) json.value(name_in_page(name));
    json.end_array();
    json.end_array();
  }
  json.end_array();
}

void add_copies(JsonWriter& json, const std::vector<CopyLeft>& copies) {
  const auto is_here = [](const CopyLeft& one) { return one.inside.empty(); };
  if (std::ranges::none_of(copies, is_here)) return;
  json.key("copies");
  json.begin_array();
  for (const CopyLeft& one : copies) {
    if (!is_here(one)) continue;
    json.begin_array();
    json.value(std::int64_t{one.step.value()});
    json.value(one.bytes);
    json.value(reason_text(one.reason));
    json.end_array();
  }
  json.end_array();
}

void add_kept(JsonWriter& json, const std::vector<KeptTensor>& kept, const Labels& labels) {
  if (kept.empty()) return;
  json.key("kept");
  json.begin_array();
  for (const KeptTensor& one : kept) {
    json.begin_array();
    json.value(std::int64_t{one.step.value()});
    json.value(std::int64_t{one.tensor.value()});
    json.value(why_kept(labels, one));
    json.end_array();
  }
  json.end_array();
}

}  // namespace

void append_sheets(std::vector<Sheet>& sheets, const Plan& plan, const Labels& labels, const Graph* graph) {
  std::size_t at = sheets.size();
  sheets.push_back({.plan = &plan, .labels = &labels, .graph = graph});
  for (; at < sheets.size(); ++at) {
    const Sheet outer = sheets[at];
    for (StepId step : all_ids<StepId>(outer.plan->program.steps.size())) {
      const std::vector<BodyPlan>& bodies = outer.plan->layout.steps[step].bodies;
      for (std::size_t position = 0; position < bodies.size(); ++position) {
        const BodyPlan& body = bodies[position];
        const NodeId node = *node_of(outer.plan->program.steps[step]);
        const Labels* inner = body_labels(*outer.labels, node, position);
        LOWTIDE_CHECK(inner != nullptr, "labels name every body of their plan");
        sheets.push_back(
            {.plan = body.plan.get(),
             .labels = inner,
             .parent = SheetParent{at, step},
             .body = body.body,
             .offset = body.offset,
             .graph = outer.graph == nullptr ? nullptr : outer.graph->node(node).bodies[position].graph.get()});
      }
    }
  }
}

void write_sheet(JsonWriter& json, const Sheet& sheet) {
  json.begin_object();
  add_parent(json, sheet);
  if (sheet.proof != nullptr) {
    add_strings(json, "proof", sheet.proof->paragraphs);
    add_strings(json, "not_in_place", sheet.proof->not_in_place);
  }
  if (!sheet.quantized.empty()) json.member("quantized", sheet.quantized);
  if (sheet.measured != nullptr) json.member("runs", sheet.measured->runs);
  if (sheet.lowering != nullptr) add_lowering(json, *sheet.lowering);
  if (sheet.copies != nullptr) add_copies(json, *sheet.copies);
  if (sheet.kept != nullptr) add_kept(json, *sheet.kept, *sheet.labels);
  add_facts(json, sheet);
  add_streams(json, *sheet.plan);
  add_regions(json, *sheet.plan, *sheet.labels);
  add_labels(json, sheet);
  add_program(json, sheet);
  add_values(json, *sheet.plan);
  add_buffers(json, sheet);
  json.end_object();
}

}  // namespace lowtide::report_internal
