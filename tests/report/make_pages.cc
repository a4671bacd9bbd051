// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// report_make_pages FOLDER: writes the pages that tests/report/browser/ opens.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "lowtide/report/packing_page.h"
#include "lowtide/report/page.h"
#include "tests/report/page_packings.h"
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

bool write_packing(const std::filesystem::path& path, const PackingSketch& shown, bool is_verified = true) {
  return write_text(
      path, packing_page(shown.problem, shown.packing,
                         {.name = path.stem().string() + ".csv", .tool = "lowtide 1.2.3", .is_verified = is_verified}));
}

bool write_page(const std::filesystem::path& path, const PlanSketch& shown, const PlanSketch* against = nullptr,
                bool is_verified = false) {
  const NamedPlan shown_names{shown.plan, shown.labels};
  if (against == nullptr) return write_text(path, page(shown_names, {.is_verified = is_verified}));
  const NamedPlan against_names{against->plan, against->labels};
  return write_text(path, page(shown_names, {.against = &against_names}));
}

bool write_all(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const PlanSketch before = small_plan_before();
  const PlanSketch with_copies = parts_plan_before();
  PlanSketch retimed = parts_plan();
  retimed.plan.layout.buffers[BufferId(1)].parts[2].lifespan.begin = StepId(5);
  const PlanSketch plain = encoder_decoder_plan(5, false);
  return write_page(folder / "small.html", small_plan(), nullptr, true) &&
         write_page(folder / "compare.html", small_plan(), &before) &&
         write_page(folder / "parts.html", parts_plan()) &&
         write_page(folder / "parts_compare.html", parts_plan(), &with_copies) &&
         write_page(folder / "parts_retimed.html", parts_plan(), &retimed) &&
         write_page(folder / "parts_2k.html", staircases_plan(2'000)) &&
         write_page(folder / "streams.html", streams_plan()) && write_page(folder / "bodies.html", bodies_plan()) &&
         write_page(folder / "regions.html", regions_plan()) &&
         write_page(folder / "transfers.html", transfers_plan()) &&
         write_page(folder / "hostile.html", hostile_plan()) && write_page(folder / "empty.html", empty_plan()) &&
         write_page(folder / "unplaced.html", unplaced_plan()) &&
         write_page(folder / "network.html", encoder_decoder_plan(5, true)) &&
         write_page(folder / "network_compare.html", encoder_decoder_plan(5, true), &plain) &&
         write_page(folder / "generated_10k.html", generated_plan(10'000, 7)) &&
         write_page(folder / "generated_100k.html", generated_plan(100'000, 7)) &&
         write_packing(folder / "packing.html", small_packing()) &&
         write_packing(folder / "packing_hostile.html", hostile_packing()) &&
         write_packing(folder / "packing_empty.html", empty_packing(), false) &&
         write_packing(folder / "packing_far.html", far_packing()) &&
         write_packing(folder / "packing_20k.html", generated_packing(20'000, 7));
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
