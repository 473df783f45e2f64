"""Kinds whose controllers write the engine's command: KServe, KubeAI, KAITO, Ray, Dynamo."""

from __future__ import annotations

import textwrap

import pytest

from specconf.errors import InputError
from specconf.readers.registry import ReadLaunch, read_launches

JSON = '{"method":"ngram","num_speculative_tokens":3}'
API_SERVER = ["python3", "-m", "vllm.entrypoints.openai.api_server"]


def read(text: str) -> list[ReadLaunch]:
    return read_launches("app.yaml", textwrap.dedent(text))


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


def places(item: ReadLaunch) -> list[tuple[int, int]]:
    return [(word.span.line, word.span.column) for word in item.launch.argv if word.span]


# -- LLMInferenceService


def llm_service(*lines: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    head = "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {name: chat}\nspec:\n"
    return f"{head}  model: {{uri: 'hf://org/m', name: m}}\n{body}\n"


def container(*lines: str) -> list[str]:
    return ["template:", "  containers:", "    - name: main", *(f"      {line}" for line in lines)]


def test_additional_words_pass_through_a_shell() -> None:
    value = ["env:", "  - name: VLLM_ADDITIONAL_ARGS", "    value: >-", "      --seed 1", f"      -sc '{JSON}'"]
    (item,) = read(llm_service(*container("image: vllm/vllm-openai:v0.33.0", *value)))
    assert texts(item) == ["vllm", "serve", "org/m", "--seed", "1", "-sc", JSON]
    assert places(item)[3:] == [(13, 15), (13, 22), (14, 15), (14, 19)]
    assert (item.release, item.name, item.launch.env, item.in_script) == ("0.33.0", "main", (), True)


def test_arguments_pass_through_a_shell_too() -> None:
    (item,) = read(llm_service(*container("args:", "  - -sc", f"  - '''{JSON}'''")))
    assert texts(item)[3:] == ["-sc", JSON]
    # without quotes of its own the shell takes the JSON apart
    (item,) = read(llm_service(*container("args:", "  - -sc", f"  - '{JSON}'")))
    assert texts(item)[3:] == ["-sc", "method:ngram", "num_speculative_tokens:3"]
    (item,) = read(llm_service(*container("args: [--speculative-config.method, ngram]")))
    assert texts(item)[3:] == ["--speculative-config.method", "ngram"]


def test_a_command_of_its_own_overrides_the_template() -> None:
    (item,) = read(llm_service(*container("command: [vllm, serve]", f"args: [/mnt/models, -sc, '{JSON}']")))
    assert texts(item) == ["vllm", "serve", "/mnt/models", "-sc", JSON]
    assert not item.in_script


def test_an_unknown_value_of_the_variable_may_be_any_words() -> None:
    source = "valueFrom: {configMapKeyRef: {name: x, key: y}}"
    (item,) = read(llm_service(*container(f"env: [{{name: VLLM_ADDITIONAL_ARGS, {source}}}]")))
    assert (item.launch.argv[-1].value, item.launch.argv[-1].may_be_many) == (None, True)


def test_the_speculator_becomes_a_config() -> None:
    lines = [
        "speculator:",
        "  model: {uri: 'hf://org/draft'}",
        "  config:",
        "    method: eagle3",
        '    num_speculative_tokens: "3"',
    ]
    (item,) = read(llm_service(*lines))
    made = '{"method": "eagle3", "num_speculative_tokens": 3, "model": "org/draft"}'
    assert texts(item) == ["vllm", "serve", "org/m", "--speculative-config", made]
    assert item.name == "chat"
    assert places(item)[-1][0] == 9


def test_a_speculator_is_for_decoding_alone_and_text_keeps_its_quotes() -> None:
    lines = ["speculator: {config: {method: it's, rate: '0.5', on: 't'}}", "worker: {containers: [{name: main}]}"]
    found = read(llm_service(*lines, "prefill: {template: {containers: [{name: main}]}}"))
    own = '{"method": "it\'s", "rate": 0.5, "on": true}'
    assert [texts(item)[3:] for item in found] == [
        ["--speculative-config", own],
        ["--speculative-config", own],
        [],
    ]


def test_a_model_that_is_not_on_the_hub() -> None:
    text = llm_service().replace("hf://org/m", "s3://bucket/m")
    (item,) = read(text)
    assert texts(item) == ["vllm", "serve", "/mnt/models"]


# -- InferenceService and runtimes


def inference_service(model: str) -> str:
    head = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: chat}\n"
    return f"{head}spec:\n  predictor:\n    model: {model}\n"


