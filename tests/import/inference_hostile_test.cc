// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers for which arithmetic would divide by zero, overflow or truncate. Each is refused with its name and number, or
// the result is correct.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/random.h"
#include "tests/import/inference_cases.h"

namespace lowtide::import_internal {
namespace {

using namespace testing;  // the helpers of inference_cases.h
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
const char* const kHighestText = "9223372036854775807";

TEST(HostileNumbers, InConvolutionsAreRefusedByNameAndNumber) {
  const Facts inputs = {f32({1, 4, 9, 9}), f32({4, 4, 3, 3})};
  const auto conv = [&](const std::string& attribute) { return sizes("y = Conv <" + attribute + "> (x, w)", inputs); };
  EXPECT_THAT(conv("strides = [0, 1]"), AllOf(HasSubstr("'strides'"), HasSubstr("number 0")));
  EXPECT_THAT(conv("group = 0"), AllOf(HasSubstr("'group'"), HasSubstr("number 0")));
  EXPECT_THAT(conv("kernel_shape = [0, 3]"), AllOf(HasSubstr("'kernel_shape'"), HasSubstr("number 0")));
  for (const std::string name : {"strides", "dilations", "pads"}) {
    const std::string numbers = name == "pads" ? "[9223372036854775807, 0, 0, 0]" : "[9223372036854775807, 1]";
    EXPECT_THAT(conv(name + " = " + numbers), AllOf(HasSubstr("'" + name + "'"), HasSubstr(kHighestText)));
  }
  EXPECT_THAT(conv("auto_pad = \"GARBAGE\""), HasSubstr("attribute 'auto_pad' is 'GARBAGE'"));
  EXPECT_THAT(conv("auto_pad = \"SAME_UPPER\""), HasSubstr("f32[1,4,9,9]"));
  const std::string widest = "[2147483647, 2147483647]";
  EXPECT_THAT(conv("dilations = " + widest), MatchesRegex("(invalid: .*|f32.*)"));
  EXPECT_THAT(sizes("y = ConvTranspose <strides = " + widest + "> (x, w)", inputs),
              MatchesRegex("(invalid|over_limit|f32).*"));
}

TEST(HostileNumbers, GroupsThatDoNotDivideTheChannelsAreRefused) {
  const auto conv = [](const std::string& node, std::int64_t channels, const std::vector<std::int64_t>& weights) {
    return sizes("y = " + node + " (x, w)", {f32({1, channels, 9, 9}), f32(weights)});
  };
  EXPECT_EQ(conv("Conv <group = 2>", 6, {4, 3, 1, 1}), "f32[1,4,9,9]");
  EXPECT_THAT(conv("Conv <group = 2>", 3, {4, 3, 1, 1}), HasSubstr("'x' has 3 channels, which 'group' = 2"));
  EXPECT_THAT(conv("Conv <group = 2>", 6, {5, 3, 1, 1}), HasSubstr("'w' has 5 channels, which 'group' = 2"));
  EXPECT_THAT(conv("Conv <group = 2>", 6, {4, 6, 1, 1}),
              HasSubstr("'x' has 6 channels, but 'w' is for 6 in each of 2 groups"));
  EXPECT_THAT(conv("Conv", 6, {4, 3, 1, 1}), HasSubstr("'x' has 6 channels, but 'w' is for 3"));
  EXPECT_EQ(conv("ConvTranspose <group = 2>", 6, {6, 4, 1, 1}), "f32[1,8,9,9]");
  EXPECT_THAT(conv("ConvTranspose <group = 2>", 6, {4, 4, 1, 1}), HasSubstr("'x' has 6 channels, but 'w' is for 4"));
  EXPECT_THAT(conv("ConvTranspose <group = 4>", 6, {6, 4, 1, 1}), HasSubstr("'x' has 6 channels, which 'group' = 4"));
}

TEST(HostileNumbers, InAxesAreRefusedByNameAndNumber) {
  const Facts x = {f32({2, 3})};
  for (const std::string node : {"y = Softmax", "y = Flatten", "y = ArgMax"}) {
    EXPECT_THAT(sizes(node + " <axis = -9223372036854775807> (x)", x),
                AllOf(HasSubstr("'axis'"), HasSubstr("-9223372036854775807")));
    // 2^32 would be axis 0 in 32 bits.
    EXPECT_THAT(sizes(node + " <axis = 4294967296> (x)", x), AllOf(HasSubstr("'axis'"), HasSubstr("4294967296")));
  }
  EXPECT_THAT(sizes("y = Concat <axis = 2> (x, x)", {f32({2, 3}), f32({2, 3})}), HasSubstr("invalid: "));
  EXPECT_THAT(sizes("y = Transpose <perm = [1, 1]> (x)", x), AllOf(HasSubstr("'perm'"), HasSubstr("axis 1 twice")));
  EXPECT_THAT(sizes("y = Transpose <perm = [0, 9223372036854775807]> (x)", x), HasSubstr(kHighestText));
  EXPECT_THAT(sizes("y = Unsqueeze(x, a)", {f32({2}), list({kLeast})}),
              AllOf(HasSubstr("'a'"), HasSubstr("-9223372036854775808")));
  EXPECT_THAT(sizes("y = Squeeze(x, a)", {f32({2}), list({7})}), HasSubstr("invalid: "));
  EXPECT_THAT(sizes("y = Cast <to = 9999> (x)", x), AllOf(HasSubstr("'to'"), HasSubstr("9999")));
  EXPECT_THAT(sizes("y = Cast <to = 4294967297> (x)", x), HasSubstr("4294967297"));
}

TEST(HostileNumbers, InContentsAreRefusedByNameAndNumber) {
  const std::int64_t far = std::int64_t{1} << 62;
  EXPECT_THAT(sizes("y = Reshape(x, s)", {f32({4}), list({-1, -1})}), HasSubstr("multiple -1"));
  EXPECT_THAT(sizes("y = Reshape(x, s)", {f32({4}), list({-2, 1})}), AllOf(HasSubstr("'s'"), HasSubstr("-2")));
  EXPECT_THAT(sizes("y = Reshape(x, s)", {f32({4}), list({1 << 30, 1 << 30, 1 << 30})}), HasSubstr("invalid: "));
  EXPECT_THAT(sizes("y = Expand(x, s)", {f32({1}), list({far})}),
              AllOf(HasSubstr("'s'"), HasSubstr("4611686018427387904")));
  EXPECT_THAT(sizes("y = Tile(x, r)", {f32({3}), list({far})}), HasSubstr("'r'"));
  EXPECT_THAT(sizes("y = ConstantOfShape(s)", {list({far})}), HasSubstr("'s'"));
  EXPECT_THAT(sizes("y = Pad(x, p)", {f32({3}), list({0, far})}), HasSubstr("'p'"));
  EXPECT_THAT(sizes("a, b = Split(x, s)", {f32({5}), list({1, 1})}), HasSubstr("invalid: "));
  EXPECT_THAT(sizes("y = Slice(x, s, e, a, t)", {f32({5}), list({0}), list({5}), list({0}), list({0})}),
              HasSubstr("step of 0"));
  EXPECT_EQ(sizes("y = Slice(x, s, e, a, t)", {f32({5}), list({4}), list({kLeast}), list({0}), list({kLeast})}),
            "f32[1]");
  EXPECT_THAT(sizes("y = Range(a, b, c)", {scalar(0), scalar(far), scalar(1)}),
              HasSubstr("over_limit: the Range from 0"));
  EXPECT_THAT(sizes("y = Range(a, b, c)", {scalar(0), scalar(5), scalar(0)}), HasSubstr("the Range is 0"));
  EXPECT_THAT(sizes("y = OneHot(i, d, v)", {i64({2}), scalar(far), f32({2})}), HasSubstr("'d'"));
  EXPECT_THAT(sizes("v, i = TopK(x, k)", {f32({5}), list({-1})}), AllOf(HasSubstr("'k'"), HasSubstr("-1")));
  EXPECT_THAT(sizes("y = Div(a, b)", {list({1}), list({0})}), HasSubstr("divided by 0"));
  EXPECT_THAT(sizes("y = Div(a, b)", {list({kLeast}), list({-1})}), HasSubstr("divided by -1"));
}

TEST(HostileNumbers, InReshapesThatChangeTheElementCountAreRefused) {
  const TensorFact x = f32({2, 3});
  EXPECT_THAT(sizes("y = Reshape(x, s)", {x, list({7})}),
              HasSubstr("'y' is f32[7] with 7 elements, but 'x' is f32[2,3] with 6"));
  EXPECT_THAT(sizes("y = Reshape <allowzero = 1> (x, s)", {x, list({0, 3})}), HasSubstr("with 0 elements, but 'x' is"));
  EXPECT_EQ(sizes("y = Reshape(x, s)", {x, list({0, 3})}), "f32[2,3]") << "0 copies the extent";
  EXPECT_EQ(sizes("y = Reshape(x, s)", {x, list({3, 2})}), "f32[3,2]");
  EXPECT_EQ(sizes("y = Reshape <allowzero = 1> (x, s)", {f32({0, 3}), list({5, 0})}), "f32[5,0]");
}

TEST(HostileNumbers, GiveErrorsThatShowTheInputs) {
  EXPECT_THAT(sizes("y = Add(x, w)", {f32({4}), f32({3})}), HasSubstr("; 'x' is f32[4], 'w' is f32[3]"));
  EXPECT_THAT(sizes("y = Concat <axis = 5> (a, b, c, d, e)", Facts(5, f32({2}))),
              AllOf(HasSubstr("'d' is f32[2], ..."), Not(HasSubstr("'e'"))));
}

// The library makes an axis for every element of such a list, even if no element is known.
TEST(HostileNumbers, InTheLengthOfASizeListAreRefused) {
  for (const int opset : {8, 21}) {
    EXPECT_THAT(sizes("y = Expand(x, s)", {f32({1}), i64({std::int64_t{1} << 40})}, opset),
                AllOf(HasSubstr("'s'"), HasSubstr("1099511627776"), HasSubstr("at most 128")));
  }
  EXPECT_THAT(sizes("y = Reshape(x, s)", {f32({1}), i64({2, 2})}), HasSubstr("rank 2"));
}

TEST(HostileNumbers, InScalesAreRefused) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double scale : {-1.0, infinity, std::numeric_limits<double>::quiet_NaN(), 1e30}) {
    EXPECT_THAT(sizes("y = Resize(x, , s)", {f32({1, 8}), reals({1, scale})}), HasSubstr("'s' has the scale")) << scale;
    EXPECT_THAT(sizes("y = Upsample(x, s)", {f32({1, 8}), reals({1, scale})}, 9), HasSubstr("'s' has the scale"))
        << scale;
  }
}

