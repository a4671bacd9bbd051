// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/skeleton.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/base/random.h"
#include "lowtide/import/onnx/proto/raw_range.h"
#include "lowtide/import/sha256.h"
#include "tests/import/onnx_models.h"

namespace lowtide::import_internal {
namespace {

using testing::expect_refused;
using testing::import_bytes;

Result<Skeleton> skeleton_of(const std::string& bytes) { return read_skeleton(TextBytes(bytes)); }

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
  return out + static_cast<char>(value);
}
std::string tag(unsigned field, unsigned wire_type) { return varint(field << 3U | wire_type); }
std::string delimited(unsigned field, const std::string& content) {
  return tag(field, 2) + varint(content.size()) + content;
}

constexpr unsigned kGraph = 7;      // ModelProto.graph
constexpr unsigned kNode = 1;       // GraphProto.node
constexpr unsigned kAttribute = 5;  // NodeProto.attribute
constexpr unsigned kBody = 6;       // AttributeProto.g

const std::string& small_model() {
  static const std::string bytes = testing::model_from(
                                       "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[2] x) => (float[2] y) "
                                       "<float[2] w = {1, 2}> { t = Add(x, w) y = Relu(t) }")
                                       .SerializeAsString();
  return bytes;
}

TEST(Skeleton, CountsNodesAndMemory) {
  const auto summary = skeleton_of(small_model());
  ASSERT_TRUE(summary.ok()) << summary.error().describe();
  EXPECT_EQ(summary->nodes, 2);
  EXPECT_EQ(summary->body_nesting, 0);
  // Two nodes take at least 184 bytes each. A model of this size never needs a megabyte.
  EXPECT_GT(summary->parsed_bytes, 2 * 184);
  EXPECT_LT(summary->parsed_bytes, 1 << 20);
}

onnx::TensorProto bytes_tensor(const std::string& name, std::size_t count) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::UINT8);
  tensor.add_dims(static_cast<std::int64_t>(count));
  for (std::size_t at = 0; at < count; ++at) tensor.mutable_raw_data()->push_back(static_cast<char>(at % 251));
  return tensor;
}

onnx::ModelProto parsed(const Skeleton& skeleton) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromArray(skeleton.bytes.data.get(), static_cast<int>(skeleton.bytes.size)));
  return model;
}

