"""The report as JUnit XML: a suite for each file, a case for each launch, a failure for each finding at the threshold."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from specconf.codes import CODES
from specconf.findings import Severity
from specconf.patterns import pattern
from specconf.report.entries import Entries, Entry, LaunchEntry

# What XML 1.0 cannot hold at all.
_FORBIDDEN = pattern("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
OF_FILE = "the file itself"


def junit_xml(entries: Entries, fail_on: Severity) -> str:
    """The whole document."""
    root = ET.Element("testsuites", name="specconf")
    totals = [0, 0]
    for path in dict.fromkeys(entries.paths()):
        suite = ET.SubElement(root, "testsuite", name=_clean(path))
        launches = [launch for launch in entries.launches if launch.path == path]
        own = [entry for entry in entries.of_files if entry.path == path]
        cases = [_launch_case(suite, launch, fail_on) for launch in launches]
        if own:
            cases.append(_case(suite, path, OF_FILE, own, fail_on))
        failed = sum(cases)
        _count(suite, len(cases), failed)
        totals = [totals[0] + len(cases), totals[1] + failed]
    _count(root, *totals)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _count(element: ET.Element, tests: int, failures: int) -> None:
    element.set("tests", str(tests))
    element.set("failures", str(failures))
    element.set("errors", "0")
    element.set("skipped", "0")


def _launch_case(suite: ET.Element, launch: LaunchEntry, fail_on: Severity) -> bool:
    return _case(suite, launch.path, launch.title, launch.entries, fail_on, launch.line)


def _case(suite: ET.Element, path: str, name: str, entries: Iterable[Entry], fail_on: Severity, line: int = 0) -> bool:
    """One case; whether it failed."""
    case = ET.SubElement(suite, "testcase", classname=_clean(path), name=_clean(name), file=_clean(path))
    if line:
        case.set("line", str(line))
    failed, rest = False, []
    for entry in entries:
        if entry.finding.severity.rank > fail_on.rank:
            rest.append(_told(entry))
            continue
        failed = True
        kind = f"{entry.finding.code} {CODES[entry.finding.code].name}"
        failure = ET.SubElement(case, "failure", type=kind, message=_clean(entry.message))
        failure.text = _clean(_told(entry))
    if rest:
        ET.SubElement(case, "system-out").text = _clean("\n".join(rest))
    return failed


def _told(entry: Entry) -> str:
    found = entry.finding
    fix = f"\nfix: {found.fix}" if found.fix else ""
    return f"{entry.where}: {found.severity} {found.code} {entry.message}{fix}"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
