// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/operand_types.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/graph/node_name.h"

namespace lowtide {
namespace {

struct Row {
  std::string_view type;
  std::string_view types;
};

// Sorted by type.
constexpr Row kRows[] = {
    {"Abs", "T>T"},
    {"Acos", "T>T"},
    {"Acosh", "T>T"},
    {"Add", "TT>T"},
    {"AffineGrid", "Tl>T"},
    {"And", "bb>b"},
    {"ArgMax", "T>l"},
    {"ArgMin", "T>l"},
    {"Asin", "T>T"},
    {"Asinh", "T>T"},
    {"Atan", "T>T"},
    {"Atanh", "T>T"},
    {"Attention", "TTU?TUl>TTUT"},
    {"AveragePool", "T>T"},
    {"BatchNormalization", "Trrrr>Trr"},
    {"BitCast", "?>?"},
    {"BitShift", "TT>T"},
    {"BitwiseAnd", "TT>T"},
    {"BitwiseNot", "T>T"},
    {"BitwiseOr", "TT>T"},
    {"BitwiseXor", "TT>T"},
    {"BlackmanWindow", "i>?"},
    {"Cast", "?>?"},
    {"CastLike", "TU>U"},
    {"Ceil", "T>T"},
    {"Celu", "T>T"},
    {"CenterCropPad", "Ti>T"},
    {"Clip", "TTT>T"},
    {"Col2Im", "Tll>T"},
    {"Compress", "Tb>T"},
    {"Concat", "T*>T"},
    {"ConstantOfShape", "l>?"},
    {"Conv", "TTT>T"},
    {"ConvInteger", "TUTU>n"},
    {"ConvTranspose", "TTT>T"},
    {"Cos", "T>T"},
    {"Cosh", "T>T"},
    {"CumProd", "Ti>T"},
    {"CumSum", "Ti>T"},
    {"DFT", "Til>T"},
    {"DeformConv", "TTTTT>T"},
    {"DepthToSpace", "T>T"},
    {"DequantizeLinear", "TrT>r"},
    {"Div", "TT>T"},
    {"Dropout", "Trb>T?"},
    {"DynamicQuantizeLinear", "f>UfU"},
    {"Einsum", "T*>T"},
    {"Elu", "T>T"},
    {"Equal", "TT>b"},
    {"Erf", "T>T"},
    {"Exp", "T>T"},
    {"Expand", "Tl>T"},
    {"EyeLike", "?>?"},
    {"Flatten", "T>T"},
    {"Floor", "T>T"},
    {"GRU", "TTTTnT>TT"},
    {"Gather", "Ti>T"},
    {"GatherElements", "Ti>T"},
    {"GatherND", "Tl>T"},
    {"Gelu", "T>T"},
    {"Gemm", "TTT>T"},
    {"GlobalAveragePool", "T>T"},
    {"GlobalLpPool", "T>T"},
    {"GlobalMaxPool", "T>T"},
    {"Greater", "TT>b"},
    {"GreaterOrEqual", "TT>b"},
    {"GridSample", "Tr>T"},
    {"GroupNormalization", "TTT>T"},
    {"HammingWindow", "i>?"},
    {"HannWindow", "i>?"},
    {"HardSigmoid", "T>T"},
    {"HardSwish", "T>T"},
    {"Hardmax", "T>T"},
    {"Identity", "T>T"},
    {"InstanceNormalization", "TTT>T"},
    {"IsInf", "?>b"},
    {"IsNaN", "?>b"},
    {"LRN", "T>T"},
    {"LSTM", "TTTTnTTT>TTT"},
    {"LayerNormalization", "TTT>Trr"},
    {"LeakyRelu", "T>T"},
    {"Less", "TT>b"},
    {"LessOrEqual", "TT>b"},
    {"Log", "T>T"},
    {"LogSoftmax", "T>T"},
    {"LpNormalization", "T>T"},
    {"LpPool", "T>T"},
    {"MatMul", "TT>T"},
    {"MatMulInteger", "TUTU>n"},
    {"Max", "T*>T"},
    {"MaxPool", "T>Tl"},
    {"MaxUnpool", "Tll>T"},
    {"Mean", "T*>T"},
    {"MeanVarianceNormalization", "T>T"},
    {"Min", "T*>T"},
    {"Mish", "T>T"},
    {"Mod", "TT>T"},
    {"Mul", "TT>T"},
    {"Neg", "T>T"},
    {"NegativeLogLikelihoodLoss", "TiT>T"},
    {"NonMaxSuppression", "fflff>l"},
    {"NonZero", "?>l"},
    {"Not", "b>b"},
    {"OneHot", "??T>T"},
    {"Or", "bb>b"},
    {"PRelu", "TT>T"},
    {"Pad", "TlTi>T"},
    {"Pow", "T?>T"},
    {"QLinearConv", "TfTUfUfVn>V"},
    {"QLinearMatMul", "TrTUrUrV>V"},
    {"QuantizeLinear", "??T>T"},
    {"RMSNormalization", "rT>T"},
    {"RNN", "TTTTnT>TT"},
    {"Range", "TTT>T"},
    {"Reciprocal", "T>T"},
    {"ReduceL1", "Tl>T"},
    {"ReduceL2", "Tl>T"},
    {"ReduceLogSum", "Tl>T"},
    {"ReduceLogSumExp", "Tl>T"},
    {"ReduceMax", "Tl>T"},
    {"ReduceMean", "Tl>T"},
    {"ReduceMin", "Tl>T"},
    {"ReduceProd", "Tl>T"},
    {"ReduceSum", "Tl>T"},
    {"ReduceSumSquare", "Tl>T"},
    {"Relu", "T>T"},
    {"Reshape", "Tl>T"},
    {"Resize", "Trfl>T"},
    {"ReverseSequence", "Tl>T"},
    {"RoiAlign", "TTl>T"},
    {"RotaryEmbedding", "TTTl>T"},
    {"Round", "T>T"},
    {"Scatter", "TiT>T"},
    {"ScatterElements", "TiT>T"},
    {"ScatterND", "TlT>T"},
    {"Selu", "T>T"},
    {"Shape", "?>l"},
    {"Shrink", "T>T"},
    {"Sigmoid", "T>T"},
    {"Sign", "T>T"},
    {"Sin", "T>T"},
    {"Sinh", "T>T"},
    {"Size", "?>l"},
    {"Slice", "Tiiii>T"},
    {"Softmax", "T>T"},
    {"SoftmaxCrossEntropyLoss", "TiT>TT"},
    {"Softplus", "T>T"},
    {"Softsign", "T>T"},
    {"SpaceToDepth", "T>T"},
    {"Split", "T?>T*"},
    {"Sqrt", "T>T"},
    {"Squeeze", "Tl>T"},
    {"Sub", "TT>T"},
    {"Sum", "T*>T"},
    {"SwiGLU", "TT>T"},
    {"Swish", "T>T"},
    {"Tan", "T>T"},
    {"Tanh", "T>T"},
    {"TensorScatter", "TTl>T"},
    {"ThresholdedRelu", "T>T"},
    {"Tile", "T?>T"},
    {"TopK", "Tl>Tl"},
    {"Transpose", "T>T"},
    {"Trilu", "Tl>T"},
    {"Unique", "T>Tlll"},
    {"Unsqueeze", "Tl>T"},
    {"Upsample", "Tf>T"},
    {"Where", "bTT>T"},
    {"Xor", "bb>b"},
};

static_assert(std::ranges::is_sorted(kRows, {}, &Row::type));
// TypeCheck counts capital letters from A, and name_of_class() has the small ones.
static_assert(std::ranges::all_of(kRows, [](const Row& row) {
  return row.types.find_first_not_of("TUVlnifrb?*>") == std::string_view::npos;
}));

// What a letter stands for by itself. nullptr: a type that several operands share, or any type.
const char* name_of_class(char letter) {
  switch (letter) {
    case 'l': return "i64";
    case 'n': return "i32";
    case 'i': return "i64 or i32";
    case 'f': return "f32";
    case 'r': return "a type of floating-point numbers";
    case 'b': return "bool";
    default: return nullptr;
  }
}

bool is_of_class(char letter, DType dtype) {
  switch (letter) {
    case 'l': return dtype == DType::i64;
    case 'n': return dtype == DType::i32;
    case 'i': return dtype == DType::i64 || dtype == DType::i32;
    case 'f': return dtype == DType::f32;
    case 'r': return is_real(dtype);
    case 'b': return dtype == DType::boolean;
    default: return true;
  }
}

// Reads the letters of one side for one operand after another. Operands behind the last letter have any type.
class Letters {
 public:
  explicit Letters(std::string_view letters) : letters_(letters) {}

