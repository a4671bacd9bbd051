// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/verify/verify.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

// y = If (c) then Gemm(x) else Gemm(x). Tensors c, x, y; in the branches x and t0.
class LabelsOfAnIf : public ::testing::Test {
 protected:
  static std::shared_ptr<const Graph> branch(const std::string& name) {
    GraphMaker maker(name);
    const TensorId x = maker.captured("x", {16});
    const TensorId t = maker.result("t0", {16}, "Gemm", {x});
    return std::make_shared<const Graph>(maker.make({t}));
  }
  static Graph make_graph() {
    GraphMaker maker;
    const TensorId c = maker.input("c", {1}, DType::boolean);
    const TensorId x = maker.input("x", {16});
    const TensorId y = maker.tensor("y", {16});
    maker.node(
        "If", {c}, {y}, {},
        {{"then_branch", branch("then"), {{x, TensorId(0)}}}, {"else_branch", branch("else"), {{x, TensorId(0)}}}});
    return maker.make({y});
  }
  [[nodiscard]] std::string check() const { return messages(verify_labels(graph, labels)); }

  Graph graph = make_graph();
  Labels labels = labels_of(graph);
};

TEST_F(LabelsOfAnIf, LabelsOfTheGraphAreAccepted) { EXPECT_EQ(check(), ""); }

TEST_F(LabelsOfAnIf, NameAndOperatorOfANodeAreCompared) {
  labels.nodes[NodeId(0)] = {"other", "NoSuchOp"};
  EXPECT_EQ(check(),
            "wrong_model: the plan says that the name of node 0 is 'other'; in the graph it is ''\n"
            "wrong_model: the plan says that the operator of node 0 is 'NoSuchOp'; in the graph it is 'If'\n");
}

TEST_F(LabelsOfAnIf, ThatAreSwappedAreTwoWrongNames) {
  std::swap(labels.tensors[TensorId(0)].name, labels.tensors[TensorId(1)].name);
  EXPECT_EQ(check(),
            "wrong_model: the plan says that the name of tensor 0 is 'x'; in the graph it is 'c'\n"
            "wrong_model: the plan says that the name of tensor 1 is 'c'; in the graph it is 'x'\n");
}

TEST_F(LabelsOfAnIf, TypeRoleAndSizeOfATensorAreCompared) {
  TensorLabel& y = labels.tensors[TensorId(2)];
  y.dtype = DType::i8;
  EXPECT_EQ(check(), "wrong_model: the plan says that the type of tensor 2 is i8[16]; in the graph it is u8[16]\n");
  y.dtype = DType::u8;
  y.shape = Shape({4, 4});
  EXPECT_EQ(check(), "wrong_model: the plan says that the type of tensor 2 is u8[4,4]; in the graph it is u8[16]\n");
  y.shape = Shape({16});
  y.role = Role::temporary;
  EXPECT_EQ(check(), "wrong_model: the plan says that the role of tensor 2 is temporary; in the graph it is output\n");
  y.role = Role::output;
  y.size = Bytes(15);
  EXPECT_EQ(check(), "wrong_model: the plan says that the size of tensor 2 is 15 bytes; in the graph it is 16 bytes\n");
}

TEST_F(LabelsOfAnIf, HaveOneEntryPerNodeAndTensor) {
  labels.tensors.push_back({.name = "more"});
  EXPECT_EQ(check(), "wrong_model: the plan names 1 nodes and 4 tensors; the graph has 1 and 3\n");
}

TEST_F(LabelsOfAnIf, LabelsOfBodiesAreCompared) {
  labels.bodies[1].labels.tensors[TensorId(1)].name = "u";
  EXPECT_EQ(check(),
            "wrong_model: the plan says that the name of tensor 1 is 'u'; in the graph it is 't0' "
            "[node 0 '': 'else_branch']\n");
}

TEST_F(LabelsOfAnIf, NamesOfBodiesAreCompared) {
  std::swap(labels.bodies[0], labels.bodies[1]);
  EXPECT_EQ(check(), "wrong_model: the plan does not name the nodes and tensors of body 'then_branch' of node 0\n");
  std::swap(labels.bodies[0], labels.bodies[1]);
  labels.bodies.push_back(labels.bodies[1]);
  EXPECT_EQ(check(), "wrong_model: the plan names body 'else_branch' of node 0, which the graph does not have\n");
  labels.bodies.clear();
  EXPECT_EQ(check(), "wrong_model: the plan does not name the nodes and tensors of body 'then_branch' of node 0\n");
}

TEST_F(LabelsOfAnIf, StopAtTheRequestedNumberOfViolations) {
  for (TensorLabel& tensor : labels.tensors) tensor.name = "junk";
  EXPECT_EQ(verify_labels(graph, labels, {.most_violations = 2}).size(), 2U);
}

}  // namespace
}  // namespace lowtide::testing
