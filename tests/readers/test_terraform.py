"""Terraform: what its resources start, with the place of every word."""

from __future__ import annotations

import json
import sys

import pytest

from specconf.errors import InputError, MissingPackage
from specconf.readers.registry import ReadLaunch, detected_format, read_launches
from tests.lint.boxes import fixed, judged

pytest.importorskip("tree_sitter_hcl", reason="specconf[terraform] is not installed")

NAMES = 'variable "m" {\n  default = "org/m"\n}\nlocals {\n  tag = "v0.33.0"\n  seed = 1\n}\n'
IMAGE = '"vllm/vllm-openai:${local.tag}"'
ARGUMENTS = '[var.m, "--seed", "${local.seed}"]'
# Bodies of resources by the resource's type; each starts the same launch.
CONTAINER = f"image = {IMAGE}\n args = {ARGUMENTS}"
POD = 'apiVersion = "v1", kind = "Pod"'
YAML_POD = """apiVersion: v1
  kind: Pod
  spec:
    containers:
    - image: vllm/vllm-openai:${local.tag}
      args: ["${var.m}", --seed, "${local.seed}"]
"""
JSON_CONTAINERS = '[{"image": "vllm/vllm-openai:${local.tag}", "command": ["${var.m}", "--seed", "1"]}]'
RESOURCES = {
    "kubernetes_deployment": f"spec {{\n template {{\n spec {{\n container {{\n {CONTAINER}\n}}\n}}\n}}\n}}",
    "kubernetes_manifest": f"manifest = {{ {POD}, spec = {{ containers = [{{ image = {IMAGE}, args = {ARGUMENTS} }}] }} }}",
    "kubectl_manifest": f"yaml_body = <<-Y\n  {YAML_POD}  Y",
    "google_cloud_run_v2_service": f"template {{\n containers {{\n {CONTAINER}\n}}\n}}",
    "aws_ecs_task_definition": f"container_definitions = jsonencode([{{ image = {IMAGE}, command = {ARGUMENTS} }}])",
    "aws_ecs_task_definition ": f"container_definitions = <<J\n{JSON_CONTAINERS}\nJ",
    "docker_container": f"image = {IMAGE}\ncommand = {ARGUMENTS}",
    "docker_container ": f'image = {IMAGE}\nentrypoint = ["vllm", "serve"]\ncommand = {ARGUMENTS}',
    "cloud_container": f"image = {IMAGE}\noverrides = {{\n cmd = {ARGUMENTS}\n}}",
    "aws_instance": "user_data = <<-EOT\n  #!/bin/bash\n  docker run vllm/vllm-openai:${local.tag} ${var.m} \\\n"
    "    --seed ${local.seed}\n  EOT",
    "azurerm_linux_virtual_machine": "custom_data = base64encode(<<EOT\n#!/bin/bash\nvllm serve ${var.m} --seed 1\nEOT\n)",
    "google_compute_instance": 'metadata = {\n "startup-script" = "vllm serve ${var.m} --seed \\"1\\""\n}',
    "null_resource": 'provisioner "local-exec" {\n command = "vllm serve ${var.m} --seed 1"\n}',
    "null_resource ": 'provisioner "remote-exec" {\n inline = ["sleep 1", "vllm serve ${var.m} --seed 1"]\n}',
    "local_file": f'filename = "x/compose.yaml"\ncontent = <<-C\n  services:\n    a:\n      image: {IMAGE}\n'
    '      command: ["${var.m}", --seed, "1"]\n  C',
    "aws_instance ": "user_data = <<-EOT\n  #cloud-config\n  runcmd:\n  - vllm serve ${var.m} --seed 1\n  EOT",
    "aws_instance  ": "user_data = <<-EOT\n  #cloud-config\n  write_files:\n  - path: /etc/v.service\n"
    "    content: |\n      [Service]\n      ExecStart=/bin/vllm serve ${var.m} --seed 1\n  EOT",
}


def resource(kind: str, body: str, names: str = NAMES) -> str:
    return f'{names}resource "{kind.strip()}" "r" {{\n{body}\n}}\n'


def values(item: ReadLaunch) -> list[str | None]:
    return [word.value for word in item.launch.argv]


