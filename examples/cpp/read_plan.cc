// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads a plan file as a runtime would, without the model:  example_read_plan PLAN

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "lowtide/plan/plan_json.h"

using namespace lowtide;  // NOLINT(google-build-using-namespace): a short program

namespace {

void print_step(const PlanFile& file, StepId id) {
  const Plan& plan = file.plan;
  const Step& step = plan.program.steps[id];
  std::cout << id.value() << ' ' << kind_name(step);
  if (const std::optional<NodeId> node = node_of(step)) {
    std::cout << ' ' << file.labels.nodes[*node].op << ' ' << file.labels.nodes[*node].name;
  }
  for (ValueId value : step.writes) {
    const ValuePlace& place = plan.layout.values[value];
    const Buffer& buffer = plan.layout.buffers[place.buffer];
    std::cout << "  " << file.labels.tensors[plan.program.values[value].tensor].name;
    if (!buffer.placement) {
      std::cout << " in memory of the caller";
      continue;
    }
    const std::int64_t offset = buffer.placement->offset.position() + place.offset.position();
    std::cout << " at " << plan.machine.regions[buffer.placement->region.index()].name << '+' << offset;
  }
  std::cout << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: example_read_plan PLAN\n";
    return 2;
  }
  std::ifstream stream(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const Result<PlanFile> file = read_plan_json(text, argv[1]);
  if (!file.ok()) {
    std::cerr << file.error().describe() << '\n';
    return 3;
  }
  // A runtime must understand these features to run the plan.
  for (std::string_view feature : features_of(file->plan)) std::cout << "needs " << feature << '\n';
  for (StepId id : all_ids<StepId>(file->plan.program.steps.size())) print_step(*file, id);
  std::cout << "arena " << arena_bytes(file->plan).count() << " bytes\n";
  return 0;
}
