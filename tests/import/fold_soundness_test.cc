// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// What `fold` says of partly known inputs must hold for all contents that they may have. Random nodes are folded twice:
// with exact elements, and with some of them replaced by a bound, a symbol or nothing. The second result must permit
// the first.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "lowtide/base/random.h"
#include "lowtide/import/onnx/fold/fold.h"
#include "tests/import/fold_cases.h"

namespace lowtide::import_internal {
namespace {

using Extents = std::vector<std::int64_t>;

std::int64_t count_of(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::f64; }

struct RandomNode {
  std::string type;
  std::vector<Attribute> attributes;
  std::vector<KnownInput> inputs;
  std::size_t output_count = 1;
};

class SoundNodeMaker {
 public:
  explicit SoundNodeMaker(std::uint64_t seed) : random_(seed) {}

  RandomNode make() {
    switch (random_.below(14)) {
      case 0: return binary();
      case 1: return comparison();
      case 2: return unary();
      case 3: return cast();
      case 4: return where();
      case 5: return reduction();
      case 6: return concat();
      case 7: return gather();
      case 8: return slice();
      case 9: return reshaping();
      case 10: return scatter();
      case 11: return clip_or_pad();
      case 12: return shape_of();
      default: return arg_or_sum();
    }
  }

  Random& random() { return random_; }

 private:
  DType any_number() {
    static constexpr DType kTypes[] = {DType::i64, DType::i64, DType::i32, DType::u8, DType::i8,
                                       DType::u64, DType::f32, DType::f16, DType::f64};
    return kTypes[random_.below(std::size(kTypes))];
  }
  std::int64_t integer(DType dtype) {
    const bool is_extreme = random_.chance(6);
    if (dtype == DType::boolean) return random_.between(0, 1);
    if (dtype == DType::u8) return is_extreme ? 255 : random_.between(0, 9);
    if (dtype == DType::i8) return is_extreme ? (random_.chance(50) ? -128 : 127) : random_.between(-4, 9);
    if (dtype == DType::u64) return is_extreme ? std::int64_t{1} << 62 : random_.between(0, 12);
    if (dtype == DType::i32) return is_extreme ? (std::int64_t{1} << 31) - 1 : random_.between(-4, 12);
    using Limits = std::numeric_limits<std::int64_t>;
    if (is_extreme) return random_.chance(50) ? Limits::max() : Limits::min();
    return random_.between(-4, 12);
  }
  KnownElement element(DType dtype) {
    if (!is_real(dtype)) return exactly(integer(dtype));
    if (random_.chance(4)) return exactly_real(std::numeric_limits<double>::infinity());
    if (random_.chance(4)) return exactly_real(std::numeric_limits<double>::quiet_NaN());
    return exactly_real(static_cast<double>(random_.between(-8, 24)) / 4);
  }
  KnownInput filled(DType dtype, const Extents& extents) {
    std::vector<KnownElement> content;
    for (std::int64_t i = 0; i < count_of(extents); ++i) content.push_back(element(dtype));
    return tensor(dtype, extents, std::move(content));
  }
  Extents extents(int most_rank = 3) {
    Extents result;
    const std::int64_t rank = random_.between(0, most_rank);
    for (std::int64_t i = 0; i < rank; ++i) result.push_back(random_.chance(5) ? 0 : random_.between(1, 3));
    return result;
  }
  Extents broadcasting(Extents extents) {
    for (std::int64_t& extent : extents) {
      if (random_.chance(25)) extent = 1;
    }
    if (!extents.empty() && random_.chance(25)) extents.erase(extents.begin());
    return extents;
  }
  std::int64_t axis(std::size_t rank) {
    const auto count = static_cast<std::int64_t>(rank);
    return random_.between(-count, count - 1);
  }

