"""`searchkit keep` shows one change of Claude Code's settings, makes it when asked, and touches nothing else."""

import json
from pathlib import Path

import pytest

from searchkit.sources.claude.retention_settings import longer
from tests.support.running import Run
from tests.support.transcript import Home

LONG = '"cleanupPeriodDays": 99999'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, f"{{\n  {LONG}\n}}\n"),
        ("", f"{{\n  {LONG}\n}}\n"),
        ("{}", f"{{\n  {LONG}\n}}"),
        ("{ }\n", f"{{\n  {LONG}\n}}\n"),
        ('{"model": "opus"}', f'{{"model": "opus",{LONG}}}'),
        (
            '{\r\n\t"model":"opus",\r\n\t"hooks": {}\r\n}',
            f'{{\r\n\t"model":"opus",\r\n\t"hooks": {{}},\r\n\t{LONG}\r\n}}',
        ),
        ('{"cleanupPeriodDays" :30 , "model":"opus"}\n\n', '{"cleanupPeriodDays" :99999 , "model":"opus"}\n\n'),
        ('{"cleanupPeriodDays": "x"}', f"{{{LONG}}}"),
        ('{"cleanupPeriodDays": 0}', f"{{{LONG}}}"),
        ('{"a": {"cleanupPeriodDays": 3}}', f'{{"a": {{"cleanupPeriodDays": 3}},{LONG}}}'),
        ('{"cleanupPeriodDays": 7, "cleanupPeriodDays": 9}', f'{{"cleanupPeriodDays": 7, {LONG}}}'),
        ('{"cleanupPeriod\\u0044ays": 7}', '{"cleanupPeriod\\u0044ays": 99999}'),
        ('\ufeff{"é": "\\ud83d }"}', f'\ufeff{{"é": "\\ud83d }}",{LONG}}}'),
        ('{"cleanupPeriodDays": 100000}', '{"cleanupPeriodDays": 100000}'),
    ],
)
def test_all_else_stays_byte_for_byte(before: str | None, after: str) -> None:
    """The number is replaced where it is, or added with the blanks that the file uses; a larger one stays."""
    made = longer(None if before is None else before.encode(), 99_999)

    assert made is not None
    assert after == made.decode()
    assert 99_999 <= json.loads(made.decode().removeprefix("\ufeff"))["cleanupPeriodDays"]


def test_a_change_is_shown_and_made_only_when_asked(run: Run, home: Home) -> None:
    """A look changes nothing, nor does a question that nobody can answer; --yes does it, and the mode stays."""
    file = home.write(home.root / "settings.json", '{\n  "model": "opus",\n  "cleanupPeriodDays": 30\n}\n')
    file.chmod(0o640)
    before = file.read_bytes()

    looked, asked = run("keep", "--dry-run"), run("keep")
    unchanged = file.read_bytes()
    done, again = run("keep", "--yes"), run("keep", "--yes")

    assert (0, 2) == (looked.status, asked.status)
    assert ['-  "cleanupPeriodDays": 30', f"+  {LONG}"] == [
        line for line in looked.out.splitlines() if line[1:2] == " "
    ][1:3]
    assert before == unchanged
    assert (0, before.replace(b"30", b"99999"), 0o640) == (done.status, file.read_bytes(), file.stat().st_mode & 0o777)
    assert (0, "", "already" in again.err) == (again.status, again.out, True)


def test_old_settings_are_copied_before(run: Run, home: Home) -> None:
    """What was there can be had back."""
    home.write(home.root / "settings.json", "{}")

    answer = run("keep", "--yes", "--json").json

    assert (True, ["replace"]) == (answer["is_done"], [one["change"] for one in answer["changes"]])
    assert "{}" == (Path(answer["copies"]) / "settings.json").read_text()


def test_settings_are_made_where_there_are_none(run: Run, home: Home) -> None:
    """A new file is its owner's, and so many days are in it as were asked for."""
    done = run("keep", "--yes", "--days", "400")

    file = home.root / "settings.json"
    assert (0, {"cleanupPeriodDays": 400}) == (done.status, json.loads(file.read_text()))
    assert 0o600 == file.stat().st_mode & 0o777


def test_local_settings_are_raised_and_never_made(run: Run, home: Home) -> None:
    """A smaller number of a project is raised, too; a project that says nothing goes on saying nothing."""
    local = home.write(home.root / "settings.local.json", '{"cleanupPeriodDays": 3}')

    run("keep", "--yes")
    raised = local.read_text()
    local.write_text('{"model": "opus"}')
    run("keep", "--yes")

    assert (f"{{{LONG}}}", '{"model": "opus"}') == (raised, local.read_text())


@pytest.mark.parametrize("written", ["{", "[1]", '{"a": 1} // mine', "\xff"])
def test_damaged_settings_are_refused(run: Run, home: Home, written: str) -> None:
    """What is not understood is not written to, and the message says what to do."""
    file = home.write(home.root / "settings.json", written.encode("latin-1"))

    answer = run("keep", "--yes")

    assert (2, written.encode("latin-1")) == (answer.status, file.read_bytes())
    assert "nothing was touched" in answer.err


def test_linked_settings_stay_a_link(run: Run, home: Home, tmp_path: Path) -> None:
    """Settings that are kept with other dotfiles are changed there."""
    kept = home.write(tmp_path / "dotfiles" / "settings.json", "{}")
    (home.root / "settings.json").symlink_to(kept)

    run("keep", "--yes")

    assert (True, 99_999) == (
        (home.root / "settings.json").is_symlink(),
        json.loads(kept.read_text())["cleanupPeriodDays"],
    )


def test_every_root_is_changed(run: Run, home: Home, tmp_path: Path) -> None:
    """Each root has settings of its own."""
    other = Home(tmp_path / "other")

    run("keep", "--yes", "--root", str(home.root), "--root", str(other.root))

    assert [99_999, 99_999] == [
        json.loads((one.root / "settings.json").read_text())["cleanupPeriodDays"] for one in (home, other)
    ]