TEST(Skeleton, LeavesLongRawDataInTheFile) {
  onnx::ModelProto model;
  onnx::GraphProto& graph = *model.mutable_graph();
  *graph.add_initializer() = bytes_tensor("short", 256);
  *graph.add_initializer() = bytes_tensor("long", 257);
  onnx::AttributeProto& body = *graph.add_node()->add_attribute();
  *body.mutable_g()->add_initializer() = bytes_tensor("inner", 100'000);
  *graph.add_node()->add_attribute()->mutable_t() = bytes_tensor("value", 1'000);
  graph.set_name("after the nodes");
  const std::string file = model.SerializeAsString();

  const Result<Skeleton> skeleton = skeleton_of(file);
  ASSERT_TRUE(skeleton.ok()) << skeleton.error().describe();
  EXPECT_LT(skeleton->bytes.size, 600U);
  onnx::ModelProto small = parsed(*skeleton);
  const auto restore = [&](onnx::TensorProto& tensor) {
    const std::optional<RawRange> range = raw_range_of(tensor);
    ASSERT_TRUE(range);
    tensor.set_raw_data(file.substr(static_cast<std::size_t>(range->offset), static_cast<std::size_t>(range->size)));
    tensor.clear_doc_string();
  };
  EXPECT_FALSE(raw_range_of(small.graph().initializer(0)));
  restore(*small.mutable_graph()->mutable_initializer(1));
  restore(*small.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_initializer(0));
  restore(*small.mutable_graph()->mutable_node(1)->mutable_attribute(0)->mutable_t());
  EXPECT_EQ(small.SerializeAsString(), file);
}

TEST(Skeleton, UsesTheLastRawDataOfATensor) {
  const std::string small_raw = delimited(9, "abc");
  const std::string large_raw = delimited(9, std::string(1'000, 'x'));
  const auto tensor_of = [](const std::string& fields) {
    const Result<Skeleton> skeleton = skeleton_of(delimited(kGraph, delimited(5, fields)));
    return parsed(skeleton.value()).graph().initializer(0);
  };
  EXPECT_EQ(raw_range_of(tensor_of(large_raw + small_raw)), std::nullopt);
  EXPECT_EQ(tensor_of(large_raw + small_raw).raw_data(), "abc");
  ASSERT_NE(raw_range_of(tensor_of(small_raw + large_raw)), std::nullopt);
  EXPECT_EQ(raw_range_of(tensor_of(small_raw + large_raw))->size, 1'000);
  EXPECT_EQ(tensor_of(small_raw + large_raw).raw_data(), "");
  // Two tensors in an attribute become one.
  const auto value_of = [](const std::string& first, const std::string& second) {
    const std::string attribute = delimited(5, first) + delimited(5, second);
    const Result<Skeleton> skeleton =
        skeleton_of(delimited(kGraph, delimited(kNode, delimited(kAttribute, attribute))));
    return parsed(skeleton.value()).graph().node(0).attribute(0).t();
  };
  EXPECT_EQ(raw_range_of(value_of(large_raw, small_raw)), std::nullopt);
  ASSERT_NE(raw_range_of(value_of(small_raw, large_raw)), std::nullopt);
}

TEST(Skeleton, HasNoReferencesThatTheFileStates) {
  const std::string forged = delimited(12, reference_to({.offset = 1 << 30, .size = 1 << 30}));
  const Result<Skeleton> skeleton = skeleton_of(delimited(kGraph, delimited(5, forged + delimited(9, "abc"))));
  const onnx::ModelProto model = parsed(skeleton.value());
  EXPECT_EQ(raw_range_of(model.graph().initializer(0)), std::nullopt);
  EXPECT_EQ(model.graph().initializer(0).raw_data(), "abc");
}

TEST(Skeleton, HasTheDigestOfTheWholeFile) {
  Sha256 hash;
  hash.add(small_model());
  EXPECT_EQ(skeleton_of(small_model())->sha256, hash.finish());
}

TEST(Skeleton, RefusesEmptyFiles) { expect_refused(import_bytes(""), ErrorCode::malformed, {"empty"}); }

TEST(Skeleton, RefusesATruncatedModel) {
  for (std::size_t length = 0; length < small_model().size(); ++length) {
    const auto model = import_bytes(small_model().substr(0, length));
    // A cut between the graph and the opset_import after it leaves a model without opsets.
    ASSERT_FALSE(model.ok()) << length;
    EXPECT_TRUE(model.error().code == ErrorCode::malformed || model.error().code == ErrorCode::invalid)
        << model.error().describe();
  }
}

TEST(Skeleton, SurvivesEveryFlippedBit) {
  for (std::size_t at = 0; at < small_model().size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string damaged = small_model();
      damaged[at] = static_cast<char>(damaged[at] ^ (1U << bit));
      const auto model = import_bytes(damaged);
      if (model.ok()) {
        EXPECT_LE(model->graph.nodes().size(), 2U);
      }
    }
  }
}

TEST(Skeleton, RefusesRandomBytes) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(1 + random.below(200), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    EXPECT_FALSE(import_bytes(bytes).ok());
  }
}

TEST(Skeleton, RefusesLengthsBeyondTheParent) {
  expect_refused(skeleton_of(tag(kGraph, 2) + varint(0x7FFFFFFFFFFFFFFF)), ErrorCode::malformed,
                 {"9223372036854775807", "byte"});
  // The node has a length of 1, but its graph has no bytes left.
  expect_refused(skeleton_of(delimited(kGraph, tag(kNode, 2) + varint(1))), ErrorCode::malformed,
                 {"has length 1", "0"});
}

TEST(Skeleton, RefusesVarintsOfMoreThanTenBytes) {
  const std::string eleven(10, '\x80');
  expect_refused(skeleton_of(tag(1, 0) + eleven + '\x01'), ErrorCode::malformed, {"10 bytes"});
  expect_refused(skeleton_of(tag(kGraph, 2) + eleven + '\x01'), ErrorCode::malformed, {"length", "10 bytes"});
  expect_refused(skeleton_of(eleven + '\x01'), ErrorCode::malformed, {"tag", "10 bytes"});
}

TEST(Skeleton, ReadsLengthsInLongVarints) {
  // A length of 5 in ten bytes is refused like a length of 5 in one byte.
  std::string five = "\x85";
  five += std::string(8, '\x80') + std::string(1, '\0');
  expect_refused(skeleton_of(tag(kGraph, 2) + five + "x"), ErrorCode::malformed, {"has length 5"});
}

TEST(Skeleton, RefusesGroupsThatAreNotClosed) {
  expect_refused(skeleton_of(tag(30, 3)), ErrorCode::malformed, {"group"});
  expect_refused(skeleton_of(tag(30, 4)), ErrorCode::malformed, {"group"});
  expect_refused(skeleton_of(tag(30, 3) + tag(31, 4)), ErrorCode::malformed, {"group"});
  EXPECT_TRUE(skeleton_of(tag(30, 3) + tag(30, 4)).ok()) << "an unknown group is skipped";
}

TEST(Skeleton, RefusesDeeplyNestedGroups) {
  std::string bytes;
  for (int depth = 0; depth < 100'000; ++depth) bytes += tag(30, 3);
  expect_refused(skeleton_of(bytes), ErrorCode::over_limit, {"kMaxMessageDepth"});
}

TEST(Skeleton, RefusesFieldNumberZeroAndUnknownWireTypes) {
  expect_refused(skeleton_of(std::string("\0\0", 2)), ErrorCode::malformed, {"field number 0"});
  expect_refused(skeleton_of(tag(1, 6)), ErrorCode::malformed, {"wire type 6"});
  expect_refused(skeleton_of(tag(1, 7)), ErrorCode::malformed, {"wire type 7"});
}

// Nested bodies take three messages per level.
std::string nested_bodies(int levels) {
  std::string graph;
  for (int level = 0; level < levels; ++level) {
    graph = delimited(kNode, delimited(kAttribute, delimited(kBody, graph)));
  }
  return delimited(kGraph, graph);
}

TEST(Skeleton, AcceptsBodiesUpToTheLimitAndNoDeeper) {
  const auto deepest = skeleton_of(nested_bodies(32));
  ASSERT_TRUE(deepest.ok()) << deepest.error().describe();
  EXPECT_EQ(deepest->body_nesting, 32);
  for (int levels : {33, 90, 3000}) {
    expect_refused(skeleton_of(nested_bodies(levels)), ErrorCode::over_limit, {"32", "kMaxBodyNesting"});
  }
}

TEST(Skeleton, RefusesDeeplyNestedTypes) {
  std::string type = "";
  for (int level = 0; level < 1000; ++level) type = delimited(4, delimited(1, type));  // sequence of sequence of ...
  expect_refused(skeleton_of(delimited(kGraph, delimited(11, delimited(2, type)))), ErrorCode::over_limit,
                 {"kMaxMessageDepth"});
}

TEST(Skeleton, RefusesEmptyMessagesThatNeedTooMuchMemory) {
  std::string graph;
  for (int node = 0; node < 2'000'000; ++node) graph += std::string("\x0A\0", 2);  // an empty node
  // 4 MB that would need 2,000,000 x 216 = 432 MB. The limit is 64 MB + 16 x 4 MB.
  expect_refused(skeleton_of(delimited(kGraph, graph)), ErrorCode::over_limit, {"64 MB + 16 x", "parse_budget"});
}

TEST(Skeleton, AcceptsAMillionSmallNodes) {
  std::string graph;
  for (int node = 0; node < 1'000'000; ++node) {
    graph += delimited(kNode, delimited(1, "t" + std::to_string(node)) + delimited(2, "t" + std::to_string(node + 1)) +
                                  delimited(4, "Relu"));
  }
  const auto summary = skeleton_of(delimited(kGraph, graph));
  ASSERT_TRUE(summary.ok()) << summary.error().describe();
  EXPECT_EQ(summary->nodes, 1'000'000);
}

TEST(Skeleton, CountsTheMemoryOfPackedNumbers) {
  // 1 MB of int64_data with one byte per number needs 8 MB, or 16 MB while the list grows.
  const std::string tensor = delimited(7, std::string(1 << 20, '\1'));
  const auto summary = skeleton_of(delimited(kGraph, delimited(5, tensor)));
  ASSERT_TRUE(summary.ok()) << summary.error().describe();
  EXPECT_GE(summary->parsed_bytes, 8 << 20);
  EXPECT_LE(summary->parsed_bytes, 17 << 20);
}

TEST(Skeleton, UsesTheLastOfAMillionRepeatedFields) {
  std::string header;
  for (int repeat = 0; repeat < 1'000'000; ++repeat) header += tag(1, 0) + varint(9999);
  const auto model = import_bytes(header + small_model());  // the model's own ir_version comes last
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.nodes().size(), 2U);
}

TEST(Skeleton, RecognizesOtherFileFormats) {
  const auto padded = [](std::string head) { return head + std::string(64, '\x7f'); };
  expect_refused(import_bytes(padded("\x1f\x8b\x08")), ErrorCode::malformed, {"gzip"});
  expect_refused(import_bytes(padded("PK\x03\x04")), ErrorCode::malformed, {"zip archive"});
  expect_refused(import_bytes(padded(std::string("\x1c\0\0\0TFL3", 8))), ErrorCode::malformed, {"TensorFlow Lite"});
  expect_refused(import_bytes("{\"ir_version\": 8}"), ErrorCode::malformed, {"JSON"});
  expect_refused(import_bytes("ir_version: 8\ngraph {\n}\n"), ErrorCode::malformed, {"text"});
  expect_refused(import_bytes(padded("\x89HDF\r\n\x1a\n")), ErrorCode::malformed, {"HDF5"});
}

TEST(Skeleton, RefusesMessagesOtherThanModels) {
  expect_refused(import_bytes(tag(1, 0) + varint(8)), ErrorCode::malformed, {"no graph"});
  expect_refused(import_bytes(delimited(kGraph, "")), ErrorCode::malformed, {"no ir_version"});
}

}  // namespace
}  // namespace lowtide::import_internal