TEST(HostileNumbers, InvalidEquationsAreRefused) {
  const Facts ab = {f32({2, 3}), f32({3, 2})};
  EXPECT_EQ(sizes("y = Einsum <equation = \"...i, ij -> ...j\"> (a, b)", ab), "f32[2,2]");
  for (const std::string equation : {"a_,b", "ab,bc->a->c", "......a,b", "a.b,c", "..", "a?"}) {
    EXPECT_THAT(sizes("y = Einsum <equation = \"" + equation + "\"> (a, b)", ab), HasSubstr("not an einsum equation"));
  }
}

TEST(HostileNumbers, InExtentsAreRefused) {
  EXPECT_THAT(sizes("y = Relu(x)", {f32({std::int64_t{1} << 62, std::int64_t{1} << 62})}),
              HasSubstr("over_limit: input 'x'"));
  EXPECT_THAT(sizes("y = Relu(x)", {f32(std::vector<std::int64_t>(65, 1))}), HasSubstr("rank 65"));
  EXPECT_THAT(sizes("y = Unsqueeze(x, a)", {f32(std::vector<std::int64_t>(64, 1)), list({0})}), HasSubstr("rank 65"));
  const std::int64_t wide = limits::kMaxTensorBytes;
  EXPECT_THAT(sizes("y = Concat <axis = 0> (x, x)", {f32({wide}), f32({wide})}), HasSubstr("over_limit: extent"));
  EXPECT_THAT(sizes("y = Flatten(x)", {f32({1, wide, wide})}), HasSubstr("invalid: "));
  // Without elements nothing can overflow.
  EXPECT_EQ(sizes("y = Relu(x)", {f32({0, wide})}), "f32[0,140737488355327]");
}

