// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/kernels/onednn_convolutions.h"
#include "tests/kernels/product_kernel.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::Floats;
using ::testing::HasSubstr;
using testing::SquareConv;
using testing::TensorData;

using Lines = std::vector<std::string>;

std::string list_of(const Lines& lines) {
  std::string text = "[";
  for (const std::string& line : lines) text += (text.size() > 1 ? ", \"" : "\"") + line + "\"";
  return text + "]";
}

// A graph of one node with an epilogue. Operands are lines: "input x : f32[4]".
Graph fused_graph(const std::string& call, const std::string& attributes, const Lines& operands, const Lines& program,
                  const std::string& result) {
  std::string text = "graph \"g\" {\n";
  for (const std::string& operand : operands) text += "  " + operand + "\n";
  return testing::graph_of(text + "  y = lowtide::" + call + " {" + attributes +
                           "product = \"p\", epilogue = " + list_of(program) + "} : " + result + "\n  output y\n}");
}

TensorData run_kernel(const Graph& graph, std::string_view kernel, const std::vector<TensorData>& reads,
                      std::optional<int> over = std::nullopt, NodeId id = NodeId(0)) {
  testing::KernelRun run(graph, kernel);
  run.over = over;
  run.id = id;
  EXPECT_EQ(run.run(reads), RunStatus());
  return run.writes[0];
}

std::vector<std::string> kernels_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Kernel& kernel : offered_kernels(graph, NodeId(0))) names.push_back(kernel.name);
  return names;
}

// Those of a product with an epilogue.
Lines product_kernels() { return testing::has_library_products() ? Lines{"onednn.matmul", "plain"} : Lines{"plain"}; }

// A product with these values as its result, and a function on them: "Clip(t, low, high)".
constexpr std::int64_t kValues = 1 << 14;
std::vector<TensorData> reads_of(const Floats& values) {
  return {testing::floats(Shape({1, 1}), {1.0F}),
          testing::floats(Shape({1, kValues}), values),
          {.is_present = false},
          testing::floats(Shape(), {-1.5F}),
          testing::floats(Shape(), {6.0F})};
}
Graph function_graph(const Lines& nodes) {
  const std::string type = "f32[1," + std::to_string(kValues) + "]";
  Lines program = {"input t : " + type, "input low : f32[]", "input high : f32[]"};
  for (const std::string& node : nodes) program.push_back(node + " : " + type);
  program.emplace_back("output y");
  return fused_graph("MatMul(x, w, _, low, high)", "",
                     {"input x : f32[1,1]", "input w : " + type, "constant low : f32[]", "constant high : f32[]"},
                     program, type);
}

// Numbers of all magnitudes up to 20.
Floats many_numbers() {
  Floats values = testing::numbers(kValues, 9);
  for (std::size_t at = 0; at < values.size(); ++at) values[at] *= 20.0F * std::exp2(-static_cast<float>(at % 24));
  return values;
}

