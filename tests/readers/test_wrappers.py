"""Commands that start another one: the command behind each, the script that some are given, and what they say of it."""

from __future__ import annotations

import pytest

from specconf.readers.found import ReadLaunch
from specconf.readers.launches import find_launches
from specconf.readers.wrappers import WRAPPERS, behind_wrappers
from specconf.words import words


def found(script: str) -> list[ReadLaunch]:
    return find_launches(script, "launch.sh")


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv if word.value is not None]


# What stands before a command, with options whose values must neither be taken for the command nor take a part of it.
BEFORE_A_COMMAND = [
    "conda run -n v",
    "conda run --no-capture-output -p /env",
    "mamba run -n v",
    "micromamba run -n v",
    "uvx",
    "uvx --from vllm",
    "uvx --python 3.12 --with flashinfer",
    "uv run --with vllm==0.31.0",
    "uv run --with=vllm==0.31.0 --",
    "uv tool run",
    "uv --quiet run",
    "pipx run",
    "pipx run --spec vllm==0.31.0",
    "poetry run",
    "poetry -C dir run",
    "pdm run",
    "pdm run -p dir",
    "hatch run",
    "hatch -e x run",
    "pixi run",
    "pixi run -e cuda --manifest-path x",
    "rye run",
    "pipenv run",
    "numactl --cpunodebind=0 --membind 0",
    "numactl -N 0 -m 0",
    "taskset -c 0-7",
    "taskset 0xff",
    "taskset -ac 0-7",
    "chrt -f 99",
    "chrt --rr 5",
    "stdbuf -oL -eL",
    "stdbuf -o L",
    "unbuffer",
    "unbuffer -p",
    "nsys profile -o x --trace=cuda,nvtx",
    "nsys profile -t cuda --stats true",
    "nsys launch",
    "ncu -o x --set full",
    "ncu --target-processes all",
    "py-spy record -o p.svg --",
    "py-spy record -o p.svg -r 100 --",
    "perf record -g --",
    "perf stat -e cycles",
    "perf record -F 99 -o x",
    "ionice -c 2 -n 0",
    "flock lock",
    "flock -n lock",
    "flock -w 10 lock",
    "sudo -E -u x",
    "sudo -Eu x",
    "sudo A=1",
    "doas -u x",
    "gosu user",
    "su-exec user",
    "tini --",
    "tini -s -g --",
    "tini -v -e 143 --",
    "/sbin/docker-init --",
    "dumb-init",
    "dumb-init --",
    "catatonit --",
    "s6-setuidgid user",
    "s6-notifyoncheck -d",
    "chpst -u x",
    "setuser x",
    "watchexec -r -w src --",
    "watchexec -e py",
    "entr -r",
    "retry -t 3 --",
    "retry",
    "setsid",
    "setsid -w",
    "nice -n 10",
    "nice -10",
    "nice",
    "time -f %e",
    "time",
    "/usr/bin/time -v",
    "timeout -k 5 60",
    "timeout --signal=INT 60",
    "timeout 1h",
    "env -i A=1",
    "env -u X A=1",
    "coproc",
    "nohup",
    "exec",
    "exec -a n",
    "command",
    "builtin",
    "strace -f -o x",
    "ltrace",
    "gdb -ex run --args",
    "gdb --args",
    "cuda-gdb --args",
    "compute-sanitizer --tool memcheck",
    "valgrind --tool=x",
    "catchsegv",
    "setarch x86_64 -R",
    "prlimit --nofile=1",
    "unshare -n",
    "nsenter -t 1 -n",
    "ip netns exec ns",
    "chroot /x",
    "fakeroot",
    "proxychains4 -q",
    "torsocks",
    "xvfb-run -a",
    "dbus-run-session --",
    "systemd-run --user --scope",
    "systemd-run --unit=x -p MemoryMax=1G",
    "systemd-run -p A=1 -E B=2 --",
    "systemd-inhibit",
    "systemd-cat -t x",
    "systemd-cat",
    "cgexec -g x:y",
    "runuser -u x --",
    "setpriv --reuid 1",
    "op run --env-file=x --",
    "doppler run --",
    "infisical run --",
    "dotenv run --",
    "dotenv -f x run",
    "dotenv",
    "aws-vault exec p --",
    "chamber exec s --",
    "vault-env",
    "direnv exec .",
    "nix develop -c",
    "mise exec --",
    "mise x --",
    "asdf exec",
    "singularity run i.sif",
    "singularity exec --nv i.sif",
    "apptainer run --nv docker://vllm/vllm-openai:v0.31.0",
    "apptainer exec --bind a:b i.sif",
    "enroot start -w name",
    "enroot start --mount a:b --env X name",
    "srun -N 1",
    "srun --mpi=pmix --container-image x",
    "salloc -N 1",
    "salloc -N 2 srun",
    "mpirun -np 4",
    "mpirun --allow-run-as-root -np 4 -x A=1",
    "torchrun --nproc_per_node 2 --no-python",
    "torchrun --nproc-per-node=2 --no-python",
    "ray job submit --",
    "ray job submit --address x --working-dir . --",
    "ray symmetric-run --address x --",
    "mlx.launch",
    "dbus-launch",
    "with-contenv",
    "opentelemetry-instrument",
    "opentelemetry-instrument --traces_exporter x",
    "ddtrace-run",
    "newrelic-admin run-program",
    "scalene ---",
    "kubectl exec pod --",
    "kubectl exec -it pod -c c --",
    "kubectl -n ns exec pod --",
    "kubectl run x --image vllm/vllm-openai:v0.31.0 --command --",
    "oc exec pod --",
    "oc -n x rsh pod",
    "docker exec -it c",
    "docker exec -e A=1 -d c",
    "podman exec c",
    "nerdctl exec c",
    "docker compose exec s",
    "docker compose run --rm s",
    "podman run --rm img",
    "docker run --rm --gpus all lmsysorg/sglang:v0.5.9",
    "nerdctl run img",
    "crictl exec c",
    "lxc exec c --",
    "lxc-attach -n c --",
    "incus exec c --",
    "distrobox enter x --",
    "toolbox run -c x",
    "ssh host",
    "ssh -p 22 -i k u@h",
    "ssh -t -o A=b h",
    "sshpass -p x ssh h",
    "mosh h --",
    "pdsh -w h[1-4]",
    "clush -w h",
    "parallel-ssh -h f",
    "pssh -h f -i",
    "tmux new-session -d",
    "tmux new -d -s n",
    "tmux new-session -d -s n -c dir --",
    "tmux new-window -n x",
    "tmux split-window -h",
    "screen -dmS n",
    "screen -d -m -S n -L",
    "daemonize -o x",
    "start-stop-daemon --start --exec",
    "xargs",
    "xargs -I{}",
    "xargs -n 1 -P 4",
    "parallel",
    "parallel -j 4",
    "pm2 start",
    "watch -n 1",
    "coproc",
]


