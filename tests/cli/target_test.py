#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Target files: kernels that are exchanged to fit, and capacities of several regions."""
import json
import unittest

import small_models
from program import DONE, NO, USAGE, ProgramTest

KERNELS = """name = "two kernels"
[[region]]
name = "ram"
[[kernel]]
operator = "MatMul"
name = "small"
cost_seconds = 3e-6
[[kernel]]
operator = "MatMul"
name = "fast"
scratch = "64KiB"
cost_seconds = 1e-6
"""


def regions(*capacities):
    """A target with one region per capacity."""
    return 'name = "regions"\n' + "".join(
        f'[[region]]\nname = "r{at}"\ncapacity = "{capacity}"\n' for at, capacity in enumerate(capacities)
    )


# In parallel(), e = c * d takes 3 x 4,096 B = 12,288 B, and the caller holds 4,096 B. The kernel "fast" needs 65,536 B.
class TargetTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("parallel.onnx", small_models.parallel())
        self.write("kernels.toml", KERNELS)

    def plan(self, code, *words, target="kernels.toml"):
        return self.expect(code, "plan", "parallel.onnx", "--target", target, *words).stdout

    def plan_json(self, code, *words, target="kernels.toml"):
        return self.json(code, "plan", "parallel.onnx", "--target", target, *words)

    def test_the_fastest_kernel_is_the_default(self):
        report = self.plan_json(DONE)
        self.assertEqual(report["bytes"]["arena"], 12288 + 65536)
        self.assertEqual(report["bound_scope"], "chosen_kernels")
        self.assertEqual(report["exchanged_kernels"]["nodes"], 0)
        self.assertEqual(report["lightest_kernels"],
                         {"nodes": 1, "added_picoseconds": 2_000_000, "arena_bytes": 12288})
        said = self.plan(DONE)
        self.assertIn("no plan with these kernels and without recomputation or extra copies needs less", said)
        self.assertRegex(said, r"other kernels +12,288 B .* arena with a slower kernel for 1 node, "
                         r"which takes 2\.00 us longer")

    def test_misspelled_operators_are_named(self):
        self.write("typo.toml", KERNELS.replace('"MatMul"', '"MatMull"', 1))
        said = self.expect(DONE, "plan", "parallel.onnx", "--target", "typo.toml").stderr
        self.assertIn("note: the target has kernels of the operator 'MatMull', which Lowtide does not know", said)
        self.assertNotIn("MatMul'", said)

    def test_a_budget_exchanges_kernels(self):
        words = ("--budget", "32KiB")
        report = self.plan_json(DONE, *words)
        self.assertEqual(report["bytes"]["arena"], 12288)
        self.assertEqual(report["exchanged_kernels"]["nodes"], 1)
        self.assertIn("1 node has a slower kernel that needs less memory, which takes 2.00 us longer",
                      self.plan(DONE, *words))

    def test_no_plan_fits_only_if_no_kernel_does(self):
        self.assertTrue(self.plan_json(DONE, "--budget", "16KiB")["budget"]["fits"])
        missed = self.plan_json(NO, "--budget", "16383B")["budget"]
        self.assertEqual((missed["shortfall"], missed["proven_infeasible"]), (1, True))

    def test_the_plan_file_has_the_kernel_of_each_step(self):
        self.plan(DONE, "--budget", "32KiB", "-o", "plan.json")
        self.assertIn('"small"', (self.folder / "plan.json").read_text())
        self.expect(DONE, "verify", "parallel.onnx", "plan.json", "--target", "kernels.toml")
        self.write("other.toml", KERNELS.replace('"small"', '"tiny"'))
        said = self.expect(NO, "verify", "parallel.onnx", "plan.json", "--target", "other.toml").stdout
        self.assertIn("wrong_kernel", said)
        self.assertIn("runs kernel 'small', but the target offers 'fast', 'tiny'", said)
        # "small" now needs scratch, which the plan does not have.
        self.write("larger.toml", KERNELS.replace('name = "small"', 'name = "small"\nscratch = 100'))
        said = self.expect(NO, "verify", "parallel.onnx", "plan.json", "--target", "larger.toml").stdout
        self.assertIn("has 0 bytes of scratch, but kernel 'small' needs 100", said)
        self.write("renamed.toml", KERNELS.replace("two kernels", "three kernels"))
        self.expect(NO, "verify", "parallel.onnx", "plan.json", "--target", "renamed.toml")

    def test_a_plan_for_this_machine_names_its_key(self):
        self.plan(DONE, "--threads", "2", "-o", "plan.json", target="cpu")
        provenance = json.loads((self.folder / "plan.json").read_text())["provenance"]
        self.assertEqual(provenance["target"], "cpu")
        self.assertEqual([text.split("=")[0] for text in provenance["machine_key"]],
                         ["caches", "isa", "kernels", "library", "threads"])
        verify = ("verify", "parallel.onnx", "plan.json", "--target", "cpu")
        self.expect(DONE, *verify, "--threads", "2")
        self.expect(DONE, *verify)
        said = self.expect(NO, *verify, "--threads", "1").stdout
        self.assertRegex(said, "the plan is for a machine with .* and threads=2, but this one has .* and threads=1")

    def test_operators_on_f16_compute_on_f32(self):
        half = 10
        nodes = [small_models.node("MatMul", ["x", "x"], ["a"], "mul"), small_models.node("Relu", ["a"], ["y"], "relu")]
        extents = [small_models.value_info(name, [2, 2], half) for name in ("x", "y")]
        self.write("half.onnx", small_models.model(nodes, extents[:1], extents[1:]))
        command = ("plan", "half.onnx", "--target", "cpu")
        self.assertEqual(self.json(DONE, *command, "-o", "half.json")["lowering"]["on_f32"], 2)
        self.expect(DONE, "verify", "half.onnx", "half.json")
        self.expect(DONE, "run", "half.onnx", "--plan", "half.json", "--synthetic", "1")
        self.assertIn("2 nodes on f16 computed on f32", " ".join(self.expect(DONE, *command).stdout.split()))
        self.assertEqual(self.json(DONE, *command, "--without", "halves")["lowering"]["on_f32"], 0)

    def test_the_summary_says_what_lowering_changed(self):
        nodes = [small_models.node("Neg", ["x"], ["a"], "neg"), small_models.node("Exp", ["a"], ["y"], "exp")]
        extents = [small_models.value_info(name, [4]) for name in ("x", "y")]
        self.write("chain.onnx", small_models.model(nodes, extents[:1], extents[1:]))
        report = self.json(DONE, "plan", "chain.onnx", "--target", "cpu")
        self.assertEqual(report["lowering"], {
            "left_out": 0, "on_f32": 0, "at_load": 0, "reorders": 0, "reordered_bytes": 0,
            "as_written": {"peak_bytes": 64, "arena_bytes": 64},
            "rewrites": [{"node": "exp", "op": "lowtide::Chain", "from": ["neg", "exp"]}]})
        said = " ".join(self.expect(DONE, "plan", "chain.onnx", "--target", "cpu").stdout.split())
        self.assertIn("Lowered: 2 nodes fused into 1 chain. As written, the model needs an arena of 64 B.", said)
        report = self.json(DONE, "plan", "chain.onnx", "--target", "cpu", "--without", "chains")
        self.assertEqual((report["steps"], report["lowering"]["rewrites"]), (2, []))
        said = self.expect(USAGE, "plan", "chain.onnx", "--without", "chains").stderr
        self.assertIn("add --target cpu", said)

    def test_threads_need_kernels_of_this_machine(self):
        said = self.expect(USAGE, "plan", "parallel.onnx", "--threads", "2").stderr
        self.assertIn("--threads needs kernels of this machine; add --target cpu", said)

    def test_the_explanation_names_the_kernels(self):
        said = " ".join(self.expect(DONE, "explain", "parallel.onnx", "--target", "kernels.toml").stdout.split())
        self.assertIn("65,536 B are scratch of the kernel 'fast', as the target states.", said)
        self.assertIn("The kernel 'small' needs 0 B; a plan uses it if --budget requires that.", said)

    def test_capacities_are_shown_as_the_file_states_them(self):
        self.write("regions.toml", regions("4KiB", "5KiB"))
        said = self.plan(NO, target="regions.toml")
        self.assertRegex(said, r"in r0 .* of 4,096 B")
        self.assertRegex(said, r"in r1 .* of 5,120 B")
        report = self.plan_json(NO, target="regions.toml")
        self.assertEqual([one["capacity"] for one in report["regions"]], [4096, 5120])

    def test_a_tensor_that_exceeds_every_region_is_named(self):
        self.write("regions.toml", regions(*["3KiB"] * 5))
        said = self.plan(NO, target="regions.toml")
        self.assertRegex(" ".join(said.split()),
                         r"Proven for the model as written on target [\w.-]+: no plan without recomputation or "
                         r"extra copies fits, because the tensor "
                         r"[a-e] \(4,096 B\) is larger than every region")
        budget = self.plan_json(NO, target="regions.toml")["budget"]
        self.assertTrue(budget["proven_infeasible"])
        self.assertEqual([one["bytes"] for one in budget["region_proof"]["tensors"]], [4096])

    # 12,288 B in all, but each region of 6,144 B holds only one of the three tensors.
    def test_tensors_that_cannot_be_distributed_are_named(self):
        self.write("regions.toml", regions("6KiB", "6KiB"))
        budget = self.plan_json(NO, target="regions.toml")["budget"]
        self.assertTrue(budget["proven_infeasible"])
        self.assertEqual({one["name"] for one in budget["region_proof"]["tensors"]}, {"c", "d", "e"})
        self.assertEqual(budget["region_proof"]["node"], {"name": "e", "op": "MatMul"})
        self.write("enough.toml", regions("8KiB", "6KiB"))
        self.plan(DONE, target="enough.toml")

    def test_links_that_are_not_used_are_mentioned(self):
        link = '[[link]]\nfrom = "r0"\nto = "r1"\nbytes_per_second = 1e9\n'
        self.write("linked.toml", regions("8KiB", "8KiB") + link)
        self.assertIn("The links of the target are not used", self.plan(DONE, target="linked.toml"))
        self.assertEqual(self.plan_json(DONE, target="linked.toml")["unused"], ["links"])


if __name__ == "__main__":
    unittest.main()
