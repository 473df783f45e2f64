"""GitHub workflows and GitLab pipelines: the scripts of their jobs."""

from __future__ import annotations

import pytest

from specconf.errors import InputError
from specconf.readers.registry import ReadLaunch, detected_format, read_launches

WORKFLOW = ".github/workflows/e2e.yaml"


def read(text: str, path: str = WORKFLOW) -> list[ReadLaunch]:
    return read_launches(path, text)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


def job(steps: str, *, before: str = "") -> str:
    return f"on: push\njobs:\n  e2e:\n    runs-on: gpu\n{before}    steps:\n{steps}"


def test_a_script_of_a_step() -> None:
    text = job(
        "      - uses: actions/checkout@v4\n      - run: |\n          set -e\n"
        "          vllm serve m \\\n            --port 1 &\n"
    )
    (item,) = read(text)
    assert (texts(item), item.name, item.in_script) == (["vllm", "serve", "m", "--port", "1"], "e2e", True)
    assert [str(word.span) for word in item.launch.argv[2:4]] == [f"{WORKFLOW}:9:22", f"{WORKFLOW}:10:13"]


def test_expressions_are_not_known_even_in_quotes() -> None:
    text = job(
        "      - env: {N: 3, TP: '${{ matrix.tp }}'}\n"
        "        run: vllm serve ${{ matrix.model }} --x '{\"n\":${{ inputs.n }}}' --n $N ${{ env.N }} --tp $TP\n"
    )
    (item,) = read(text)
    assert [(word.value, word.raw) for word in item.launch.argv[2:]] == [
        (None, "${{ matrix.model }}"), ("--x", "--x"), (None, "'{\"n\":${{ inputs.n }}}'"), ("--n", "--n"),
        ("3", "$N"), ("3", "3"), ("--tp", "--tp"), (None, "$TP"),
    ]  # fmt: skip
    assert [word.may_be_many for word in item.launch.argv[2:5]] == [True, False, False]


CONTAINERS = {
    "    container: vllm/vllm-openai:v0.33.0\n": "0.33.0",
    "    container:\n      image: vllm/vllm-openai:v0.26.0\n      env: {A: 1}\n": "0.26.0",
    "    container: vllm/vllm-openai:${{ matrix.v }}\n": None,
    "": None,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_release_of_a_jobs_container(container: str) -> None:
    (item,) = read(job("      - run: vllm serve m\n", before=container))
    assert item.release == CONTAINERS[container]


def test_a_pin_of_an_earlier_step() -> None:
    (item,) = read(job("      - run: pip install 'vllm==0.9.2'\n      - run: vllm serve m\n"))
    assert (item.release, str(item.release_where)) == ("0.9.2", f"{WORKFLOW}:6:27")


def test_services_and_steps_in_containers() -> None:
    services = "    services:\n      llm:\n        image: vllm/vllm-openai:v0.33.0\n        command: m --port 1\n"
    found = read(
        job(
            "      - uses: docker://lmsysorg/sglang:v0.5.23\n        with: {args: sglang serve --tp 1}\n",
            before=services,
        )
    )
    assert [(item.name, item.release, texts(item)) for item in found] == [
        ("e2e", "0.5.23", ["sglang", "serve", "--tp", "1"]),
        ("llm", "0.33.0", ["vllm", "serve", "m", "--port", "1"]),
    ]


def test_powershell_and_composite_actions() -> None:
    (item,) = read(job("      - shell: pwsh\n        run: |\n          vllm serve m `\n            --port 1\n"))
    assert texts(item) == ["vllm", "serve", "m", "--port", "1"]
    action = "name: a\nruns:\n  using: composite\n  steps:\n    - shell: bash\n      run: vllm serve m\n"
    assert len(read(action, "action.yml")) == 1


def test_a_workflow_without_a_launch_and_one_that_is_no_yaml() -> None:
    assert read(job("      - run: echo vllm serve m\n")) == []
    with pytest.raises(InputError) as error:
        read("jobs:\n  a: [\n")
    assert error.value.where is not None
    assert error.value.where.line == 3


GITLAB = """\
stages: [test]
variables: {MODEL: m}
default:
  image: vllm/vllm-openai:v0.26.0
.base:
  before_script: [export A=1]
e2e:
  stage: test
  extends: .base
  script:
    - vllm serve $MODEL --port 1 &
    - curl localhost
other:
  image: {name: "$REGISTRY/sglang:v0.5.23"}
  services:
    - name: lmsysorg/sglang:v0.5.23
      command: [sglang, serve, --tp, "$N"]
  script: echo vllm serve m
"""


def test_a_gitlab_pipeline() -> None:
    found = read(GITLAB, ".gitlab-ci.yml")
    assert [(item.name, item.release, texts(item)) for item in found] == [
        ("e2e", "0.26.0", ["vllm", "serve", "m", "--port", "1"]),
        ("other", "0.5.23", ["sglang", "serve", "--tp", '"$N"']),
    ]
    assert [name for name, _ in found[0].launch.env] == ["A", "MODEL"]
    assert str(found[0].launch.argv[0].span) == ".gitlab-ci.yml:11:7"


@pytest.mark.parametrize(("path", "text"), [("jobs.yaml", "jobs: [1]"), ("ci.yaml", "script: x"), ("a.yml", "runs: 3")])
def test_other_files_are_no_pipelines(path: str, text: str) -> None:
    assert detected_format(path, text) is None