@pytest.mark.parametrize("before", BEFORE_A_COMMAND)
def test_the_command_behind_a_wrapper_is_a_launch(before: str) -> None:
    (item,) = found(f"{before} vllm serve m --port 1\n")
    assert texts(item)[-5:] == ["vllm", "serve", "m", "--port", "1"]
    assert item.launch.argv[0].span is not None


# What stands before a script in one word.
BEFORE_A_SCRIPT = [
    "ssh host",
    "ssh -t u@h",
    "ssh -o A=b h",
    "tmux new-session -d -s n",
    "tmux send-keys -t n:0",
    "tmux send",
    "screen -dmS n bash -c",
    "screen -S n -X stuff",
    "su -c",
    "su - user -c",
    "su user -c",
    "runuser -l u -c",
    "runuser -u u -- bash -c",
    "script -q /dev/null -c",
    "script -qfc",
    "sg docker -c",
    "flock lock -c",
    "timeout 3 bash -c",
    "watch",
    "parallel :::",
    "pdsh -w h[1-4]",
    "clush -w h",
    "gcloud compute ssh h --command",
    "gcloud compute ssh h --command=",
    "kubectl exec pod -- bash -c",
    "docker exec c sh -c",
    "docker compose exec s bash -lc",
    "sbatch --wrap",
    "sbatch --wrap=",
    "env -S",
    "env -iS",
    "nix-shell --run",
    "conda run -n v bash -c",
    "wsl -e bash -c",
    "bash -euo pipefail -c",
    "bash -lic",
    "zsh -c",
    "exec bash -c",
    "busybox sh -c",
    "ash -c",
    "ksh -c",
    "screen -dmS n",
    "nohup sh -c",
    "start-stop-daemon --start --exec /bin/bash -- -c",
    "trap",
    "parallel",
    "xargs -I{} sh -c",
    "chroot /x /bin/bash -c",
    "gosu u bash -c",
    "systemd-run bash -c",
    "unshare bash -c",
    "concurrently",
    "nodemon --exec",
    "pm2 start",
    "su -l u -s /bin/bash -c",
    "su --command",
    "su --command=",
]


