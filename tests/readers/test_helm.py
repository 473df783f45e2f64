"""Helm: values files, and templates before rendering."""

from __future__ import annotations

import pytest

from specconf.readers.registry import ReadLaunch, detected_format, read_launches


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


STACK = """\
servingEngineSpec:
  env: [{name: A, value: "1"}]
  modelSpec:
  - name: llama
    repository: vllm/vllm-openai
    tag: v0.26.0
    modelURL: org/m
    vllmConfig:
      enablePrefixCaching: true
      enableChunkedPrefill: false
      maxModelLen: 4096
      extraArgs: ["--speculative-config", '{"n": 1}']
  - name: other
    repository: own/image
    tag: latest
    modelURL: org/n
    vllmConfig: {tensorParallelSize: 2}
"""


def test_the_production_stack() -> None:
    llama, other = read_launches("values.yaml", STACK)
    assert texts(llama) == [
        "vllm", "serve", "org/m", "--enable-prefix-caching", "--no-enable-chunked-prefill", "--max-model-len", "4096",
        "--speculative-config", '{"n": 1}', "further words",
    ]  # fmt: skip
    assert (llama.name, llama.release, str(llama.release_where)) == ("llama", "0.26.0", "values.yaml:6:10")
    assert [str(word.span) for word in llama.launch.argv[7:9]] == ["values.yaml:12:19", "values.yaml:12:43"]
    assert dict(llama.launch.env)["A"].value == "1"
    assert (other.release, texts(other)[2:5]) == (None, ["org/n", "--tensor-parallel-size", "2"])


