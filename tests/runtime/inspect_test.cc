// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/inspect.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/lower/lower.h"
#include "lowtide/verify/verify.h"
#include "tests/runtime/prepared_graph.h"

namespace lowtide {
namespace {

using testing::graph_of;
using ::testing::HasSubstr;
using testing::must_prepare;
using testing::plan_for;
using testing::ref;
using testing::weights_for;

// What a kernel of a test computes from the elements of its input and result.
using Work = std::function<void(const float* input, float* result, std::size_t count)>;

// A kernel for operators of the domain `test`: one input and one result of the same type.
class InspectedKernel final : public PreparedKernel {
 public:
  explicit InspectedKernel(Work work) : work_(std::move(work)) {}
  [[nodiscard]] Bytes bound_bytes() const override { return Bytes(sizeof(Bound)); }
  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* /*scratch*/) const override {
    return new (at) Bound{{.run = &Bound::call}, &work_, reads[0], writes[0]};
  }

 private:
  struct Bound : BoundKernel {
    const Work* work;
    BoundTensor input;
    BoundTensor result;
    static RunStatus call(BoundKernel* self, Team& /*team*/) {
      const auto* bound = static_cast<const Bound*>(self);
      (*bound->work)(reinterpret_cast<const float*>(*bound->input.bytes),
                     reinterpret_cast<float*>(*bound->result.bytes),
                     static_cast<std::size_t>(bound->result.capacity_bytes) / sizeof(float));
      return {};
    }
  };
  Work work_;
};

void copy_negated(const float* input, float* result, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) result[at] = -input[at];
}
void write_one_more(const float* input, float* result, std::size_t count) {
  copy_negated(input, result, count);
  result[count] = 100;
}
void write_one_before(const float* input, float* result, std::size_t count) {
  copy_negated(input, result, count);
  result[-1] = 100;
}
// The result depends on what is behind the input.
void read_one_more(const float* input, float* result, std::size_t count) {
  copy_negated(input, result, count);
  result[0] += input[count];
}

using Offsets = std::vector<std::pair<std::string_view, std::int64_t>>;

// Puts the buffers of tensors at these offsets. Fails the test if the plan is then wrong.
void move_buffers(const Graph& graph, const Offsets& offsets, Plan& plan) {
  for (const auto& [name, offset] : offsets) {
    const ValueId value(testing::tensor_named(graph, name).value());
    plan.layout.buffers[plan.layout.values[value].buffer].placement->offset = Offset(offset);
  }
  Bytes& arena = plan.layout.arena[0];
  arena = Bytes(0);
  for (const Buffer& buffer : plan.layout.buffers) {
    if (buffer.placement) arena = std::max(arena, Bytes((buffer.placement->offset + buffer.size).position()));
  }
  plan.claims.allocate_optimal = arena == plan.claims.load;
  for (const Violation& violation : verify(graph, plan)) ADD_FAILURE() << violation.message;
}

// An executable whose nodes of the domain `test` do the work.
std::shared_ptr<const Executable> opened_with_kernel(std::string_view text, const Work& work,
                                                     const Offsets& offsets = {}) {
  Graph graph = graph_of(text);
  Plan plan = plan_for(graph, {.in_place = false});
  if (!offsets.empty()) move_buffers(graph, offsets, plan);
  ExecutableOptions options;
  options.own_kernel = [work](const PrepareInput& input) -> std::unique_ptr<PreparedKernel> {
    if (input.graph.op(input.node).domain != "test") return nullptr;
    return std::make_unique<InspectedKernel>(work);
  };
  auto executable = Executable::prepare(std::move(graph), std::move(plan), weights_for(), options);
  if (!executable) throw std::runtime_error(executable.error().describe());
  return *std::move(executable);
}

constexpr std::array<std::int64_t, 1> kSixteenFloats{16};

struct Input {
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  std::vector<TensorRef> list{ref(x, kSixteenFloats)};
};

