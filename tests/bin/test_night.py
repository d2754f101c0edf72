"""Each night writes its own line; the page has the form that the run writes."""

import pathlib
import re

from tests import night, parts

REPORT = """<testsuites><testsuite>
<testcase name="a"><properties><property name="tries" value="5000"/><property name="faults" value="3"/>
</properties></testcase>
<testcase name="b"><failure/></testcase>
<testcase name="c"><properties><property name="findings" value="2"/></properties><failure/></testcase>
<testcase name="d"><skipped/></testcase>
</testsuite></testsuites>"""
LINE = re.compile(r"\| (\w+) \| \d+ \| \d+ \| \d+ \| \d+ \| [0-9a-f]{10} \| \d+ \| \d{4}-\d\d-\d\d \|")


def a_night(part: str, *, findings: int = 0) -> night.Night:
    return night.Night(part, 1, 2, findings, 4, "0123456789", "1", "2030-01-01")


def test_what_was_counted_is_added_up(tmp_path: pathlib.Path):
    report = tmp_path / "report.xml"
    report.write_text(REPORT)

    found = night.of_report("database", report, seconds=12.6)

    assert (found.part, found.tries, found.faults, found.findings, found.seconds) == (
        "database",
        5002,
        3,
        3,
        13,
    )
    assert LINE.fullmatch(found.line())


def test_a_night_takes_the_place_of_the_one_before_and_leaves_the_others():
    page = f"top\n\n{night.BEGIN}\n{night.END}\n\nbottom\n"
    for one in (a_night("web"), a_night("core"), a_night("web", findings=3)):
        page = night.written(page, one)

    assert page.splitlines() == [
        "top",
        "",
        night.BEGIN,
        *night.HEAD,
        a_night("core").line(),
        a_night("web", findings=3).line(),
        night.END,
        "",
        "bottom",
    ]


def test_the_page_has_the_form_of_the_run():
    page = night.PAGE.read_text()
    table = page.partition(night.BEGIN)[2].partition(night.END)[0].strip().splitlines()

    assert tuple(table[:2]) == night.HEAD
    assert all(LINE.fullmatch(line) for line in table[2:])
    assert {line.split("|")[1].strip() for line in table[2:]} <= {part.name for part in parts.PARTS}
