// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "lowtide/runtime/run_error.h"
#include "tests/runtime/prepared_graph.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::must_open;
using testing::must_prepare;
using testing::ref;
using testing::try_prepare;
using testing::values_of;

constexpr std::array<std::int64_t, 1> kTwo{2};
constexpr std::array<std::int64_t, 0> kScalar{};

// Runs a graph with the input x of two floats.
RunResult run_with(Session& session, const std::vector<float>& x) {
  EXPECT_TRUE(session.bind_input("x", ref(x, kTwo)).ok());
  return session.run();
}

TensorRef scalar(const std::int64_t& value) {
  return {DType::i64, kScalar, std::as_bytes(std::span<const std::int64_t, 1>(&value, 1))};
}
TensorRef scalar(const bool& value) {
  return {DType::boolean, kScalar, std::as_bytes(std::span<const bool, 1>(&value, 1))};
}

// The body returns an outer tensor, its own input and a constant, without any node between them.
TEST(Body, ReturnsCapturesInputsAndConstants) {
  Session session = must_open(must_prepare(R"(graph "g" {
    input x : f32[2]
    constant n : i64[] = [3]
    a = Neg(x) : f32[2]
    y, z, _, t = Loop(n, _, x, x, n) "loop" {
      body = graph "b" captures (a) {
        input i : i64[]
        input c : bool[]
        input p : f32[2]
        input q : f32[2]
        input r : i64[]
        captured input a : f32[2]
        constant k : i64[] = [7]
        output c, a, p, k, i
      }
    } : f32[2], f32[2], i64[3]
    output y, z, t
  })"));
  ASSERT_TRUE(run_with(session, {1, -2}).ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(-1, 2));
  EXPECT_THAT(values_of(session.output(1)), ElementsAre(-1, 2));  // p of the last iteration
  EXPECT_THAT(values_of<std::int64_t>(session.output(2)), ElementsAre(0, 1, 2));
}

// The states exchange their places. Each of them waits in 64 bytes beyond the plan.
TEST(Body, ReservesSpaceForStatesThatChangePlaces) {
  constexpr const char* text = R"(graph "g" {
    input x : f32[2]
    input z : f32[2]
    constant n : i64[] = [3]
    y, w = Loop(n, _, x, z) {
      body = graph "b" {
        input i : i64[]
        input c : bool[]
        input p : f32[2]
        input q : f32[2]
        output c, %
      }
    } : f32[2], f32[2]
    output y, w
  })";
  const auto with = [&](const std::string& outputs) {
    std::string of = text;
    return of.replace(of.find('%'), 1, outputs);
  };
  EXPECT_EQ(must_prepare(with("p, q"))->memory().extra, Bytes(0));
  const auto swapped = must_prepare(with("q, p"));
  EXPECT_EQ(swapped->memory().extra, Bytes(128));
  EXPECT_EQ(swapped->required_bytes(), swapped->memory().arena + Bytes(128));
  Session session = must_open(swapped);
  const std::vector<float> z{10, 20};
  ASSERT_TRUE(session.bind_input("z", ref(z, kTwo)).ok());
  ASSERT_TRUE(run_with(session, {1, 2}).ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(10, 20));
  EXPECT_THAT(values_of(session.output(1)), ElementsAre(1, 2));
}

constexpr const char* kNested = R"(graph "g" {
  input x : f32[2]
  input far : f32[2]
  input c : bool[]
  constant n : i64[] = [2]
  y = Loop(n, _, x) "loop" {
    body = graph "b" captures (c, far) {
      input i : i64[]
      input goes : bool[]
      input p : f32[2]
      captured input c : bool[]
      captured input far : f32[2]
      q = If(c) "if" {
        then_branch = graph "t" captures (p, far) {
          captured input p : f32[2]
          captured input far : f32[2]
          s = Add(p, far) "sum" : f32[2]
          output s
        },
        else_branch = graph "e" captures (p) {
          captured input p : f32[2]
          s = Neg(p) : f32[2]
          output s
        }
      } : f32[2]
      output goes, q
    }
  } : f32[2]
  output y
})";

TEST(Body, FollowsNewBindingsOfWhatItCaptures) {
  Session session = must_open(must_prepare(kNested));
  const bool yes = true;
  const bool no = false;
  const std::vector<float> ten{10, 10};
  const std::vector<float> five{5, 7};
  ASSERT_TRUE(session.bind_input("c", scalar(yes)).ok());
  ASSERT_TRUE(session.bind_input("far", ref(ten, kTwo)).ok());
  ASSERT_TRUE(run_with(session, {1, 2}).ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(21, 22));
  ASSERT_TRUE(session.bind_input("far", ref(five, kTwo)).ok());
  ASSERT_TRUE(run_with(session, {1, 2}).ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(11, 16));
  ASSERT_TRUE(session.bind_input("c", scalar(no)).ok());
  ASSERT_TRUE(run_with(session, {1, 2}).ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(1, 2));
}

