"""Kubernetes objects: held against the published schemas, and what each field of a spec becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from specconf.emit.k8s import _escaped
from tests.cli.conftest import Run
from tests.emit.cases import CASES, RELEASES, Case, compiled, spec_file

DEPLOYMENT = (
    "{image: null, replicas: 2, namespace: models, model_cache: weights, secrets: {hf_token: hub}, overlay: over.yaml}"
)


def objects(text: str) -> dict[str, Any]:
    """The objects of a manifest by kind."""
    return {one["kind"]: one for one in yaml.safe_load_all(text)}


def server(text: str) -> dict[str, Any]:
    """The only container of a manifest."""
    (found,) = objects(text)["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("case", [case for case in CASES if case.form == "k8s"], ids=str)
def test_schemas_hold(specconf: Run, case: Case) -> None:
    written = list(yaml.safe_load_all(specconf(*case.words()).out))
    assert {one["kind"] for one in written} >= {"Deployment", "Service"}
    for one in written:
        for version in ("1.29", "1.37"):
            kubernetes_validate.validate(one, version, strict=True)


def test_the_schemas_are_strict() -> None:
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"port": 1}}, "1.37", strict=True
        )


def test_deployment_fields(specconf: Run, tmp_path: Path) -> None:
    (tmp_path / "over.yaml").write_text(
        "kind: Deployment\nspec:\n  template:\n    spec:\n      nodeSelector: {gpu: h100}\n"
        "      containers:\n        - name: server\n          lifecycle: null\n          resources: {limits: {memory: 64Gi}}\n",
        encoding="utf-8",
    )
    spec = spec_file(tmp_path, deployment=DEPLOYMENT, serving="{tensor_parallel_size: 2, port: 9001}", name="chat.One")
    text = compiled(specconf, spec, "vllm", "k8s")
    found, pod = objects(text), objects(text)["Deployment"]["spec"]["template"]["spec"]
    assert {one["metadata"]["namespace"] for one in found.values()} == {"models"}
    assert {one["metadata"]["name"] for one in found.values()} == {"chat-one"}
    assert found["Deployment"]["spec"]["replicas"] == 2
    assert pod["nodeSelector"] == {"gpu": "h100"}
    assert {"name": "model-cache", "persistentVolumeClaim": {"claimName": "weights"}} in pod["volumes"]
    one = server(text)
    assert "lifecycle" not in one
    assert one["resources"]["limits"] == {"nvidia.com/gpu": 2, "memory": "64Gi"}
    assert {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}} in one["env"]
    assert one["ports"][0]["containerPort"] == found["Service"]["spec"]["ports"][0]["port"] == 9001


@pytest.mark.parametrize(("engine", "seconds"), [("vllm", 5), ("sglang", 30), ("tensorrt-llm", 5)])
def test_probes_wait_as_long_as_the_engine_may_take(specconf: Run, tmp_path: Path, engine: str, seconds: int) -> None:
    one = server(compiled(specconf, spec_file(tmp_path), engine, "k8s"))
    probes = [one[f"{kind}Probe"] for kind in ("startup", "readiness", "liveness")]
    assert [probe["timeoutSeconds"] for probe in probes] == [seconds] * 3
    assert probes[0]["periodSeconds"] * probes[0]["failureThreshold"] >= 3600


@pytest.mark.parametrize(
    ("engine", "serving", "gpus"),
    [
        ("vllm", "{tensor_parallel_size: 2, pipeline_parallel_size: 2, data_parallel_size: 2}", 8),
        ("sglang", "{tensor_parallel_size: 4, data_parallel_size: 2}", 8),
        ("sglang", "{tensor_parallel_size: 4, attention_data_parallel_size: 4}", 4),
        ("tensorrt-llm", "{tensor_parallel_size: 4, pipeline_parallel_size: 2}", 8),
    ],
)
def test_gpus(specconf: Run, tmp_path: Path, engine: str, serving: str, gpus: int) -> None:
    spec = spec_file(tmp_path, serving=serving, speculation="{method: none}")
    assert server(compiled(specconf, spec, engine, "k8s"))["resources"]["limits"] == {"nvidia.com/gpu": gpus}


@pytest.mark.parametrize(
    ("word", "written"),
    [("$HOME", "$HOME"), ("$(HOME)", "$$(HOME)"), ("a$$b", "a$$$$b"), ("$", "$"), ('{"a":"$(B)$"}', '{"a":"$$(B)$$"}')],
)
def test_escaped(word: str, written: str) -> None:
    assert _escaped(word) == written


def test_words_with_signs_come_back(specconf: Run, tmp_path: Path) -> None:
    spec = spec_file(tmp_path, serving='{served_model_name: "a$(HOME)b"}')
    written = tmp_path / "k8s.yaml"
    written.write_text(compiled(specconf, spec, "vllm", "k8s"), encoding="utf-8")
    assert 'served_model_name: "a$(HOME)b"' in specconf("import", written, "--quiet").out


@pytest.mark.parametrize(
    ("image", "code", "says"),
    [
        ("registry.example/vllm/vllm-openai:v0.33.0@sha256:" + "0" * 64, 0, ""),
        ("registry.example/own:1", 0, "# specconf: release vllm=0.33.0"),
        ("vllm/vllm-openai:v0.32.0", 2, "holds vllm 0.32.0; the launch is for vLLM 0.33.0"),
        ("lmsysorg/sglang:v0.5.23", 2, "holds sglang 0.5.23"),
    ],
)
def test_own_images(specconf: Run, tmp_path: Path, image: str, code: int, says: str) -> None:
    spec = spec_file(tmp_path, deployment=f'{{image: "{image}"}}')
    ran = specconf("compile", spec, "-e", "vllm", "-r", RELEASES["vllm"], "-f", "k8s", "--quiet")
    assert ran.code == code
    assert says in ran.out + ran.err
    if not code:
        assert server(ran.out)["image"] == image
        assert ("# specconf: release" in ran.out) is bool(says)


@pytest.mark.parametrize(
    ("engine", "release", "image"),
    [
        ("vllm", "0.8.1", "vllm/vllm-openai:v0.8.1"),
        ("sglang", "0.5.12.post1", "lmsysorg/sglang:v0.5.12.post1"),
        ("sglang", "0.5.10", None),  # its tags say more than the release
        ("tensorrt-llm", "1.2.1", "nvcr.io/nvidia/tensorrt-llm/release:1.2.1"),
        ("vllm", "0.33.7", None),  # no published release
    ],
)
def test_published_images(specconf: Run, tmp_path: Path, engine: str, release: str, image: str | None) -> None:
    spec = spec_file(tmp_path, speculation="{method: none}")
    ran = specconf("compile", spec, "-e", engine, "-r", release, "-f", "k8s", "--quiet")
    if image is None:
        assert ran.code == 2
        assert "Name one in deployment.image" in ran.err
    else:
        assert server(ran.out)["image"] == image


def test_a_server_that_hears_itself_only_is_refused(specconf: Run, tmp_path: Path) -> None:
    spec = spec_file(tmp_path, serving="{host: 127.0.0.1}")
    ran = specconf("compile", spec, "-e", "vllm", "-r", "0.33.0", "-f", "k8s", "--quiet")
    assert ran.code == 2
    assert "Set serving.host to 0.0.0.0" in ran.err


def test_overlay_of_another_kind_is_refused(specconf: Run, tmp_path: Path) -> None:
    (tmp_path / "over.yaml").write_text("kind: Ingress\n", encoding="utf-8")
    spec = spec_file(tmp_path, deployment="{overlay: over.yaml}")
    ran = specconf("compile", spec, "-e", "vllm", "-r", "0.33.0", "-f", "k8s", "--quiet")
    assert ran.code == 2
    assert "a document of the kind Ingress" in ran.err
