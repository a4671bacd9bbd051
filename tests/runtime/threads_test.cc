// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/kernels/team.h"
#include "lowtide/runtime/inspect.h"
#include "lowtide/runtime/run_error.h"
#include "tests/runtime/prepared_graph.h"

namespace lowtide {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::graph_of;
using ::testing::HasSubstr;
using testing::must_open;
using testing::plan_for;
using testing::ref;
using testing::values_of;
using testing::weights_for;

// Called when a node of a test begins, with its name.
using OnNode = std::function<RunCode(const std::string& name, Team& team)>;

// The result is the sum of the inputs, plus 1.
class SumKernel final : public PreparedKernel {
 public:
  SumKernel(std::string name, OnNode on_node) : name_(std::move(name)), on_node_(std::move(on_node)) {}
  [[nodiscard]] Bytes bound_bytes() const override { return Bytes(sizeof(Bound)); }
  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* /*scratch*/) const override {
    auto* bound = new (at) Bound{{.run = &Bound::call, .destroy = &Bound::end}, this, {}, writes[0]};
    bound->inputs.assign(reads.begin(), reads.end());
    return bound;
  }

 private:
  struct Bound : BoundKernel {
    const SumKernel* kernel;
    std::vector<BoundTensor> inputs;
    BoundTensor result;
    static RunStatus call(BoundKernel* self, Team& team) {
      const auto* bound = static_cast<const Bound*>(self);
      const RunCode code = bound->kernel->on_node_(bound->kernel->name_, team);
      auto* result = reinterpret_cast<float*>(*bound->result.bytes);
      const auto count = static_cast<std::size_t>(bound->result.capacity_bytes) / sizeof(float);
      for (std::size_t at = 0; at < count; ++at) {
        float sum = 1;
        for (const BoundTensor& input : bound->inputs) sum += reinterpret_cast<const float*>(*input.bytes)[at];
        result[at] = sum;
      }
      return {code, 0};
    }
    static void end(BoundKernel* self) { static_cast<Bound*>(self)->~Bound(); }
  };
  std::string name_;
  OnNode on_node_;
};

// Two branches of two nodes, between a first and a last node.
constexpr const char* kBranches = R"(graph "g" {
  input x : f32[16]
  a = test::Sum(x) "a" : f32[16]
  b = test::Sum(a) "b" : f32[16]
  c = test::Sum(a) "c" : f32[16]
  d = test::Sum(b) "d" : f32[16]
  e = test::Sum(c) "e" : f32[16]
  f = test::Sum(d, e) "f" : f32[16]
  output f
})";
constexpr float kResult = 7;  // of x = 0: a 1, b 2, c 2, d 3, e 3
constexpr std::array<std::int64_t, 1> kSixteen{16};

std::shared_ptr<const Executable> with_nodes(std::string_view text, ExecutionModel run, const OnNode& on_node,
                                             int threads = 2) {
  Graph graph = graph_of(text);
  Plan plan = plan_for(graph, {.streams = 2, .run = run, .arena_slack_percent = 1000}, threads);
  EXPECT_EQ(plan.execution, run);
  ExecutableOptions options{
      .threads = threads, .system_threads = threads, .own_kernel = [on_node](const PrepareInput& input) {
        std::unique_ptr<PreparedKernel> kernel;
        const Node& node = input.graph.node(input.node);
        if (input.graph.op(input.node).domain == "test") kernel = std::make_unique<SumKernel>(node.name, on_node);
        return kernel;
      }};
  auto executable = Executable::prepare(std::move(graph), std::move(plan), weights_for(), options);
  if (!executable) throw std::runtime_error(executable.error().describe());
  return *std::move(executable);
}

// Untouched: the test counts the runs of its kernels.
Session open_untouched(const std::shared_ptr<const Executable>& executable) {
  const Arena arena = *Arena::allocate(executable->required_bytes());
  auto session = Session::open(executable, arena, {.touch = false});
  if (!session) throw std::runtime_error(session.error().describe());
  return *std::move(session);
}

const std::vector<float> kZeros(16);

RunResult run_on_zeros(Session& session) {
  EXPECT_TRUE(session.bind_input("x", ref(kZeros, kSixteen)).ok());
  return session.run();
}

constexpr std::array kSideBySide{ExecutionModel::streams, ExecutionModel::waves};

// b ends only after c has begun, and c only after b has.
TEST(Threads, RunBranchesSideBySide) {
  for (const ExecutionModel run : kSideBySide) {
    std::atomic<int> begun = 0;
    const auto executable = with_nodes(kBranches, run, [&](const std::string& name, Team& /*team*/) {
      if (name != "b" && name != "c") return RunCode::ok;
      ++begun;
      while (begun % 2 != 0) std::this_thread::yield();
      return RunCode::ok;
    });
    Session session = open_untouched(executable);
    for (int at = 0; at < 20; ++at) {
      ASSERT_TRUE(run_on_zeros(session).ok());
      EXPECT_THAT(values_of(session.output(0)), Each(kResult));
    }
    EXPECT_EQ(begun, 40);
  }
}

