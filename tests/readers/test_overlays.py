"""Kustomize's overlays: launches of other folders' manifests, as an overlay changes them."""

from __future__ import annotations

import posixpath

import pytest

from specconf.readers.registry import ReadLaunch, read_launches

HEAD = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  containers:
  - name: main
    image: vllm/vllm-openai:v0.32.0
    args: [org/m, --seed, "1"]
"""
IMAGES = "images:\n- name: vllm/vllm-openai\n  newTag: v0.33.0\n"
PATCH = "patches:\n- path: seed.yaml\n  target: {kind: Pod}\n"
OPERATION = "- op: replace\n  path: /spec/containers/0/args/2\n  value: '2'\n"
TREE = {
    "k/base/kustomization.yaml": HEAD + "resources: [pod.yaml]\n",
    "k/base/pod.yaml": POD,
    "k/overlays/prod/kustomization.yaml": HEAD + "resources: [../../base]\n" + IMAGES,
}


def read(path: str, tree: dict[str, str]) -> list[ReadLaunch]:
    folder = posixpath.dirname(path)

    def around(name: str) -> str | None:
        return None if name.count("..") > 2 else tree.get(posixpath.normpath(posixpath.join(folder, name)))

    return read_launches(path, tree[path], around=around)


def test_a_base_is_judged_with_the_tag_of_its_overlay() -> None:
    (item,) = read("k/overlays/prod/kustomization.yaml", TREE)
    assert (item.release, str(item.release_where)) == ("0.33.0", "k/overlays/prod/kustomization.yaml:6:11")
    assert item.name == "llm of prod"
    assert str(item.launch.argv[-2].span) == "k/base/pod.yaml:8:19"
    (base,) = read("k/base/pod.yaml", TREE)
    assert base.release == "0.32.0"


def test_patches_of_an_overlay_lie_beside_it() -> None:
    tree = {
        **TREE,
        "k/overlays/prod/kustomization.yaml": HEAD + "resources: [../../base]\n" + PATCH,
        "k/overlays/prod/seed.yaml": OPERATION,
    }
    (item,) = read("k/overlays/prod/kustomization.yaml", tree)
    assert [word.value for word in item.launch.argv][2:] == ["org/m", "--seed", "2"]


def test_overlays_of_overlays_change_what_the_inner_ones_made() -> None:
    tree = {
        **TREE,
        "k/overlays/prod/kustomization.yaml": HEAD + "resources: [../mid]\n" + PATCH,
        "k/overlays/prod/seed.yaml": OPERATION,
        "k/overlays/mid/kustomization.yml": HEAD + "resources: [../../base]\n" + IMAGES,
    }
    (item,) = read("k/overlays/prod/kustomization.yaml", tree)
    assert (item.release, item.launch.argv[-1].value) == ("0.33.0", "2")


@pytest.mark.parametrize(
    ("resources", "more"),
    [("[../../base]", ""), ("[https://example.org/base]", IMAGES), ("[../../../../base]", IMAGES), ("[/k/base]", IMAGES),
     ("[.]", IMAGES), ("[pod.yaml]", IMAGES), ("[../missing]", IMAGES)],
)  # fmt: skip
def test_what_an_overlay_does_not_change_or_does_not_hold_is_not_told_twice(resources: str, more: str) -> None:
    path = "k/overlays/prod/kustomization.yaml"
    assert read(path, {**TREE, path: f"{HEAD}resources: {resources}\n{more}"}) == []


def test_a_broken_base_is_told_where_it_is_read() -> None:
    assert read("k/overlays/prod/kustomization.yaml", {**TREE, "k/base/pod.yaml": "a: ["}) == []
