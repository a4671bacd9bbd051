// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/program_plans.h"

#include <memory>
#include <utility>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

constexpr RegionId kArena(0);

// The size of all tensors of a plan, and offsets that have space for one.
struct Sizes {
  explicit Sizes(Random& random) : bytes(random.between(2, 48)), first(random.between(0, 2)) {}

  // The n-th slot of the arena.
  [[nodiscard]] std::int64_t slot(std::int64_t n) const { return (first + n) * 48; }

  std::int64_t bytes;
  std::int64_t first;
};

std::shared_ptr<const Graph> shared(Graph graph) { return std::make_shared<const Graph>(std::move(graph)); }

// a = Relu(x), b = Neg(source), c = Abs(b), d = Add(c, a); d is the output.
struct DiamondParts {
  TensorId x, a, b, c, d;
  NodeId relu, neg, abs, add;
  std::shared_ptr<const Graph> graph;
};

DiamondParts diamond_parts(std::int64_t bytes, bool neg_reads_a) {
  GraphMaker maker;
  DiamondParts made;
  made.x = maker.input("x", {bytes});
  made.a = maker.tensor("a", {bytes});
  made.b = maker.tensor("b", {bytes});
  made.c = maker.tensor("c", {bytes});
  made.d = maker.tensor("d", {bytes});
  made.relu = maker.node("Relu", {made.x}, {made.a});
  made.neg = maker.node("Neg", {neg_reads_a ? made.a : made.x}, {made.b});
  made.abs = maker.node("Abs", {made.b}, {made.c});
  made.add = maker.node("Add", {made.c, made.a}, {made.d});
  made.graph = shared(maker.make({made.d}));
  return made;
}

}  // namespace

//   slot 2                       | d |
//   slot 1       | b     |   a       |     a is there in steps 0 and 1, and again from step 3 on
//   slot 0   | a     | c             |
//   step       0   1   2   3   4
Mutant recompute_plan(Random& random) {
  const Sizes sizes(random);
  const DiamondParts net = diamond_parts(sizes.bytes, true);
  PlanMaker maker(*net.graph);
  maker.put(net.a, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(0), 0, 2));
  maker.compute(net.relu);
  maker.put(net.b, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(1), 1, 3));
  maker.compute(net.neg);
  maker.put(net.c, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(0), 2, 5));
  maker.compute(net.abs);
  maker.put(net.a, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(1), 3, 5));
  maker.compute(net.relu);
  maker.put(net.d, maker.buffer(BufferKind::output, sizes.bytes, sizes.slot(2), 4, 5));
  maker.compute(net.add);
  return {net.graph, maker.finish()};
}

namespace {

//   worker   | 0 a | 2 b | 3 c     |           | 5 d |      3 waits for 1: c takes over the bytes of a
//   out            | 1 a -> host |                          4 waits for 3: a takes over the bytes of b
//   in                             | 4 a <- host |          5 waits for 4
//
// In pieces, each copy is two, of the first byte and of the others.
Mutant swap(Random& random, bool in_pieces) {
  const Sizes sizes(random);
  const DiamondParts net = diamond_parts(sizes.bytes, false);
  PlanMaker maker(*net.graph);
  const RegionId host = maker.region("host");
  maker.address_only({kArena});
  const StreamId out = maker.link_stream(kArena, host);
  const StreamId in = maker.link_stream(host, kArena);
  const std::uint32_t more = in_pieces ? 1 : 0;  // steps for each copy
  const auto copy = [&](ValueId from, ValueId to, StreamId stream, std::vector<StepId> after) {
    if (in_pieces) {
      maker.copy(from, to, Interval<std::int64_t>{0, 1});
      maker.on(stream, std::exchange(after, {}));
      maker.copy(from, to, Interval<std::int64_t>{1, sizes.bytes});
    } else {
      maker.copy(from, to);
    }
    maker.on(stream, std::move(after));
  };
  const ValueId first = maker.put(net.a, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(0), 0, 3 + more));
  const StepId relu = maker.compute(net.relu);
  const ValueId away =
      maker.put(net.a, maker.in_region(host, maker.buffer(BufferKind::temporary, sizes.bytes, 0, 1, 5 + 2 * more)));
  copy(first, away, out, {relu});
  maker.put(net.b, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(1), 2 + more, 4 + more));
  maker.compute(net.neg);
  maker.put(net.c, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(0), 3 + more, 6 + 2 * more));
  const StepId abs = maker.compute(net.abs);
  maker.on(StreamId(0), {StepId(1 + more)});
  const ValueId again =
      maker.put(net.a, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(1), 4 + more, 6 + 2 * more));
  copy(away, again, in, {abs});
  maker.put(net.d, maker.buffer(BufferKind::output, sizes.bytes, sizes.slot(2), 5 + 2 * more, 6 + 2 * more));
  maker.compute(net.add);
  maker.on(StreamId(0), {StepId(4 + 2 * more)});
  return {net.graph, maker.finish()};
}

}  // namespace

