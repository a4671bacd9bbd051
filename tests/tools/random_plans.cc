// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Runs a model by random plans, and compares the results bit for bit.
//
//   random_plans MODEL COUNT [INPUT=AxBxC...]
//
// Each plan has a random strategy for its order, random kinds of sharing, and random offsets with gaps. The verifier
// checks it. Every value must be equal to that of a run without reuse, and every output to that of the first plan.
// Constants whose file is absent and all inputs are synthetic. Exits with 1 if anything differs.

#include <algorithm>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/engine/engine.h"
#include "lowtide/runtime/inspect.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/verify/verify.h"
#include "lowtide/weights/synthetic.h"

namespace lowtide {
namespace {

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().describe());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// Moves every buffer to the first free place above a random offset, in a random order.
void scatter(Plan& plan, Random& random) {
  IdVector<BufferId, Buffer>& buffers = plan.layout.buffers;
  std::vector<BufferId> order;
  for (BufferId id : all_ids<BufferId>(buffers.size())) {
    if (buffers[id].placement) order.push_back(id);
  }
  for (std::size_t at = order.size(); at > 1; --at) std::swap(order[at - 1], order[random.below(at)]);
  const auto are_together = [&](BufferId one, BufferId other) {
    return buffers[one].lifespan.overlaps(buffers[other].lifespan) || plan.program.steps.empty();
  };
  std::vector<BufferId> placed;
  Bytes end;
  for (BufferId id : order) {
    Offset offset(static_cast<std::int64_t>(random.below(8)) * plan.machine.regions[0].alignment.count());
    std::ranges::sort(placed, {}, [&](BufferId other) { return buffers[other].placement->offset; });
    for (BufferId other : placed) {
      const Offset begin = buffers[other].placement->offset;
      if (!are_together(id, other) || begin + buffers[other].size <= offset || offset + buffers[id].size <= begin)
        continue;
      offset = begin + buffers[other].size;
    }
    buffers[id].placement->offset = offset;
    placed.push_back(id);
    end = std::max(end, Bytes((offset + buffers[id].size).position()));
  }
  plan.layout.arena[0] = end;
  plan.claims.allocate = "random";
  plan.claims.allocate_optimal = end == plan.claims.load;
}

Plan random_plan(const Graph& graph, Random& random) {
  const std::vector<std::string>& strategies = schedule_strategies();
  PlanOptions options{.order = strategies[random.below(strategies.size())],
                      .views = random.chance(75),
                      .parts = random.chance(50),
                      .in_place = random.chance(75),
                      .order_effort = 0,
                      .allocate_effort = 0};
  Plan plan = take(plan_graph(graph, take(cpu_target()), options)).plan;
  scatter(plan, random);
  for (const Violation& violation : verify(graph, plan)) throw std::runtime_error("wrong plan: " + violation.message);
  std::cout << options.order << (options.views ? ", views" : "") << (options.parts ? ", parts" : "")
            << (options.in_place ? ", in place" : "") << ", arena " << plan.layout.arena[0].count();
  return plan;
}

struct Inputs {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<TensorRef> tensors;
};

Inputs synthetic_inputs(const Executable& executable) {
  Inputs inputs;
  for (const Port& port : executable.inputs()) {
    std::vector<std::byte>& bytes = inputs.bytes.emplace_back(static_cast<std::size_t>(port.size.count()));
    take(fill_synthetic({port.name, port.dtype, port.shape, port.size, ConstantSource::Computed{}}, 1, bytes));
    inputs.tensors.push_back({port.dtype, port.shape.extents(), bytes});
  }
  return inputs;
}

std::vector<std::vector<std::byte>> outputs_of(const std::shared_ptr<const Executable>& executable,
                                               const Inputs& inputs) {
  const Arena arena = take(Arena::allocate(executable->required_bytes()));
  Session session = take(Session::open(executable, arena));
  for (std::size_t at = 0; at < inputs.tensors.size(); ++at) {
    take(session.bind_input(executable->inputs()[at].name, inputs.tensors[at]));
  }
  const RunResult result = session.run();
  if (!result.ok()) throw std::runtime_error(describe(*executable, result).describe());
  std::vector<std::vector<std::byte>> outputs;
  for (std::size_t at = 0; at < executable->outputs().size(); ++at) {
    const std::span<const std::byte> bytes = session.output(at).bytes;
    outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return outputs;
}

int run(const std::vector<std::string>& words) {
  OpenOptions options;
  options.synthetic_seed = 1;
  options.plan = {.order = "as_given", .order_effort = 0, .allocate_effort = 0};
  for (std::size_t at = 2; at < words.size(); ++at) {
    const std::size_t equal = words[at].find('=');
    std::vector<std::int64_t> extents;
    for (std::size_t begin = equal + 1; begin != 0; begin = words[at].find('x', begin) + 1) {
      extents.push_back(std::stoll(words[at].substr(begin)));
    }
    options.import.shapes[words[at].substr(0, equal)] = extents;
  }
  const OpenedModel model = take(open_model(words[0], options));
  const Inputs inputs = synthetic_inputs(*model.executable);
  const auto expected = outputs_of(model.executable, inputs);
  for (int seed = 0; seed < std::stoi(words[1]); ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Graph& graph = model.executable->graph();
    const auto executable =
        take(Executable::prepare(graph, random_plan(graph, random), model.executable->shared_weights()));
    const bool is_equal = outputs_of(executable, inputs) == expected;
    const RunInspection inspection = take(compare_without_reuse(*executable, inputs.tensors));
    std::cout << ": " << inspection.fault.value_or(is_equal ? "equal" : "an output differs from that of another plan")
              << std::endl;
    if (inspection.fault || !is_equal) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace lowtide

int main(int count, char** words) {
  try {
    return lowtide::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cout << error.what() << std::endl;
    return 1;
  }
}
