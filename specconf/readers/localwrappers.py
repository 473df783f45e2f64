"""Commands that start another one on the same machine: environments, limits, supervisors, tracers, launchers of Python. One row
each, as its manual has it.
"""

from __future__ import annotations

from specconf.readers.wrappergrammar import MODULE, ONE_OPERAND, PLACE, PLAIN, Rest, Wrapper, first, options

_UV_INDEX = (
    "--index --default-index -i --index-url --extra-index-url -f --find-links -P --upgrade-package --index-strategy "
    "--keyring-provider --resolution --prerelease --fork-strategy --exclude-newer --link-mode -C --config-setting "
    "--no-build-isolation-package --no-build-package --no-binary-package --reinstall-package --refresh-package -p "
    "--python --cache-dir --color --directory --project --config-file --allow-insecure-host --python-platform "
    "--torch-backend --env-file --with --with-editable --with-requirements -w"
)
_UV_TOOL = Wrapper(
    valued=options(f"{_UV_INDEX} --from -c --constraints -b --build-constraints --overrides"),
    requires=options("--from --with -w"),
    named=True,
)
_UV_RUN = Wrapper(
    valued=options(f"{_UV_INDEX} --extra --no-extra --group --no-group --only-group --package"),
    subcommands=first("run"),
    modules=MODULE,
    requires=options("--with -w"),
)
_CONDA = Wrapper(
    valued=options("-n --name -p --prefix --cwd -r --root-prefix -a --attach -e --env --label --rc-file"),
    exports=options("-e --env"),
    subcommands=first("run"),
)
_POETRY = Wrapper(valued=options("-C --directory -P --project"), subcommands=first("run"))
_SU = Wrapper(
    valued=options("-g --group -G --supp-group -s --shell -w --whitelist-environment -u --user -T"),
    scripts=options("-c --command --session-command"),
    rest=Rest.NOTHING,
    reads_input=True,
)
_TRACED = Wrapper(valued=options("-a -b -e -E -I -o -O -p -P -s -S -u -U -X -l -n -x -F -A"))
_DEBUGGER = Wrapper(starts=options("--args -args"))
_TORCHRUN = Wrapper(
    valued=options(
        "--nnodes --nproc-per-node --rdzv-backend --rdzv-endpoint --rdzv-id --rdzv-conf --max-restarts --monitor-interval "
        "--start-method --role --log-dir -r --redirects -t --tee --local-ranks-filter --node-rank --master-addr "
        "--master-port --local-addr --logs-specs --numa-binding --event-log-handler --signals-to-handle"
    ),
    modules=MODULE,
)
_ACCELERATE = Wrapper(
    all_valued=True,
    flags=options(
        "--no-python --multi-gpu --cpu --tpu --use-deepspeed --use-fsdp --use-megatron-lm --use-xpu --debug --quiet "
        "--same-network --mps --tpu-cluster --ipex --main-training-function"
    ),
    subcommands=first("launch"),
    modules=MODULE,
)
_MODULES = Wrapper(modules=MODULE)
_RUN_MODULE = Wrapper(subcommands=first("run"), modules=MODULE)