@pytest.mark.parametrize("before", BEFORE_A_SCRIPT)
def test_the_script_that_a_wrapper_is_given_holds_a_launch(before: str) -> None:
    blank = "" if before.endswith("=") else " "
    after = " Enter" if "send" in before else ""
    script = f'{before}{blank}"cd /x && vllm serve m --port 1"{after}\n'
    (item,) = found(script)
    assert texts(item) == ["vllm", "serve", "m", "--port", "1"]
    first = item.launch.argv[0].span
    assert first is not None
    assert script[first.column - 1 :].startswith("vllm serve")


MODULES = [
    "torchrun --nproc_per_node=2 -m",
    "torchrun --nnodes 1 --nproc-per-node 2 --rdzv-backend c10d -m",
    "accelerate launch --num_processes 2 --mixed_precision bf16 -m",
    "python -m torch.distributed.run --nproc_per_node 2 -m",
    "python3 -m torch.distributed.launch --nproc_per_node 2 -m",
    "deepspeed --num_gpus 2 --module",
    "coverage run -m",
    "python -m coverage run -p -m",
    "python -m cProfile -o x -m",
    "python -m debugpy --listen 5678 --wait-for-client -m",
    "uv run -m",
    "uv run --python 3.12 --module",
    "$PYTHON -u -m",
    '"$VENV/bin/python" -m',
    "${PYTHON:-python3} -m",
    "$(which python3) -m",
]


@pytest.mark.parametrize("before", MODULES)
def test_a_module_behind_a_launcher_of_python_is_a_launch(before: str) -> None:
    (item,) = found(f"{before} sglang.launch_server --model-path m\n")
    assert item.launch.engine == "sglang"
    assert texts(item)[-4:] == ["-m", "sglang.launch_server", "--model-path", "m"]


