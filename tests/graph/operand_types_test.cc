// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/operand_types.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lowtide/graph/text.h"

namespace lowtide {
namespace {

Graph graph_of(const std::string& lines) { return *parse_graph("graph \"g\" {\n" + lines + "}\n", "test"); }

// The contradiction that the first node has.
std::string contradiction(const std::string& lines) { return contradiction_of_types(graph_of(lines), NodeId(0)); }

TEST(OperandTypes, OperandsWithOneLetterHaveOneType) {
  EXPECT_EQ(contradiction("input x : f32[2]\ninput y : f32[2]\nz = Add(x, y) : f32[2]\noutput z\n"), "");
  EXPECT_EQ(contradiction("input x : f32[2]\ninput y : i8[2]\nz = Add(x, y) : f32[2]\noutput z\n"),
            "input 'y' is i8, and has to have the type of input 'x', which is f32");
  EXPECT_EQ(contradiction("input x : f32[2]\ninput y : f32[2]\nz = Add(x, y) : i8[2]\noutput z\n"),
            "output 'z' is i8, and has to have the type of input 'x', which is f32");
}

TEST(OperandTypes, AClassOfTypesHoldsForEachOperandAlone) {
  EXPECT_EQ(contradiction("input x : f32[2]\ninput i : i32[1]\nz = Gather(x, i) : f32[1]\noutput z\n"), "");
  EXPECT_EQ(contradiction("input x : f32[2]\ninput i : f32[1]\nz = Gather(x, i) : f32[1]\noutput z\n"),
            "input 'i' is f32, and has to be i64 or i32");
  EXPECT_EQ(contradiction("input x : f32[2]\ninput s : i32[1]\nz = Reshape(x, s) : f32[2]\noutput z\n"),
            "input 's' is i32, and has to be i64");
}

TEST(OperandTypes, RealTypesAreThoseWithAFraction) {
  int count = 0;
  for (int at = 0; at <= static_cast<int>(DType::string); ++at) count += is_real(static_cast<DType>(at)) ? 1 : 0;
  EXPECT_EQ(count, 10);  // f64, f32, f16, bf16, five of 8 bits, f4e2m1
  EXPECT_TRUE(is_real(DType::f4e2m1));
  EXPECT_FALSE(is_real(DType::i64));
  EXPECT_FALSE(is_real(DType::c64));
}

TEST(OperandTypes, OmittedOperandsKeepThePlacesOfTheOthers) {
  EXPECT_EQ(contradiction("input x : f32[2]\ninput y : i8[1]\nz = Clip(x, _, y) : f32[2]\noutput z\n"),
            "input 'y' is i8, and has to have the type of input 'x', which is f32");
}

TEST(OperandTypes, AStarStandsForAllOperandsThatFollow) {
  EXPECT_EQ(contradiction("input x : f32[2]\ninput y : f32[2]\ninput i : i64[2]\n"
                          "z = Concat(x, y, i) {axis = 0} : f32[6]\noutput z\n"),
            "input 'i' is i64, and has to have the type of input 'x', which is f32");
}

TEST(OperandTypes, OperatorsOfOtherDomainsHaveNoContradiction) {
  EXPECT_EQ(contradiction("input x : f32[2]\ninput y : i8[2]\nz = \"mine\"::Add(x, y) : f32[2]\noutput z\n"), "");
  EXPECT_EQ(contradiction("input x : f32[2]\ninput y : i8[2]\nz = NoSuchOperator(x, y) : f32[2]\noutput z\n"), "");
}

TEST(OperandTypes, AGraphIsCheckedWithItsBodies) {
  const Graph graph = graph_of(R"(
    input x : f32[2]
    input c : bool[]
    z = If(c) "choice" {
      then_branch = graph "b" captures (x) {
        captured input x : f32[2]
        t = Cast(x) : i8[2]
        q = Mul(x, t) "product" : f32[2]
        output q
      },
      else_branch = graph "e" captures (x) {
        captured input x : f32[2]
        r = Relu(x) : f32[2]
        output r
      }
    } : f32[2]
    output z
)");
  const Result<void> checked = check_operand_types(graph);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, ErrorCode::invalid);
  EXPECT_EQ(checked.error().message, "Mul: input 't' is i8, and has to have the type of input 'x', which is f32");
  EXPECT_EQ(checked.error().place, "graph 'b': product");
}

}  // namespace
}  // namespace lowtide
