# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of what runs take, from the figures of bench/results. bench/tables.py writes them."""
from table_text import lines, mebibytes


def name_of(row):
    return row["model"] + (f" `{row['options']}`" if row["options"] else "")


def latency_row(row):
    times = ["refused" if row[tool] is None else f"{row[tool]['min']:,.2f} / {row[tool]['median']:,.2f}"
             for tool in ("lowtide", "onnxruntime", "openvino")]
    return [name_of(row), str(row["threads"]), *times, "" if row["ratio"] is None else f"{row['ratio']:.2f}"]


def latency(figures):
    versions, means = figures["versions"], figures["mean_ratio"]
    by_threads = " and ".join(f"{mean:.2f} on {threads}" for threads, mean in means.items())
    outside = max((row["outside_kernels"] for row in figures["rows"] if row["lowtide"]["min"] > 5), default=0)
    return lines(["<Model", "Threads", "Lowtide", "ONNX Runtime", "OpenVINO", "Ratio"],
                 [latency_row(row) for row in figures["rows"]],
                 f"Of a run above 5 ms, at most {100 * outside:.2f} % is outside of kernels. "
                 "Milliseconds: the shortest run / the median. The ratio compares the shortest run with that of the "
                 f"faster peer. Its geometric mean over these models is {by_threads} threads. ONNX Runtime "
                 f"{versions['onnxruntime']}, OpenVINO {versions['openvino']}.")


# Models of README.md: some of the best and of the worst rows of both tables, and only models that are in both.
SHOWN_PEERS = ("convnext_tiny", "densenet121", "efficientnet_b0", "gpt2_dynamic", "ppocr_v4_det", "randwire_s1",
               "resnet50", "swin_t", "unet_256", "vgg16", "vit_b_16")


def peers(growth, latency):
    """Memory and time beside the peers, of some models. The note is about all of them."""
    tools = ("lowtide", "onnxruntime", "openvino")
    shortest = {(row["model"], row["options"]): [row[tool] and row[tool]["min"] for tool in tools]
                for row in latency["rows"] if row["threads"] == 1}
    rows = []
    for row in growth["rows"]:
        times = shortest.get((row["model"], row["options"]))
        if row["model"] in SHOWN_PEERS and times:
            sizes = ["refused" if row[tool] is None else f"{row[tool] / 2**20:,.1f}" for tool in tools]
            rows.append([row["model"], *sizes, *("refused" if ms is None else f"{ms:,.1f}" for ms in times)])
    ratios = [row["ratio"] for row in growth["rows"] if row["ratio"] is not None]
    slowest = max(row["ratio"] for row in latency["rows"] if row["ratio"] is not None)
    halved = sum(one <= 0.5 for one in ratios)
    return lines(["<Model", "MiB in Lowtide", "ONNX Runtime", "OpenVINO", "ms in Lowtide", "ONNX Runtime", "OpenVINO"],
                 rows,
                 f"Lowtide grows by at most half as much as the better of the two for {halved} of "
                 f"{len(growth['rows'])} models. Its time is {latency['mean_ratio']['1']:.2f} times that of the "
                 f"faster one, as the geometric mean over {len(shortest)} models, and up to {slowest:.2f} times for "
                 f"single ones. ONNX Runtime {latency['versions']['onnxruntime']}, OpenVINO "
                 f"{latency['versions']['openvino']}, {latency['machine']['cpu']}.")


def int8(figures):
    keys = ("lowtide_float", "lowtide_int8", "onnxruntime_float", "onnxruntime_int8")
    rows = [[row["model"], str(row["threads"]), *(f"{row[key]:,.1f}" for key in keys), f"{row['ratio']:.2f}"]
            for row in figures["rows"]]
    return lines(["<Model", "Threads", "Lowtide", "Lowtide, 8 bits", "ONNX Runtime", "ONNX Runtime, 8 bits", "Ratio"],
                 rows,
                 f"Milliseconds, each the shortest run of {figures['rounds']} rounds. The ratio compares the two "
                 f"times of Lowtide. ONNX Runtime {figures['versions']['onnxruntime']}.")


