"""Commands that start another one elsewhere: on another host, in a container, as a job or a service. One row each, as
its manual has it. Containers whose image states something are in `containers`.
"""

from __future__ import annotations

from specconf.readers.wrappergrammar import Rest, Wrapper, first, options

_MPI = Wrapper(
    valued=options(
        "-n -np --n --np -c -H -host --host -hosts -hostfile --hostfile -machinefile --machinefile -f -ppn -N "
        "-npernode --npernode -npersocket --map-by -map-by --bind-to -bind-to --rank-by -rank-by --prefix --wdir -wdir "
        "-wd --output-filename --timeout -x --tune --display --app -launcher -bootstrap -genvlist -iface -rmk"
    ),
    paired=options("-mca --mca -gmca --gmca --omca --prtemca -genv -env"),
    exports=options("-x"),
)

_APPTAINER = Wrapper(
    valued=options(
        "-B -H -S -W -e --bind --env --env-file --home --workdir --pwd --cwd --scratch --overlay --fusemount --mount "
        "--network --network-args --hostname --security --app --add-caps --drop-caps --dns --nvccli --pem-path --cpus "
        "--memory --oom-kill-disable --apply-cgroups --device"
    ),
    exports=options("--env"),
    operands=1,
    subcommands=first("exec", "run", "instance run"),
    closed=True,
)

_SLURM = options(
    "-A -b -B -c -C -d -D -e -E -F -G -i -J -L -m -M -n -N -o -p -P -q -r -S -t -T -u -w -W -x --account --acctg-freq "
    "--array --bcast --begin --chdir --cluster-constraint --clusters --comment --constraint --container --container-env "
    "--container-image --container-mounts --container-name --container-save --container-workdir --core-spec "
    "--cores-per-socket --cpu-bind --cpu-freq --cpus-per-gpu --cpus-per-task --deadline --delay-boot --dependency "
    "--distribution --epilog --error --exclude --export --export-file --extra --gid --gpu-bind --gpu-freq --gpus "
    "--gpus-per-node --gpus-per-socket --gpus-per-task --gres --gres-flags --het-group --hint --input --job-name --jobid "
    "--kill-on-bad-exit --licenses --mail-type --mail-user --mem --mem-bind --mem-per-cpu --mem-per-gpu --mincpus --mpi "
    "--network --nodefile --nodelist --nodes --ntasks --ntasks-per-core --ntasks-per-gpu --ntasks-per-node "
    "--ntasks-per-socket --open-mode --output --partition --power --prefer --priority --profile --prolog --qos --relative "
    "--reservation --resv-ports --signal --slurmd-debug --sockets-per-node --switches --task-epilog --task-prolog "
    "--thread-spec --threads --threads-per-core --time --time-min --tmp --tres-bind --tres-per-task --uid --wait "
    "--wckey --nice"
)

_SSH_OPTIONS = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w"
_SSH = Wrapper(valued=options(_SSH_OPTIONS), operands=1, rest=Rest.SCRIPT, reads_input=True)
_PSSH = Wrapper(
    valued=options(
        "-h --hosts -H --host -l --user -p --par -o --outdir -e --errdir -t --timeout -O --option -x --extra-args -X"
    ),
    operands=0,
    rest=Rest.SCRIPT,
)