LOCAL: dict[str, Wrapper] = {
    "accelerate": _ACCELERATE,
    "asdf": Wrapper(subcommands=first("exec")),
    "aws-vault": Wrapper(options("-d --duration --backend --region"), operands=1, subcommands=first("exec")),
    "builtin": PLAIN,
    "busybox": PLAIN,
    "caffeinate": Wrapper(options("-t -w")),
    "catatonit": PLAIN,
    "catchsegv": PLAIN,
    "cgexec": Wrapper(options("-g")),
    "chamber": Wrapper(options("-b --backend -r --retries"), operands=1, subcommands=first("exec")),
    "choom": Wrapper(options("-n --adjust")),
    "chpst": Wrapper(options("-u -U -b -e -/ -C -n -l -L -m -d -o -p -f -c -r -t")),
    "chronic": PLAIN,
    "chroot": ONE_OPERAND,
    "chrt": Wrapper(options("-T -P -D --sched-runtime --sched-period --sched-deadline"), operands=1),
    "command": PLAIN,
    "compute-sanitizer": Wrapper(all_valued=True, flags=options("--help --version")),
    "concurrently": Wrapper(
        options(
            "-n --names -c --prefix-colors -p --prefix -s --success -m --max-processes --restart-tries --restart-after"
        ),
        rest=Rest.EACH,
    ),
    "conda": _CONDA,
    "coproc": PLAIN,
    "coverage": _RUN_MODULE,
    "cpulimit": Wrapper(options("-l --limit -e --exe -p --pid -P --path")),
    "cuda-gdb": _DEBUGGER,
    "daemonize": Wrapper(options("-c -e -E -l -o -p -u")),
    "dbus-launch": PLAIN,
    "dbus-run-session": Wrapper(options("--config-file --dbus-daemon")),
    "ddtrace-run": PLAIN,
    "debugpy": _MODULES,
    "debugpy-run": _MODULES,
    "deepspeed": _MODULES,
    "direnv": Wrapper(operands=1, subcommands=first("exec")),
    "doas": Wrapper(options("-C -u")),
    "doppler": Wrapper(
        options(
            "-p --project -c --config -t --token --mount --mount-format --mount-template --fallback --name-transformer"
        ),
        scripts=options("--command"),
        subcommands=first("run"),
    ),
    "dotenv": Wrapper(options("-f --file -e -c -v -q --quote --export"), subcommands=first("run", "")),
    "dumb-init": Wrapper(options("-r --rewrite")),
    "entr": Wrapper(rest=Rest.EITHER),
    "env": Wrapper(options("-u --unset -C --chdir -a --argv0"), assignments=True, scripts=options("-S --split-string")),
    "envdir": ONE_OPERAND,
    "eval": Wrapper(rest=Rest.SCRIPT),
    "exec": Wrapper(options("-a")),
    "fakeroot": Wrapper(options("-l --lib --faked -s -i -b")),
    "find": Wrapper(starts=options("-exec -execdir -ok -okdir"), ends=options("; +"), places=PLACE),
    "firejail": PLAIN,
    "flatpak-spawn": PLAIN,
    "flock": Wrapper(
        options("-w --wait --timeout -E --conflict-exit-code"), scripts=options("-c --command"), operands=1
    ),
    "gdb": _DEBUGGER,
    "gosu": ONE_OPERAND,
    "hatch": Wrapper(
        options("-e --env -p --project --data-dir --cache-dir --config -i --include -x --exclude -f --filter"),
        subcommands=first("run"),
        named=True,
    ),
    "infisical": Wrapper(
        options("--env --projectId --token --path --domain --tags --project-config-dir"),
        scripts=options("--command -c"),
        subcommands=first("run"),
    ),
    "ionice": Wrapper(options("-c -n -p -P -u --class --classdata")),
    "ip": Wrapper(operands=1, subcommands=first("netns exec")),
    "kernprof": _MODULES,
    "ltrace": _TRACED,
    "mamba": _CONDA,
    "memray": Wrapper(options("-o --output -p --live-port"), subcommands=first("run"), modules=options("-m")),
    "micromamba": _CONDA,
    "mise": Wrapper(
        options("-c --command -j --jobs -C --cd -E --env"),
        scripts=options("-c --command"),
        subcommands=first("exec", "x"),
    ),
    "ncu": Wrapper(
        options(
            "-o --export --set --section --section-folder --metrics --target-processes --target-processes-filter -k "
            "--kernel-name --kernel-name-base --kernel-id -c --launch-count -s --launch-skip --launch-skip-before-match -i "
            "--import --page --print-units --print-summary --nvtx-include --nvtx-exclude --replay-mode --app-replay-match "
            "--app-replay-buffer --app-replay-mode --clock-control --cache-control --devices --mode --hostname -p --port "
            "--max-connections --graph-profiling --rule --apply-rules --log-file --profile-from-start --range-filter "
            "--warp-sampling-interval --warp-sampling-max-passes --pm-sampling-interval --check-exit-code --config-file "
            "--config-file-path --support-32bit --filter-mode --source-folders --import-source --null-stdin --kill"
        )
    ),
    "newrelic-admin": Wrapper(subcommands=first("run-program")),
    "nice": Wrapper(options("-n --adjustment")),
    "nix": Wrapper(starts=options("-c --command"), subcommands=first("develop", "shell", "run")),
    "nix-shell": Wrapper(options("-p --packages -A --attr -I"), scripts=options("--run --command"), rest=Rest.NOTHING),
    "nodemon": Wrapper(
        options("-e --ext -w --watch -i --ignore -d --delay --signal"), scripts=options("-x --exec"), rest=Rest.NOTHING
    ),
    "nohup": PLAIN,
    "nsenter": Wrapper(options("-t --target -S --setuid -G --setgid -N --net-socket")),
    "nsys": Wrapper(
        options("-b -c -d -e -f -g -k -n -o -p -s -t -w -x -y"),
        all_valued=True,
        flags=options("--help --version -h -v --start-later"),
        subcommands=first("profile", "launch"),
    ),
    "numactl": Wrapper(
        options(
            "-C -N -m -i -p -P -w --physcpubind --cpunodebind --membind --interleave --preferred --preferred-many "
            "--weighted-interleave --cpubind --balancing-file"
        )
    ),
    "op": Wrapper(options("--env-file --account --config --session --environment"), subcommands=first("run")),
    "opentelemetry-instrument": Wrapper(all_valued=True),
    "parallel": Wrapper(
        options(
            "-j --jobs -P --max-procs -I -a --arg-file -C --colsep -d --delimiter -n --max-args -N --max-replace-args -L "
            "--joblog --results --tmpdir --timeout --delay --retries --memfree --load --noswap -S --sshlogin --sshloginfile "
            "--workdir --wd --env --tagstring --halt --header --basefile --return --rpl --block --recstart --recend --sshdelay"
        ),
        rest=Rest.SCRIPT,
        ends=options("::: :::: :::+ ::::+"),
        places=PLACE,
        appends=True,
    ),
    "pdm": Wrapper(options("-p --project -c --config --venv -I"), subcommands=first("run")),
    "perf": Wrapper(
        options(
            "-e --event -F --freq -c --count -o --output -C --cpu --call-graph -m --mmap-pages -D --delay -I "
            "--interval-print -r --repeat -x --field-separator -G --cgroup -u --uid -j --branch-filter --clockid -k -p --pid "
            "-t --tid --filter --per-thread-stack --switch-output --max-size --aio --control --log-fd"
        ),
        subcommands=first(
            "record", "stat", "trace", "sched record", "mem record", "c2c record", "lock record", "kmem record"
        ),
    ),
    "pipenv": Wrapper(options("--python --pypi-mirror"), subcommands=first("run")),
    "pipx": Wrapper(
        options("--spec --python --pip-args -i --index-url --with --fetch-missing-python --backend"),
        requires=options("--spec --with"),
        subcommands=first("run"),
        named=True,
    ),
    "pixi": Wrapper(
        options(
            "-e --environment -m --manifest-path --color --concurrent-downloads --concurrent-solves --auth-file -w "
            "--workspace --pypi-keyring-provider --tls-root-certs -s --spec --with -c --channel -p --platform"
        ),
        subcommands=first("run", "exec", "r", "x"),
    ),
    "poetry": _POETRY,
    "prlimit": Wrapper(options("-o --output")),
    "proxychains": Wrapper(options("-f")),
    "proxychains4": Wrapper(options("-f")),
    "py-spy": Wrapper(
        options("-o --output -r --rate -d --duration -p --pid -f --format"), subcommands=first("record", "top", "dump")
    ),
    "retry": Wrapper(
        options("-t --times --tries -s --sleep -m --min --max -x -d --delay -u --until -w --while"), rest=Rest.EITHER
    ),
    "rlwrap": PLAIN,
    "runuser": _SU,
    "rye": Wrapper(subcommands=first("run")),
    "s6-notifyoncheck": Wrapper(options("-3 -s -T -t -w -n -c")),
    "s6-setuidgid": ONE_OPERAND,
    "schedtool": Wrapper(options("-n -p -a"), starts=options("-e")),
    "scalene": _MODULES,
    "script": Wrapper(
        options("-B --log-io -E --echo -I --log-in -m --logging-format -o --output-limit -O --log-out -T --log-timing"),
        scripts=options("-c --command"),
        rest=Rest.NOTHING,
    ),
    "setarch": ONE_OPERAND,
    "setpriv": Wrapper(
        options(
            "--reuid --regid --ruid --euid --rgid --egid --groups --inh-caps --ambient-caps --bounding-set --securebits "
            "--pdeathsig --selinux-label --apparmor-profile --rlimit"
        )
    ),
    "setsid": PLAIN,
    "setuser": ONE_OPERAND,
    "sg": Wrapper(scripts=options("-c"), operands=1, rest=Rest.EITHER),
    "start-stop-daemon": Wrapper(starts=options("-x -a --exec --startas"), gap=True),
    "stdbuf": Wrapper(options("-i -o -e --input --output --error")),
    "strace": _TRACED,
    "su": _SU,
    "su-exec": ONE_OPERAND,
    "sudo": Wrapper(
        options(
            "-C -D -g -h -p -R -r -T -t -U -u --user --group --chdir --chroot --close-from --command-timeout --host "
            "--prompt --role --type --other-user"
        ),
        assignments=True,
    ),
    "systemd-cat": Wrapper(options("-t --identifier -p --priority --stderr-priority --level-prefix --namespace")),
    "systemd-inhibit": Wrapper(options("--what --who --why --mode")),
    "taskset": ONE_OPERAND,
    "time": Wrapper(options("-f -o --format --output")),
    "timeout": Wrapper(options("-k -s --kill-after --signal"), operands=1),
    "tini": Wrapper(options("-p -e")),
    "torchrun": _TORCHRUN,
    "torsocks": Wrapper(options("-u -p -P -a")),
    "trap": Wrapper(rest=Rest.FIRST),
    "trtllm-llmapi-launch": PLAIN,
    "unbuffer": PLAIN,
    "unshare": Wrapper(
        options("-R --root -w --wd -S --setuid -G --setgid --map-user --map-group --propagation --setgroups")
    ),
    "uvx": _UV_TOOL,
    "valgrind": PLAIN,
    "vault-env": PLAIN,
    "viztracer": _MODULES,
    "watch": Wrapper(options("-n --interval -q --equexit"), rest=Rest.SCRIPT),
    "watchexec": Wrapper(
        options(
            "-w --watch -W --watch-non-recursive -e --exts -i --ignore -f --filter -d --debounce -s --signal --stop-signal "
            "--stop-timeout --delay-run --shell --workdir -E --env --poll -o --on-busy-update --emit-events-to "
            "--ignore-file --filter-file --wrap-process --fs-events --timings"
        ),
        exports=options("-E --env"),
        rest=Rest.EITHER,
    ),
    "with-contenv": PLAIN,
    "xargs": Wrapper(
        options(
            "-I --replace -n --max-args -P --max-procs -L --max-lines -d --delimiter -E -s --max-chars -a --arg-file -J -R -S"
        ),
        places=PLACE,
        appends=True,
    ),
    "xvfb-run": Wrapper(
        options("-n --server-num -s --server-args -e --error-file -f --auth-file -p --xauth-protocol -w --wait")
    ),
}


# A program of two grammars, by its first words.
ALTERNATIVES: dict[str, tuple[Wrapper, ...]] = {
    "uv": (
        _UV_RUN,
        Wrapper(_UV_TOOL.valued, requires=_UV_TOOL.requires, named=True, subcommands=first("tool run")),
    ),
}
# Modules that start another: `python -m MODULE … -m ANOTHER`, by the program whose grammar they have.
MODULES: dict[str, str] = {
    "accelerate.commands.launch": "torchrun",
    "cProfile": "viztracer",
    "coverage": "coverage",
    "debugpy": "debugpy",
    "kernprof": "kernprof",
    "memray": "memray",
    "pdb": "viztracer",
    "pipx": "pipx",
    "poetry": "poetry",
    "profile": "viztracer",
    "scalene": "scalene",
    "torch.distributed.launch": "torchrun",
    "torch.distributed.run": "torchrun",
    "trace": "viztracer",
    "uv": "uv",
    "viztracer": "viztracer",
}