  RandomNode binary() {
    static constexpr std::string_view kTypes[] = {"Add", "Sub", "Mul", "Div", "Mod", "Pow", "Min", "Max", "Sum"};
    RandomNode node{std::string(kTypes[random_.below(std::size(kTypes))])};
    const DType dtype = any_number();
    const Extents shape = extents();
    node.inputs = {filled(dtype, broadcasting(shape)), filled(dtype, broadcasting(shape))};
    if (node.type == "Mod" && (is_real(dtype) || random_.chance(50)))
      node.attributes.push_back({"fmod", std::int64_t{1}});
    return node;
  }
  RandomNode comparison() {
    static constexpr std::string_view kTypes[] = {"Equal",          "Less", "Greater", "LessOrEqual",
                                                  "GreaterOrEqual", "And",  "Or",      "Xor"};
    RandomNode node{std::string(kTypes[random_.below(std::size(kTypes))])};
    const DType dtype = node.type == "And" || node.type == "Or" || node.type == "Xor" ? DType::boolean : any_number();
    const Extents shape = extents(2);
    node.inputs = {filled(dtype, broadcasting(shape)), filled(dtype, broadcasting(shape))};
    return node;
  }
  RandomNode unary() {
    static constexpr std::string_view kTypes[] = {"Neg",  "Abs", "Sign",       "Identity", "Floor", "Ceil", "Round",
                                                  "Sqrt", "Exp", "Reciprocal", "Not",      "IsNaN", "IsInf"};
    RandomNode node{std::string(kTypes[random_.below(std::size(kTypes))])};
    const bool needs_real = node.type != "Neg" && node.type != "Abs" && node.type != "Sign" && node.type != "Identity";
    const DType dtype = node.type == "Not" ? DType::boolean : (needs_real ? DType::f32 : any_number());
    node.inputs = {filled(dtype, extents())};
    return node;
  }
  RandomNode cast() {
    RandomNode node{"Cast"};
    static constexpr std::int64_t kTargets[] = {1, 2, 3, 6, 7, 9, 10, 11, 13};
    node.attributes = {{"to", kTargets[random_.below(std::size(kTargets))]}};
    node.inputs = {filled(any_number(), extents(2))};
    return node;
  }
  RandomNode where() {
    const DType dtype = any_number();
    const Extents shape = extents(2);
    return {"Where",
            {},
            {filled(DType::boolean, broadcasting(shape)), filled(dtype, broadcasting(shape)),
             filled(dtype, broadcasting(shape))}};
  }
  RandomNode reduction() {
    static constexpr std::string_view kTypes[] = {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean"};
    RandomNode node{std::string(kTypes[random_.below(std::size(kTypes))])};
    const Extents shape = extents();
    node.inputs = {filled(any_number(), shape)};
    if (!shape.empty() && random_.chance(70)) node.inputs.push_back(integers({axis(shape.size())}));
    node.attributes.push_back({"keepdims", random_.between(0, 1)});
    return node;
  }
  RandomNode concat() {
    const DType dtype = any_number();
    Extents shape = extents();
    if (shape.empty()) shape = {2};
    const std::int64_t along = axis(shape.size());
    RandomNode node{"Concat", {{"axis", along}}, {}};
    for (int i = 0; i < 3; ++i) {
      shape[static_cast<std::size_t>(along < 0 ? along + static_cast<std::int64_t>(shape.size()) : along)] =
          random_.between(0, 3);
      node.inputs.push_back(filled(dtype, shape));
    }
    return node;
  }
  RandomNode gather() {
    Extents shape = extents();
    if (shape.empty()) shape = {3};
    const bool is_aligned = random_.chance(40);
    const Extents index_shape = is_aligned ? shape : extents(2);
    KnownInput indices = filled(DType::i64, index_shape);
    return {is_aligned ? "GatherElements" : "Gather",
            {{"axis", axis(shape.size())}},
            {filled(any_number(), shape), indices}};
  }
  RandomNode slice() {
    Extents shape = extents();
    if (shape.empty()) shape = {4};
    std::int64_t step = random_.between(-2, 2);
    if (step == 0) step = 3;
    return {"Slice",
            {},
            {filled(any_number(), shape), integers({integer(DType::i64)}), integers({integer(DType::i64)}),
             integers({axis(shape.size())}), integers({step})}};
  }
  RandomNode reshaping() {
    const Extents shape = extents();
    const KnownInput data = filled(any_number(), shape);
    switch (random_.below(6)) {
      case 0: return {"Reshape", {}, {data, integers({-1})}};
      case 1: return {"Transpose", {}, {data}};
      case 2: return {"Flatten", {{"axis", std::int64_t{0}}}, {data}};
      case 3: return {"Unsqueeze", {}, {data, integers({0})}};
      case 4: return {"Squeeze", {}, {data}};
      default: return {"Tile", {}, {data, integers(Extents(shape.size(), 2))}};
    }
  }
  RandomNode scatter() {
    const Extents shape = {random_.between(1, 4)};
    const DType dtype = any_number();
    const Extents many = {random_.between(1, 2)};
    if (random_.chance(50))
      return {"ScatterElements", {}, {filled(dtype, shape), filled(DType::i64, many), filled(dtype, many)}};
    KnownInput rows = filled(DType::i64, {many[0], 1});
    return {"ScatterND", {}, {filled(dtype, shape), rows, filled(dtype, many)}};
  }
  RandomNode clip_or_pad() {
    const DType dtype = any_number();
    const Extents shape = {random_.between(1, 4)};
    if (random_.chance(60)) return {"Clip", {}, {filled(dtype, shape), filled(dtype, {}), filled(dtype, {})}};
    static constexpr std::string_view kModes[] = {"constant", "reflect", "edge", "wrap"};
    return {"Pad",
            {{"mode", std::string(kModes[random_.below(std::size(kModes))])}},
            {filled(dtype, shape), integers({random_.between(-1, 3), random_.between(-1, 3)}), filled(dtype, {})}};
  }
  RandomNode shape_of() {
    const KnownInput data = filled(any_number(), extents());
    return {random_.chance(50) ? "Shape" : "Size", {}, {data}};
  }
  RandomNode arg_or_sum() {
    Extents shape = extents();
    if (shape.empty()) shape = {3};
    const KnownInput data = filled(any_number(), shape);
    switch (random_.below(3)) {
      case 0: return {"ArgMax", {{"axis", axis(shape.size())}}, {data}};
      case 1: return {"ArgMin", {{"axis", axis(shape.size())}}, {data}};
      default:
        return {
            "CumSum", {{"reverse", random_.between(0, 1)}}, {data, scalar(DType::i64, exactly(axis(shape.size())))}};
    }
  }

  Random random_;
};

// Returns the node with some elements and extents hidden. `numbers` gets the value of each symbol.
RandomNode hidden(const RandomNode& node, Random& random, std::map<std::string, std::int64_t>& numbers) {
  RandomNode result = node;
  const bool hides_extents = node.type == "Shape" || node.type == "Size";
  for (KnownInput& input : result.inputs) {
    if (random.chance(30) && !hides_extents) continue;
    auto content = std::make_shared<KnownContent>(*input.content);
    for (KnownElement& element : content->elements) {
      const double value = is_real(content->dtype) ? element.real : static_cast<double>(element.integer);
      const std::int64_t more = random.between(0, 3);
      switch (random.below(4)) {
        case 0: element = unknown(); break;
        case 1:
          if (!(value >= 0) || std::isinf(value) || value > 1e6) break;
          if (content->dtype == DType::boolean || (content->dtype == DType::u8 && value > 250) ||
              (content->dtype == DType::i8 && value > 120))
            break;
          element = is_real(content->dtype) ? at_most_real(element.real + static_cast<double>(more))
                                            : at_most(element.integer + more);
          break;
        case 2: {
          // Every extent is assumed to fit into an i32 (KnownElement).
          if (is_real(content->dtype) || element.integer < 0 || element.integer >> 31 != 0) break;
          if (content->dtype == DType::boolean) break;
          const std::string name = "s" + std::to_string(numbers.size());
          numbers[name] = element.integer;
          element = symbol(name);
          break;
        }
        default: break;
      }
    }
    input.content = random.chance(10) || hides_extents ? nullptr : std::shared_ptr<const KnownContent>(content);
    for (KnownExtent& extent : *input.extents) {
      if (!hides_extents || random.chance(40)) continue;
      const std::string name = "s" + std::to_string(numbers.size());
      if (random.chance(50)) {
        extent = bounded_extent(extent.extent + random.between(0, 3));
      } else {
        numbers[name] = extent.extent;
        extent = unknown_extent(name);
      }
    }
  }
  return result;
}

// Says how the claim excludes the exact element. Returns "" if it does not.
std::string disagreement(DType dtype, const KnownElement& exact, const KnownElement& claim,
                         const std::map<std::string, std::int64_t>& numbers) {
  std::ostringstream out;
  if (exact.knowledge != Knowledge::exact) return "";  // undefined, so any number is valid
  const bool real = is_real(dtype);
  const double value = real ? exact.real : static_cast<double>(exact.integer);
  const double number = real ? claim.real : static_cast<double>(claim.integer);
  if (claim.knowledge == Knowledge::exact) {
    const bool same =
        real ? value == number || (std::isnan(value) && std::isnan(number)) : exact.integer == claim.integer;
    if (!same) out << "is " << value << ", claimed to be " << number;
  } else if (claim.knowledge == Knowledge::at_most) {
    if (!(value >= 0 && value <= number)) out << "is " << value << ", claimed to be in [0, " << number << "]";
  } else if (!claim.symbol.empty() && numbers.at(claim.symbol) != exact.integer) {
    out << "is " << value << ", claimed to be " << claim.symbol << " = " << numbers.at(claim.symbol);
  }
  return out.str();
}

TEST(FoldSoundness, PartialKnowledgeHoldsForEveryContent) {
  SoundNodeMaker maker(20260101);
  std::map<std::string, int> compared;  // elements with a claim, by operator
  int errors = 0;
  for (int round = 0; round < 60'000; ++round) {
    const RandomNode node = maker.make();
    std::map<std::string, std::int64_t> numbers;
    const RandomNode partly = hidden(node, maker.random(), numbers);
    const auto exact = fold_node(node.type, node.inputs, node.attributes, node.output_count);
    const auto claimed = fold_node(partly.type, partly.inputs, partly.attributes, partly.output_count);
    if (!exact.ok()) {
      ++errors;
      continue;  // no run can pass the node, so no claim can be wrong
    }
    ASSERT_TRUE(claimed.ok()) << node.type << " in round " << round << ": " << claimed.error().message;
    if (claimed->front() == nullptr || exact->front() == nullptr) continue;
    const KnownContent& truth = *exact->front();
    const KnownContent& claim = *claimed->front();
    ASSERT_EQ(truth.dtype, claim.dtype) << node.type << " in round " << round;
    ASSERT_EQ(truth.extents, claim.extents) << node.type << " in round " << round;
    for (std::size_t i = 0; i < truth.elements.size(); ++i) {
      const std::string wrong = disagreement(truth.dtype, truth.elements[i], claim.elements[i], numbers);
      ASSERT_EQ(wrong, "") << node.type << " in round " << round << ", element " << i;
      if (claim.elements[i].knowledge != Knowledge::unknown || !claim.elements[i].symbol.empty()) ++compared[node.type];
    }
  }
  EXPECT_GT(errors, 50);
  // Every operator must make claims.
  for (const auto& [type, count] : compared) EXPECT_GT(count, 50) << type;
  EXPECT_GE(compared.size(), 50U);
}

}  // namespace
}  // namespace lowtide::import_internal