  char next() {
    if (at_ >= letters_.size()) return '?';
    if (at_ + 1 < letters_.size() && letters_[at_ + 1] == '*') return letters_[at_];
    return letters_[at_++];
  }

 private:
  std::string_view letters_;
  std::size_t at_ = 0;
};

class TypeCheck {
 public:
  explicit TypeCheck(const Graph& graph) : graph_(graph) {}

  // Returns the contradiction of the first operand of a side that has one.
  std::string check(std::string_view letters, const std::vector<std::optional<TensorId>>& side, const char* noun) {
    Letters of(letters);
    for (const std::optional<TensorId>& id : side) {
      const char letter = of.next();
      if (!id || letter == '?') continue;
      const DType dtype = graph_.tensor(*id).dtype;
      if (!is_of_class(letter, dtype)) {
        return described({*id, noun}) + ", and has to be " + name_of_class(letter);
      }
      if (name_of_class(letter) != nullptr) continue;
      std::optional<Operand>& first = first_[static_cast<std::size_t>(letter - 'A')];
      if (!first) first = {*id, noun};
      if (graph_.tensor(first->tensor).dtype == dtype) continue;
      return described({*id, noun}) + ", and has to have the type of " + named(*first) + ", which is " +
             std::string(to_string(graph_.tensor(first->tensor).dtype));
    }
    return "";
  }