TEST(Threads, AStepBesideNoOtherHasTheWholeTeam) {
  for (const ExecutionModel run : kSideBySide) {
    std::mutex mutex;
    std::set<std::pair<std::string, int>> seen;
    const auto executable = with_nodes(kBranches, run, [&](const std::string& name, Team& team) {
      const std::scoped_lock lock(mutex);
      seen.emplace(name, team.threads());
      return RunCode::ok;
    });
    Session session = open_untouched(executable);
    ASSERT_TRUE(run_on_zeros(session).ok());
    EXPECT_THAT(seen, ElementsAre(std::pair("a", 2), std::pair("b", 1), std::pair("c", 1), std::pair("d", 1),
                                  std::pair("e", 1), std::pair("f", 2)));
  }
}

TEST(Threads, OneThreadRunsTheListInItsOrder) {
  std::vector<int> threads;
  const auto executable = with_nodes(
      kBranches, ExecutionModel::streams,
      [&](const std::string& /*name*/, Team& team) {
        threads.push_back(team.threads());
        return RunCode::ok;
      },
      1);
  Session session = open_untouched(executable);
  ASSERT_TRUE(run_on_zeros(session).ok());
  EXPECT_THAT(threads, ElementsAre(1, 1, 1, 1, 1, 1));
}

// A slow node lets all others run ahead as far as the waits allow.
TEST(Threads, ResultsDoNotDependOnTheSpeedOfNodes) {
  for (const ExecutionModel run : kSideBySide) {
    std::string slow;
    const auto executable = with_nodes(kBranches, run, [&](const std::string& name, Team& /*team*/) {
      if (name == slow) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return RunCode::ok;
    });
    Session session = must_open(executable);
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
      slow = name;
      for (int at = 0; at < 5; ++at) {
        ASSERT_TRUE(run_on_zeros(session).ok());
        EXPECT_THAT(values_of(session.output(0)), Each(kResult)) << name;
      }
    }
  }
}

// b and c fail at the same time. b or c is first in the list, and the answer is always that one.
TEST(Threads, NameTheFirstFailureOfTheList) {
  for (const bool throws : {false, true}) {
    for (const ExecutionModel run : kSideBySide) {
      bool fails = true;
      const auto executable = with_nodes(kBranches, run, [&](const std::string& name, Team& /*team*/) {
        if (!fails || (name != "b" && name != "c")) return RunCode::ok;
        if (throws) throw std::runtime_error("a kernel of the host fails");
        return RunCode::kernel_failed;
      });
      Session session = open_untouched(executable);
      std::set<std::uint32_t> steps;
      for (int at = 0; at < 50; ++at) {
        const RunResult result = run_on_zeros(session);
        EXPECT_EQ(result.status.code, RunCode::kernel_failed);
        ASSERT_TRUE(result.place.has_value());
        steps.insert(result.place->step.value());
      }
      EXPECT_EQ(steps.size(), 1U);
      fails = false;
      ASSERT_TRUE(run_on_zeros(session).ok());
      EXPECT_THAT(values_of(session.output(0)), Each(kResult));
    }
  }
}