std::string fault_of(const Result<RunInspection>& inspection) {
  if (!inspection) return "error: " + inspection.error().describe();
  return inspection->fault.value_or("");
}

// The bytes of `unread` are those of `a`, whose step comes after the end of its lifespan.
TEST(Inspect, AllowsAnInputInTheArenaThatNoStepReads) {
  Graph graph = lower(graph_of(R"(graph "g" {
    input x : f32[16]
    input unread : f32[16]
    a = Neg(x) : f32[16]
    y = Neg(a) : f32[16]
    output y
  })"),
                      {.passes = {PassId::load_time, PassId::inputs_in_arena}})
                    ->graph;
  Plan plan = plan_for(graph, {.in_place = false});
  EXPECT_EQ(plan.layout.arena[0], Bytes(128));
  const auto executable = *Executable::prepare(std::move(graph), std::move(plan), weights_for());
  const Input input;
  const std::vector<TensorRef> inputs(2, input.list[0]);
  EXPECT_EQ(fault_of(run_poisoned(*executable, inputs)), "");
  EXPECT_EQ(fault_of(run_guarded(*executable, inputs)), "");
  EXPECT_EQ(fault_of(compare_without_reuse(*executable, inputs)), "");
}

// Each tensor fills a buffer of 64 bytes. While `b` is computed, `a` and `k` are live.
constexpr const char* kGraph = R"(graph "g" {
  input x : f32[16]
  k = Relu(x) : f32[16]
  a = Neg(x) : f32[16]
  b = test::Work(a) "work" : f32[16]
  c = Add(b, k) : f32[16]
  output c
})";
const Offsets kBesideLive = {{"b", 0}, {"k", 64}, {"a", 128}, {"c", 128}};
// Bytes 64 to 128 and those from 256 on belong to no tensor while `b` is computed.
const Offsets kBesideDead = {{"a", 0}, {"c", 64}, {"k", 128}, {"b", 192}};

TEST(Inspect, FindsNothingInRightKernels) {
  const Input input;
  for (const Offsets& offsets : {kBesideLive, kBesideDead}) {
    const auto executable = opened_with_kernel(kGraph, &copy_negated, offsets);
    const Result<RunInspection> poisoned = run_poisoned(*executable, input.list);
    EXPECT_EQ(fault_of(poisoned), "");
    EXPECT_EQ(fault_of(run_guarded(*executable, input.list)), "");
    EXPECT_EQ(fault_of(compare_without_reuse(*executable, input.list)), "");
    EXPECT_EQ(poisoned->seen_peak, Bytes(192));
    for (BufferId id : all_ids<BufferId>(poisoned->seen_buffers.size())) {
      const Buffer& buffer = executable->plan().layout.buffers[id];
      EXPECT_EQ(poisoned->seen_buffers[id], buffer.placement ? std::optional(buffer.size) : std::nullopt);
    }
    EXPECT_EQ(poisoned->seen_arena, executable->plan().layout.arena[0]);
  }
}

// The kernel writes one element too many: into another tensor, or into bytes of no tensor.
TEST(Inspect, FindsAWriteBehindTheResult) {
  const Input input;
  const auto beside_live = opened_with_kernel(kGraph, &write_one_more, kBesideLive);
  const auto beside_dead = opened_with_kernel(kGraph, &write_one_more, kBesideDead);
  EXPECT_EQ(fault_of(run_poisoned(*beside_dead, input.list)),
            "graph 'g': step 2: node 2 'work' (test::Work): writes byte 256 of the arena, which no tensor has at this "
            "step; its result 'b' ends at byte 256");
  EXPECT_EQ(fault_of(run_guarded(*beside_dead, input.list)),
            "graph 'g': step 2: node 2 'work' (test::Work): accesses the memory 1 byte after the buffer of 'b'");
  EXPECT_THAT(fault_of(run_guarded(*beside_live, input.list)), HasSubstr("1 byte after the buffer of 'b'"));
  // k[0] is 100 instead of 1 when c = b + k is computed, and a = -x, b = -a.
  EXPECT_EQ(fault_of(compare_without_reuse(*beside_live, input.list)),
            "graph 'g': step 3: node 3 '' (Add): 'c' differs: element 0 is 101 in one run and 2 in the other");
}