@pytest.mark.parametrize("kind", RESOURCES)
def test_a_launch_is_found_in_its_place(kind: str) -> None:
    text = resource(kind, RESOURCES[kind])
    (item,) = read_launches("main.tf", text)
    assert [value for value in values(item) if value != "/bin/vllm"][-3:] == ["org/m", "--seed", "1"]
    span = item.launch.argv[-2].span
    assert span is not None
    assert "--seed" in text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]
    if "local.tag" in RESOURCES[kind]:
        assert item.release == "0.33.0"


@pytest.mark.parametrize("kind", RESOURCES)
def test_what_the_file_does_not_set_is_not_known(kind: str) -> None:
    (item,) = read_launches("main.tf", resource(kind, RESOURCES[kind], 'variable "m" {}\n'))
    assert None in values(item)
    assert item.release is None


HELM = """resource "helm_release" "r" {
  values = [<<EOT
image:
  repository: vllm/vllm-openai
  tag: v0.9.0
extraArgs: ["--model", "org/m", "--seed", "1"]
EOT
  , yamlencode({ image = { tag = "v0.32.0" } })]
%s}
"""


@pytest.mark.parametrize(
    ("further", "release"),
    [("", "0.32.0"), ('  set {\n    name = "image.tag"\n    value = "v0.33.0"\n  }\n', "0.33.0"),
     ('  set = [{ name = "image.tag", value = var.tag }]\n', None)],
)  # fmt: skip
def test_values_of_a_chart_are_put_one_over_the_other(further: str, release: str | None) -> None:
    (item,) = read_launches("main.tf", HELM % further)
    assert "--seed" in values(item)
    assert item.release == release


def test_json_syntax_is_read() -> None:
    held = {
        "resource": {
            "docker_container": {"r": {"image": "vllm/vllm-openai:v0.33.0", "command": ["m", "--seed", "${var.x}"]}}
        }
    }
    (item,) = read_launches("main.tf.json", json.dumps(held))
    assert values(item)[:3] == ["vllm", "serve", "m"]


def test_escapes_of_terraform_are_the_shells_variables() -> None:
    (item,) = read_launches(
        "main.tf", resource("x", 'user_data = <<E\n#!/bin/sh\nM=a; vllm serve $${M} --x "%%{y}"\nE')
    )
    assert values(item) == ["vllm", "serve", "a", "--x", "%{y}"]


def test_names_that_stand_for_themselves_end() -> None:
    text = resource(
        "x",
        'user_data = "#!/bin/sh\\nvllm serve ${local.a} ${local.b}"',
        'locals {\n a = local.a\n b = "${local.b}${local.b}"\n}\n',
    )
    (item,) = read_launches("main.tf", text)
    assert values(item)[2:] == [None, None]


@pytest.mark.parametrize(
    ("kind", "line_end"),
    [("aws_instance", "\n")]
    + [
        (kind, end)
        for kind in ("docker_container", "kubernetes_deployment", "kubectl_manifest")
        for end in ("\n", "\r\n")
    ],
)
def test_a_fix_is_written_where_the_word_stands(kind: str, line_end: str) -> None:
    body = RESOURCES[kind].replace("${local.seed}", "1").replace("--seed", "--scheduler-delay-factor")
    text = resource(kind, body).replace("\n", line_end)
    after = fixed(text, "main.tf", unsafe=True)
    assert after.changed
    assert "--scheduler-delay-factor" not in after.text
    assert after.text.count(line_end) >= text.count(line_end) - 1
    (launch,) = after.result.launches
    assert [word.value for word in launch.read.launch.argv][-1] == "org/m"


def test_broken_syntax_around_a_launch_is_an_error() -> None:
    with pytest.raises(InputError, match="Terraform"):
        read_launches("main.tf", 'resource "x" "y" {\n user_data = [ "vllm serve m"\n')


def test_without_the_extra_a_file_is_passed_over_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_hcl", None)
    text = resource("docker_container", RESOURCES["docker_container"])
    with pytest.raises(MissingPackage):
        read_launches("main.tf", text)
    assert judged(text, "main.tf").skipped == "needs specconf[terraform]"


def test_the_format_is_told_by_the_name() -> None:
    assert [detected_format(path, "").name for path in ("a/main.tf", "x.tf.json")] == ["terraform"] * 2  # type: ignore[union-attr]
    found = detected_format("x.tfvars", "")
    assert found is None
