// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Versions, domains and operators that the importer accepts.

#include <gtest/gtest.h>

#include <string>

#include "tests/import/onnx_models.h"

namespace lowtide::testing {
namespace {

onnx::ModelProto relu() { return model_from("g (float[2] x) => (float[2] y) { [r] y = Relu(x) }"); }

onnx::ModelProto with_opset(std::int64_t version) {
  onnx::ModelProto model = relu();
  model.mutable_opset_import(0)->set_version(version);
  return model;
}

TEST(IrVersions, FromThreeToTheNewestAreRead) {
  for (int version : {3, 4, 8, static_cast<int>(onnx::IR_VERSION)}) {
    onnx::ModelProto model = relu();
    model.set_ir_version(version);
    EXPECT_TRUE(import(model).ok()) << version << ": " << import(model).error().describe();
  }
}

TEST(IrVersions, OutsideTheRangeAreRefused) {
  onnx::ModelProto model = relu();
  for (std::int64_t version :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{9999}, std::int64_t{onnx::IR_VERSION} + 1}) {
    model.set_ir_version(version);
    expect_refused(import(model), ErrorCode::unsupported, {"ir_version " + std::to_string(version)});
  }
  for (std::int64_t version : {0, -1}) {
    model.set_ir_version(version);
    expect_refused(import(model), ErrorCode::invalid, {"ir_version"});
  }
}

TEST(Opsets, FromSevenToTheNewestAreRead) {
  for (int version : {7, 13, 17, 28}) EXPECT_TRUE(import(with_opset(version)).ok()) << version;
}

TEST(Opsets, OutsideTheRangeAreRefused) {
  expect_refused(import(with_opset(0)), ErrorCode::invalid, {"'ai.onnx'", "version 0"});
  expect_refused(import(with_opset(-3)), ErrorCode::invalid, {"version -3"});
  expect_refused(import(with_opset(std::int64_t{1} << 40)), ErrorCode::invalid, {"1099511627776"});
  expect_refused(import(with_opset(6)), ErrorCode::unsupported, {"version 6", "older than 7"});
  expect_refused(import(with_opset(9999)), ErrorCode::unsupported, {"version 9999", "newer than"});
}

TEST(Opsets, AreRequired) {
  onnx::ModelProto model = relu();
  model.clear_opset_import();
  expect_refused(import(model), ErrorCode::invalid, {"opset_import"});
}

TEST(Opsets, OfOneDomainMustAgree) {
  onnx::ModelProto model = relu();
  auto* again = model.add_opset_import();
  again->set_domain("ai.onnx");  // the other name of the standard domain
  again->set_version(17);
  EXPECT_TRUE(import(model).ok()) << "a repeated version is no contradiction";
  again->set_version(18);
  expect_refused(import(model), ErrorCode::invalid, {"version 18", "version 17"});
}

TEST(Opsets, OfUnknownDomainsMatterOnlyIfUsed) {
  onnx::ModelProto model = relu();
  auto* other = model.add_opset_import();
  other->set_domain("com.example");
  other->set_version(3);
  EXPECT_TRUE(import(model).ok());
  model.mutable_graph()->mutable_node(0)->set_domain("com.example");
  expect_refused(import(model), ErrorCode::unsupported, {"com.example.Relu", "node 0 'r'"});
  model.mutable_graph()->mutable_node(0)->set_domain("never.imported");
  expect_refused(import(model), ErrorCode::unsupported, {"never.imported.Relu", "imports no opset"});
}

TEST(Operators, ThatAreUnknownAreAllListed) {
  expect_refused(import("g (float[2] x) => (float[2] y) { [a] t = Nonsense(x) [b] u = Relu(t) [c] v = Nonsense(u) "
                        "[d] y = Mystery(v) }"),
                 ErrorCode::unsupported,
                 {"2 operators", "Nonsense", "2 nodes, the first is graph 'g': node 0 'a'", "Mystery", "node 3 'd'"});
}

TEST(Operators, InBodiesAreListedToo) {
  expect_refused(import("g (bool c, float[2] x) => (float[2] y) { [choose] y = If (c) <"
                        "then_branch = t () => (float[2] a) { [deep] a = Nonsense(x) },"
                        "else_branch = e () => (float[2] b) { b = Relu(x) }> }"),
                 ErrorCode::unsupported, {"Nonsense", "node 0 'choose' (If): graph 't': node 0 'deep'"});
}

TEST(Operators, OnSequencesMapsAndStringsAreUnsupported) {
  expect_refused(import("g (float[2] x) => (float[2] y) { s = SequenceConstruct(x) i = Constant<value_int = 0>() "
                        "y = SequenceAt(s, i) }"),
                 ErrorCode::unsupported, {"SequenceAt", "SequenceConstruct", "sequences"});
}

TEST(Operators, ThatProduceStringsAreUnsupported) {
  expect_refused(import("g (int64[2] x) => (float[2] y) { [to_text] s = Cast<to = 8>(x) y = Cast<to = 1>(s) }"),
                 ErrorCode::unsupported, {"'s' is a tensor of strings", "node 0 'to_text' (Cast)"});
}

TEST(Operators, MustMatchTheInputsAndOutputsOfTheirDefinition) {
  expect_refused(import("g (float[2] x) => (float[2] y) { [r] y = Relu(x, x) }"), ErrorCode::invalid,
                 {"node 0 'r' (Relu)", "2"});
  expect_refused(import("g (float[2] x) => (float[2] y) { [r] y = Relu() }"), ErrorCode::invalid,
                 {"node 0 'r' (Relu)"});
  expect_refused(import("g (float[2] x) => (float[2] y) { [r] y, z = Relu(x) }"), ErrorCode::invalid, {"'r'"});
  expect_refused(import("g (float[2] x) => (float[2] y) { [r] y = Add(x, ) }"), ErrorCode::invalid,
                 {"node 0 'r' (Add)"});
}

TEST(Operators, MustMatchTheAttributesOfTheirDefinition) {
  expect_refused(import("g (float[2] x) => (float[2] y) { [r] y = Relu<slope = 1.0>(x) }"), ErrorCode::invalid,
                 {"node 0 'r' (Relu)", "slope"});
  expect_refused(import("g (float[2] x) => (float[2] y) { [s] y = Softmax<axis = 1.0>(x) }"), ErrorCode::invalid,
                 {"'s'", "axis"});
  expect_refused(import("g (float[2] x) => (float[4] y) { [c] y = Concat(x, x) }"), ErrorCode::invalid,
                 {"'c'", "axis"});
  onnx::ModelProto twice = model_from("g (float[2,2] x) => (float[2,2] y) { [s] y = Softmax<axis = 1>(x) }");
  *twice.mutable_graph()->mutable_node(0)->add_attribute() = twice.graph().node(0).attribute(0);
  expect_refused(import(twice), ErrorCode::invalid, {"'s'", "axis", "multiple"});
}

TEST(Operators, WithHundredsOfThousandsOfAttributesAreRefusedQuickly) {
  onnx::ModelProto model = relu();
  for (int at = 0; at < 300'000; ++at) {
    auto* attribute = model.mutable_graph()->mutable_node(0)->add_attribute();
    attribute->set_name("a" + std::to_string(at));
    attribute->set_type(onnx::AttributeProto::INT);
  }
  expect_refused(import(model), ErrorCode::invalid, {"node 0 'r' (Relu)"});
}

TEST(Operators, ThatReferToAttributesOutsideAFunctionAreRefused) {
  onnx::ModelProto model = model_from("g (float[2] x) => (float[2] y) { [e] y = Elu<alpha = 1.0>(x) }");
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_ref_attr_name("beta");
  expect_refused(import(model), ErrorCode::invalid, {"node 0 'e' (Elu)", "'alpha'"});
}

TEST(Messages, EscapeControlBytesOfNames) {
  onnx::ModelProto model = relu();
  model.mutable_graph()->mutable_node(0)->set_name("evil\x1b[2J\n2026 all is well%s");
  model.mutable_graph()->mutable_node(0)->set_op_type("No\x1bpe");
  const auto refused = import(model);
  ASSERT_FALSE(refused.ok());
  const std::string text = refused.error().describe();
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("evil\\x1b[2J\\x0a2026"), std::string::npos) << text;
  // The library does not escape names in its messages. Lowtide must.
  model = model_from("g (float[2] x) => (float[2] y) { y = Relu<slope = 1.0>(x) }");
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_name("s\x1b[31m");
  const auto attribute = import(model);
  ASSERT_FALSE(attribute.ok());
  EXPECT_EQ(attribute.error().describe().find('\x1b'), std::string::npos) << attribute.error().describe();
}

}  // namespace
}  // namespace lowtide::testing
