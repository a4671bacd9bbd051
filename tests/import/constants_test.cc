// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Initializers and Constant nodes: their data, sparse forms, and external data, which is never opened.

#include "lowtide/import/onnx/proto/constants.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/import/onnx/proto/external_data.h"
#include "tests/import/onnx_models.h"

namespace lowtide::import_internal {
namespace {

using onnx::TensorProto;
using testing::expect_refused;
using testing::import;
using testing::model_from;

Result<TensorFact> constant_fact_of(const TensorProto& tensor) {
  ContentBudget budget(1 << 20);
  return fact_from_tensor(tensor, budget);
}

TensorProto typed_tensor(int data_type, const std::vector<std::int64_t>& dims) {
  TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(data_type);
  for (std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

std::vector<std::int64_t> integers_of(const Result<TensorFact>& fact) {
  std::vector<std::int64_t> integers;
  if (!fact.ok() || fact->known.content == nullptr) return integers;
  for (const KnownElement& element : fact->known.content->elements) integers.push_back(element.integer);
  return integers;
}

TEST(Constants, ReadIntegersFromRawBytes) {
  TensorProto tensor = typed_tensor(TensorProto::INT32, {2});
  tensor.set_raw_data(std::string("\x02\0\0\0\xff\xff\xff\xff", 8));
  EXPECT_EQ(integers_of(constant_fact_of(tensor)), (std::vector<std::int64_t>{2, -1}));
  tensor.set_data_type(TensorProto::UINT32);
  EXPECT_EQ(integers_of(constant_fact_of(tensor)), (std::vector<std::int64_t>{2, 4294967295}));
}

TEST(Constants, ReadIntegersFromTypedLists) {
  TensorProto wide = typed_tensor(TensorProto::INT64, {1, 2});
  wide.add_int64_data(-5);
  wide.add_int64_data(7);
  EXPECT_EQ(integers_of(constant_fact_of(wide)), (std::vector<std::int64_t>{-5, 7}));
  TensorProto narrow = typed_tensor(TensorProto::BOOL, {2});
  narrow.add_int32_data(0);
  narrow.add_int32_data(3);
  EXPECT_EQ(integers_of(constant_fact_of(narrow)), (std::vector<std::int64_t>{0, 1}));
}

TEST(Constants, ReadFloatsOfEveryWidth) {
  TensorProto half = typed_tensor(TensorProto::FLOAT16, {3});
  half.set_raw_data(std::string("\x00\x3c\x00\xc1\x01\x00", 6));  // 1, -2.5, the smallest subnormal 2^-24
  const Result<TensorFact> fact = constant_fact_of(half);
  ASSERT_TRUE(fact.ok() && fact->known.content != nullptr);
  EXPECT_EQ(fact->known.content->elements[0].real, 1.0);
  EXPECT_EQ(fact->known.content->elements[1].real, -2.5);
  EXPECT_EQ(fact->known.content->elements[2].real, 1.0 / (1 << 24));
  TensorProto brain = typed_tensor(TensorProto::BFLOAT16, {1});
  brain.add_int32_data(0x4049);  // the upper half of 3.140625 as a float
  const Result<TensorFact> pi = constant_fact_of(brain);
  ASSERT_TRUE(pi.ok() && pi->known.content != nullptr);
  EXPECT_EQ(pi->known.content->elements[0].real, 3.140625);
}

TEST(Constants, PackElementsSmallerThanAByte) {
  TensorProto odd = typed_tensor(TensorProto::INT4, {3});  // 3 x 4 bits: two bytes
  odd.set_raw_data("ab");
  EXPECT_TRUE(constant_fact_of(odd).ok());
  odd.set_raw_data("abc");
  expect_refused(constant_fact_of(odd), ErrorCode::invalid, {"raw_data has 3 bytes", "need 2"});
}

TEST(Constants, WithTooFewOrTooManyDataAreRefused) {
  TensorProto tensor = typed_tensor(TensorProto::FLOAT, {3});
  expect_refused(constant_fact_of(tensor), ErrorCode::invalid, {"float_data has 0", "need 3"});
  tensor.set_raw_data(std::string(8, '\0'));
  expect_refused(constant_fact_of(tensor), ErrorCode::invalid, {"raw_data has 8 bytes", "need 12"});
  tensor.set_raw_data(std::string(16, '\0'));
  expect_refused(constant_fact_of(tensor), ErrorCode::invalid, {"raw_data has 16 bytes", "need 12"});
}

TEST(Constants, WithDataInTwoPlacesAreRefused) {
  TensorProto tensor = typed_tensor(TensorProto::FLOAT, {1});
  tensor.set_raw_data(std::string(4, '\0'));
  tensor.add_float_data(1);
  expect_refused(constant_fact_of(tensor), ErrorCode::invalid, {"both raw_data and float_data"});
  TensorProto wrong = typed_tensor(TensorProto::FLOAT, {1});
  wrong.add_int64_data(1);
  expect_refused(constant_fact_of(wrong), ErrorCode::invalid, {"int64_data", "f32"});
}

TEST(Constants, WithInvalidDimsAreRefused) {
  expect_refused(constant_fact_of(typed_tensor(TensorProto::FLOAT, {-5})), ErrorCode::invalid, {"-5", "negative"});
  expect_refused(constant_fact_of(typed_tensor(TensorProto::FLOAT, {std::int64_t{1} << 40, std::int64_t{1} << 40})),
                 ErrorCode::over_limit, {"2^63"});
  // 2^32 x 2^32 is 0 in 64 bits, but the tensor is not empty.
  expect_refused(constant_fact_of(typed_tensor(TensorProto::INT8, {std::int64_t{1} << 32, std::int64_t{1} << 32})),
                 ErrorCode::over_limit, {"2^63"});
  expect_refused(constant_fact_of(typed_tensor(TensorProto::FLOAT, {std::int64_t{1} << 46})), ErrorCode::over_limit,
                 {"kMaxTensorBytes"});
  expect_refused(constant_fact_of(typed_tensor(TensorProto::FLOAT, std::vector<std::int64_t>(100'000, 1))),
                 ErrorCode::over_limit, {"rank 100000", "kMaxRank"});
}

TEST(Constants, OfUnknownTypesAreRefused) {
  expect_refused(constant_fact_of(typed_tensor(0, {1})), ErrorCode::invalid, {"missing"});
  expect_refused(constant_fact_of(typed_tensor(9999, {1})), ErrorCode::invalid, {"9999"});
  expect_refused(constant_fact_of(typed_tensor(TensorProto::FLOAT6E2M3, {4})), ErrorCode::unsupported, {"FLOAT6E2M3"});
}

TEST(Constants, WithoutElementsNeedNoData) {
  EXPECT_TRUE(constant_fact_of(typed_tensor(TensorProto::FLOAT, {0, 5})).ok());
  TensorProto raw = typed_tensor(TensorProto::FLOAT, {0});
  raw.set_raw_data("");
  EXPECT_TRUE(constant_fact_of(raw).ok());
}

TEST(Constants, KeepContentOnlyWithinTheBudget) {
  TensorProto tensor = typed_tensor(TensorProto::INT64, {4});
  for (int at = 0; at < 4; ++at) tensor.add_int64_data(at);
  ContentBudget budget(6);
  EXPECT_NE(fact_from_tensor(tensor, budget)->known.content, nullptr);
  EXPECT_EQ(fact_from_tensor(tensor, budget)->known.content, nullptr) << "2 of 6 are left";
  budget.give_back(4);
  EXPECT_NE(fact_from_tensor(tensor, budget)->known.content, nullptr);
}

// ---------------------------------------------------------------------------------------------------- external data

TensorProto external(std::vector<std::pair<std::string, std::string>> entries) {
  TensorProto tensor = typed_tensor(TensorProto::FLOAT, {8});  // 32 bytes
  tensor.set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return tensor;
}

TEST(ExternalData, NeedNotExist) {
  EXPECT_TRUE(constant_fact_of(external({{"location", "no/such/file.bin"}})).ok());
  EXPECT_TRUE(constant_fact_of(external({{"location", "./weights"}, {"offset", "4096"}, {"length", "32"}})).ok());
  EXPECT_EQ(constant_fact_of(external({{"location", "w"}}))->known.content, nullptr);
}

TEST(ExternalData, MayBeUnalignedOverlapAndHaveUnknownKeys) {
  EXPECT_TRUE(constant_fact_of(external({{"location", "w"}, {"offset", "3"}})).ok());
  EXPECT_TRUE(constant_fact_of(external({{"location", "w"}, {"checksum", "wrong"}, {"new_key", "x"}})).ok());
}

TEST(ExternalData, StayInTheFolderOfTheModel) {
  for (const char* location :
       {"../w", "sub/../../w", "./../w", "sub//../../w", "a/b/../../../w", "sub/..", "..", "..\\w", "sub\\..\\w",
        "sub\\x/../w", "sub/%2e%2e/w", "%2e%2e/w", "%2E./w", "/etc/passwd", "\\\\host\\w", "C:\\w", "c:w"}) {
    expect_refused(constant_fact_of(external({{"location", location}})), ErrorCode::invalid,
                   {"external data: location"});
  }
}

TEST(ExternalData, MayLeaveAFolderBelowTheModel) {
  const auto place = [](const std::string& location) {
    const Result<ExternalPlace> found = external_place_of(external({{"location", location}}), 32);
    return found ? found->location : found.error().message;
  };
  EXPECT_EQ(place("sub/../w.bin"), "w.bin");
  EXPECT_EQ(place("a/b/../../c/./w.bin"), "c/w.bin");
  EXPECT_EQ(place("a/../b//../w.bin"), "w.bin");
  EXPECT_EQ(place("./w.bin"), "./w.bin");
  EXPECT_EQ(place("...//w..bin"), "...//w..bin") << "names with dots";
}

TEST(ExternalData, NameAFile) {
  for (const std::string& location : {std::string(), std::string("."), std::string("folder/"), std::string("a\0b", 3),
                                      std::string(5000, 'a'), std::string("*/_ORT_MEM_ADDR_/*")}) {
    expect_refused(constant_fact_of(external({{"location", location}})), ErrorCode::invalid, {"location"});
  }
  expect_refused(constant_fact_of(external({})), ErrorCode::invalid, {"key 'location' is missing"});
  expect_refused(constant_fact_of(external({{"location", "a"}, {"location", "b"}})), ErrorCode::invalid,
                 {"'location'", "twice"});
}

TEST(ExternalData, HaveValidOffsetsAndLengths) {
  for (const char* offset : {"-1", "18446744073709551584", "0x10", "1 ", "", "1e3"}) {
    expect_refused(constant_fact_of(external({{"location", "w"}, {"offset", offset}})), ErrorCode::invalid, {"offset"});
  }
  expect_refused(constant_fact_of(external({{"location", "w"}, {"offset", "9223372036854775800"}})), ErrorCode::invalid,
                 {"9223372036854775800 plus 32 bytes exceeds"});
  expect_refused(constant_fact_of(external({{"location", "w"}, {"length", "31"}})), ErrorCode::invalid,
                 {"31 bytes", "need 32"});
  expect_refused(constant_fact_of(external({{"location", "w"}, {"length", "-32"}})), ErrorCode::invalid,
                 {"length '-32'"});
}

TEST(ExternalData, ExcludeDataInTheModelFile) {
  TensorProto tensor = external({{"location", "w"}});
  tensor.set_raw_data(std::string(32, '\0'));
  expect_refused(constant_fact_of(tensor), ErrorCode::invalid, {"both external data and raw_data"});
}

// ------------------------------------------------------------------------------------------------------------ sparse

onnx::SparseTensorProto sparse(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& index_dims,
                               const std::vector<std::int64_t>& indices) {
  onnx::SparseTensorProto tensor;
  const std::int64_t rows = index_dims.empty() ? 0 : index_dims[0];
  *tensor.mutable_values() = typed_tensor(TensorProto::FLOAT, {rows});
  for (std::int64_t row = 0; row < rows; ++row) tensor.mutable_values()->add_float_data(1);
  *tensor.mutable_indices() = typed_tensor(TensorProto::INT64, index_dims);
  for (std::int64_t index : indices) tensor.mutable_indices()->add_int64_data(index);
  for (std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

TEST(SparseConstants, AreSizedAsDenseTensors) {
  const Result<TensorFact> flat = fact_from_sparse(sparse({2, 3}, {2}, {1, 5}));
  ASSERT_TRUE(flat.ok()) << flat.error().describe();
  ASSERT_EQ(flat->known.extents->size(), 2U);
  EXPECT_EQ((*flat->known.extents)[1].extent, 3);
  EXPECT_TRUE(fact_from_sparse(sparse({2, 3}, {2, 2}, {0, 1, 1, 2})).ok());
}

TEST(SparseConstants, HaveIndicesInRangeSortedAndDistinct) {
  expect_refused(fact_from_sparse(sparse({2, 3}, {2}, {1, 6})), ErrorCode::invalid, {"index 6", "[0, 6)"});
  expect_refused(fact_from_sparse(sparse({2, 3}, {1}, {-1})), ErrorCode::invalid, {"index -1"});
  expect_refused(fact_from_sparse(sparse({2, 3}, {1, 2}, {1, 3})), ErrorCode::invalid, {"index 3", "[0, 3)"});
  expect_refused(fact_from_sparse(sparse({2, 3}, {2}, {5, 1})), ErrorCode::invalid, {"sorted and distinct"});
  expect_refused(fact_from_sparse(sparse({2, 3}, {2}, {1, 1})), ErrorCode::invalid, {"sorted and distinct"});
}

TEST(SparseConstants, HaveIndicesOfTheRightShape) {
  expect_refused(fact_from_sparse(sparse({2, 3}, {1, 3}, {0, 0, 0})), ErrorCode::invalid, {"i64[n,2]"});
  expect_refused(fact_from_sparse(sparse({std::int64_t{1} << 40, std::int64_t{1} << 40}, {1}, {0})),
                 ErrorCode::over_limit, {"2^63"});
}

// ---------------------------------------------------------------------------------------------------- in whole graphs

TEST(Initializers, AreConstantsWithKnownIntegers) {
  const auto model = import("g (float[2,3] x) => (float[3,2] y) <int64[2] s = {3, 2}> { y = Reshape(x, s) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Graph& graph = model->graph;
  ASSERT_EQ(graph.inputs().size(), 1U);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).name != "s") continue;
    EXPECT_EQ(graph.tensor(id).role, Role::constant);
    ASSERT_NE(graph.known_integers(id), nullptr);
    EXPECT_EQ(*graph.known_integers(id), (std::vector<std::int64_t>{3, 2}));
  }
  EXPECT_EQ(testing::type_of(graph, "y"), "f32[3,2]");
}

TEST(Initializers, ThatAreAlsoInputsAreConstantsAndNoted) {
  onnx::ModelProto proto =
      model_from("g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }");
  if (proto.graph().initializer_size() == 0) GTEST_SKIP() << "the text form does not allow it";
  const auto model = import(proto);
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.inputs().size(), 1U);
  ASSERT_EQ(model->notes.size(), 1U);
  EXPECT_NE(model->notes[0].find("'w'"), std::string::npos);
  proto.set_ir_version(3);  // in this version every initializer is listed as an input, so there is no note
  const auto old = import(proto);
  ASSERT_TRUE(old.ok()) << old.error().describe();
  EXPECT_TRUE(old->notes.empty());
  proto.mutable_graph()
      ->mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(3);
  expect_refused(import(proto), ErrorCode::invalid, {"initializer 'w'", "f32[3]", "f32[2]"});
}

// A caller may override the default value of an input, from IR version 4 on.
TEST(Initializers, ThatAreOverriddenAreInputs) {
  onnx::ModelProto proto =
      model_from("g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }");
  if (proto.graph().initializer_size() == 0) GTEST_SKIP() << "the text form does not allow it";
  const auto model = import(proto, {.dims = {}, .shapes = {}, .overrides = {"w", "no input"}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  ASSERT_EQ(model->graph.inputs().size(), 2U);
  EXPECT_EQ(model->graph.tensor(model->graph.inputs()[1]).name, "w");
  EXPECT_TRUE(model->notes.empty());
  EXPECT_TRUE(model->default_inputs.empty());
  EXPECT_TRUE(check_overrides(model->graph, model->default_inputs, {"w", "x"}).ok());
  const auto constant = import(proto);
  EXPECT_EQ(constant->default_inputs, std::vector<std::string>{"w"});
  expect_refused(check_overrides(constant->graph, constant->default_inputs, {"v"}), ErrorCode::invalid,
                 {"no input 'v' that a caller may give", "the inputs with a default value: 'w'"});
  proto.set_ir_version(3);  // every initializer is listed as an input
  EXPECT_EQ(import(proto, {.dims = {}, .shapes = {}, .overrides = {"w"}})->graph.inputs().size(), 1U);
}

TEST(Initializers, AreNamedInErrors) {
  onnx::ModelProto proto = model_from("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }");
  proto.mutable_graph()->mutable_initializer(0)->add_float_data(3);
  expect_refused(import(proto), ErrorCode::invalid, {"graph 'g'", "initializer 'w'", "float_data has 3"});
}

TEST(ConstantNodes, BecomeConstantsAndNotNodes) {
  const auto model =
      import("g (float[4] x) => (float[2,2] y) { s = Constant<value_ints = [2, 2]>() y = Reshape(x, s) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.nodes().size(), 1U);
  ASSERT_NE(testing::find_tensor(model->graph, "s"), nullptr);
  EXPECT_EQ(testing::find_tensor(model->graph, "s")->role, Role::constant);
  EXPECT_EQ(testing::type_of(model->graph, "y"), "f32[2,2]");
}

TEST(ConstantNodes, HaveOneValue) {
  expect_refused(import("g () => (float[1] y) { y = Constant<value_int = 1, value_float = 2.0>() }"),
                 ErrorCode::invalid, {"Constant", "this one has 2"});
  expect_refused(import("g () => (float[1] y) { y = Constant() }"), ErrorCode::invalid, {"Constant", "this one has 0"});
}

TEST(ConstantNodes, OfStringsAreUnsupported) {
  expect_refused(import("g (float[1] x) => (float[1] y) { s = Constant<value_string = \"a\">() y = Relu(x) }"),
                 ErrorCode::unsupported, {"'s' is a tensor of strings"});
}

}  // namespace
}  // namespace lowtide::import_internal