Mutant swap_plan(Random& random) { return swap(random, false); }
Mutant pieces_plan(Random& random) { return swap(random, true); }

//   c   |  y  |  x' |      y = Relu(x) is written there, x' is a copy of x; the concat runs no kernel
Mutant partial_concat_plan(Random& random) {
  const Sizes sizes(random);
  GraphMaker graph_maker;
  const TensorId x = graph_maker.input("x", {sizes.bytes});
  const TensorId y = graph_maker.tensor("y", {sizes.bytes});
  const TensorId c = graph_maker.tensor("c", {2 * sizes.bytes});
  const TensorId e = graph_maker.tensor("e", {2 * sizes.bytes});
  const NodeId relu = graph_maker.node("Relu", {x}, {y});
  const NodeId concat = graph_maker.node("Concat", {y, x}, {c}, {integer("axis", 0)});
  const NodeId neg = graph_maker.node("Neg", {c}, {e});
  auto graph = shared(graph_maker.make({e}));
  PlanMaker maker(*graph);
  const ValueId given = maker.value_of(x);
  const BufferId joined = maker.buffer(BufferKind::temporary, 2 * sizes.bytes, sizes.slot(0), 0, 4);
  maker.put(y, joined);
  maker.compute(relu);
  maker.copy(given, maker.put(x, joined, sizes.bytes));
  maker.put(c, joined);
  maker.alias(concat);
  maker.put(e, maker.buffer(BufferKind::output, 2 * sizes.bytes, sizes.slot(2), 3, 4));
  maker.compute(neg);
  return {graph, maker.finish()};
}

//   c   |  y  |  y' |
Mutant doubled_concat_plan(Random& random) {
  const Sizes sizes(random);
  GraphMaker graph_maker;
  const TensorId x = graph_maker.input("x", {sizes.bytes});
  const TensorId y = graph_maker.tensor("y", {sizes.bytes});
  const TensorId c = graph_maker.tensor("c", {2 * sizes.bytes});
  const NodeId relu = graph_maker.node("Relu", {x}, {y});
  const NodeId concat = graph_maker.node("Concat", {y, y}, {c}, {integer("axis", 0)});
  auto graph = shared(graph_maker.make({c}));
  PlanMaker maker(*graph);
  const BufferId joined = maker.buffer(BufferKind::output, 2 * sizes.bytes, sizes.slot(0), 0, 3);
  const ValueId first = maker.put(y, joined);
  maker.compute(relu);
  maker.copy(first, maker.put(y, joined, sizes.bytes));
  maker.put(c, joined);
  maker.alias(concat);
  maker.read(0, first);
  return {graph, maker.finish()};
}

//   link     | 0 w <- flash |
//   worker                  | 1 y = Mul(x, w) | 2 z |
Mutant weight_plan(Random& random) {
  const Sizes sizes(random);
  GraphMaker graph_maker;
  const TensorId x = graph_maker.input("x", {sizes.bytes});
  const TensorId w = graph_maker.constant("w", {sizes.bytes});
  const TensorId y = graph_maker.tensor("y", {sizes.bytes});
  const TensorId z = graph_maker.tensor("z", {sizes.bytes});
  const NodeId mul = graph_maker.node("Mul", {x, w}, {y});
  const NodeId neg = graph_maker.node("Neg", {y}, {z});
  auto graph = shared(graph_maker.make({z}));
  PlanMaker maker(*graph);
  const RegionId flash = maker.region("flash");
  maker.address_only({kArena});
  const StreamId link = maker.link_stream(flash, kArena);
  maker.home(w, flash);
  const ValueId at_home = maker.value_of(w);
  const StepId brought =
      maker.copy(at_home, maker.put(w, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(0), 0, 2)));
  maker.on(link);
  maker.put(y, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(1), 1, 3));
  maker.compute(mul);
  maker.on(StreamId(0), {brought});
  maker.put(z, maker.buffer(BufferKind::output, sizes.bytes, sizes.slot(0), 2, 3));
  maker.compute(neg);
  return {graph, maker.finish()};
}