PROGRAMS = [
    "$VENV/bin/vllm",
    '"${VENV}/bin/vllm"',
    "$(which vllm)",
    '"$(command -v vllm)"',
    "`which vllm`",
    "${VLLM:-vllm}",
    "python3 /usr/local/bin/vllm",
    "python $(which vllm)",
    "$RUN vllm",
    "$NUMA $EXTRA vllm",
    "${SUDO} nohup vllm",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_is_not_written_out_is_known_by_its_end(program: str) -> None:
    (item,) = found(f"{program} serve m --port 1\n")
    assert texts(item)[-4:] == ["serve", "m", "--port", "1"]


def test_a_program_started_by_its_file() -> None:
    (item,) = found("python /srv/sglang/python/sglang/launch_server.py --model-path m")
    assert texts(item) == ["python", "-m", "sglang.launch_server", "--model-path", "m"]


RELEASES = {
    "uvx vllm@0.31.0 serve m": "0.31.0",
    "uvx 'vllm[flashinfer]@0.31.0' serve m": "0.31.0",
    "uvx --from vllm==0.31.0 vllm serve m": "0.31.0",
    "uv tool run --from 'vllm[x]==0.31.0' vllm serve m": "0.31.0",
    "uv run --with vllm==0.31.0 vllm serve m": "0.31.0",
    "uv run --with a,vllm==0.31.0 -- vllm serve m": "0.31.0",
    "pipx run vllm==0.31.0 serve m": "0.31.0",
    "pipx run --spec=vllm==0.31.0 vllm serve m": "0.31.0",
    "apptainer run --nv docker://vllm/vllm-openai:v0.31.0 --model m": "0.31.0",
    "singularity exec docker://vllm/vllm-openai:v0.31.0 vllm serve m": "0.31.0",
    "kubectl run v --image vllm/vllm-openai:v0.31.0 -- --model m": "0.31.0",
    "oc run v --image=vllm/vllm-openai:v0.31.0 --restart=Never -- --model m": "0.31.0",
    "kubectl create deployment v --image=vllm/vllm-openai:v0.31.0 -- vllm serve m": "0.31.0",
    "docker --context far container run vllm/vllm-openai:v0.31.0 --model m": "0.31.0",
    "uv run --with vllm vllm serve m": None,
}


@pytest.mark.parametrize("script", RELEASES)
def test_a_wrapper_states_the_release(script: str) -> None:
    (item,) = found(script)
    assert item.release == RELEASES[script]
    assert [word.text for word in item.launch.argv][-1] == "m"


OPEN = {
    "xargs vllm serve < models": ["vllm", "serve", None],
    "xargs -I{} vllm serve {} --port 1": ["vllm", "serve", None, "--port", "1"],
    "xargs -I % vllm serve % --x {}": ["vllm", "serve", None, "--x", "{}"],
    "find . -name x -exec vllm serve {} --port 1 ';'": ["vllm", "serve", None, "--port", "1"],
    "parallel vllm serve {} --port 1 ::: a b": ["vllm", "serve", None, "--port", "1"],
    "parallel 'vllm serve {1} --port 80{2}' ::: a b ::: 1 2": ["vllm", "serve", None, "--port", None],
    "parallel vllm serve ::: a b": ["vllm", "serve", None],
}


@pytest.mark.parametrize("script", OPEN)
def test_what_a_wrapper_puts_in_is_not_known(script: str) -> None:
    (item,) = found(script)
    assert [word.value for word in item.launch.argv] == OPEN[script]


SESSIONS = {
    'tmux new -d \\; send-keys "vllm serve m" Enter \\; split-window -h "vllm serve n"': ["m", "n"],
    'tmux send-keys -t x "cd /x" C-m "vllm serve m" C-m': ["m"],
    "tmux new-session -d -s n vllm serve m": ["m"],
    'tmux new-session -d bash -c "vllm serve m"': ["m"],
    'screen -S s -p 0 -X stuff "vllm serve m\\n"': ["m"],
    "screen -S s -X stuff $'vllm serve m\\n'": ["m"],
    'concurrently "vllm serve m" "sglang serve --model-path n"': ["m", "n"],
    "parallel ::: 'vllm serve m' 'vllm serve n'": ["m", "n"],
    "start-stop-daemon --start --exec /usr/bin/vllm --pidfile /x -- serve m": ["m"],
    "pm2 start vllm --name x -- serve m": ["m"],
    "env -S 'A=1 vllm' serve m": ["m"],
}


@pytest.mark.parametrize("script", SESSIONS)
def test_irregular_wrappers(script: str) -> None:
    assert [item.launch.argv[-1].value for item in found(script)] == SESSIONS[script]


NOT_STARTED = [
    "uv pip install vllm==0.31.0 serve",
    "pixi add vllm serve",
    "conda install vllm serve m",
    "ssh host 'echo vllm serve m'",
    "tmux kill-session -t 'vllm serve'",
    "systemctl start vllm serve",
    "watch -n 1 'pgrep -f \"vllm serve\"'",
    "kubectl logs pod -- vllm serve m",
    "docker ps --filter name=vllm serve",
    "vllm serve --help",
    "vllm serve --help=all | grep x",
    "python -m sglang.launch_server -h",
    'test "$(vllm serve --help)"',
]


@pytest.mark.parametrize("script", NOT_STARTED)
def test_what_starts_nothing_is_no_launch(script: str) -> None:
    assert found(script) == []


def test_no_wrapper_waits_for_ever() -> None:
    for name in WRAPPERS:
        for rest in ((), ("--",), ("-x",), ("--x", "y"), ("run",), ("-I",), ("-c",), (";", ";"), (":::",)):
            behind_wrappers(words(name, *rest))
            assert behind_wrappers(words(name, *rest, name, *rest)).words