// The second index of the loop is out of range. The error names the node in the body.
TEST(Body, NamesTheStepThatFailedInside) {
  const auto executable = must_prepare(R"(graph "g" {
    input x : f32[2]
    input n : i64[]
    y = Loop(n, _, x) "loop" {
      body = graph "b" captures (x) {
        input i : i64[]
        input c : bool[]
        input p : f32[2]
        captured input x : f32[2]
        constant axis : i64[1] = [0]
        one = Unsqueeze(i, axis) : i64[1]
        e = Gather(x, one) "pick" : f32[1]
        q = Add(p, e) : f32[2]
        output c, q
      }
    } : f32[2]
    output y
  })");
  Session session = must_open(executable);
  const std::int64_t two = 2;
  const std::int64_t three = 3;
  ASSERT_TRUE(session.bind_input("n", scalar(three)).ok());
  const RunResult result = run_with(session, {1, 2});
  EXPECT_EQ(result.status.code, RunCode::index_out_of_range);
  EXPECT_EQ(describe(*executable, result).describe(),
            "graph 'b' (loop/body): step 1: node 1 'pick' (Gather): an index in the data is outside of the tensor");
  ASSERT_TRUE(session.bind_input("n", scalar(two)).ok());
  ASSERT_TRUE(run_with(session, {1, 2}).ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(4, 5));
}

// The loop has no limit, and its condition stays true.
TEST(Body, StopsAnEndlessLoop) {
  const auto executable = must_prepare(R"(graph "g" {
    input x : f32[2]
    y = Loop(_, _, x) "loop" {
      body = graph "b" {
        input i : i64[]
        input c : bool[]
        input p : f32[2]
        output c, p
      }
    } : f32[2]
    output y
  })");
  Session session = must_open(executable);
  std::atomic<bool> has_stopped = false;
  std::thread stopper([&] {
    while (!has_stopped) session.stop();
  });
  const RunResult result = run_with(session, {1, 2});
  has_stopped = true;
  stopper.join();
  EXPECT_EQ(result.status.code, RunCode::stopped);
  EXPECT_THAT(describe(*executable, result).describe(), HasSubstr("'loop' (Loop): the run was stopped"));
}

// The graph declares fewer slices than the loop has iterations.
TEST(Body, RefusesMoreSlicesThanThePlanReserves) {
  for (const std::string extent : {"2", "<=2"}) {
    const auto executable = must_prepare(R"(graph "g" {
      input n : i64[]
      y = Loop(n, _) {
        body = graph "b" {
          input i : i64[]
          input c : bool[]
          output c, i
        }
      } : i64[)" + extent + R"(]
      output y
    })");
    Session session = must_open(executable);
    const auto code = [&](std::int64_t n) {
      EXPECT_TRUE(session.bind_input("n", scalar(n)).ok());
      return session.run().status.code;
    };
    EXPECT_EQ(code(2), RunCode::ok);
    EXPECT_THAT(values_of<std::int64_t>(session.output(0)), ElementsAre(0, 1));
    EXPECT_EQ(code(3), RunCode::size_exceeds_plan);
    EXPECT_EQ(code(1), extent == "2" ? RunCode::bad_extents : RunCode::ok);
  }
}

TEST(Body, RefusesABranchWithOtherExtents) {
  Session session = must_open(must_prepare(R"(graph "g" {
    input x : f32[2]
    input c : bool[]
    y = If(c) {
      then_branch = graph "t" captures (x) {
        captured input x : f32[2]
        a = Concat(x, x) {axis = 0} : f32[4]
        output a
      },
      else_branch = graph "e" captures (x) {
        captured input x : f32[2]
        a = Neg(x) : f32[2]
        output a
      }
    } : f32[2]
    output y
  })"));
  const bool yes = true;
  const bool no = false;
  ASSERT_TRUE(session.bind_input("c", scalar(yes)).ok());
  EXPECT_EQ(run_with(session, {1, 2}).status.code, RunCode::bad_extents);
  ASSERT_TRUE(session.bind_input("c", scalar(no)).ok());
  EXPECT_TRUE(run_with(session, {1, 2}).ok());
}

TEST(Body, RefusesBodiesThatDoNotMatchTheirNode) {
  const auto message = [](const std::string& node, const std::string& body) {
    const auto refused = try_prepare("graph \"g\" {\n input x : f32[2]\n input n : i64[]\n y = " + node +
                                     " \"it\" {body = graph \"b\" {" + body + "}} : f32[2]\n output y\n}");
    return refused.ok() ? "" : refused.error().message;
  };
  const std::string heads = "input i : i64[]\ninput c : bool[]\n";
  EXPECT_EQ(message("Loop(n, _, x)", heads + "input p : f32[2]\noutput c, p"), "");
  EXPECT_EQ(message("Loop(n, _, x)", heads + "output c"),
            "the body has 2 inputs and 1 outputs, but the node needs 3 and 2");
  EXPECT_EQ(message("Loop(x, _, x)", heads + "input p : f32[2]\noutput c, p"),
            "'x' has type f32[2], but must have one element of type i64");
  EXPECT_EQ(message("Loop(n, _, x)", heads + "input p : i32[2]\noutput c, p"),
            "'x' has type f32, but 'p' has type i32");
  EXPECT_THAT(message("my.domain::While(n, x)", heads + "output c"),
              HasSubstr("my.domain::While 'it': a session runs only the bodies of If, Loop and Scan"));
  EXPECT_THAT(message("Scan(x)", "input e : f32[]\noutput e"), HasSubstr("attribute 'num_scan_inputs' must be 1 to 1"));
}

