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


HELD = {
    "copy:\n  dest: /etc/vllm.service\n  content: |\n    [Service]\n    ExecStart=vllm serve {{ m }} --seed 1\n": 7,
    "copy:\n  dest: '{{ d }}/compose.yaml.j2'\n  content: |\n    services:\n      a:\n"
    "        image: vllm/vllm-openai:{{ tag }}\n        command: ['{{ m }}', --seed, '1']\n": 9,
    "blockinfile:\n  path: /opt/run.sh\n  block: |\n    vllm serve {{ m }} --seed 1\n": 6,
    "copy:\n  dest: /opt/start\n  content: |\n    #!/bin/sh\n    exec vllm serve {{ m }} --seed 1\n": 7,
    "copy:\n  dest: /opt/Dockerfile\n  content: |\n    FROM vllm/vllm-openai:{{ tag }}\n"
    "    CMD [\"{{ m }}\", \"--seed\", \"1\"]\n": 7,
    "kubernetes.core.k8s:\n  definition:\n    kind: Pod\n    apiVersion: v1\n    spec:\n      containers:\n"
    "      - image: \"vllm/vllm-openai:{{ tag }}\"\n        args: ['{{ m }}', --seed, '1']\n": 10,
    "k8s:\n  definition: |\n    kind: Pod\n    apiVersion: v1\n    spec:\n      containers:\n"
    "      - image: vllm/vllm-openai:{{ tag }}\n        args: ['{{ m }}', --seed, '1']\n": 10,
    "helm:\n  values:\n    image: {repository: vllm/vllm-openai, tag: '{{ tag }}'}\n    args: ['{{ m }}', --seed, '1']\n": 6,
}  # fmt: skip


@pytest.mark.parametrize("task", HELD)
def test_files_and_objects_that_a_task_writes_are_read_as_such(task: str) -> None:
    text = "- hosts: a\n  tasks:\n  - " + task.replace("\n", "\n    ").rstrip(" ")
    (item,) = read_launches("play.yml", text + "  vars: {tag: v0.33.0, m: org/m}\n")
    assert [word.value for word in item.launch.argv][:5] == ["vllm", "serve", "org/m", "--seed", "1"]
    assert {word.span.line for word in item.launch.argv[3:5] if word.span} == {HELD[task]}
    (item,) = read_launches("play.yml", text)
    assert [word.value for word in item.launch.argv][:5] == ["vllm", "serve", None, "--seed", "1"]


def test_a_command_in_one_word_is_a_mistake() -> None:
    (item,) = read_launches("play.yml", "- hosts: a\n  tasks:\n  - command:\n      argv: [vllm serve org/m]\n")
    assert [one.kind.value for one in item.mistakes] == ["unsplit"]


def test_files_in_files_are_read_to_a_limit() -> None:
    task = "- hosts: a\n  tasks:\n  - copy:\n      dest: /x/play.yml\n      content: |\n"
    text = "- hosts: a\n  tasks:\n  - shell: vllm serve org/m\n"
    found = []
    for _ in range(5):
        found.append(len(read_launches("play.yml", text)))
        text = task + "".join(f"        {line}\n" for line in text.split("\n"))
    assert found == [1, 1, 1, 1, 0]
