"""Kubernetes manifests: pods of every kind, words and variables, ConfigMaps as files, and kustomizations beside them."""

from __future__ import annotations

import json
import textwrap

import pytest

from specconf.errors import InputError
from specconf.readers.registry import ReadLaunch, detected_format, read_launches

IMAGE = "vllm/vllm-openai:v0.33.0"
JSON = '{"method":"ngram","num_speculative_tokens":3}'


def read(text: str, files: dict[str, str] | None = None) -> list[ReadLaunch]:
    held = {name: textwrap.dedent(content) for name, content in (files or {}).items()}
    return read_launches("deploy/app.yaml", textwrap.dedent(text), around=held.get)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


def places(item: ReadLaunch) -> list[tuple[int, int]]:
    return [(word.span.line, word.span.column) for word in item.launch.argv if word.span]


def pod(*lines: str, image: str = IMAGE) -> str:
    body = "\n".join(f"      {line}" for line in lines)
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    - name: engine\n"
    return f"{head}      image: {image}\n{body}\n"


TEMPLATE = f"{{spec: {{containers: [{{name: c, image: '{IMAGE}', args: [org/m]}}]}}}}"
KINDS = {
    "Deployment": f"apiVersion: apps/v1\nkind: Deployment\nspec: {{template: {TEMPLATE}}}",
    "StatefulSet": f"apiVersion: apps/v1\nkind: StatefulSet\nspec: {{template: {TEMPLATE}}}",
    "DaemonSet": f"apiVersion: apps/v1\nkind: DaemonSet\nspec: {{template: {TEMPLATE}}}",
    "ReplicaSet": f"apiVersion: apps/v1\nkind: ReplicaSet\nspec: {{template: {TEMPLATE}}}",
    "Job": f"apiVersion: batch/v1\nkind: Job\nspec: {{template: {TEMPLATE}}}",
    "CronJob": f"apiVersion: batch/v1\nkind: CronJob\nspec: {{jobTemplate: {{spec: {{template: {TEMPLATE}}}}}}}",
    "LeaderWorkerSet": "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\n"
    f"spec: {{leaderWorkerTemplate: {{workerTemplate: {TEMPLATE}}}}}",
    "List": f"apiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  spec: {{template: {TEMPLATE}}}",
    "an unknown kind": f"apiVersion: x.example.com/v1\nkind: Storm\nspec: {{roles: [{{template: {TEMPLATE}}}]}}",
    "OME": "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\n"
    f"spec: {{engineConfig: {{runner: {{name: c, image: '{IMAGE}', args: [org/m]}}}}}}",
}


@pytest.mark.parametrize("kind", KINDS)
def test_pods_of_every_kind(kind: str) -> None:
    (item,) = read(KINDS[kind])
    assert texts(item) == ["vllm", "serve", "org/m"]
    assert (item.release, item.name) == ("0.33.0", "c")


def test_json_manifests() -> None:
    body = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": IMAGE, "args": ["org/m"]}]}}
    for text in (json.dumps(body), json.dumps(body, indent=2)):
        (item,) = read_launches("pod.json", text)
        assert texts(item) == ["vllm", "serve", "org/m"]


def test_command_takes_the_place_of_the_images_program() -> None:
    (item,) = read(
        pod("command: [python3, -m, vllm.entrypoints.openai.api_server]", "args:", "  - --model", "  - org/m")
    )
    assert texts(item) == ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "org/m"]
    assert places(item)[-2:] == [(10, 11), (11, 11)]
    assert read(pod("command: [sleep]", "args: [infinity]")) == []


SCRIPTS = [
    ["command: [/bin/sh, -c]", "args:", "  - |", "    vllm serve org/m \\", "      --port 1"],
    ["command: [bash, -c, 'vllm serve org/m --port 1']"],
    ["command: [bash, -c]", "args: ['exec vllm serve org/m --port 1']"],
]


@pytest.mark.parametrize("lines", SCRIPTS)
def test_scripts(lines: list[str]) -> None:
    (item,) = read(pod(*lines))
    assert (texts(item), item.in_script) == (["vllm", "serve", "org/m", "--port", "1"], True)


def test_a_scripts_words_have_the_places_of_their_characters() -> None:
    (item,) = read(pod(*SCRIPTS[0]))
    assert places(item) == [(11, 11), (11, 16), (11, 22), (12, 13), (12, 20)]


ENV = ["env:", "  - {name: A, value: '1'}", "  - {name: B, value: x$(A)}", "  - name: HF_TOKEN", "    value: abc"]


