"""The commands that only start another command, and how to look behind them: one table, one function."""

from __future__ import annotations

from msgspec import Struct

from specconf.patterns import pattern
from specconf.words import Word

ASSIGNMENT = pattern(r"[A-Za-z_][A-Za-z0-9_]*=")


class Wrapper(Struct, frozen=True):
    """What may stand between a wrapper's name and the command it starts.

    `valued`: options whose value is the next word (two words for `paired`); `operands`: words of its own that are no
    options; `assignments`: whether `A=1` words set the command's environment; `exports`: options whose value is such an
    assignment; `subcommand`: the word that must come first.
    """

    valued: frozenset[str] = frozenset()
    paired: frozenset[str] = frozenset()
    exports: frozenset[str] = frozenset()
    operands: int = 0
    assignments: bool = False
    subcommand: str = ""


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MPI = Wrapper(
    valued=_options(
        "-n -np -c -H -host --host -hostfile --hostfile -machinefile --machinefile -f -ppn -N --map-by --bind-to "
        "--rank-by --prefix --wdir -wdir --output-filename --timeout -x"
    ),
    paired=_options("-mca --mca -genv -env"),
    exports=_options("-x"),
)

_APPTAINER = Wrapper(
    valued=_options(
        "-B -H -S -W -e --bind --env --env-file --home --workdir --pwd --scratch --overlay --fusemount --mount --network "
        "--hostname --security --app --add-caps --drop-caps"
    ),
    operands=1,
    subcommand="exec",
)

WRAPPERS: dict[str, Wrapper] = {
    "apptainer": _APPTAINER,
    "chrt": Wrapper(operands=1),
    "command": Wrapper(),
    "dumb-init": Wrapper(),
    "env": Wrapper(_options("-u --unset -C --chdir"), assignments=True),
    "exec": Wrapper(_options("-a")),
    "ionice": Wrapper(_options("-c -n --class --classdata")),
    "mpiexec": _MPI,
    "mpirun": _MPI,
    "nice": Wrapper(_options("-n --adjustment")),
    "nohup": Wrapper(),
    "numactl": Wrapper(
        _options(
            "-C -N -m -i -p -P --physcpubind --cpunodebind --membind --interleave --preferred --preferred-many "
            "--weighted-interleave"
        )
    ),
    "orterun": _MPI,
    "setsid": Wrapper(),
    "singularity": _APPTAINER,
    "srun": Wrapper(
        _options(
            "-A -c -C -D -e -i -J -n -N -o -p -q -r -t -w -x --account --bcast --chdir --constraint --container-env "
            "--container-image --container-mounts --container-name --container-workdir --cpu-bind --cpus-per-task "
            "--error --exclude --export --gpus --gpus-per-node --gpus-per-task --gres --input --job-name --jobid --mem "
            "--mpi --nodelist --nodes --ntasks --ntasks-per-node --output --partition --qos --relative --time"
        ),
    ),
    "stdbuf": Wrapper(_options("-i -o -e --input --output --error")),
    "sudo": Wrapper(
        _options("-C -D -g -h -p -R -r -T -t -U -u --user --group --chdir --host --prompt"), assignments=True
    ),
    "taskset": Wrapper(operands=1),
    "time": Wrapper(_options("-f -o --format --output")),
    "timeout": Wrapper(_options("-k -s --kill-after --signal"), operands=1),
    "tini": Wrapper(_options("-p -e")),
    "trtllm-llmapi-launch": Wrapper(),
    "uv": Wrapper(
        _options("--with --python -p --project --directory --env-file --extra --group --index --package"),
        subcommand="run",
    ),
}


def program_name(word: Word) -> str:
    """The name of a program without its folder; empty when it is not known."""
    return (word.value or "").rpartition("/")[2]


def assignment_of(word: Word) -> tuple[str, Word]:
    """The name and value of a word such as `A=1`; the value's word has the place of the whole."""
    name, _, raw = word.text.partition("=")
    value = word.value.partition("=")[2] if word.value is not None else None
    return name, Word(value=value, span=word.span, raw=raw, may_be_many=word.may_be_many)


def stripped(argv: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The command behind all wrappers, and the `A=1` words met on the way, in order."""
    assignments: list[Word] = []
    while argv:
        name = program_name(argv[0])
        wrapper = WRAPPERS.get(name)
        if wrapper is None:
            break
        rest = _behind(argv, wrapper, assignments)
        if not rest:
            break
        argv = rest
    return argv, tuple(assignments)


def _behind(argv: tuple[Word, ...], wrapper: Wrapper, assignments: list[Word]) -> tuple[Word, ...]:
    """The words after one wrapper and what belongs to it."""
    at = 1
    if wrapper.subcommand:
        if len(argv) < 2 or argv[1].value != wrapper.subcommand:
            return ()
        at = 2
    operands = wrapper.operands
    while at < len(argv):
        text = argv[at].text
        if text == "--":
            at += 1
            break
        if text.startswith("-") and len(text) > 1:
            if text in wrapper.exports and at + 1 < len(argv) and "=" in argv[at + 1].text:
                assignments.append(argv[at + 1])
            at += 3 if text in wrapper.paired else 2 if text in wrapper.valued else 1
        elif wrapper.assignments and ASSIGNMENT.match(text):
            assignments.append(argv[at])
            at += 1
        elif operands:
            operands -= 1
            at += 1
        elif argv[at].value is None and argv[at].may_be_many:
            at += 1  # `srun $OPTIONS command`: options of the wrapper's own, most likely
        else:
            break
    return argv[at:]


def image_of_wrappers(argv: tuple[Word, ...]) -> Word | None:
    """The container image in which a wrapper runs the command: of `srun --container-image`, or apptainer's own."""
    for at, word in enumerate(argv):
        name = program_name(word)
        if name == "srun":
            return _option_value(argv[at + 1 :], "--container-image")
        if name in ("apptainer", "singularity"):
            return next((found for found in argv[at + 1 :] if found.text.startswith("docker://")), None)
        if name not in WRAPPERS and not ASSIGNMENT.match(word.text):
            return None
    return None


def _option_value(argv: tuple[Word, ...], option: str) -> Word | None:
    for at, word in enumerate(argv):
        name, sign, _ = word.text.partition("=")
        if name == option and sign:
            return assignment_of(word)[1]
        if name == option and at + 1 < len(argv):
            return argv[at + 1]
    return None