// Makes nodes of an operator with random, often extreme numbers.
class NodeMaker {
 public:
  explicit NodeMaker(std::uint64_t seed) : random_(seed) {}

  onnx::NodeProto make(const onnx::OpSchema& schema, Facts& inputs) {
    onnx::NodeProto node;
    node.set_op_type(schema.Name());
    const int most = std::min(schema.max_input(), std::max(schema.min_input(), 5));
    for (std::int64_t i = random_.between(schema.min_input(), most); i > 0; --i) {
      node.add_input("x" + std::to_string(i));
      inputs.push_back(random_.chance(40) ? any_content() : fact_of(any_dtype(), any_extents()));
    }
    for (int i = 0; i < std::clamp(schema.min_output(), 1, 4); ++i) node.add_output("y" + std::to_string(i));
    for (const auto& [name, attribute] : schema.attributes()) {
      if (attribute.required || random_.chance(50)) set_any(name, attribute.type, *node.add_attribute());
    }
    return node;
  }

 private:
  std::int64_t any_number() {
    constexpr std::int64_t kOne = 1;
    static constexpr std::int64_t kNumbers[] = {
        0, 1, -1, 2, 64, 65, kOne << 16, kOne << 31, kOne << 32, kOne << 47, kOne << 62, kMost, kLeast};
    return random_.chance(50) ? random_.between(-2, 5) : kNumbers[random_.below(std::size(kNumbers))];
  }
  DType any_dtype() { return random_.chance(80) ? DType::f32 : DType::i64; }
  std::vector<std::int64_t> any_extents() {
    std::vector<std::int64_t> extents;
    for (std::int64_t rank = random_.between(0, 4); rank > 0; --rank) {
      extents.push_back(random_.chance(90) ? random_.between(0, 5) : any_number() & kMost);
    }
    return extents;
  }
  TensorFact any_content() {
    std::vector<KnownElement> values;
    for (std::int64_t count = random_.between(0, 4); count > 0; --count) {
      values.push_back(random_.chance(80) ? number(any_number()) : KnownElement{});
    }
    return elements(std::move(values));
  }
  void set_any(const std::string& name, onnx::AttributeProto::AttributeType type, onnx::AttributeProto& given) {
    given.set_name(name);
    given.set_type(type);
    if (type == onnx::AttributeProto::INT) given.set_i(any_number());
    if (type == onnx::AttributeProto::FLOAT) given.set_f(static_cast<float>(any_number()));
    if (type == onnx::AttributeProto::STRING) given.set_s(random_.chance(50) ? "SAME_UPPER" : "?");
    if (type == onnx::AttributeProto::FLOATS) given.add_floats(static_cast<float>(any_number()));
    if (type == onnx::AttributeProto::INTS) {
      for (std::int64_t count = random_.between(0, 4); count > 0; --count) given.add_ints(any_number());
    }
    if (type == onnx::AttributeProto::TENSOR) {
      given.mutable_t()->set_data_type(onnx::TensorProto::INT64);
      given.mutable_t()->add_dims(1);
      given.mutable_t()->add_int64_data(any_number());
    }
  }