// The padding of a buffer belongs to no tensor.
TEST(Inspect, FindsAWriteIntoPadding) {
  const std::vector<float> x(5, 1);
  const std::array<std::int64_t, 1> five{5};
  const std::vector<TensorRef> inputs{ref(x, five)};
  const auto executable = opened_with_kernel(R"(graph "g" {
    input x : f32[5]
    b = test::Work(x) "work" : f32[5]
    y = Neg(b) : f32[5]
    output y
  })",
                                             &write_one_more);
  EXPECT_THAT(fault_of(run_poisoned(*executable, inputs)), HasSubstr("its result 'b' ends at byte "));
  EXPECT_THAT(fault_of(run_guarded(*executable, inputs)), HasSubstr("1 byte after the buffer of 'b'"));
}

TEST(Inspect, FindsAWriteBeforeTheResult) {
  const Input input;
  EXPECT_THAT(fault_of(run_guarded(*opened_with_kernel(kGraph, &write_one_before, kBesideLive), input.list)),
              HasSubstr("4 bytes before the buffer of 'b'"));
  const Offsets beside_dead = {{"k", 0}, {"a", 64}, {"c", 128}, {"b", 192}};
  EXPECT_THAT(fault_of(run_poisoned(*opened_with_kernel(kGraph, &write_one_before, beside_dead), input.list)),
              HasSubstr("node 2 'work' (test::Work): writes byte 188 of the arena"));
}

TEST(Inspect, FindsAReadOfDeadBytes) {
  const Input input;
  const auto executable = opened_with_kernel(kGraph, &read_one_more, kBesideDead);
  EXPECT_THAT(
      fault_of(run_poisoned(*executable, input.list)),
      HasSubstr("node 2 'work' (test::Work): 'b' depends on bytes that no tensor has: element 0 is nan in one"));
  EXPECT_THAT(fault_of(run_guarded(*executable, input.list)), HasSubstr("1 byte after the buffer of 'a'"));
  EXPECT_THAT(fault_of(compare_without_reuse(*executable, input.list)),
              HasSubstr("node 2 'work' (test::Work): 'b' differs: element 0 is nan in one run and "));
}

TEST(Inspect, FindsAReadBehindAnInput) {
  const Input input;
  const auto executable = opened_with_kernel(R"(graph "g" {
    input x : f32[16]
    y = test::Work(x) : f32[16]
    output y
  })",
                                             &read_one_more);
  EXPECT_THAT(fault_of(run_guarded(*executable, input.list)), HasSubstr("1 byte after input 'x'"));
}

// The state p of the loop is 5 floats in 64 bytes.
constexpr const char* kLoop = R"(graph "g" {
  input x : f32[5]
  constant n : i64[] = [3]
  y, s = Loop(n, _, x) "loop" {
    body = graph "b" {
      input i : i64[]
      input c : bool[]
      input p : f32[5]
      q = test::Work(p) "work" : f32[5]
      e = Neg(q) : f32[5]
      r = Add(q, e) : f32[5]
      output c, q, r
    }
  } : f32[5], f32[3,5]
  output y, s
})";