 private:
  struct Operand {
    TensorId tensor;
    const char* noun;  // "input"
  };

  [[nodiscard]] std::string named(const Operand& operand) const {
    return std::string(operand.noun) + " " + quoted(graph_.tensor(operand.tensor).name);
  }
  [[nodiscard]] std::string described(const Operand& operand) const {
    return named(operand) + " is " + std::string(to_string(graph_.tensor(operand.tensor).dtype));
  }

  const Graph& graph_;
  std::array<std::optional<Operand>, 26> first_;  // the first operand with each capital letter
};

}  // namespace

std::optional<std::string_view> operand_types(std::string_view type) {
  const Row* row = std::ranges::lower_bound(kRows, type, {}, &Row::type);
  if (row == std::end(kRows) || row->type != type) return std::nullopt;
  return row->types;
}

std::string contradiction_of_types(const Graph& graph, NodeId node) {
  const Operator& op = graph.op(node);
  if (!op.domain.empty() && op.domain != "ai.onnx") return "";
  const std::optional<std::string_view> types = operand_types(op.type);
  if (!types) return "";
  const std::size_t arrow = types->find('>');
  TypeCheck check(graph);
  std::string found = check.check(types->substr(0, arrow), graph.node(node).inputs, "input");
  if (!found.empty()) return found;
  return check.check(types->substr(arrow + 1), graph.node(node).outputs, "output");
}

Result<void> check_operand_types(const Graph& graph) {
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Node& node = graph.node(id);
    const std::string found = contradiction_of_types(graph, id);
    if (!found.empty()) {
      return Error{ErrorCode::invalid, full_name(graph.op(id)) + ": " + found,
                   "graph " + quoted(graph.name()) + ": " + node_name(graph, id)};
    }
    for (const Body& body : node.bodies) LOWTIDE_RETURN_IF_ERROR(check_operand_types(*body.graph));
  }
  return {};
}

}  // namespace lowtide