namespace {

// y = Add(s, x), z = Neg(y) or Sub(y, s) is the output, and s becomes y.
struct Counter {
  TensorId x, s, y, z;
  NodeId add, last;
  std::shared_ptr<const Graph> graph;
};

Counter counter(std::int64_t bytes, bool reads_state_last) {
  GraphMaker maker;
  Counter made;
  made.x = maker.input("x", {bytes});
  made.s = maker.state("s", {bytes});
  made.y = maker.tensor("y", {bytes});
  made.z = maker.tensor("z", {bytes});
  made.add = maker.node("Add", {made.s, made.x}, {made.y});
  made.last = reads_state_last ? maker.node("Sub", {made.y, made.s}, {made.z}) : maker.node("Neg", {made.y}, {made.z});
  maker.update(made.s, made.y);
  made.graph = shared(maker.make({made.z}));
  return made;
}

}  // namespace

Mutant copied_state_plan(Random& random) {
  const Sizes sizes(random);
  const Counter net = counter(sizes.bytes, true);
  PlanMaker maker(*net.graph);
  const ValueId computed = maker.put(net.y, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(0), 0, 3));
  maker.compute(net.add);
  maker.put(net.z, maker.buffer(BufferKind::output, sizes.bytes, sizes.slot(1), 1, 3));
  maker.compute(net.last);
  maker.copy(computed, maker.put(net.y, maker.buffer_of(net.s)));
  return {net.graph, maker.finish()};
}

Mutant in_place_state_plan(Random& random) {
  const Sizes sizes(random);
  const Counter net = counter(sizes.bytes, false);
  PlanMaker maker(*net.graph);
  maker.put(net.y, maker.buffer_of(net.s));
  maker.compute(net.add);
  maker.put(net.z, maker.buffer(BufferKind::output, sizes.bytes, sizes.slot(0), 1, 2));
  maker.compute(net.last);
  return {net.graph, maker.finish()};
}

// r = RandomNormalLike(x), a = Neg(r), b = Add(a, r).
Mutant random_numbers_plan(Random& random) {
  const Sizes sizes(random);
  GraphMaker graph_maker;
  const TensorId x = graph_maker.input("x", {sizes.bytes});
  const TensorId r = graph_maker.tensor("r", {sizes.bytes});
  const TensorId a = graph_maker.tensor("a", {sizes.bytes});
  const TensorId b = graph_maker.tensor("b", {sizes.bytes});
  const NodeId draw = graph_maker.node("RandomNormalLike", {x}, {r});
  const NodeId neg = graph_maker.node("Neg", {r}, {a});
  const NodeId add = graph_maker.node("Add", {a, r}, {b});
  auto graph = shared(graph_maker.make({b}));
  PlanMaker maker(*graph);
  maker.put(r, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(0), 0, 3));
  maker.compute(draw);
  maker.put(a, maker.buffer(BufferKind::temporary, sizes.bytes, sizes.slot(1), 1, 3));
  maker.compute(neg);
  maker.put(b, maker.buffer(BufferKind::output, sizes.bytes, sizes.slot(2), 2, 3));
  maker.compute(add);
  return {graph, maker.finish()};
}

const std::vector<MakePlan>& program_plans() {
  static const std::vector<MakePlan> kPlans = {recompute_plan,      swap_plan,           pieces_plan,
                                               partial_concat_plan, doubled_concat_plan, weight_plan,
                                               copied_state_plan,   in_place_state_plan, random_numbers_plan};
  return kPlans;
}

}  // namespace lowtide::testing