def tails(figures):
    def tail(of):
        times = " / ".join(f"{of[key] * 1e3:,.1f}" for key in ("p50", "p99"))
        return [times, f"{of['ratio']:.2f}"]

    operators = figures["operators"]
    rows = [[name_of(row),
             *(cell for tool in ("lowtide", "onnxruntime", "control") for cell in tail(row[tool]))]
            for row in figures["rows"]]
    return lines(["<Model", "Lowtide", "Ratio", "ONNX Runtime", "Ratio", "Control", "Ratio"], rows,
                 f"Microseconds, p50 / p99 of {figures['runs']:,} runs on one thread. The control is a product of "
                 "NumPy of about this length. 1,000 operators in a row on 16 floats take "
                 f"{operators['lowtide_without_chains']:.1f} us one by one, {operators['lowtide']:.1f} us as Lowtide "
                 f"runs them, and {operators['onnxruntime']:.1f} us in ONNX Runtime "
                 f"{figures['versions']['onnxruntime']}.")


def start_row(row):
    times = ["refused" if row[key] is None else f"{row[key]:,.0f}"
             for key in ("lowtide", "prepared", "open", "onnxruntime", "openvino")]
    return [name_of(row), mebibytes(row["weights"]), *times,
            "" if row["ratio"] is None else f"{row['ratio']:.2f}"]


def start(figures):
    versions = figures["versions"]
    return lines(["<Model", "Weights", "Lowtide", "Prepared", "Open", "ONNX Runtime", "OpenVINO", "Ratio"],
                 [start_row(row) for row in figures["rows"]],
                 "Weights in MiB, times in milliseconds, each the shortest of "
                 f"{figures['rounds']} rounds. The ratio compares *Prepared* with ONNX Runtime. ONNX Runtime "
                 f"{versions['onnxruntime']}, OpenVINO {versions['openvino']}.")


def kernel_curves(figures):
    rows = [[name_of(row), mebibytes(row["ram_without"]), mebibytes(row["ram"]), str(row["reruns"]),
             f"{row['ms_without']:,.1f}", f"{row['ms']:,.1f}", f"{100 * row['estimated']:+.0f} %",
             f"{100 * row['measured']:+.0f} %", f"{100 * row['measured_by_model']:+.0f} %"]
            for row in figures["rows"]]
    return lines(["<Model", "RAM", "Less RAM", "Reruns", "ms", "ms with less", "Estimated", "Measured", "By model"],
                 rows, f"RAM in MiB. Times are the smallest median of {figures['rounds']} rounds on one thread.")


def roofline_row(row):
    above = ", ".join(f"{kind.removeprefix('lowtide::')} {ms:,.2f}" for kind, ms in row["above"].items())
    return [name_of(row), f"{row['macs'] / 1e6:,.0f}", f"{row['limit_ms']:,.2f}", f"{row['ms']:,.2f}",
            f"{100 * row['share']:.0f} %", above]


def roofline(figures):
    limits = figures["limits"]
    rates = " / ".join(f"{level['bytes_per_second'] / 1e9:,.0f}" for level in limits["levels"])
    return lines(["<Model", "Million products", "Limit", "Measured", "Reached", "<Most above the limit"],
                 [roofline_row(row) for row in figures["rows"]],
                 "Milliseconds on one thread. *Measured* is the sum of the steps, each the least mean of "
                 f"{figures['rounds']} rounds. This core has {limits['macs_per_second'] / 1e9:.0f} GMAC/s, and reads "
                 f"{rates} GB/s from the second cache, the third cache and memory. Products with padding count, and "
                 "kernels leave some of them out, so a model with wide dilations may be above its limit.")


TABLES = {"latency": latency, "int8": int8, "tails": tails, "start": start, "kernel_curves": kernel_curves,
          "roofline": roofline}