def test_variables_are_put_into_words_only_where_they_are_known() -> None:
    words = "args: [org/m, '--a=$(B)', $(OTHER), '$$(A)', $A, '$(HF_TOKEN)']"
    (item,) = read(pod(words, *ENV))
    assert [word.value for word in item.launch.argv[3:]] == ["--a=x1", None, "$(A)", "$A", None]
    assert item.launch.argv[4].raw == "$(OTHER)"
    env = dict(item.launch.env)
    assert (env["A"].value, env["B"].value, env["HF_TOKEN"].value) == ("1", "x1", None)


def test_variables_in_a_script() -> None:
    (item,) = read(pod("command: [sh, -c]", "args: ['vllm serve $(M) -tp $TP --seed $(A)']", *ENV))
    assert [word.value for word in item.launch.argv[2:]] == [None, "-tp", None, "--seed", "1"]
    (item,) = read(pod("command: [sh, -c, '''exec'' vllm serve org/m -tp $A']", *ENV))
    assert texts(item)[-1] == "1"


def test_what_is_rendered_before_is_not_known() -> None:
    words = "args: ['${MODEL}', '--seed=${SEED}', '{{ .Values.x }}', '--sc={\"a\": 1}', $X]"
    (item,) = read(pod(words, "env: [{name: A, value: '${A}'}]", image="vllm/vllm-openai:${TAG}"))
    assert [word.value for word in item.launch.argv[2:]] == [None, None, None, '--sc={"a": 1}', "$X"]
    assert item.stated == ()
    assert item.launch.env[0][1].value is None
    (item,) = read(pod("command: [sh, -c, 'TP=2; vllm serve org/m -tp ${TP}']"))
    assert texts(item)[-1] == "2"


def test_variables_of_other_objects() -> None:
    text = """
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: settings}
        data: {MODEL: org/m, VLLM_A: "1"}
        ---
        apiVersion: v1
        kind: Pod
        spec:
          containers:
            - image: vllm/vllm-openai:v0.33.0
              args: [$(MODEL), $(X_MODEL), $(D)]
              envFrom: [{configMapRef: {name: settings}, prefix: X_}, {configMapRef: {name: other}}, {secretRef: {name: s}}]
              env:
                - {name: MODEL, valueFrom: {configMapKeyRef: {name: settings, key: MODEL}}}
                - {name: D, valueFrom: {secretKeyRef: {name: s, key: D}}}
    """
    (item,) = read(text)
    assert [word.value for word in item.launch.argv[2:]] == ["org/m", "org/m", None]
    assert [word.text for word in item.env_files] == ["ConfigMap other", "Secret s"]


CONFIG_MAP = """
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: cfg}
    data:
      serve.yaml: |
        port: 1
      run.sh: |
        #!/bin/bash
        export VLLM_A=1
        exec vllm serve org/m \\
          --port 2
"""
MOUNTS = """
    ---
    apiVersion: v1
    kind: Pod
    spec:
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.33.0
          WORDS
          volumeMounts: [{name: files, mountPath: MOUNT}]
      volumes:
        - name: files
          VOLUME
"""


def mounted(words: str, mount: str = "/etc/x", volume: str = "configMap: {name: cfg}") -> str:
    pods = MOUNTS.replace("WORDS", words).replace("MOUNT", mount).replace("VOLUME", volume)
    return CONFIG_MAP + pods


FILES = [
    ("/etc/x", "/etc/x/serve.yaml", "configMap: {name: cfg}"),
    ("/etc/x/", "/etc/x/serve.yaml", "projected: {sources: [{configMap: {name: cfg}}]}"),
    ("/etc/x.yaml, subPath: serve.yaml", "/etc/x.yaml", "configMap: {name: cfg}"),
    ("/etc/x", "/etc/x/o/a.yaml", "configMap: {name: cfg, items: [{key: serve.yaml, path: o/a.yaml}]}"),
]


@pytest.mark.parametrize(("mount", "path", "volume"), FILES)
def test_option_files_of_config_maps(mount: str, path: str, volume: str) -> None:
    (item,) = read(mounted(f"args: [org/m, --config, {path}]", mount, volume))
    assert item.launch.files == ((path, "port: 1\n"),)


STARTS = ["command: [bash, /etc/x/run.sh]", "command: [/etc/x/run.sh]", "command: [sh, -c, 'exec /etc/x/run.sh a']"]


@pytest.mark.parametrize("words", STARTS)
def test_scripts_of_config_maps(words: str) -> None:
    (item,) = read(mounted(words))
    assert texts(item) == ["vllm", "serve", "org/m", "--port", "2"]
    assert dict(item.launch.env)["VLLM_A"].value == "1"
    assert (places(item)[0], places(item)[3], item.release) == ((11, 10), (12, 7), "0.33.0")


def test_a_config_map_that_no_pod_of_the_file_mounts() -> None:
    (item,) = read(CONFIG_MAP)
    assert (texts(item), item.name, item.release) == (["vllm", "serve", "org/m", "--port", "2"], "run.sh", None)