TEST(Threads, SessionsOfOneExecutableRunTogether) {
  for (const ExecutionModel run : kSideBySide) {
    const auto executable =
        with_nodes(kBranches, run, [](const std::string& /*name*/, Team& /*team*/) { return RunCode::ok; });
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        Session session = must_open(executable);
        const std::vector<float> x(16, static_cast<float>(thread));
        if (!session.bind_input("x", ref(x, kSixteen)).ok()) ++wrong;
        for (int at = 0; at < 200; ++at) {
          if (!session.run().ok() || values_of(session.output(0))[15] != kResult + 2 * x[0]) ++wrong;
        }
      });
    }
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Threads, SessionsOfOneArenaRefuseToRunTogether) {
  const auto executable = with_nodes(kBranches, ExecutionModel::streams,
                                     [](const std::string& /*name*/, Team& /*team*/) { return RunCode::ok; });
  const Arena arena = *Arena::allocate(executable->required_bytes());
  std::vector<Session> sessions;
  for (int at = 0; at < 4; ++at) sessions.push_back(must_open(executable, arena));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  std::atomic<int> done = 0;
  for (Session& session : sessions) {
    threads.emplace_back([&] {
      for (int at = 0; at < 500; ++at) {
        const RunResult result = run_on_zeros(session);
        if (result.ok()) ++done;
        if (!result.ok() && result.status.code != RunCode::busy) ++wrong;
      }
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(done, 0);
}

// One thread stops the runs of another, again and again.
TEST(Threads, StopsUnderLoadAndRunsAgain) {
  for (const ExecutionModel run : kSideBySide) {
    const auto executable = with_nodes(kBranches, run, [](const std::string& /*name*/, Team& /*team*/) {
      std::this_thread::yield();
      return RunCode::ok;
    });
    Session session = must_open(executable);
    std::atomic<bool> is_done = false;
    std::thread stopper([&] {
      while (!is_done) {
        session.stop();
        std::this_thread::yield();
      }
    });
    for (int at = 0; at < 500; ++at) {
      const RunResult result = run_on_zeros(session);
      EXPECT_THAT(result.status.code, AnyOf(RunCode::ok, RunCode::stopped));
      if (result.ok()) {
        EXPECT_THAT(values_of(session.output(0)), Each(kResult));
      }
      EXPECT_EQ(result.place.has_value(), !result.ok());
    }
    is_done = true;
    stopper.join();
    ASSERT_TRUE(run_on_zeros(session).ok());
    EXPECT_THAT(values_of(session.output(0)), Each(kResult));
  }
}

TEST(Threads, AFlagOfTheCallerStopsRuns) {
  std::atomic<bool> stop = false;
  const auto executable = with_nodes(kBranches, ExecutionModel::waves, [&](const std::string& name, Team& /*team*/) {
    if (name == "c") stop = true;
    return RunCode::ok;
  });
  const Arena arena = *Arena::allocate(executable->required_bytes());
  Session session = *Session::open(executable, arena, {.touch = false, .stop = &stop});
  const RunResult result = run_on_zeros(session);
  EXPECT_EQ(result.status.code, RunCode::stopped);
  EXPECT_EQ(run_on_zeros(session).place->step, StepId(0));  // the flag stays
}

// The observers of these runs see the steps of the list, one after another.
TEST(Threads, RunsThatLookForDefectsFindNone) {
  const std::vector<TensorRef> inputs{ref(kZeros, kSixteen)};
  for (const ExecutionModel run : kSideBySide) {
    const auto executable =
        with_nodes(kBranches, run, [](const std::string& /*name*/, Team& /*team*/) { return RunCode::ok; });
    for (const auto& inspection : {run_poisoned(*executable, inputs), run_guarded(*executable, inputs),
                                   compare_without_reuse(*executable, inputs)}) {
      ASSERT_TRUE(inspection.ok());
      EXPECT_EQ(inspection->fault, std::nullopt);
    }
  }
}

// Both loops exchange their states, which wait in bytes beyond the plan. The bodies run side by side.
constexpr const char* kLoops = R"(graph "g" {
  input x : f32[16]
  constant n : i64[] = [33]
  a = Neg(x) : f32[16]
  b = Abs(x) : f32[16]
  p, q = Loop(n, _, x, a) "first" {
    body = graph "body" {
      input i : i64[]
      input c : bool[]
      input s : f32[16]
      input t : f32[16]
      output c, t, s
    }
  } : f32[16], f32[16]
  r, u = Loop(n, _, b, x) "second" {
    body = graph "body" {
      input i : i64[]
      input c : bool[]
      input s : f32[16]
      input t : f32[16]
      output c, t, s
    }
  } : f32[16], f32[16]
  y = Concat(p, q, r, u) {axis = 0} : f32[64]
  output y
})";

TEST(Threads, LoopsSideBySideHaveBytesOfTheirOwn) {
  const std::vector<float> x(16, -3);
  for (const ExecutionModel run : kSideBySide) {
    const auto executable =
        with_nodes(kLoops, run, [](const std::string& /*name*/, Team& /*team*/) { return RunCode::ok; });
    EXPECT_EQ(executable->memory().extra, Bytes(4 * 64));
    Session session = must_open(executable);
    ASSERT_TRUE(session.bind_input("x", ref(x, kSixteen)).ok());
    for (int at = 0; at < 200; ++at) {
      ASSERT_TRUE(session.run().ok());
      const std::vector<float> y = values_of(session.output(0));
      ASSERT_THAT((std::array{y[0], y[16], y[32], y[48]}), ElementsAre(3, -3, -3, 3));
    }
  }
}

TEST(Threads, OtherNumbersAreRefused) {
  Graph graph = graph_of(kLoops);
  Plan plan = plan_for(graph);
  plan.provenance.machine_key.clear();
  for (const int threads : {0, limits::kMaxTeamThreads + 1}) {
    const auto executable = Executable::prepare(graph, plan, weights_for(), {.threads = threads});
    ASSERT_FALSE(executable.ok());
    EXPECT_EQ(executable.error().code, ErrorCode::unsupported);
    EXPECT_THAT(executable.error().message, HasSubstr("choose a number from 1 to 256"));
  }
  const auto without = Executable::prepare(graph, plan, weights_for(), {.system_threads = 0});
  ASSERT_FALSE(without.ok());
  EXPECT_THAT(without.error().message, HasSubstr("system_threads is 0"));
}

}  // namespace
}  // namespace lowtide