// The error in units in the last place of the exact result, or of another number.
double units_apart(float found, double exact, double of) {
  const auto nearest = std::fabs(static_cast<float>(of));
  const float next = std::nextafter(nearest, std::numeric_limits<float>::infinity());
  return std::fabs(static_cast<double>(found) - exact) / (static_cast<double>(next) - static_cast<double>(nearest));
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct FunctionCase {
  Lines nodes;
  double (*exact)(double x);
  double units = 0;
  bool is_relative_to_operand = false;
};

const std::vector<FunctionCase>& functions() {
  static const std::vector<FunctionCase> kAll = {
      {{"y = Relu(t)"}, [](double x) { return std::max(x, 0.0); }},
      {{"y = Clip(t, low, high)"}, [](double x) { return std::clamp(x, -1.5, 6.0); }},
      {{"y = Clip(t, low)"}, [](double x) { return std::max(x, -1.5); }},
      {{"y = Clip(t, _, high)"}, [](double x) { return std::min(x, 6.0); }},
      {{"y = Abs(t)"}, [](double x) { return std::fabs(x); }},
      {{"y = Neg(t)"}, [](double x) { return -x; }},
      {{"y = Round(t)"}, [](double x) { return std::nearbyint(x); }},
      {{"y = LeakyRelu(t) {alpha = 0.5}"}, [](double x) { return x < 0 ? 0.5 * x : x; }},
      {{"y = Mul(t, t)"}, [](double x) { return x * x; }, 0.51},
      {{"a = Abs(t)", "y = Sqrt(a)"}, [](double x) { return std::sqrt(std::fabs(x)); }, 0.51},
      {{"y = Add(t, low)"}, [](double x) { return x - 1.5; }, 0.51},
      {{"y = Mul(high, t)"}, [](double x) { return x * 6; }, 0.51},
      {{"y = Sub(t, high)"}, [](double x) { return x - 6; }, 0.51},
      {{"y = Div(t, high)"}, [](double x) { return x / 6; }, 0.51},
      {{"y = HardSigmoid(t) {alpha = 0.25}"}, [](double x) { return std::clamp(0.25 * x + 0.5, 0.0, 1.0); }, 0.51},
      {{"y = HardSwish(t)"}, [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }, 1.5, true},
      {{"s = HardSigmoid(t) {alpha = 0.25}", "y = Mul(s, t)"},
       [](double x) { return x * std::clamp(0.25 * x + 0.5, 0.0, 1.0); },
       1.5,
       true},
      {{"y = Tanh(t)"}, [](double x) { return std::tanh(x); }, 1.3},
      {{"y = Sigmoid(t)"}, &sigmoid, 3.4},
      {{"y = Swish(t)"}, [](double x) { return x * sigmoid(x); }, 4.0},
      {{"s = Sigmoid(t)", "y = Mul(t, s)"}, [](double x) { return x * sigmoid(x); }, 4.0},
  };
  return kAll;
}

TEST(OnednnEpilogue, ComputesFunctionsWithinTheStatedErrors) {
  const Floats values = many_numbers();
  for (const FunctionCase& one : functions()) {
    SCOPED_TRACE(one.nodes.back());
    const Graph graph = function_graph(one.nodes);
    ASSERT_THAT(kernels_of(graph), ElementsAreArray(product_kernels()));
    const Floats y = testing::values_of<float>(run_kernel(graph, product_kernels().front(), reads_of(values)));
    double most = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
      const double exact = one.exact(values[at]);
      most = std::max(most, units_apart(y[at], exact, one.is_relative_to_operand ? values[at] : exact));
    }
    EXPECT_LE(most, one.units);
  }
}

// Bit for bit, which includes the signs of zeros, except that Relu makes them positive. A product has no negative zero,
// but Mul(t, low) has.
TEST(OnednnEpilogue, GivesTheBitsOfAChain) {
  if (!testing::has_library_products()) GTEST_SKIP() << "oneDNN has no such product to compare on this machine";
  Floats values = many_numbers();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Floats special = {0.0F, -0.0F, kInfinity, -kInfinity, 1e-40F, -1e-40F, 3e38F, -3e38F, 1.0F, -1.0F, 0.5F, 2.5F};
  std::ranges::copy(special, values.begin());
  for (const std::string call :
       {"Relu(u)", "Clip(u, low, high)", "Clip(u, low)", "Clip(u, _, high)", "Abs(u)", "Neg(u)", "Round(u)",
        "LeakyRelu(u) {alpha = 0.5}", "Mul(u, u)", "Add(u, low)", "Mul(high, u)", "Sub(u, high)", "Div(u, low)"}) {
    for (const char* factor : {"low", "high"}) {  // -1.5 and 6
      SCOPED_TRACE(call + " " + factor);
      const Graph graph = function_graph({"u = Mul(t, " + std::string(factor) + ")", "y = " + call});
      ASSERT_THAT(kernels_of(graph), ElementsAre("onednn.matmul", "plain"));
      const Floats found = testing::values_of<float>(run_kernel(graph, "onednn.matmul", reads_of(values)));
      const Floats expected = testing::values_of<float>(run_kernel(graph, "plain", reads_of(values)));
      for (std::size_t at = 0; at < values.size(); ++at)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(found[at]),
                  std::bit_cast<std::uint32_t>(call == "Relu(u)" ? expected[at] + 0.0F : expected[at]))
            << values[at] << ": " << found[at] << " instead of " << expected[at];
    }
  }
}

// The chain applies the upper bound last. oneDNN refuses bounds in this order.
TEST(OnednnEpilogue, ClipsToBoundsInTheWrongOrder) {
  const Graph graph = function_graph({"y = Clip(t, high, low)"});
  for (const float one :
       testing::values_of<float>(run_kernel(graph, product_kernels().front(), reads_of(many_numbers()))))
    ASSERT_EQ(one, -1.5F);
}