@pytest.mark.parametrize("name", ["cfg.yaml", "configmap.yaml"])
def test_a_config_map_beside_the_file(name: str) -> None:
    alone = mounted("args: [org/m, --config, /etc/x/serve.yaml]").partition("---\n")[2]
    (item,) = read(alone, {name: CONFIG_MAP})
    assert item.launch.files == (("/etc/x/serve.yaml", "port: 1\n"),)
    (item,) = read(alone, {name: "a: [\n"})
    assert item.launch.files == ()


def test_files_that_a_kustomization_makes_a_config_map_of() -> None:
    alone = mounted("args: [org/m, --config, /etc/x/serve.yaml]").partition("---\n")[2]
    made = "configMapGenerator: [{name: cfg, files: [serve.yaml=opts/a.yaml]}]"
    (item,) = read(alone, {"kustomization.yaml": made, "opts/a.yaml": "port: 9\n"})
    assert item.launch.files == (("/etc/x/serve.yaml", "port: 9\n"),)


DEPLOYMENT = """
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: chat}
    spec:
      template:
        spec:
          containers:
            - name: engine
              image: vllm/vllm-openai
              args: [org/m, --port, "1"]
"""


def kustomized(text: str, **more: str) -> ReadLaunch:
    files = {"kustomization.yaml": text} | {f"{name}.yaml": content for name, content in more.items()}
    (item,) = read(DEPLOYMENT, files)
    return item


def test_a_kustomizations_images() -> None:
    item = kustomized("images:\n  - name: vllm/vllm-openai\n    newTag: v0.31.0\n")
    assert item.release == "0.31.0"
    assert str(item.release_where) == "deploy/kustomization.yaml:3:13"
    item = kustomized("images: [{name: vllm/vllm-openai, newName: r.example.com/vllm/vllm-openai, newTag: v0.30.0}]")
    assert item.release == "0.30.0"
    assert kustomized("images: [{name: other, newTag: v0.31.0}]").release is None
    assert (
        read(DEPLOYMENT, {"kustomization.yaml": "images: [{name: vllm/vllm-openai, newName: example.com/mine}]"}) == []
    )


JSON_PATCH = "[{op: add, path: /spec/template/spec/containers/0/args/-, value: --seed=1}]"
PATCHES = {
    "in the kustomization": f"patches: [{{target: {{kind: Deployment, name: chat}}, patch: '{JSON_PATCH}'}}]",
    "by a pattern": f"patches: [{{target: {{name: c.*}}, patch: '{JSON_PATCH}'}}]",
    "in a file": "patches: [{target: {kind: Deployment}, path: more.yaml}]",
    "the older list": "patchesJson6902: [{target: {kind: Deployment, name: chat}, path: more.yaml}]",
}


@pytest.mark.parametrize("name", PATCHES)
def test_json_patches_append_words(name: str) -> None:
    item = kustomized(PATCHES[name], more=JSON_PATCH)
    assert texts(item)[2:] == ["org/m", "--port", "1", "--seed=1"]
    assert item.launch.argv[-1].span is not None
    assert item.launch.argv[-1].span.path == (
        "deploy/more.yaml" if "more" in PATCHES[name] else "deploy/kustomization.yaml"
    )


def test_json_patches_replace_and_remove() -> None:
    patch = """
        - {op: replace, path: /spec/template/spec/containers/0/args/2, value: "2"}
        - {op: add, path: /spec/template/spec/containers/0/args/0, value: org/n}
        - {op: remove, path: /spec/template/spec/containers/0/args/1}
        - {op: replace, path: /spec/template/spec/containers/0/image, value: "vllm/vllm-openai:v0.32.0"}
        - {op: add, path: /spec/template/spec/containers/1/args/-, value: --no}
        - {op: add, path: /metadata/labels/a, value: b}
        - {op: remove, path: /spec/template/spec/containers/0/args/9}
    """
    item = kustomized("patches: [{target: {kind: Deployment}, path: more.yaml}]", more=patch)
    assert (texts(item)[2:], item.release) == (["org/n", "--port", "2"], "0.32.0")


def test_parts_of_objects_as_patches() -> None:
    part = """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: NAME}
        spec:
          template:
            spec:
              containers: [{name: engine, args: [org/n], image: "vllm/vllm-openai:v0.32.0", env: [{name: VLLM_A, value: "1"}]}]
    """
    for key in ("patches: [{path: more.yaml}]", "patchesStrategicMerge: [more.yaml]"):
        item = kustomized(key, more=part.replace("NAME", "chat"))
        assert (texts(item)[2:], item.release, len(item.launch.env)) == (["org/n"], "0.32.0", 1)
        item = kustomized(key, more=part.replace("NAME", "other"))
        assert (texts(item)[2:], item.release) == (["org/m", "--port", "1"], None)


