"""Ansible: the commands and containers of tasks."""

from __future__ import annotations

import pytest

from specconf.readers.registry import ReadLaunch, detected_format, read_launches

PATH = "roles/llm/tasks/main.yml"


def read(text: str) -> list[ReadLaunch]:
    return read_launches(PATH, text)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


STARTED: dict[str, list[str]] = {
    "- name: a\n  shell: nohup vllm serve m --x '{\"n\":1}' &\n": ["vllm", "serve", "m", "--x", '{"n":1}'],
    "- name: a\n  ansible.builtin.shell: |\n    set -e\n    vllm serve m \\\n"
    "      --port 1\n": ["vllm", "serve", "m", "--port", "1"],
    "- name: a\n  ansible.builtin.command:\n    argv: [vllm, serve, m]\n": ["vllm", "serve", "m"],
    "- name: a\n  command: chdir=/x vllm serve m --x 'a b'\n": ["vllm", "serve", "m", "--x", "a b"],
    "- name: a\n  command:\n    cmd: bash -c 'vllm serve m'\n": ["vllm", "serve", "m"],
    "- name: a\n  vars: {m: org/m}\n  shell: vllm serve {{ m }} {{ m | string }}\n": ["vllm", "serve", "org/m", "org/m"],
    "- name: a\n  shell: vllm serve {{ model | default('m') }}\n": ["vllm", "serve", "m"],
    "- name: a\n  docker_container: {image: 'vllm/vllm-openai:v0.33.0', command: m}\n": ["vllm", "serve", "m"],
    "- name: a\n  block:\n    - name: b\n      shell: vllm serve m\n": ["vllm", "serve", "m"],
    "- hosts: gpu\n  vars: {v: v0.33.0, i: 'vllm/vllm-openai:{{ v }}'}\n"
    "  tasks:\n    - name: a\n      containers.podman.podman_container:\n"
    "        image: '{{ i }}'\n        command: [m]\n": ["vllm", "serve", "m"],
    "- name: a\n  community.docker.docker_compose_v2:\n    definition:\n      services:\n"
    "        llm: {image: 'vllm/vllm-openai:v0.33.0', command: m}\n": ["vllm", "serve", "m"],
}  # fmt: skip


@pytest.mark.parametrize("text", STARTED)
def test_tasks(text: str) -> None:
    (item,) = read(text)
    assert texts(item) == STARTED[text]
    assert item.release == ("0.33.0" if "v0.33.0" in text else None)


UNKNOWN = {
    "- name: a\n  shell: vllm serve {{ m }}\n": ("{{ m }}", True),
    "- name: a\n  shell: vllm serve '{\"n\":{{ n }}}'\n": ("'{\"n\":{{ n }}}'", False),
    "- name: a\n  shell: vllm serve {% if x %}--a{% endif %}\n": ("{% if x %}--a{% endif %}", True),
    "- name: a\n  vars: {m: a}\n- name: b\n  vars: {m: b}\n  shell: vllm serve {{ m }}\n": ("{{ m }}", True),
    "- name: a\n  vars: {m: '{{ m }}'}\n  shell: vllm serve {{ m }}\n": ("{{ m }}", True),
    "- name: a\n  command: {argv: [vllm, serve, '{{ m }}']}\n": ("'{{ m }}'", False),
}


@pytest.mark.parametrize("text", UNKNOWN)
def test_templates_that_the_file_does_not_fill(text: str) -> None:
    (item,) = read(text)
    word = item.launch.argv[2]
    assert (word.value, word.raw, word.may_be_many) == (None, *UNKNOWN[text])


def test_a_script_that_a_shell_gets_keeps_its_unknown_parts() -> None:
    (item,) = read('- name: a\n  shell: docker run x bash -c "vllm serve {{ m }} --port 1"\n')
    assert [(word.value, word.raw) for word in item.launch.argv[2:]] == [
        (None, "{{ m }}"),
        ("--port", "--port"),
        ("1", "1"),
    ]


def test_places_and_the_environment() -> None:
    (item,) = read(
        "- name: start\n  shell: |\n    vllm serve m \\\n      --x {{ y }}1\n  environment: {A: '{{ a }}', HF_TOKEN: t}\n"
    )
    assert [str(word.span) for word in item.launch.argv[2:]] == [f"{PATH}:3:16", f"{PATH}:4:7", f"{PATH}:4:11"]
    assert item.launch.argv[4].span is not None
    assert item.launch.argv[4].span.end_column == 19
    assert {name: (word.value, word.raw) for name, word in item.launch.env} == {
        "A": (None, "'{{ a }}'"),
        "HF_TOKEN": (None, "<hidden>"),
    }


@pytest.mark.parametrize(
    "text", ["- name: a\n  shell:\n", "- name: a\n  shell: echo vllm serve m\n", "- name: a\n  docker_container: x\n"]
)
def test_other_tasks_start_none(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text", ["services:\n  a:\n    command: [x]\n- name: a\n", "a:\n  - name: x\n    command: [vllm]\n"]
)
def test_other_lists_are_no_tasks(text: str) -> None:
    chosen = detected_format("x.yaml", text)
    assert chosen is None or chosen.name != "ansible"
