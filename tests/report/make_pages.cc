// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// report_make_pages FOLDER: writes the pages that tests/report/browser/ opens.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lowtide/report/packing_page.h"
#include "lowtide/report/page.h"
#include "lowtide/report/plan_curve_report.h"
#include "lowtide/report/planners_page.h"
#include "lowtide/report/summary.h"
#include "tests/report/page_curves.h"
#include "tests/report/page_packings.h"
#include "tests/report/page_planners.h"
#include "tests/report/page_plans.h"

namespace lowtide {
namespace {

bool write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (out.good()) return true;
  std::fprintf(stderr, "make_pages: %s cannot be written\n", path.c_str());
  return false;
}

bool write_packing(const std::filesystem::path& path, const PackingSketch& shown, PackingPageOptions options = {}) {
  options.name = path.stem().string() + ".csv";
  options.tool = "lowtide 1.2.3";
  return write_text(path, packing_page(shown.problem, shown.packing, options));
}

bool write_page(const std::filesystem::path& path, const PlanSketch& shown, const PageOptions& options = {}) {
  return write_text(path, page({shown.plan, shown.labels}, options));
}

bool write_comparison(const std::filesystem::path& path, const PlanSketch& shown, const PlanSketch& against) {
  const NamedPlan other{against.plan, against.labels};
  return write_page(path, shown, {.against = &other});
}

// small_plan() as `lowtide plan` shows it: with the name of the model, verified, with a proof.
bool write_small(const std::filesystem::path& path) {
  PlanSketch small = small_plan();
  small.plan.provenance.model = "small.onnx";
  const Graph graph = small_plan_graph();
  const LoweringFacts lowering{.left_out = 3, .rewrites = {{NodeId(0), "conv1", "Conv", {"conv", "norm"}}}};
  const std::vector<CopyLeft> copies{
      {.step = StepId(5), .op = "MaxPool", .name = "pool", .bytes = Bytes(64 << 10), .reason = CopyReason::pieces}};
  return write_page(path, small,
                    {.is_verified = true,
                     .proofs = {{&small.plan,
                                 {"Proven: no plan needs less.", "At step 2, Conv conv2, all are live."},
                                 {"c could be written over b."}}},
                     .graph = &graph,
                     .quantized = "2 operators are quantized.",
                     .lowering = &lowering,
                     .copies = &copies});
}

// Weights in flash, apart from the arena.
PlanSketch flash_plan() {
  PlanSketch made = small_plan();
  made.plan.machine.regions.push_back({.name = "flash", .capacity = Bytes(2 << 20), .is_read_only = true});
  made.plan.layout.arena.emplace_back(0);
  made.plan.machine.constants = RegionId(1);
  return made;
}

// Weights of 36 KiB in the region of the arena.
PlanSketch shared_region_plan() {
  PlanSketch made = small_plan();
  made.plan.machine.regions[0].capacity = Bytes(640 * 1024);
  made.plan.machine.constants = RegionId(0);
  return made;
}

// Three steps take 4, 6 and 3 microseconds, and the last one takes 1.
bool write_streams(const std::filesystem::path& path) {
  const IdVector<NodeId, std::int64_t> costs({4'000'000, 6'000'000, 3'000'000, 1'000'000});
  return write_page(path, streams_plan(), {.costs = &costs});
}

// small_plan() with times of 1 to 9 microseconds, in which the first buffer of the arena is half written.
bool write_measured(const std::filesystem::path& path) {
  const PlanSketch small = small_plan();
  PageMeasurement measured{.runs = 20};
  for (StepId id : all_ids<StepId>(small.plan.program.steps.size())) {
    measured.nanoseconds.push_back(1000 * (std::int64_t{id.value()} + 1));
  }
  bool is_first = true;
  for (BufferId id : all_ids<BufferId>(small.plan.layout.buffers.size())) {
    const Buffer& buffer = small.plan.layout.buffers[id];
    measured.seen.push_back(!buffer.placement ? -1 : is_first ? buffer.size.count() / 2 : buffer.size.count());
    if (buffer.placement) is_first = false;
  }
  return write_page(path, small, {.measured = &measured});
}

// What stays at the peak of a plan that keeps a budget, and why.
bool write_kept(const std::filesystem::path& path) {
  const std::vector<KeptTensor> kept{{.tensor = TensorId(1), .step = StepId(2), .reason = KeptReason::hint}};
  return write_page(path, skip_plan(), {.kept = &kept});
}

// transfers_plan() as the plan of a budget of 40 KiB, of which the input takes 4 and the arena 32. One node runs again
// and one tensor moves, which takes 1,053 instead of 1,000 us. No plan that fits takes less than 1,021.
bool write_budget(const std::filesystem::path& path) {
  const PlanVerdict verdict{.caller = Bytes(4096),
                            .capacity = Bytes(40 * 1024),
                            .is_budget_the_limit = true,
                            .counted = Bytes(36 * 1024),
                            .recomputation = Recomputation{.outcome = BudgetOutcome::found,
                                                           .has_link = true,
                                                           .base_picoseconds = 1'000'000'000,
                                                           .picoseconds = 1'053'000'000,
                                                           .bound_picoseconds = 1'021'000'000,
                                                           .bound_kind = CostBoundKind::milestones}};
  return write_page(path, transfers_plan(), {.is_verified = true, .verdict = &verdict});
}

// small_plan(), which is optimal, under a budget of 600 KiB. Its arena of 576 KiB and the input of 64 are 40 too large.
bool write_no_fit(const std::filesystem::path& path) {
  PlanSketch made = small_plan();
  made.plan.claims.bounds = {{BoundScope::all_plans, Bytes(576 * 1024), "working_set"}};
  made.plan.claims.shortfall = Bytes(40 * 1024);
  const PlanVerdict verdict{.caller = Bytes(64 * 1024),
                            .capacity = Bytes(600 * 1024),
                            .is_budget_the_limit = true,
                            .counted = Bytes(640 * 1024),
                            .shortfall = Bytes(40 * 1024),
                            .proven_infeasible = true};
  return write_page(path, made, {.is_verified = true, .verdict = &verdict});
}

bool write_packings(const std::filesystem::path& folder) {
  return write_packing(folder / "packing.html", small_packing(), {.is_verified = true}) &&
         write_packing(folder / "packing_hostile.html", hostile_packing(), {.is_verified = true}) &&
         write_packing(folder / "packing_empty.html", empty_packing()) &&
         write_packing(folder / "packing_far.html", far_packing(), {.is_verified = true}) &&
         write_packing(folder / "packing_20k.html", generated_packing(20'000, 7), {.is_verified = true});
}

// Strips of phases. Those of the hostile packing have its names, more than there are colours.
bool write_bands(const std::filesystem::path& folder) {
  std::vector<PageBand> hostile;
  for (const std::string& name : hostile_names()) {
    const auto at = static_cast<std::int64_t>(hostile.size());
    hostile.push_back({name, at, at + 1});
  }
  PackingSketch long_lived = hostile_packing();
  for (PackingBuffer& buffer : long_lived.problem.buffers) buffer.lifespan.end = 100;
  return write_packing(folder / "bands.html", small_packing(), {.is_verified = true, .bands = small_bands()}) &&
         write_packing(folder / "bands_hostile.html", long_lived, {.bands = hostile}) &&
         write_packing(folder / "bands_20k.html", generated_packing(20'000, 7), {.bands = many_bands(200'000, 100)});
}

bool write_all(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const PlanSketch before = small_plan_before();
  const PlanSketch with_copies = parts_plan_before();
  PlanSketch retimed = parts_plan();
  retimed.plan.layout.buffers[BufferId(1)].parts[2].lifespan.begin = StepId(5);
  const PlanSketch plain = encoder_decoder_plan(5, false);
  PlanSketch sized = small_plan_before();
  sized.plan.provenance.dims = {"batch=2"};
  PlanSketch flow = streams_plan();
  flow.plan.execution = ExecutionModel::dataflow;
  PlanSketch missed = activation_plan();
  missed.plan.claims.shortfall = arena_bytes(missed.plan) - Bytes(384 * 1024);
  return write_small(folder / "small.html") && write_measured(folder / "measured.html") &&
         write_comparison(folder / "compare.html", small_plan(), before) &&
         write_comparison(folder / "compare_sizes.html", small_plan(), sized) &&
         write_page(folder / "parts.html", parts_plan()) &&
         write_comparison(folder / "parts_compare.html", parts_plan(), with_copies) &&
         write_comparison(folder / "parts_retimed.html", parts_plan(), retimed) &&
         write_page(folder / "parts_2k.html", staircases_plan(2'000)) && write_streams(folder / "streams.html") &&
         write_page(folder / "dataflow.html", flow) && write_page(folder / "bodies.html", bodies_plan()) &&
         write_page(folder / "activation.html", activation_plan()) && write_page(folder / "idle.html", idle_plan()) &&
         write_page(folder / "missed.html", missed) && write_page(folder / "regions.html", regions_plan()) &&
         write_page(folder / "flash.html", flash_plan()) &&
         write_page(folder / "shared_region.html", shared_region_plan()) &&
         write_page(folder / "transfers.html", transfers_plan()) && write_kept(folder / "kept.html") &&
         write_budget(folder / "budget.html") && write_no_fit(folder / "no_fit.html") &&
         write_page(folder / "skip.html", skip_plan()) && write_page(folder / "hostile.html", hostile_plan()) &&
         write_page(folder / "empty.html", empty_plan()) && write_page(folder / "unplaced.html", unplaced_plan()) &&
         write_page(folder / "network.html", encoder_decoder_plan(5, true)) &&
         write_comparison(folder / "network_compare.html", encoder_decoder_plan(5, true), plain) &&
         write_page(folder / "generated_10k.html", generated_plan(10'000, 7)) &&
         write_page(folder / "generated_100k.html", generated_plan(100'000, 7)) && write_packings(folder) &&
         write_bands(folder) && write_text(folder / "curve.html", plan_curve_page("model.onnx", small_curve())) &&
         write_text(folder / "planners.html", planners_page(small_planners())) &&
         write_text(folder / "planners_hostile.html", planners_page(hostile_planners()));
}

}  // namespace
}  // namespace lowtide

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: report_make_pages FOLDER\n");
    return 2;
  }
  return lowtide::write_all(argv[1]) ? 0 : 1;
}