REMOTE: dict[str, Wrapper] = {
    "ansible": Wrapper(scripts=options("-a --args"), rest=Rest.NOTHING),
    "apptainer": _APPTAINER,
    "aprun": Wrapper(options("-n -N -d -cc -S -j -L -m -e"), exports=options("-e")),
    "at": Wrapper(rest=Rest.NOTHING, reads_input=True),
    "autossh": Wrapper(options(f"{_SSH_OPTIONS} -M"), operands=1, rest=Rest.SCRIPT, reads_input=True),
    "az": Wrapper(scripts=options("--scripts --command --exec-command"), rest=Rest.NOTHING),
    "batch": Wrapper(rest=Rest.NOTHING, reads_input=True),
    "bsub": Wrapper(
        options(
            "-a -app -b -cwd -D -e -E -eo -env -F -f -g -G -gpu -i -J -k -L -m -M -n -o -oo -P -p -q -R -sla -t -u -U -w -W"
        ),
        rest=Rest.EITHER,
        reads_input=True,
    ),
    "ch-run": Wrapper(options("-b --bind -c --cd --set-env --unset-env -m --mount -s --storage --env"), operands=1),
    "clush": Wrapper(
        options("-w -x -g -X -l -f -t -u -o -m --hostfile --fanout --user --options --mode --pick --conf"),
        rest=Rest.SCRIPT,
    ),
    "colima": Wrapper(options("-p --profile"), subcommands=first("ssh")),
    "crictl": Wrapper(options("-r --runtime-endpoint -c --config --timeout -t"), operands=1, subcommands=first("exec")),
    "distrobox": Wrapper(options("-n --name -a --additional-flags"), operands=1, subcommands=first("enter")),
    "docker-init": Wrapper(options("-p -e")),
    "dsh": Wrapper(options("-m -f -g -r -o"), rest=Rest.SCRIPT),
    "enroot": Wrapper(
        options("-c --conf --rc -e --env -m --mount"),
        exports=options("-e --env"),
        operands=1,
        subcommands=first("start", "exec"),
    ),
    "flux": Wrapper(
        options(
            "-n --ntasks -N --nodes -c --cores-per-task -g --gpus-per-task -t --time-limit -q --queue -o --setopt --env"
        ),
        subcommands=first("run", "submit", "alloc", "batch"),
        scripts=options("--wrap"),
    ),
    "gcloud": Wrapper(scripts=options("--command"), rest=Rest.NOTHING),
    "horovodrun": Wrapper(options("-np --num-proc -H --hosts -hostfile --hostfile -p --ssh-port --network-interface")),
    "incus": Wrapper(
        options("--env --cwd --user --group --mode --project"),
        exports=options("--env"),
        operands=1,
        subcommands=first("exec"),
    ),
    "jsrun": Wrapper(
        options("-n --nrs -a --tasks_per_rs -c --cpu_per_rs -g --gpu_per_rs -r --rs_per_host -b --bind -d -l -E -p"),
        exports=options("-E"),
    ),
    "limactl": Wrapper(options("--workdir --shell"), operands=1, subcommands=first("shell")),
    "lxc": Wrapper(
        options("--env --cwd --user --group --mode --project"),
        exports=options("--env"),
        operands=1,
        subcommands=first("exec"),
    ),
    "lxc-attach": Wrapper(options("-n --name -P --lxcpath -a --arch -u --uid -g --gid -v --set-var --keep-var -o -l")),
    "machinectl": Wrapper(
        options("-E --setenv --uid -M --machine -H"),
        exports=options("-E --setenv"),
        operands=1,
        subcommands=first("shell"),
    ),
    "minikube": Wrapper(options("-p --profile -n --node"), rest=Rest.SCRIPT, subcommands=first("ssh")),
    "mlx.launch": Wrapper(
        options("--hosts --hostfile -n --num-processes --backend --env --python --cwd"), exports=options("--env")
    ),
    "mosh": Wrapper(options("-p --port --ssh --server --client"), operands=1),
    "mpiexec": _MPI,
    "mpiexec.hydra": _MPI,
    "mpirun": _MPI,
    "multipass": Wrapper(options("-d --working-directory"), operands=1, subcommands=first("exec")),
    "orterun": _MPI,
    "parallel-ssh": _PSSH,
    "pdsh": Wrapper(options("-w -x -g -X -l -t -u -f -R -M -N -P -F"), rest=Rest.SCRIPT),
    "pm2": Wrapper(
        options(
            "-n --name --interpreter --cwd -o --output -e --error -l --log -i --instances --max-memory-restart --namespace"
        ),
        rest=Rest.EITHER,
        subcommands=first("start"),
        gap=True,
    ),
    "pssh": _PSSH,
    "pueue": Wrapper(
        options(
            "-w --working-directory -d --delay -g --group -a --after -o --priority -l --label -c --config -p --profile"
        ),
        rest=Rest.SCRIPT,
        subcommands=first("add"),
    ),
    "qsub": Wrapper(rest=Rest.NOTHING, reads_input=True),
    "ray": Wrapper(
        options(
            "--address --working-dir --runtime-env --runtime-env-json --submission-id --job-id --entrypoint-num-cpus "
            "--entrypoint-num-gpus --entrypoint-memory --entrypoint-resources --metadata-json --headers --log-style "
            "--log-color --verify --min-nodes"
        ),
        subcommands=first("job submit", "symmetric-run"),
        rest=Rest.EITHER,
    ),
    "rsh": Wrapper(options("-l -p"), operands=1, rest=Rest.SCRIPT),
    "salloc": Wrapper(_SLURM),
    "sarus": Wrapper(
        options("--mount --device --workdir -w --entrypoint -e --env"), operands=1, subcommands=first("run")
    ),
    "sbatch": Wrapper(_SLURM, scripts=options("--wrap"), rest=Rest.NOTHING, reads_input=True),
    "shifter": Wrapper(
        options("-i --image -V --volume -e --env --env-file -E -m --module -w --workdir"), exports=options("-e --env")
    ),
    "singularity": _APPTAINER,
    "sky": Wrapper(
        options(
            "-c --cluster -n --name --gpus --cpus --memory --cloud --infra --region --zone --num-nodes --workdir --env "
            "--env-file --secret --image-id --disk-size --ports --job-recovery -t --instance-type -i"
        ),
        rest=Rest.EITHER,
        operands=1,
        subcommands=first("exec"),
    ),
    "srun": Wrapper(_SLURM),
    "ssh": _SSH,
    "sshpass": Wrapper(options("-p -f -d -P")),
    "systemd-run": Wrapper(
        options(
            "-p --property -E --setenv -u --unit -M --machine -H --host --slice --uid --gid --nice --working-directory "
            "--description --service-type --on-active --on-boot --on-startup --on-unit-active --on-calendar "
            "--timer-property --path-property --socket-property --background"
        ),
        exports=options("-E --setenv"),
    ),
    "toolbox": Wrapper(options("-c --container -d --distro -r --release"), subcommands=first("run")),
    "tsp": Wrapper(options("-L -D -W -G -N -S")),
    "vagrant": Wrapper(scripts=options("-c --command"), rest=Rest.NOTHING),
    "wsl": Wrapper(options("-d --distribution -u --user --cd --shell-type"), flags=options("-e --exec")),
}