TEST(Inspect, LooksIntoBodies) {
  const std::vector<float> x{1, 2, 3, 4, 5};
  const std::array<std::int64_t, 1> five{5};
  const std::vector<TensorRef> inputs{ref(x, five)};
  const auto right = opened_with_kernel(kLoop, &copy_negated);
  const Result<RunInspection> poisoned = run_poisoned(*right, inputs);
  EXPECT_EQ(fault_of(poisoned), "");
  EXPECT_EQ(poisoned->seen_peak, right->plan().claims.load);
  EXPECT_EQ(fault_of(run_guarded(*right, inputs)), "");
  EXPECT_EQ(fault_of(compare_without_reuse(*right, inputs)), "");
  const auto wrong = opened_with_kernel(kLoop, &write_one_more);
  EXPECT_THAT(fault_of(run_poisoned(*wrong, inputs)), HasSubstr("graph 'b' (loop/body): step 0: node 0 'work'"));
  EXPECT_THAT(fault_of(run_guarded(*wrong, inputs)), HasSubstr("1 byte after the buffer of 'loop/body/q'"));
}

// Work of the library that ends with an error is not a fault of the plan.
TEST(Inspect, ReturnsTheErrorOfARunThatFails) {
  const std::vector<std::int64_t> index{7};
  const std::array<std::int64_t, 1> one{1};
  const Input input;
  const std::vector<TensorRef> inputs{input.list[0], {DType::i64, one, std::as_bytes(std::span(index))}};
  const auto executable = must_prepare(R"(graph "g" {
    input x : f32[16]
    input at : i64[1]
    y = Gather(x, at) : f32[1]
    z = Gather(y, at) : f32[1]
    output z
  })");
  for (const auto& inspect : {run_poisoned, run_guarded, compare_without_reuse}) {
    EXPECT_THAT(fault_of(inspect(*executable, inputs)), HasSubstr("error: graph 'g': step 1"));
  }
}

// The state p is 1, then -1, then 1. The values of the loop itself come after those of its body, and then the outputs.
TEST(SeeValues, ShowsTheValuesOfBodiesAndTheOutputs) {
  const std::vector<float> x{1, 2, 3, 4, 5};
  const std::array<std::int64_t, 1> five{5};
  std::vector<std::string> seen;
  const Result<void> run =
      see_values(*opened_with_kernel(kLoop, &copy_negated), std::vector{ref(x, five)}, [&](const SeenValue& value) {
        EXPECT_EQ(value.dtype, DType::f32);
        EXPECT_EQ(value.bytes.size(), value.name == "s" ? 60U : 20U);
        float first = 0;
        std::memcpy(&first, value.bytes.data(), sizeof(first));
        seen.push_back(std::string(value.path) + std::string(value.name) + " " + std::to_string(std::lround(first)) +
                       " of " + std::to_string(value.extents.size()));
      });
  ASSERT_TRUE(run.ok()) << run.error().describe();
  std::vector<std::string> expected = {"loop/body/q -1 of 1", "loop/body/e 1 of 1",  "loop/body/r 0 of 1",
                                       "loop/body/q 1 of 1",  "loop/body/e -1 of 1", "loop/body/r 0 of 1",
                                       "loop/body/q -1 of 1", "loop/body/e 1 of 1",  "loop/body/r 0 of 1"};
  for (const char* value : {"y -1 of 1", "s 0 of 2", "y -1 of 1", "s 0 of 2"}) expected.emplace_back(value);
  EXPECT_EQ(seen, expected);
}

// Views stay together, and everything else has bytes of its own.
TEST(NoReusePlan, IsCorrect) {
  for (const char* text : {kGraph, kLoop, R"(graph "g" {
         input x : f32[4]
         state h : f32[8]
         a = Relu(x) : f32[4]
         r = Reshape(a) : f32[2,2]
         b = Relu(r) : f32[2,2]
         s = Reshape(b) : f32[4]
         y = Concat(a, s) {axis = 0} : f32[8]
         z = Add(y, h) : f32[8]
         output y
         update h = z
       })"}) {
    const Graph graph = graph_of(text);
    const Plan plan = no_reuse_plan(graph, plan_for(graph));
    for (const Violation& violation : verify(graph, plan)) ADD_FAILURE() << text << violation.message;
    EXPECT_GT(plan.layout.arena[0], plan_for(graph).layout.arena[0]);
  }
}

}  // namespace
}  // namespace lowtide