RUNTIME = """
---
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: mine}
spec:
  containers:
    - name: kserve-container
      image: lmsysorg/sglang:v0.5.20
      command: [python3, -m, sglang.launch_server]
      args: [--model-path=/mnt/models, "--served-model-name={{.Name}}"]
      env: [{name: SGLANG_A, value: "1"}]
"""

FORMATS = {
    "{modelFormat: {name: vLLM}, args: [--seed=1]}": [*API_SERVER, "--model=/mnt/models", "--seed=1"],
    "{modelFormat: {name: huggingface}, args: [--model_name=x, --seed=1]}": [
        *API_SERVER,
        "--model=/mnt/models",
        "--seed=1",
    ],
    "{modelFormat: {name: huggingface}, args: [--model_id=org/m, --seed=1]}": [
        *API_SERVER,
        "--model=org/m",
        "--seed=1",
    ],
    "{modelFormat: {name: vLLM}, args: [--model, org/m]}": [*API_SERVER, "--model", "org/m"],
    "{modelFormat: {name: vLLM}, runtime: kserve-vllmserver, args: []}": [*API_SERVER, "--model=/mnt/models"],
    "{modelFormat: {name: x}, command: [vllm, serve], args: [org/m]}": ["vllm", "serve", "org/m"],
}


@pytest.mark.parametrize("model", FORMATS)
def test_stock_runtimes(model: str) -> None:
    (item,) = read(inference_service(model))
    assert [text for text in texts(item) if text != "further words"] == FORMATS[model]
    assert (item.launch.engine, item.name, item.release) == ("vllm", "chat", None)


def test_a_runtime_of_the_same_file() -> None:
    (item,) = read(inference_service("{modelFormat: {name: x}, runtime: mine, args: [--seed=1]}") + RUNTIME)
    assert texts(item)[:4] == ["python3", "-m", "sglang.launch_server", "--model-path=/mnt/models"]
    assert (texts(item)[-1], item.release, item.name) == ("--seed=1", "0.5.20", "chat")
    assert dict(item.launch.env)["SGLANG_A"].value == "1"


def test_a_runtime_alone_leaves_room_for_a_services_words() -> None:
    (item,) = read(RUNTIME)
    assert (item.launch.engine, item.launch.argv[-1].may_be_many) == ("sglang", True)


def test_kserves_own_server_image_starts_its_server() -> None:
    text = RUNTIME.replace("lmsysorg/sglang:v0.5.20", "kserve/huggingfaceserver:v0.17.0")
    lines = [line for line in text.split("\n") if "command:" not in line]
    text = "\n".join(lines).replace("--model-path", "--model_dir")
    (item,) = read(inference_service("{modelFormat: {name: x}, runtime: mine, args: [--seed=1]}") + text)
    assert texts(item)[:4] == [*API_SERVER, "--model=/mnt/models"]
    assert texts(item)[-1] == "--seed=1"


def test_models_of_other_runtimes_give_nothing() -> None:
    assert read(inference_service("{modelFormat: {name: sklearn}}")) == []
    assert read(inference_service("{modelFormat: {name: vLLM}, runtime: somebodys}")) == []
    assert read(inference_service("{modelFormat: {name: huggingface}, args: [--backend=huggingface]}")) == []


# -- KubeAI


def test_kubeai_models() -> None:
    text = """
        apiVersion: kubeai.org/v1
        kind: Model
        metadata: {name: chat}
        spec:
          url: hf://org/m
          engine: VLLM
          image: vllm/vllm-openai:v0.33.0
          env: {VLLM_A: "1", HF_TOKEN: abc}
          args:
            - --config=/x.yaml
          files: [{path: /x.yaml, content: "seed: 1\\n"}]
    """
    (item,) = read(text)
    assert texts(item) == [*API_SERVER, "--model=org/m", "--config=/x.yaml"]
    assert (item.release, item.launch.files, places(item)[-1]) == ("0.33.0", (("/x.yaml", "seed: 1\n"),), (11, 7))
    assert [word.value for _, word in item.launch.env] == [None, "1"]
    assert read(text.replace("VLLM\n", "OLlama\n")) == []
    (item,) = read(text.replace("hf://", "pvc://"))
    assert item.launch.argv[3].value is None