VALUES: dict[str, tuple[str | None, list[str]]] = {
    "image: {repository: vllm/vllm-openai, tag: v0.19.1}\nextraArgs: [--a=1]\n": ("0.19.1", ["vllm", "serve", "--a=1"]),
    "llm:\n  image:\n    registry: docker.io\n    repository: vllm/vllm-openai\n    tag: v0.19.1\n  args: m --a\n": (
        *("0.19.1",),
        ["vllm", "serve", "m", "--a"],
    ),
    "image: lmsysorg/sglang:v0.5.23\ncommand: [sglang, serve]\nargs: [--tp, '2']\n": (
        "0.5.23",
        ["sglang", "serve", "--tp", "2"],
    ),
    "image: {repository: vllm/vllm-openai}\ncommand: [bash, -c]\nargs: ['vllm serve m']\n": (
        None,
        ["vllm", "serve", "m"],
    ),
    "image: {repository: own}\nargs: [vllm, serve, m]\n": (None, ["vllm", "serve", "m"]),
    "e:\n  image: {repository: vllm/vllm-openai, tag: v0.19.1}\n  flags:\n  - --model=m\n  - --seed=1\n": (
        *("0.19.1",),
        ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model=m", "--seed=1"],
    ),
    'e:\n  image: "lmsysorg/sglang:v0.5.23"\n  more: "--model-path m --tp 2"\n': (
        *("0.5.23",),
        ["python3", "-m", "sglang.launch_server", "--model-path", "m", "--tp", "2"],
    ),
    "modelArtifacts: {uri: 'hf://org/m'}\ndecode:\n  parallelism: {tensor: 2, data: 1}\n  containers:\n"
    "  - image: vllm/vllm-openai:v0.19.1\n    modelCommand: vllmServe\n    args: [--seed=1]\n": (
        *("0.19.1",),
        ["vllm", "serve", "org/m", "--tensor-parallel-size", "2", "--seed=1"],
    ),
    "modelArtifacts: {uri: 'pvc://x/y', name: n}\nprefill:\n  containers:\n"
    "  - image: vllm/vllm-openai:v0.19.1\n    modelCommand: imageDefault\n    args: [--seed=1]\n": (
        *("0.19.1",),
        [
            "python3",
            "-m",
            "vllm.entrypoints.openai.api_server",
            "--model",
            "modelArtifacts.uri",
            "--served-model-name",
            "n",
            "--seed=1",
        ],
    ),
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_other_charts(text: str) -> None:
    (item,) = read_launches("chart/values-gpu.yaml", text)
    argv = [word for word in texts(item) if word != "further words"]
    assert (item.release, argv) == VALUES[text]


@pytest.mark.parametrize(
    "text",
    [
        "image: {repository: redis, tag: '7'}\nargs: [--a]\n",
        "image: redis\nextraArgs: []\n",
        "image: vllm/vllm-openai:v0.19.1\nclientFlags: [--num-prompts, '3', --request-rate, inf]\n",
        "image: lmsysorg/sglang:v0.5.23\nclientFlags: [--num-prompts, '3']\n",
    ],
)
def test_other_values_start_none(text: str) -> None:
    assert read_launches("values.yaml", text) == []


TEMPLATE = """\
{{- if .Values.enabled }}
spec:
  containers:
    - name: engine
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      args:
        - {{ .Values.model | quote }}
        - --port={{ .Values.port }}
        # why
        {{- if .Values.spec }}
        - --speculative-config
        - {{ .Values.spec | toJson | quote }}
        {{- end }}
        - --x
        {{- toYaml .Values.extraArgs | nindent 8 }}
      env: []
    - name: proxy
      image: nginx
      args: ["-g"]
{{- end }}
"""


def around(values: str | None, chart: str | None = "appVersion: v0.26.0\n"):  # type: ignore[no-untyped-def]
    return {"../values.yaml": values, "../Chart.yaml": chart}.get


RELEASES = {
    "image: {repository: vllm/vllm-openai, tag: v0.33.0}\n": "0.33.0",
    "image: {repository: vllm/vllm-openai, tag: ''}\n": "0.26.0",
    "image: {repository: vllm/vllm-openai, tag: [}\n": None,
    "{}": None,
    None: None,
}


@pytest.mark.parametrize("values", RELEASES)
def test_a_template_is_looked_through(values: str | None) -> None:
    (item,) = read_launches("chart/templates/d.yaml", TEMPLATE, around=around(values))
    assert [(word.value, word.may_be_many) for word in item.launch.argv[2:]] == [
        (None, False), (None, False), (None, True), ("--x", False), (None, True),
    ]  # fmt: skip
    assert (item.release, texts(item)[:2]) == (RELEASES[values], ["vllm", "serve"])
    assert str(item.launch.argv[5].span) == "chart/templates/d.yaml:14:11"
    assert item.launch.argv[3].raw == "--port={{ .Values.port }}"


SHELL_TEMPLATE = """\
containers:
- name: {{ .Values.name }}
  image: own/image
  command: ["/bin/sh", "-c"]
  args:
  - |
    {{- if .Values.x }}
    export A=1
    {{- end }}
    exec vllm serve {{ .Values.model }} \\
      --x '{"n": {{ .Values.n }}}'
"""


def test_a_script_in_a_template() -> None:
    (item,) = read_launches("templates/d.yaml", SHELL_TEMPLATE)
    assert [(word.value, word.raw, str(word.span)) for word in item.launch.argv[2:]] == [
        (None, "{{ .Values.model }}", "templates/d.yaml:10:21"),
        ("--x", "--x", "templates/d.yaml:11:7"),
        (None, "'{\"n\": {{ .Values.n }}}'", "templates/d.yaml:11:11"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a: {{ .Values.b }}\n",
        '{{ define "x" }}\n{{ .Values.a }}\n{{- end }}\n',
        "image: {{ .Values.i }}\nargs:\n  - {{ .Values.a }}\n",
    ],
)
def test_other_templates_start_none(text: str) -> None:
    assert read_launches("templates/x.yaml", text) == []


def test_what_is_neither() -> None:
    for path, text in [
        ("a.yaml", "image: {repository: x}\n"),
        ("b.yaml", "apiVersion: v1\nkind: Pod\nargs:\nimage:\n  repository: x\n"),
    ]:
        chosen = detected_format(path, text)
        assert chosen is None or not chosen.name.startswith("helm")
