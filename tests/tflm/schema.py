# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a .tflite file that the tests need: field numbers, types and codes.

A table is a list of fields in the order of their numbers. A field is a name with a type: a scalar's format of the
module struct, "string", the name of a table, or one of these in a list for a vector. A third entry is the default if
it is not zero. A field of None is one that nothing here reads. In a "union", the field before it has the code.
"""
from types import SimpleNamespace

FUSED = ("fused", "b")
STRIDES = [("padding", "b"), ("stride_w", "i"), ("stride_h", "i")]
DILATIONS = [("dilation_w", "i", 1), ("dilation_h", "i", 1)]

TABLES = {
    "Model": [("version", "I"), ("operator_codes", ["OperatorCode"]), ("subgraphs", ["SubGraph"]),
              ("description", "string"), ("buffers", ["Buffer"]), ("metadata_buffer", ["i"]),
              ("metadata", ["Metadata"]), ("signatures", ["SignatureDef"])],
    "OperatorCode": [("deprecated_code", "b"), ("custom_code", "string"), ("version", "i", 1), ("code", "i")],
    "SubGraph": [("tensors", ["Tensor"]), ("inputs", ["i"]), ("outputs", ["i"]), ("operators", ["Operator"]),
                 ("name", "string")],
    "Tensor": [("shape", ["i"]), ("type", "b"), ("buffer", "I"), ("name", "string"),
               ("quantization", "Quantization"), ("is_variable", "?"), None, ("shape_signature", ["i"]),
               ("has_rank", "?")],
    "Quantization": [("min", ["f"]), ("max", ["f"]), ("scale", ["f"]), ("zero_point", ["q"]), None, None,
                     ("dimension", "i")],
    "Operator": [("opcode", "I"), ("inputs", ["i"]), ("outputs", ["i"]), ("options_type", "B"), ("options", "union"),
                 ("custom_options", ["B"]), ("custom_format", "b"), ("mutating", ["?"]), ("intermediates", ["i"])],
    "Buffer": [("data", ["B"]), ("offset", "Q"), ("size", "Q")],
    "Metadata": [("name", "string"), ("buffer", "I")],
    "SignatureDef": [("inputs", ["TensorMap"]), ("outputs", ["TensorMap"]), ("key", "string"), None,
                     ("subgraph", "I")],
    "TensorMap": [("name", "string"), ("tensor", "I")],
    # Options of operators.
    "Conv2D": [*STRIDES, FUSED, *DILATIONS],
    "DepthwiseConv2D": [*STRIDES, ("depth_multiplier", "i"), FUSED, *DILATIONS],
    "Pool2D": [*STRIDES, ("filter_w", "i"), ("filter_h", "i"), FUSED],
    "SVDF": [("rank", "i"), FUSED, ("asymmetric", "?")],
    "FullyConnected": [FUSED, ("weights_format", "b"), ("keep_num_dims", "?"), ("asymmetric", "?")],
    "Softmax": [("beta", "f")],
    "Concatenation": [("axis", "i"), FUSED],
    "Add": [FUSED, ("pot_scale", "?", True)],
    "Sub": [FUSED, ("pot_scale", "?", True)],
    "Mul": [FUSED], "Div": [FUSED], "L2Norm": [FUSED], "BatchToSpaceND": [], "SpaceToBatchND": [],
    "SpaceToDepth": [("block_size", "i")], "DepthToSpace": [("block_size", "i")],
    "BatchMatMul": [("adj_x", "?"), ("adj_y", "?"), ("asymmetric", "?")],
    "Gather": [("axis", "i"), ("batch_dims", "i")],
    "ResizeBilinear": [None, None, ("align_corners", "?"), ("half_pixel", "?")],
    "ResizeNearestNeighbor": [("align_corners", "?"), ("half_pixel", "?")],
    "Reshape": [("new_shape", ["i"])],
    "Pad": [], "MaximumMinimum": [], "Transpose": [], "ExpandDims": [], "AddN": [], "Quantize": [], "HardSwish": [],
    "Dequantize": [], "Less": [], "Cast": [("from", "b"), ("to", "b")], "Slice": [],
    "MirrorPad": [("mode", "b")],
    "Reducer": [("keep_dims", "?")],
    "Squeeze": [("dims", ["i"])],
    "StridedSlice": [("begin_mask", "i"), ("end_mask", "i"), ("ellipsis_mask", "i"), ("new_axis_mask", "i"),
                     ("shrink_axis_mask", "i"), ("offset", "?")],
    "Split": [("num_splits", "i")],
    "SplitV": [("num_splits", "i")],
    "TransposeConv": [*STRIDES, FUSED],
    "LeakyRelu": [("alpha", "f")],
    "UnidirectionalSequenceLSTM": [FUSED, ("cell_clip", "f"), ("projection_clip", "f"), ("time_major", "?"),
                                   ("asymmetric", "?"), ("diagonal", "?")],
    "If": [("then", "i"), ("otherwise", "i")],
    "While": [("condition", "i"), ("body", "i")],
    "CallOnce": [("subgraph", "i")],
    "VarHandle": [("container", "string"), ("shared_name", "string")],
    "ReadVariable": [], "AssignVariable": [], "PadV2": [], "SquaredDifference": [], "Abs": [],
    "Pack": [("count", "i"), ("axis", "i")],
    "Unpack": [("count", "i"), ("axis", "i")],
}

# The code of a table in Operator.options.
UNION = {1: "Conv2D", 2: "DepthwiseConv2D", 5: "Pool2D", 6: "SVDF", 8: "FullyConnected", 9: "Softmax",
         10: "Concatenation", 11: "Add", 12: "L2Norm", 15: "ResizeBilinear", 17: "Reshape", 19: "SpaceToDepth",
         21: "Mul", 22: "Pad", 23: "Gather", 24: "BatchToSpaceND", 25: "SpaceToBatchND", 26: "Transpose", 27: "Reducer",
         28: "Sub", 29: "Div", 30: "Squeeze", 32: "StridedSlice", 35: "Split", 37: "Cast", 38: "Dequantize",
         39: "MaximumMinimum", 41: "Less", 43: "PadV2", 48: "Slice", 49: "TransposeConv", 52: "ExpandDims", 59: "Pack",
         64: "Unpack", 71: "UnidirectionalSequenceLSTM", 74: "ResizeNearestNeighbor", 75: "LeakyRelu",
         76: "SquaredDifference", 77: "MirrorPad", 78: "Abs", 79: "SplitV", 82: "AddN", 89: "Quantize", 91: "HardSwish",
         92: "If", 93: "While", 94: "DepthToSpace",
         101: "BatchMatMul", 103: "CallOnce", 111: "VarHandle", 112: "ReadVariable",
         113: "AssignVariable"}
UNION_CODES = {name: code for code, name in UNION.items()}

# An operator: its code, and the table of its options.
OPERATORS = {
    "ADD": (0, "Add"), "AVERAGE_POOL_2D": (1, "Pool2D"), "CONCATENATION": (2, "Concatenation"),
    "CONV_2D": (3, "Conv2D"), "DEPTHWISE_CONV_2D": (4, "DepthwiseConv2D"), "DEQUANTIZE": (6, "Dequantize"),
    "FULLY_CONNECTED": (9, "FullyConnected"), "LOGISTIC": (14, None), "MAX_POOL_2D": (17, "Pool2D"),
    "MUL": (18, "Mul"), "RELU": (19, None), "RELU6": (21, None), "RESHAPE": (22, "Reshape"),
    "RESIZE_BILINEAR": (23, "ResizeBilinear"), "SOFTMAX": (25, "Softmax"), "SVDF": (27, "SVDF"), "TANH": (28, None),
    "CUSTOM": (32, None), "PAD": (34, "Pad"), "TRANSPOSE": (39, "Transpose"), "MEAN": (40, "Reducer"),
    "SUB": (41, "Sub"), "SQUEEZE": (43, "Squeeze"),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (44, "UnidirectionalSequenceLSTM"), "STRIDED_SLICE": (45, "StridedSlice"),
    "SPLIT": (49, "Split"), "CAST": (53, "Cast"), "PRELU": (54, None), "MAXIMUM": (55, "MaximumMinimum"),
    "MINIMUM": (57, "MaximumMinimum"), "LESS": (58, "Less"), "SLICE": (65, "Slice"),
    "TRANSPOSE_CONV": (67, "TransposeConv"), "EXPAND_DIMS": (70, "ExpandDims"), "SUM": (74, "Reducer"),
    "REDUCE_MAX": (82, "Reducer"), "PADV2": (60, "PadV2"), "PACK": (83, "Pack"), "UNPACK": (88, "Unpack"),
    "SQUARED_DIFFERENCE": (99, "SquaredDifference"), "ABS": (101, "Abs"), "ELU": (111, None),
    "REDUCE_MIN": (89, "Reducer"), "RESIZE_NEAREST_NEIGHBOR": (97, "ResizeNearestNeighbor"),
    "LEAKY_RELU": (98, "LeakyRelu"), "MIRROR_PAD": (100, "MirrorPad"), "SPLIT_V": (102, "SplitV"),
    "ADD_N": (106, "AddN"), "QUANTIZE": (114, "Quantize"), "HARD_SWISH": (117, "HardSwish"), "IF": (118, "If"),
    "WHILE": (119, "While"), "CALL_ONCE": (129, "CallOnce"), "VAR_HANDLE": (142, "VarHandle"),
    "READ_VARIABLE": (143, "ReadVariable"), "ASSIGN_VARIABLE": (144, "AssignVariable"),
    # Those that tests use on floats alone.
    "BATCH_MATMUL": (126, "BatchMatMul"), "GREATER": (61, None), "GREATER_EQUAL": (62, None),
    "LESS_EQUAL": (63, None), "EQUAL": (71, None), "NOT_EQUAL": (72, None),
    "DEPTH_TO_SPACE": (5, "DepthToSpace"), "SPACE_TO_DEPTH": (26, "SpaceToDepth"), "GATHER": (36, "Gather"),
    "BATCH_TO_SPACE_ND": (37, "BatchToSpaceND"), "SPACE_TO_BATCH_ND": (38, "SpaceToBatchND"),
    "REVERSE_V2": (105, None), "BROADCAST_TO": (130, None),
    "FLOOR": (8, None), "L2_NORMALIZATION": (11, "L2Norm"), "DIV": (42, "Div"), "EXP": (47, None),
    "LOG_SOFTMAX": (50, None), "NEG": (59, None), "SIN": (66, None), "LOG": (73, None), "SQRT": (75, None),
    "RSQRT": (76, None), "SQUARE": (92, None), "CEIL": (104, None), "COS": (108, None), "ROUND": (116, None),
}
OPERATOR_NAMES = {code: name for name, (code, _) in OPERATORS.items()}

# Codes of TensorType.
FLOAT32, FLOAT16, INT32, UINT8, INT64, STRING, BOOL, INT16, COMPLEX64, INT8, FLOAT64 = range(11)
COMPLEX128, UINT64, RESOURCE, VARIANT, UINT32, UINT16, INT4 = range(11, 18)
# Bytes of an element in the arena of TFLite Micro, which does not pack INT4 and knows no STRING.
ELEMENT_BYTES = {FLOAT32: 4, FLOAT16: 2, INT32: 4, UINT8: 1, INT64: 8, BOOL: 1, INT16: 2, COMPLEX64: 8, INT8: 1,
                 FLOAT64: 8, COMPLEX128: 16, UINT64: 8, RESOURCE: 4, UINT32: 4, UINT16: 2, INT4: 1}

SAME, VALID = 0, 1
NONE, RELU, RELU_N1, RELU6, TANH = 0, 1, 2, 3, 4


class Table(SimpleNamespace):
    """One table. Its attributes are the fields; those of absent fields are defaults or None."""

    def __init__(self, table, **given):
        fields = {}
        for field in filter(None, TABLES[table]):
            scalar = isinstance(field[1], str) and len(field[1]) == 1
            fields[field[0]] = field[2] if len(field) > 2 else (0 if scalar else None)
        unknown = given.keys() - fields.keys()
        if unknown:
            raise TypeError(f"{table} has no field {min(unknown)}")
        super().__init__(table=table, **fields | given)


def operator_code(model, operator):
    """The code of an operator. Old files have it in the deprecated field alone."""
    entry = model.operator_codes[operator.opcode]
    return max(entry.code, entry.deprecated_code)


def operator_name(model, operator):
    """The name of an operator, "CUSTOM name", or the code in the file if this module does not list it."""
    code = operator_code(model, operator)
    if OPERATOR_NAMES.get(code) == "CUSTOM":
        return f"CUSTOM {model.operator_codes[operator.opcode].custom_code}"
    return OPERATOR_NAMES.get(code, str(code))