TEST(Body, NamesNodesInsideWithoutKernel) {
  const auto refused = try_prepare(R"(graph "g" {
    input x : f32[2]
    constant n : i64[] = [3]
    y = Loop(n, _, x) "loop" {
      body = graph "b" {
        input i : i64[]
        input c : bool[]
        input p : f32[2]
        q = my.domain::One(p) "one" : f32[2]
        output c, q
      }
    } : f32[2]
    output y
  })");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("my.domain::One 'loop/body/one': no kernel has this operator"));
}

constexpr const char* kPositive = R"(graph "g" {
  input x : f32[<=4]
  zero = Sub(x, x) : f32[<=4]
  c = Greater(x, zero) : bool[<=4]
  at = NonZero(c) : i64[1,<=4]
  constant axis : i64[1] = [0]
  index = Squeeze(at, axis) : i64[<=4]
  y = Gather(x, index) : f32[<=4]
  output y
})";

// Squeeze is an alias, and its extents come from NonZero.
TEST(DynamicSizes, AreKnownDuringTheRun) {
  Session session = must_open(must_prepare(kPositive));
  const std::vector<float> x{1, -2, 3, 4};
  const std::array<std::int64_t, 1> four{4};
  ASSERT_TRUE(session.bind_input("x", ref(x, four)).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(session.output(0).extents, ElementsAre(3));
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(1, 3, 4));
}

TEST(DynamicSizes, OfInputsAreAtMostTheirBounds) {
  Session session = must_open(must_prepare(kPositive));
  const std::vector<float> x{-1, 2, 3, 4, 5};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(x));
  const std::array<std::int64_t, 1> three{3};
  const std::array<std::int64_t, 1> five{5};
  ASSERT_TRUE(session.bind_input("x", {DType::f32, three, bytes.first(12)}).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(2, 3));
  EXPECT_EQ(session.bind_input("x", {DType::f32, five, bytes}).error().describe(),
            "input 'x': has type f32[<=4], but f32[5] is given");
  EXPECT_EQ(session.bind_input("x", {DType::f32, three, bytes}).error().describe(),
            "input 'x': 20 bytes are given, but f32[3] has 12");
}

TEST(DynamicSizes, ArePlannedAndSeen) {
  Session session = must_open(must_prepare(kPositive));
  const auto seen = [&] {
    std::vector<std::int64_t> counts;
    for (const DynamicSize& size : session.dynamic_sizes()) counts.push_back(size.seen.count());
    return counts;
  };
  const std::vector<float> x{1, -2, 3, -4};
  const std::array<std::int64_t, 1> four{4};
  const std::array<std::int64_t, 1> one{1};
  EXPECT_THAT(seen(), ElementsAre(0, 0, 0, 0, 0, 0));
  ASSERT_TRUE(session.bind_input("x", ref(x, four)).ok());
  ASSERT_TRUE(session.run().ok());
  ASSERT_TRUE(session.bind_input("x", {DType::f32, one, std::as_bytes(std::span(x)).first(4)}).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(seen(), ElementsAre(16, 16, 4, 16, 16, 8));  // x, zero, c, at, index, y
  EXPECT_EQ(session.dynamic_sizes()[3].name, "at");
  EXPECT_EQ(session.dynamic_sizes()[3].planned, Bytes(32));
}

// The state is longer in each iteration, up to its bound. Zero trips leave an empty stack.
TEST(DynamicSizes, OfStatesChangeFromTripToTrip) {
  const auto executable = must_prepare(R"(graph "g" {
    input x : f32[<=4]
    input n : i64[]
    y, s = Loop(n, _, x) "loop" {
      body = graph "b" {
        input i : i64[]
        input c : bool[]
        input p : f32[<=4]
        k = Concat(p, p) {axis = 0} : f32[<=4]
        e = Shape(p) : i64[1]
        output c, k, e
      }
    } : f32[<=4], i64[<=3,1]
    output y, s
  })");
  Session session = must_open(executable);
  const std::vector<float> x{1};
  const std::array<std::int64_t, 1> one{1};
  ASSERT_TRUE(session.bind_input("x", ref(x, one)).ok());
  const auto code = [&](std::int64_t n) {
    EXPECT_TRUE(session.bind_input("n", scalar(n)).ok());
    return session.run().status.code;
  };
  ASSERT_EQ(code(2), RunCode::ok);
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(values_of<std::int64_t>(session.output(1)), ElementsAre(1, 2));
  EXPECT_EQ(session.dynamic_sizes()[3].name, "loop/body/p");
  ASSERT_EQ(code(0), RunCode::ok);
  EXPECT_THAT(session.output(0).extents, ElementsAre(1));
  EXPECT_THAT(session.output(1).extents, ElementsAre(0, 1));
  EXPECT_EQ(code(3), RunCode::size_exceeds_plan);
}

}  // namespace
}  // namespace lowtide