TEST(OnednnEpilogue, LeavesOtherFunctionsToChains) {
  const std::vector<Lines> others = {{"y = Elu(t)"},
                                     {"y = Erf(t)"},
                                     {"y = Sub(low, t)"},
                                     {"y = Add(t, t)"},
                                     {"y = LeakyRelu(t) {alpha = 0.0}"},   // zeros of negative numbers are negative
                                     {"y = LeakyRelu(t) {alpha = -2.0}"},  // oneDNN multiplies zeros, too
                                     {"y = LeakyRelu(t) {alpha = inf}"},
                                     {"s = Sigmoid(t)", "y = Add(t, s)"},
                                     {"s = Sigmoid(t)", "m = Mul(t, s)", "y = Mul(m, s)"}};
  for (const Lines& nodes : others) {
    SCOPED_TRACE(nodes.back());
    EXPECT_THAT(kernels_of(function_graph(nodes)), ElementsAre("plain"));
  }
}

// A convolution in blocks with a residual sum and Relu, and the same convolution without an epilogue.
struct FusedConv {
  SquareConv conv;
  Lines nodes;  // between t, r and y

  [[nodiscard]] Shape blocks() const { return shape_in(Format::nchw16c, Shape(conv.result())); }
  [[nodiscard]] FormatOption option() const {
    const std::vector<FormatOption> options = kernels_internal::options_of_convolution(conv.graph(), NodeId(0));
    return options.at(0);
  }
  [[nodiscard]] Graph graph() const {
    const FormatOption format = option();
    const std::string type = "f32" + to_string(shape_in(format.output, Shape(conv.result())));
    Lines program = {"input t : " + type, "input r : " + type};
    for (const std::string& node : nodes) program.push_back(node + " : " + type);
    program.emplace_back("output y");
    const std::string attributes = conv.attributes() + ", weights = " + testing::text_of(conv.weights()) +
                                   ", input_format = \"" + std::string(to_string(format.input)) +
                                   "\", output_format = \"" + std::string(to_string(format.output)) + "\", order = \"" +
                                   format.weights->order + "\", ";
    return fused_graph("Conv(x, w, b, r)", attributes,
                       {"input x : f32" + to_string(shape_in(format.input, Shape(conv.source()))),
                        "input w : f32" + to_string(format.weights->shape),
                        "input b : f32" + testing::text_of({conv.results}), "input r : " + type},
                       program, type);
  }
  [[nodiscard]] std::vector<TensorData> reads() const {
    const FormatOption format = option();
    const auto random = [](const Shape& shape, std::uint64_t seed) {
      return testing::floats(shape, testing::numbers(*element_count(shape), seed));
    };
    const auto in_format = [&](Format to, const Shape& model, std::uint64_t seed) {
      if (to == Format::plain) return random(model, seed);
      return testing::run_one(testing::reorder_graph(Format::plain, to, model), {random(model, seed)});
    };
    return {in_format(format.input, Shape(conv.source()), 1),
            testing::run_one(testing::pack_graph(conv, *format.weights), {random(Shape(conv.weights()), 2)}),
            random(Shape({conv.results}), 3), in_format(format.output, Shape(conv.result()), 4)};
  }
};

const std::vector<SquareConv> kConvs = {
    {.channels = 32, .size = 9, .results = 48, .window = 3, .pad = 1},
    {.channels = 48, .size = 7, .results = 20},  // with padding
    {.channels = 32, .size = 9, .results = 32, .window = 3, .stride = 2, .pad = 1, .group = 32},
    {.channels = 3, .size = 11, .results = 16, .window = 3, .stride = 2}};

// The product and then the chain, to the bit.
TEST(OnednnEpilogue, AddsAndClampsAsAChainDoes) {
  for (const SquareConv& conv : kConvs) {
    const FusedConv fused{conv, {"a = Sub(t, r)", "c = Mul(a, r)", "y = Relu(c)"}};
    const Graph graph = fused.graph();
    ASSERT_THAT(kernels_of(graph), ElementsAre("onednn.conv", "onednn.conv+chain"));
    const std::vector<TensorData> reads = fused.reads();
    const Floats y = testing::values_of<float>(run_kernel(graph, "onednn.conv", reads));
    EXPECT_EQ(y, testing::values_of<float>(run_kernel(graph, "onednn.conv+chain", reads)));
  }
}

