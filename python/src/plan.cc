// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.h"
#include "call.h"
#include "lowtide/adapt/lowering_facts.h"
#include "lowtide/analysis/copies_left.h"
#include "lowtide/base/check.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/import/import.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/plan/plans_json.h"
#include "lowtide/report/explanation.h"
#include "lowtide/report/page.h"
#include "lowtide/verify/verify.h"

namespace lowtide::python {
namespace {

// name, kind, region, offset, bytes, begin, end
using BufferRow =
    std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
// name, element type, extents, buffer, region, offset, bytes
using TensorRow = std::tuple<std::string, std::string, std::vector<std::int64_t>, std::int64_t, std::string,
                             std::int64_t, std::int64_t>;

void check_right(const std::vector<Violation>& violations) {
  LOWTIDE_CHECK(violations.empty(), "the plan that was just made is correct");
}

PlanHandle make_plan(const Request& request) {
  auto made = call_interruptibly([&](const std::atomic<bool>* stop) {
    PlanOptions options = plan_options(request);
    Target target = target_of(request);
    auto result = std::make_shared<Made>(
        Made{request, load_model(request), std::move(target), std::move(options), PlannedGraph{}});
    result->options.model = std::filesystem::path(request.model).filename().string();
    result->options.model_sha256 = result->loaded.model.sha256;
    result->options.lowering = result->loaded.lowered.passes;
    result->options.stop = stop;
    result->planned = take(plan_graph(result->loaded.lowered.graph, result->target, result->options));
    result->options.stop = nullptr;
    return result;
  });
  check_right(made->planned.violations);
  Plan plan = std::move(made->planned.plan);
  const bool is_verified = made->planned.is_verified;
  Labels labels = labels_of(made->loaded.lowered.graph);
  return {std::move(plan), std::move(labels), is_verified, std::move(made)};
}

PlanHandle read_plan(const std::string& text, const std::string& name) {
  PlanFile file = take(read_plan_json(text, name));
  return {std::move(file.plan), std::move(file.labels), false, nullptr};
}

std::vector<PlanHandle> read_plans(const std::string& text, const std::string& name) {
  std::vector<PlanHandle> handles;
  for (PlanFile& file : take(read_plans_json(text, name)))
    handles.push_back({std::move(file.plan), std::move(file.labels), false, nullptr});
  return handles;
}

std::string write_plans(const std::vector<std::string>& plans) { return write_plans_json(plans); }

std::string forbidden_text(const Request& request) {
  std::string text;
  if (!request.in_place) text += " in_place=False";
  if (!request.views) text += " views=False";
  if (!request.parts) text += " parts=False";
  return text.empty() ? text : text.substr(1);
}

// What lowering changed, for the target "cpu".
std::optional<LoweringFacts> lowering_of(const Made& made) {
  return take(
      lowering_facts(made.loaded.model.graph, made.loaded.lowered, lower_options_of(made.request), made.options));
}

// The page with everything that is known about the plan.
std::string html_of(const PlanHandle& handle) {
  PageOptions options{.is_verified = handle.is_verified};
  std::vector<CopyLeft> copies;
  std::optional<LoweringFacts> lowering;
  if (handle.made) {
    const Made& made = *handle.made;
    options.graph = &made.loaded.lowered.graph;
    options.costs = &made.planned.costs;
    copies = copies_left(made.loaded.lowered.graph, handle.plan);
    options.copies = &copies;
    lowering = lowering_of(made);
    options.lowering = lowering ? &*lowering : nullptr;
    if (handle.plan.execution == ExecutionModel::sequence) {
      const ExplanationFacts facts = explanation_facts(made.planned, made.request.order, forbidden_text(made.request));
      for (const PeakExplanation& level :
           explain_peak(made.loaded.lowered.graph, handle.labels, made.target, made.options, handle.plan)) {
        options.proofs.push_back({level.peak.plan, proof_paragraphs(level, facts), in_place_paragraphs(level)});
      }
    }
  }
  return page({handle.plan, handle.labels}, options);
}

std::string region_name(const Plan& plan, RegionId region) { return plan.machine.regions[region.index()].name; }

// The name of a buffer: its largest tensor, the first of equals. Scratch has none.
std::vector<std::string> buffer_names(const PlanHandle& handle) {
  const Plan& plan = handle.plan;
  std::vector<std::optional<TensorId>> largest(plan.layout.buffers.size());
  for (ValueId value : all_ids<ValueId>(plan.program.values.size())) {
    const TensorId tensor = plan.program.values[value].tensor;
    std::optional<TensorId>& best = largest[plan.layout.values[value].buffer.index()];
    if (!best || handle.labels.tensors[*best].size < handle.labels.tensors[tensor].size) best = tensor;
  }
  std::vector<std::string> names;
  names.reserve(largest.size());
  for (const auto& tensor : largest) names.push_back(tensor ? handle.labels.tensors[*tensor].name : "");
  return names;
}

// The buffers in the arena, by id.
std::vector<BufferRow> buffer_rows(const PlanHandle& handle) {
  const std::vector<std::string> names = buffer_names(handle);
  std::vector<BufferRow> rows;
  for (BufferId id : all_ids<BufferId>(handle.plan.layout.buffers.size())) {
    const Buffer& buffer = handle.plan.layout.buffers[id];
    if (!buffer.placement) continue;
    rows.emplace_back(names[id.index()], std::string(to_string(buffer.kind)),
                      region_name(handle.plan, buffer.placement->region), buffer.placement->offset.position(),
                      buffer.size.count(), buffer.lifespan.begin.value(), buffer.lifespan.end.value());
  }
  return rows;
}

// The tensors in the arena, in the order of the values of the plan.
std::vector<TensorRow> tensor_rows(const PlanHandle& handle) {
  std::vector<TensorRow> rows;
  for (ValueId value : all_ids<ValueId>(handle.plan.program.values.size())) {
    const ValuePlace& place = handle.plan.layout.values[value];
    const std::optional<Placement>& placement = handle.plan.layout.buffers[place.buffer].placement;
    if (!placement) continue;
    const TensorLabel& tensor = handle.labels.tensors[handle.plan.program.values[value].tensor];
    rows.emplace_back(tensor.name, std::string(to_string(tensor.dtype)), tensor.shape.extents(),
                      static_cast<std::int64_t>(place.buffer.value()), region_name(handle.plan, placement->region),
                      placement->offset.position() + place.offset.position(), tensor.size.count());
  }
  return rows;
}

nb::list buffers_of(const PeakExplanation& level) {
  nb::list buffers;
  for (const PeakBuffer& one : level.buffers) {
    const Labels& labels = *level.peak.labels;
    nb::list tensors;
    for (ValueId value : one.live.values)
      tensors.append(labels.tensors[level.peak.plan->program.values[value].tensor].name);
    nb::dict row;
    row["bytes"] = one.live.bytes.count();
    row["must_bytes"] = one.must.count();
    row["use"] = std::string(to_string(one.use));
    row["tensors"] = tensors;
    buffers.append(row);
  }
  return buffers;
}

nb::dict dict_of(const PeakExplanation& level) {
  const Bound bound = bound_of(*level.peak.plan);
  nb::dict row;
  row["inside"] = level.peak.body.empty() ? nb::none() : nb::object(nb::cast(level.peak.body));
  row["step"] = level.peak.step ? nb::object(nb::cast(level.peak.step->value())) : nb::none();
  row["load_bytes"] = level.peak.bytes.count();
  row["bound_bytes"] = bound.bytes.count();
  row["bound_name"] = bound.name;
  row["must_bytes"] = level.must.bytes.count();
  row["buffers"] = buffers_of(level);
  return row;
}

// The text of `lowtide explain`, and its levels.
std::pair<std::string, nb::typed<nb::list, AnyDict>> explain(const Request& request, std::size_t top) {
  const PlanHandle handle = make_plan(request);
  const Made& made = *handle.made;
  const std::vector<PeakExplanation> levels =
      explain_peak(made.loaded.lowered.graph, handle.labels, made.target, made.options, handle.plan);
  ExplanationFacts facts = explanation_facts(made.planned, request.order, forbidden_text(request));
  facts.lowering = lowering_of(made);
  facts.copies = copies_left(made.loaded.lowered.graph, handle.plan);
  const StyledText text = explanation_summary(facts_of(made.loaded, request), levels, facts, {.top = top});
  nb::list rows;
  for (const PeakExplanation& level : levels) rows.append(dict_of(level));
  return {text.render(false), rows};
}

// kind, message, step, body
using ViolationRow = std::tuple<std::string, std::string, std::optional<std::uint32_t>, std::string>;

std::vector<Violation> find_violations(const Request& request, const PlanHandle& handle) {
  const Provenance& provenance = handle.plan.provenance;
  const std::string digest = take(model_digest(request.model));
  const std::string& planned_for = provenance.model_sha256;
  if (!planned_for.empty() && planned_for != digest) {
    return {{.kind = ViolationKind::wrong_model,
             .message = "the plan is for the model with sha256 " + lowtide::quoted(planned_for.substr(0, 12)) +
                        "..., but this model has " + lowtide::quoted(digest.substr(0, 12)) + "..."}};
  }
  const ImportedModel model = take(import_model(request.model, import_options(request)));
  const bool has_formats = depend_on_machine(provenance.lowering);
  if (has_formats && !is_key_of_machine(provenance.machine_key)) {
    return {{.kind = ViolationKind::wrong_kernel,
             .message = "the plan has the formats of a machine with " + listed(provenance.machine_key, "and") +
                        ", but this one has " +
                        listed(texts_of(machine_key(options_of_key(provenance.machine_key))), "and") +
                        "; plan again with target 'cpu'"}};
  }
  const std::shared_ptr<const KernelFormats> machine = has_formats ? take(cpu_target()).formats : nullptr;
  LowerOptions lowering = take(lower_options(provenance.lowering, machine));
  lowering.table = &model.constants;
  const Lowered lowered = take(lower(model.graph, lowering));
  // To replay the plan of another graph would only report the same cause in other words.
  std::vector<Violation> violations = verify_labels(lowered.graph, handle.labels);
  if (!violations.empty()) return violations;
  violations = verify_lowering(model.graph, lowered.graph, lowered.load, {}, &model.constants);
  for (Violation& violation : verify(lowered.graph, handle.plan)) violations.push_back(std::move(violation));
  return violations;
}

std::vector<ViolationRow> verify_plan(const Request& request, const PlanHandle& handle) {
  const std::vector<Violation> violations =
      call_interruptibly([&](const std::atomic<bool>* /*stop*/) { return find_violations(request, handle); });
  std::vector<ViolationRow> rows;
  for (const Violation& one : violations) {
    rows.emplace_back(std::string(to_string(one.kind)), one.message,
                      one.step ? std::optional(one.step->value()) : std::nullopt, one.body);
  }
  return rows;
}

bool is_optimal(const PlanHandle& handle) {
  return counts_all(handle.plan.claims) && arena_bytes(handle.plan) == bound_of(handle.plan).bytes;
}

std::vector<std::string> notes_of(const PlanHandle& handle) {
  return handle.made ? handle.made->loaded.model.notes : std::vector<std::string>();
}

bool is_bound_verified(const PlanHandle& handle) {
  return handle.made && handle.made->planned.bound_check.verdict == OrderBoundVerdict::confirmed;
}

}  // namespace

void bind_plan(nb::module_& module) {
  nb::class_<PlanHandle>(module, "PlanHandle")
      .def_prop_ro("arena", [](const PlanHandle& self) { return arena_bytes(self.plan).count(); })
      .def_prop_ro("bound", [](const PlanHandle& self) { return bound_of(self.plan).bytes.count(); })
      .def_prop_ro("bound_name", [](const PlanHandle& self) { return bound_of(self.plan).name; })
      .def_prop_ro("load", [](const PlanHandle& self) { return self.plan.claims.load.count(); })
      .def_prop_ro("load_as_given", [](const PlanHandle& self) { return self.plan.claims.load_as_given.count(); })
      .def_prop_ro("shortfall", [](const PlanHandle& self) { return self.plan.claims.shortfall.count(); })
      .def_prop_ro("uncounted", [](const PlanHandle& self) { return self.plan.claims.uncounted; })
      .def_prop_ro("is_optimal", is_optimal)
      .def_prop_ro("is_verified", [](const PlanHandle& self) { return self.is_verified; })
      .def_prop_ro("is_bound_verified", is_bound_verified)
      .def_prop_ro("steps", [](const PlanHandle& self) { return self.plan.program.steps.size(); })
      .def_prop_ro("execution", [](const PlanHandle& self) { return std::string(to_string(self.plan.execution)); })
      .def_prop_ro("model", [](const PlanHandle& self) { return self.plan.provenance.model; })
      .def_prop_ro("target", [](const PlanHandle& self) { return self.plan.provenance.target; })
      .def_prop_ro("dims", [](const PlanHandle& self) { return self.plan.provenance.dims; })
      .def_prop_ro("notes", notes_of)
      .def("json", [](const PlanHandle& self) { return write_plan_json(self.plan, self.labels); })
      .def("html", html_of)
      .def("buffers", buffer_rows)
      .def("tensors", tensor_rows);
  module.def("plan", make_plan);
  module.def("read_plan", read_plan);
  module.def("read_plans", read_plans);
  module.def("write_plans", write_plans);
  module.def("explain", explain);
  module.def("verify", verify_plan);
}

}  // namespace lowtide::python