def test_patches_of_one_component_of_a_graph() -> None:
    text = """
        apiVersion: nvidia.com/v1ALPHA
        kind: DynamoGraphDeployment
        metadata: {name: g}
        spec:
          services:
            A: {extraPodSpec: {mainContainer: {command: [vllm, serve], args: [org/a]}}}
          components:
            - {name: B, podTemplate: {spec: {containers: [{name: main, command: [vllm, serve], args: [org/b]}]}}}
            - {name: C, podTemplate: {spec: {containers: [{name: main, command: [vllm, serve], args: [org/c]}]}}}
    """
    patch = """
        - {op: add, path: /spec/services/A/extraPodSpec/mainContainer/args/-, value: --seed=1}
        - {op: add, path: /spec/components/1/podTemplate/spec/containers/0/args/-, value: --seed=2}
    """
    part = "kind: DynamoGraphDeployment\nspec: {services: {A: {extraPodSpec: {mainContainer: {args: [org/d]}}}}}\n"
    beside = {"kustomization.yaml": "patches: [{path: a.yaml, target: {name: g}}, {path: b.yaml, target: {name: g}}]"}
    found = read(text, beside | {"a.yaml": patch, "b.yaml": ""})
    assert [texts(item)[2:] for item in found] == [["org/a", "--seed=1"], ["org/b"], ["org/c", "--seed=2"]]
    found = read(text, beside | {"a.yaml": "", "b.yaml": part})
    assert [texts(item)[2:] for item in found] == [["org/d"], ["org/b"], ["org/c"]]


def test_a_kustomization_itself_starts_nothing() -> None:
    text = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    assert read(text + "images: [{name: vllm/vllm-openai, newTag: v0.1.0}]\n") == []
    assert kustomized("- 1\n").release is None
    assert kustomized("a: [\n").release is None


def test_anchors_for_workers() -> None:
    text = f"""
        apiVersion: leaderworkerset.x-k8s.io/v1
        kind: LeaderWorkerSet
        spec:
          leaderWorkerTemplate:
            leaderTemplate: &pod
              spec:
                containers: [{{name: c, image: "{IMAGE}", args: [org/m]}}]
            workerTemplate: *pod
    """
    assert [texts(item)[-1] for item in read(text)] == ["org/m", "org/m"]


def test_objects_without_an_engine_give_nothing() -> None:
    assert read("apiVersion: v1\nkind: Service\nspec: {ports: [{port: 1}]}\n") == []
    assert read(pod("command: [sh, -c, 'echo vllm serve']", image="busybox")) == []
    assert read("apiVersion: v1\nkind: Pod\n---\n---\napiVersion: v1\nkind: X\n") == []


def test_odd_values_are_no_crash() -> None:
    odd = [
        "args: {a: 1}",
        "env: [1, {name: [x]}, {name: A, value: [1]}, {name: B, valueFrom: 1}]",
        "envFrom: [1, {configMapRef: 2}]",
    ]
    odd += ["volumeMounts: [1, {mountPath: /x}, {name: [1], mountPath: /y}]"]
    (item,) = read(pod(*odd))
    assert item.launch.argv[-1].value is None
    assert read("apiVersion: v1\nkind: Pod\nspec: {containers: [1, [2], null, {image: {a: 1}}], volumes: {a: 1}}") == []
    assert read("apiVersion: [1]\nkind: {a: b}\nmetadata: 1\n") == []


BROKEN = ["apiVersion: v1\nkind: Pod\nspec: [\n", "apiVersion: v1\nkind: Pod\n\tspec: 1\n"]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_files_are_told_with_their_place(text: str) -> None:
    with pytest.raises(InputError) as error:
        read(text)
    assert error.value.where is not None
    assert error.value.where.line >= 3


OTHERS = {
    "values.yaml": "image: {repository: vllm/vllm-openai}\nargs: []\n",
    "chart/templates/deployment.yaml": "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: '{{ .Values.image }}'}]}\n",
    "x.yaml": "apiVersion: v1\n{{- if .Values.x }}\nkind: Pod\n{{- end }}\n",
    "Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
    "notes.yaml": "text: |\n  apiVersion: v1\n  kind: Pod\n",
}


@pytest.mark.parametrize("path", OTHERS)
def test_other_files_are_not_claimed(path: str) -> None:
    chosen = detected_format(path, OTHERS[path])
    assert chosen is None or chosen.name != "kubernetes"


def test_a_models_chat_template_in_a_config_map_is_no_charts() -> None:
    head = "apiVersion: v1\nkind: ConfigMap\ndata:\n"
    jinja = head + "  t.jinja: |\n    {%- for m in messages %}\n    {{- bos_token }}\n    {{ m }}\n"
    chosen = detected_format("x.yaml", jinja)
    assert chosen is not None
    assert chosen.name == "kubernetes"