// HardSigmoid of 0 is 0.5. There are 20 channels, in blocks of 16 or 8 lanes.
TEST(OnednnEpilogue, WritesZerosIntoLanesWithoutAChannel) {
  const FusedConv fused{kConvs[1], {"a = HardSigmoid(t)", "y = Add(a, r)"}};
  const Graph graph = fused.graph();
  const std::size_t lanes = fused.option().output == Format::nchw16c ? 16 : 8;
  for (const std::string& kernel : kernels_of(graph)) {
    const Floats y = testing::values_of<float>(run_kernel(graph, kernel, fused.reads()));
    const std::size_t block = y.size() / ((20 + lanes - 1) / lanes);
    int zeros = 0;
    int others = 0;
    for (std::size_t at = 0; at < y.size(); ++at) {
      const bool is_padding = at / block * lanes + at % lanes >= 20;
      ASSERT_TRUE(!is_padding || y[at] == 0.0F) << at;
      zeros += is_padding ? 1 : 0;
      others += !is_padding && y[at] != 0 ? 1 : 0;
    }
    EXPECT_GE(zeros, 4 * 49);  // 4 or 12 lanes of 7 x 7
    EXPECT_GT(others, 900);    // of 980
  }
}

// The memory of the operand becomes that of the result if a plan says so, with the same bits.
TEST(OnednnEpilogue, WritesSumsOverTheirOperand) {
  for (const SquareConv& conv : kConvs) {
    const FusedConv fused{conv, {"a = Add(r, t)", "y = Relu(a)"}};
    const std::string text = print_graph(fused.graph());
    // A node computes the operand, which no other node reads.
    const std::size_t conv_line = text.find("  y = ");
    const std::string type = "f32" + to_string(fused.graph().tensor(*fused.graph().node(NodeId(0)).inputs[3]).shape);
    const std::size_t input = text.find("  input r");
    const std::string computed = text.substr(0, input) + "  input q : " + type +
                                 text.substr(text.find('\n', input), conv_line - text.find('\n', input)) +
                                 "  r = Neg(q) : " + type + "\n" + text.substr(conv_line);
    const Graph graph = testing::graph_of(computed);
    const std::vector<Kernel> offered = offered_kernels(graph, NodeId(1));
    ASSERT_EQ(offered.at(0).name, "onednn.conv");
    EXPECT_THAT(offered[0].in_place, ElementsAre(std::pair(3, 0)));
    EXPECT_TRUE(offered.at(1).in_place.empty());
    EXPECT_TRUE(offered_kernels(fused.graph(), NodeId(0)).at(0).in_place.empty());  // r belongs to the caller
    const auto run = [&](std::string_view kernel, std::optional<int> over) {
      return testing::values_of<float>(run_kernel(graph, kernel, fused.reads(), over, NodeId(1)));
    };
    const Floats over = run("onednn.conv", 3);
    EXPECT_EQ(over, run("onednn.conv", std::nullopt));
    const Floats chain = run("onednn.conv+chain", std::nullopt);
    for (std::size_t at = 0; at < chain.size(); ++at) ASSERT_NEAR(over[at], chain[at], 1e-5) << at;
  }
}

// The operands of an epilogue are divided as the results are.
TEST(OnednnEpilogue, GivesThreadsTheirPartsOfTheOperands) {
  for (const SquareConv& conv :
       {SquareConv{.channels = 64, .size = 28, .results = 64, .window = 3, .pad = 1},
        SquareConv{.channels = 64, .size = 28, .results = 64, .window = 3, .pad = 1, .group = 64},
        SquareConv{.batch = 2, .channels = 64, .size = 14, .results = 16}}) {
    const FusedConv fused{conv, {"a = Mul(t, r)", "b = Add(a, r)", "y = Relu(b)"}};
    const Graph graph = fused.graph();
    const Floats alone = testing::values_of<float>(run_kernel(graph, "onednn.conv", fused.reads()));
    for (const int threads : testing::kThreadCounts) {
      testing::ReversedTeam team(threads);
      testing::KernelRun run(graph, "onednn.conv");
      run.threads = threads;
      run.team = &team;
      ASSERT_EQ(run.run(fused.reads()), RunStatus());
      EXPECT_EQ(testing::values_of<float>(run.writes[0]), alone) << threads;
      EXPECT_EQ(team.calls, threads == 1 ? 0 : 1);
    }
  }
}

}  // namespace
}  // namespace lowtide
