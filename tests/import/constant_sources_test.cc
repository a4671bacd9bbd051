// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Where the bytes of constants are, for each way in which a model can give them.

#include "lowtide/import/onnx/proto/constant_sources.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "lowtide/import/onnx/proto/constants.h"
#include "lowtide/import/onnx/proto/raw_range.h"
#include "tests/import/onnx_models.h"

namespace lowtide::import_internal {
namespace {

using onnx::TensorProto;
using testing::find_tensor;
using testing::import;
using testing::import_bytes;
using testing::model_from;

// The source of the constant `name` of a graph. Fails if it has none.
ConstantSource source_of(const ImportedModel& model, const Graph& graph, std::string_view name) {
  const Tensor* tensor = find_tensor(graph, name);
  if (tensor == nullptr || !tensor->constant) {
    ADD_FAILURE() << name << " has no source";
    return {.where = ConstantSource::Computed()};
  }
  return model.constants.sources[*tensor->constant];
}
ConstantSource source_of(const ImportedModel& model, std::string_view name) {
  return source_of(model, model.graph, name);
}

// The inline bytes of a source as numbers of type T.
template <typename T>
std::vector<T> numbers_of(const ConstantSource& source) {
  const auto* here = std::get_if<ConstantSource::Inline>(&source.where);
  if (here == nullptr) {
    ADD_FAILURE() << source.name << " is not inline";
    return {};
  }
  std::vector<T> numbers(here->bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), here->bytes.data(), here->bytes.size());
  return numbers;
}

// The model "y = Add(x, w)", to which a test gives w.
onnx::ModelProto model_with(const TensorProto& w, const std::string& type) {
  onnx::ModelProto model = model_from("g (" + type + " x) => (" + type + " y) { y = Add(x, w) }");
  *model.mutable_graph()->add_initializer() = w;
  return model;
}

TensorProto tensor_of(int data_type, const std::vector<std::int64_t>& dims) {
  TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(data_type);
  for (std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

TEST(ConstantSources, ReferToLongRawDataInTheFile) {
  TensorProto w = tensor_of(TensorProto::FLOAT, {65});
  for (int at = 0; at < 260; ++at) w.mutable_raw_data()->push_back(static_cast<char>(at));
  const std::string file = model_with(w, "float[65]").SerializeAsString();
  const Result<ImportedModel> model = import_bytes(file);
  ASSERT_TRUE(model.ok()) << model.error().describe();
  ASSERT_TRUE(check_constants(model->constants).ok());
  EXPECT_EQ(model->constants.files.size(), 1U);
  const ConstantSource source = source_of(*model, "w");
  EXPECT_EQ(source.name, "w");
  EXPECT_EQ(source.size, Bytes(260));
  const auto* place = std::get_if<ConstantSource::InFile>(&source.where);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->file, ConstantFileId(0));
  EXPECT_EQ(file.substr(static_cast<std::size_t>(place->offset), 260), w.raw_data());
}

TEST(ConstantSources, CopyShortRawData) {
  TensorProto w = tensor_of(TensorProto::FLOAT, {2});
  const float values[] = {1.5F, -2.0F};
  w.set_raw_data(values, sizeof(values));
  const Result<ImportedModel> model = import(model_with(w, "float[2]"));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(numbers_of<float>(source_of(*model, "w")), (std::vector<float>{1.5F, -2.0F}));
}

TEST(ConstantSources, CopyTypedLists) {
  TensorProto reals = tensor_of(TensorProto::FLOAT, {2});
  reals.add_float_data(1.5F);
  reals.add_float_data(-2.0F);
  EXPECT_EQ(numbers_of<float>(source_of(*import(model_with(reals, "float[2]")), "w")),
            (std::vector<float>{1.5F, -2.0F}));
  TensorProto integers = tensor_of(TensorProto::INT8, {3});
  for (int value : {1, -1, 100}) integers.add_int32_data(value);
  EXPECT_EQ(numbers_of<std::int8_t>(source_of(*import(model_with(integers, "int8[3]")), "w")),
            (std::vector<std::int8_t>{1, -1, 100}));
  TensorProto unsigned_integers = tensor_of(TensorProto::UINT32, {1});
  unsigned_integers.add_uint64_data(4'000'000'000);
  EXPECT_EQ(numbers_of<std::uint32_t>(source_of(*import(model_with(unsigned_integers, "uint32[1]")), "w")),
            (std::vector<std::uint32_t>{4'000'000'000}));
}

TEST(ConstantSources, WriteBooleansAsZeroAndOne) {
  TensorProto w = tensor_of(TensorProto::BOOL, {2});
  w.add_int32_data(0);
  w.add_int32_data(256);
  onnx::ModelProto model = model_from("g (bool[2] x) => (bool[2] y) { y = And(x, w) }");
  *model.mutable_graph()->add_initializer() = w;
  EXPECT_EQ(numbers_of<std::uint8_t>(source_of(*import(model), "w")), (std::vector<std::uint8_t>{0, 1}));
}

TEST(ConstantSources, CopyTheAttributesOfConstantNodes) {
  const Result<ImportedModel> model = import(
      "g (float[2] x, int64[2] i) => (float[2] a, float[2] b, int64[2] c, int64[2] d) {\n"
      "  one = Constant<value_float = 1.5>()  two = Constant<value_floats = [1.0, 2.0]>()\n"
      "  three = Constant<value_int = -3>()  four = Constant<value_ints = [4, 5]>()\n"
      "  a = Add(x, one)  b = Add(x, two)  c = Add(i, three)  d = Add(i, four) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(numbers_of<float>(source_of(*model, "one")), (std::vector<float>{1.5F}));
  EXPECT_EQ(numbers_of<float>(source_of(*model, "two")), (std::vector<float>{1, 2}));
  EXPECT_EQ(numbers_of<std::int64_t>(source_of(*model, "three")), (std::vector<std::int64_t>{-3}));
  EXPECT_EQ(numbers_of<std::int64_t>(source_of(*model, "four")), (std::vector<std::int64_t>{4, 5}));
}

TEST(ConstantSources, SpreadSparseTensors) {
  onnx::ModelProto model = model_from("g (float[2,3] x) => (float[2,3] y) { y = Add(x, w) }");
  onnx::SparseTensorProto& sparse = *model.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = tensor_of(TensorProto::FLOAT, {2});
  sparse.mutable_values()->add_float_data(5);
  sparse.mutable_values()->add_float_data(7);
  *sparse.mutable_indices() = tensor_of(TensorProto::INT64, {2, 2});
  for (std::int64_t index : {0, 1, 1, 2}) sparse.mutable_indices()->add_int64_data(index);
  sparse.add_dims(2);
  sparse.add_dims(3);
  const std::vector<float> dense = {0, 5, 0, 0, 0, 7};
  EXPECT_EQ(numbers_of<float>(source_of(*import(model), "w")), dense);
  *sparse.mutable_indices() = tensor_of(TensorProto::INT64, {2});
  sparse.mutable_indices()->add_int64_data(1);
  sparse.mutable_indices()->add_int64_data(5);
  EXPECT_EQ(numbers_of<float>(source_of(*import(model), "w")), dense);
}

TEST(ConstantSources, LimitTheDenseFormsOfSparseTensors) {
  onnx::ModelProto model = model_from("g (float[100000000] x) => (float[100000000] y) { y = Add(x, w) }");
  onnx::SparseTensorProto& sparse = *model.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = tensor_of(TensorProto::FLOAT, {1});
  sparse.mutable_values()->add_float_data(5);
  *sparse.mutable_indices() = tensor_of(TensorProto::INT64, {1});
  sparse.mutable_indices()->add_int64_data(99'999'999);
  sparse.add_dims(100'000'000);
  const Result<ImportedModel> imported = import(model);
  ASSERT_TRUE(imported.ok()) << imported.error().describe();
  EXPECT_EQ(find_tensor(imported->graph, "w")->constant, std::nullopt);
}

TEST(ConstantSources, ReferToExternalDataByFile) {
  TensorProto w = tensor_of(TensorProto::FLOAT, {2});
  w.set_data_location(TensorProto::EXTERNAL);
  const auto set = [&](const std::string& key, const std::string& value) {
    onnx::StringStringEntryProto& entry = *w.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  set("location", "data/weights.bin");
  set("offset", "4096");
  const Result<ImportedModel> model = import(model_with(w, "float[2]"));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->constants.files[ConstantFileId(1)], "data/weights.bin");
  EXPECT_EQ(std::get<ConstantSource::InFile>(source_of(*model, "w").where),
            (ConstantSource::InFile{.file = ConstantFileId(1), .offset = 4096}));
}

constexpr std::string_view kLoop = R"(g (float[2] x, int64 n) => (float[2] y) {
  more = Constant<value = bool {1}>()
  y = Loop(n, more, x) <body = b (int64 i, bool c, float[2] s) => (bool again, float[2] t) {
    again = Identity(c)
    w = Constant<value = float[2] {1, 2}>()
    t = Add(s, w) }> })";

TEST(ConstantSources, RegisterTheConstantsOfABodyOnce) {
  const Result<ImportedModel> model = import(std::string(kLoop));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Graph& body = *model->graph.node(NodeId(0)).bodies[0].graph;
  EXPECT_EQ(numbers_of<float>(source_of(*model, body, "w")), (std::vector<float>{1, 2}));
  EXPECT_EQ(model->constants.sources.size(), 2U) << "more, w";
}

TEST(ConstantSources, AreEmptyForBranchesThatNeverRun) {
  const Result<ImportedModel> model = import(R"(g (float[2] x) => (float[2] y) {
    condition = Constant<value = bool {1}>()
    y = If(condition) <
      then_branch = t () => (float[2] a) { one = Constant<value = float[2] {1, 2}>() a = Add(x, one) },
      else_branch = e () => (float[2] b) { two = Constant<value = float[2] {3, 4}>() b = Add(x, two) }> })");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  ASSERT_TRUE(check_constants(model->constants).ok());
  Bytes sum;
  for (const ConstantSource& source : model->constants.sources) {
    sum += source.size;
    if (source.name == "two") {
      EXPECT_EQ(source.size, Bytes());
    }
  }
  EXPECT_EQ(sum, Bytes(1 + 8)) << "condition, one";
}

TEST(ConstantSources, StayUnknownWithoutAFile) {
  ContentBudget budget(1 << 20);
  TensorProto w = tensor_of(TensorProto::INT64, {40});
  w.set_raw_data("");
  w.set_doc_string(reference_to({.offset = 0, .size = 320}));
  EXPECT_EQ(fact_from_tensor(w, budget)->known.content, nullptr);
  const std::string file(320, '\1');
  const TextBytes source(file);
  ContentBudget with_file(1 << 20, &source);
  ASSERT_NE(fact_from_tensor(w, with_file)->known.content, nullptr);
  EXPECT_EQ(fact_from_tensor(w, with_file)->known.content->elements[39].integer, 0x0101010101010101);
}

}  // namespace
}  // namespace lowtide::import_internal