# -- KAITO

KAITO = """
    apiVersion: kaito.sh/v1beta1
    kind: Workspace
    metadata: {name: w, annotations: {ANNOTATION}}
    inference:
      preset: {name: phi-4}
      config: cfg
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: cfg}
    data:
      inference_config.yaml: |
        vllm:
          tensor-parallel-size: 2
          enable-prefix-caching: false
          trust-remote-code: true
          speculative-config: '{"method":"ngram"}'
          other:
"""
KAITO_WORDS = [
    "--tensor-parallel-size",
    "2",
    "--enable-prefix-caching",
    "False",
    "--trust-remote-code",
    "True",
    "--speculative-config",
]


def test_kaito_options_of_a_config_map() -> None:
    (item,) = read(KAITO.replace("ANNOTATION", ""))
    given = [*KAITO_WORDS, '{"method":"ngram"}', "--other", "None", "further words"]
    assert texts(item) == ["vllm", "serve", "phi-4", *given]
    assert [word.value for word in item.launch.argv if word.text in ("True", "False", "None")] == [None] * 3
    assert places(item)[3:5] == [(15, 7), (15, 29)]
    assert item.release is None


def test_a_kaito_config_map_alone() -> None:
    (item,) = read(KAITO.partition("---\n")[2])
    assert texts(item)[3:10] == KAITO_WORDS
    assert item.launch.argv[2].value is None


def test_kaitos_own_speculation_and_other_runtimes() -> None:
    text = KAITO.partition("---\n")[0]
    (item,) = read(text.replace("ANNOTATION", 'kaito.sh/enable-speculative-decoding: "true"'))
    assert item.launch.argv[-1].may_be_many
    assert read(text.replace("ANNOTATION", "")) == []
    assert read(KAITO.replace("ANNOTATION", "kaito.sh/runtime: transformers")) == []


def test_a_kaito_set_and_a_workspace_with_pods_of_its_own() -> None:
    preset = KAITO.replace("Workspace", "InferenceSet").replace("ANNOTATION", "")
    preset = preset.replace("    inference:\n      preset: {name: phi-4}\n      config: cfg\n",
                            "    spec: {template: {inference: {preset: {name: phi-4}, config: cfg}}}\n")  # fmt: skip
    assert len(read(preset)) == 1
    text = """
        apiVersion: kaito.sh/v1beta1
        kind: Workspace
        inference: {template: {spec: {containers: [{image: "vllm/vllm-openai:v0.33.0", args: [org/m]}]}}}
    """
    (item,) = read(text)
    assert texts(item) == ["vllm", "serve", "org/m"]


# -- Ray

RAY = """
    apiVersion: ray.io/v1
    kind: RayService
    metadata: {name: r}
    spec:
      serveConfigV2: |
        applications:
        - name: llm
          import_path: ray.serve.llm:build_openai_app
          args:
            llm_configs:
            - model_loading_config: {model_id: chat, model_source: org/m}
              engine_kwargs:
                tensor_parallel_size: 2
                speculative_config: {method: ngram, num_speculative_tokens: 3}
              runtime_env: {env_vars: {VLLM_A: "1"}}
      rayClusterConfig:
        headGroupSpec:
          template: {spec: {containers: [{name: head, image: "rayproject/ray-llm:2.60.0"}]}}
"""


def test_ray_services() -> None:
    (item,) = read(RAY)
    config = '{"method": "ngram", "num_speculative_tokens": 3}'
    assert texts(item) == ["vllm", "serve", "org/m", "--tensor-parallel-size", "2", "--speculative-config", config]
    assert places(item)[2:5] == [(12, 64), (14, 13), (14, 35)]
    assert (item.name, item.release, [name for name, _ in item.launch.env]) == ("chat", None, ["VLLM_A"])


def test_ray_services_without_engines_and_broken_ones() -> None:
    assert read(RAY.replace("llm_configs", "other")) == []
    with pytest.raises(InputError) as error:
        read(RAY.replace("engine_kwargs:", "engine_kwargs: ["))
    assert error.value.where is not None
    assert error.value.where.line > 12