  Random random_;
};

bool has_body(const onnx::OpSchema& schema) {
  const auto& attributes = schema.attributes();
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const auto& entry) { return entry.second.type == onnx::AttributeProto::GRAPH; });
}

// Returns all definitions of operators of the standard domain, in a fixed order.
std::vector<onnx::OpSchema> standard_schemas() {
  std::vector<onnx::OpSchema> schemas = onnx::OpSchemaRegistry::get_all_schemas_with_history();
  std::erase_if(schemas, [](const onnx::OpSchema& schema) { return !schema.domain().empty(); });
  const auto key = [](const onnx::OpSchema& schema) { return std::pair(schema.Name(), schema.SinceVersion()); };
  std::sort(schemas.begin(), schemas.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return schemas;
}

void expect_within_limits(const Facts& facts, const onnx::NodeProto& node) {
  for (const TensorFact& output : facts) {
    if (!output.known.extents) continue;
    for (const KnownExtent& extent : *output.known.extents) {
      EXPECT_GE(extent.extent, 0) << node.ShortDebugString();
      EXPECT_LE(extent.extent, limits::kMaxTensorBytes) << node.ShortDebugString();
    }
  }
}

TEST(HostileNumbers, InAnyOperatorGiveAResultOrAnError) {
  NodeMaker maker(7);
  int accepted = 0;
  int refused = 0;
  for (const onnx::OpSchema& schema : standard_schemas()) {
    if (has_body(schema)) continue;
    for (int round = 0; round < 25; ++round) {
      Facts inputs;
      const onnx::NodeProto node = maker.make(schema, inputs);
      const auto facts = infer(node, inputs, std::max(7, schema.SinceVersion()));
      if (facts.ok()) {
        ++accepted;
        expect_within_limits(*facts, node);
      } else {
        ++refused;
        EXPECT_FALSE(facts.error().message.empty()) << node.ShortDebugString();
      }
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

// Returns a type that the signature permits for a type variable. Returns any other type unchanged.
std::string first_type(const onnx::OpSchema& schema, const std::string& type) {
  for (const auto& constraint : schema.typeConstraintParams()) {
    if (constraint.type_param_str != type) continue;
    for (const char* preferred : {"tensor(float)", "tensor(int64)", "tensor(bool)"}) {
      if (std::find(constraint.allowed_type_strs.begin(), constraint.allowed_type_strs.end(), preferred) !=
          constraint.allowed_type_strs.end())
        return preferred;
    }
    return constraint.allowed_type_strs.front();
  }
  return type;
}

// Returns a node with only the required inputs, outputs and attributes. Its inputs have unknown ranks.
onnx::NodeProto least_node(const onnx::OpSchema& schema, Facts& inputs) {
  onnx::NodeProto node;
  node.set_op_type(schema.Name());
  for (int i = 0; i < schema.min_input(); ++i) {
    const auto& formal = schema.inputs()[std::min(static_cast<std::size_t>(i), schema.inputs().size() - 1)];
    const auto type = onnx::Utils::DataTypeUtils::ToType(first_type(schema, formal.GetTypeStr()));
    node.add_input("x" + std::to_string(i));
    inputs.push_back(*fact_from_type(onnx::Utils::DataTypeUtils::ToTypeProto(type), {}));
  }
  for (int i = 0; i < std::max(1, schema.min_output()); ++i) node.add_output("y" + std::to_string(i));
  for (const auto& [name, attribute] : schema.attributes()) {
    if (!attribute.required) continue;
    onnx::AttributeProto& given = *node.add_attribute();
    given.set_name(name);
    given.set_type(attribute.type);
    if (attribute.type == onnx::AttributeProto::INT) given.set_i(1);
    if (attribute.type == onnx::AttributeProto::INTS) given.add_ints(1);
    if (attribute.type == onnx::AttributeProto::FLOATS) given.add_floats(1);
    if (attribute.type == onnx::AttributeProto::STRING) given.set_s(name == "equation" ? "a->a" : "LEFT");
  }
  return node;
}

// This includes definitions with neither an inference function nor a body. From opset 7 on, only Compress-9 is one.
TEST(InferenceCoverage, EveryStandardOperatorGivesItsElementTypes) {
  std::vector<std::string> without_type;
  std::set<std::string> seen;
  int answered = 0;
  int refused = 0;
  for (const onnx::OpSchema& candidate : standard_schemas()) {
    const int opset = std::max(7, candidate.SinceVersion());
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(candidate.Name(), opset, "");
    if (schema == nullptr || schema->Deprecated() || schema->Name() == "Constant" || has_body(*schema)) continue;
    const std::string name = schema->Name() + "-" + std::to_string(schema->SinceVersion());
    if (!seen.insert(name).second) continue;
    Facts inputs;
    const auto facts = infer(least_node(*schema, inputs), inputs, opset);
    if (!facts.ok()) {
      ++refused;
      RecordProperty(name, facts.error().message);
      continue;
    }
    ++answered;
    for (const TensorFact& output : *facts) {
      if (output.is_tensor && !output.known.dtype) without_type.push_back(name);
    }
  }
  EXPECT_THAT(without_type, ::testing::IsEmpty());
  EXPECT_GT(answered, 350);
  EXPECT_LE(refused, 4);  // types that depend on each other: Optional, SequenceInsert, LinearAttention
}

}  // namespace
}  // namespace lowtide::import_internal