def test_ray_jobs() -> None:
    (item,) = read("apiVersion: ray.io/v1\nkind: RayJob\nspec:\n  entrypoint: vllm serve org/m --seed 1\n")
    assert (texts(item), places(item)[0]) == (["vllm", "serve", "org/m", "--seed", "1"], (4, 15))


# -- Dynamo

ALPHA = """
    apiVersion: nvidia.com/v1alpha1
    kind: DynamoGraphDeployment
    metadata: {name: g}
    spec:
      envs: [{name: DYN_A, value: "1"}]
      services:
        Frontend:
          extraPodSpec: {mainContainer: {image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1"}}
        Worker:
          envs: [{name: VLLM_A, value: "2"}]
          extraPodSpec:
            mainContainer:
              image: nvcr.io/nvidia/ai-dynamo/RUNTIME:1.5.1
              COMMAND
              volumeMounts: [{name: c, mountPath: /etc/c}]
            volumes: [{name: c, configMap: {name: engine}}]
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: engine}
    data: {"a.yaml": "max_batch_size: 1\\n"}
"""


def alpha(command: str, runtime: str = "vllm-runtime") -> ReadLaunch:
    (item,) = read(ALPHA.replace("COMMAND", command).replace("RUNTIME", runtime))
    return item


def test_dynamo_workers_in_the_older_shape() -> None:
    item = alpha(
        "command: [python3, -m, dynamo.vllm]\n              args: [--model, org/m, --is-decode-worker, --seed, '1']"
    )
    assert texts(item) == [*API_SERVER, "--model", "org/m", "--seed", "1"]
    assert (item.release, item.name) == ("0.28.0", "Worker")
    assert [(name, word.value) for name, word in item.launch.env] == [("DYN_A", "1"), ("VLLM_A", "2")]


def test_dynamo_workers_started_by_a_shell() -> None:
    words = "exec python3 -m dynamo.vllm --model org/m --dyn-tool-call-parser hermes --connector none nixl --seed 1"
    item = alpha(f"command: [/bin/sh, -c]\n              args: ['{words}']")
    assert texts(item) == [*API_SERVER, "--model", "org/m", "--seed", "1"]


def test_dynamo_with_sglang() -> None:
    words = "[--model-path, org/m, --disaggregation-mode, decode, --store-kv=file, --use-sglang-tokenizer]"
    item = alpha(f"command: [python3, -m, dynamo.sglang]\n              args: {words}", "sglang-runtime")
    assert texts(item) == [
        "python3",
        "-m",
        "sglang.launch_server",
        *["--model-path", "org/m", "--disaggregation-mode", "decode"],
    ]
    assert (item.launch.engine, item.release) == ("sglang", "0.5.18")


def test_dynamo_with_tensorrt_llm() -> None:
    words = "[--model-path, org/m, --extra-engine-args, /etc/c/a.yaml, --tensor-parallel-size=4, --modality, text]"
    item = alpha(f"command: [python3, -m, dynamo.trtllm]\n              args: {words}", "tensorrtllm-runtime")
    assert texts(item) == ["trtllm-serve", "org/m", "--extra_llm_api_options", "/etc/c/a.yaml", "--tp_size=4"]
    assert item.launch.files == (("/etc/c/a.yaml", "max_batch_size: 1\n"),)
    assert (item.launch.engine, item.release) == ("tensorrt-llm", "1.3.0rc25")


def test_options_that_override_any_of_tensorrt_llms_are_unknown() -> None:
    item = alpha("command: [python3, -m, dynamo.trtllm, --override-engine-args, '{}']", "tensorrtllm-runtime")
    assert [word.value for word in item.launch.argv] == ["trtllm-serve", None, None]
    assert item.launch.argv[-1].may_be_many


def test_dynamo_in_the_newer_shape() -> None:
    text = """
        apiVersion: nvidia.com/v1beta1
        kind: DynamoGraphDeployment
        spec:
          components:
            - name: Decode
              podTemplate:
                spec:
                  containers:
                    - name: main
                      image: ai-dynamo/vllm-runtime:1.6.1
                      command: [python3, -m, dynamo.vllm]
                      args: [--model, org/m]
                    - name: sidecar
                      image: x
    """
    (item,) = read(text)
    assert (texts(item), item.name, item.release) == ([*API_SERVER, "--model", "org/m"], "Decode", "0.31.0")
