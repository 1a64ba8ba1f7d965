"""Installing the plugin touches nothing else, and uninstalling leaves everything byte for byte as it was."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.running import Run

# What a file is: its mode and its bytes; of a directory, its mode.
Found = dict[str, tuple[int, bytes | None]]


def snapshot(directory: Path) -> Found:
    """Return everything below a directory."""
    return {
        str(path.relative_to(directory)): (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(directory.rglob("*"))
    }


def fill(place: Path) -> None:
    """Write what a user of Claude Code has: settings that only he can read, a skill, a command."""
    (place / "skills" / "mine").mkdir(parents=True)
    (place / "commands").mkdir()
    (place / "skills" / "mine" / "SKILL.md").write_text("---\nname: mine\n---\n")
    (place / "commands" / "recall.md").write_text("mine")
    (place / "settings.json").write_bytes(b'{"model":"opus",\r\n\t"enabledPlugins": {}}')
    (place / "settings.json").chmod(0o600)


def nothing(place: Path) -> None:
    """Leave the directory empty."""
    place.mkdir()


def empty_plugin(place: Path) -> None:
    """Leave an empty directory where the plugin goes."""
    (place / "skills" / "searchkit").mkdir(parents=True)


@pytest.mark.parametrize("before", [fill, nothing, empty_plugin])
def test_uninstalling_leaves_all_as_it_was(run: Run, place: Path, before: Callable[[Path], None]) -> None:
    """Every byte, every mode and every directory is what it was before installing."""
    before(place)
    earlier = snapshot(place)

    installed = run("install", "claude", "--yes")
    between = snapshot(place)
    uninstalled = run("uninstall", "claude", "--yes")

    assert (0, 0) == (installed.status, uninstalled.status)
    assert earlier == {path: found for path, found in between.items() if path in earlier}
    assert "skills/searchkit/.claude-plugin/plugin.json" in between
    assert earlier == snapshot(place)


def test_directory_that_was_not_there_goes_again(run: Run, place: Path) -> None:
    """Where Claude Code has no directory yet, none is left."""
    run("install", "claude", "--yes")

    assert place.is_dir()

    run("uninstall", "claude", "--yes")

    assert not place.exists()


def test_what_was_changed_meanwhile_stays(run: Run, place: Path) -> None:
    """Files of the user's, also inside the plugin's directory, outlive it."""
    fill(place)
    run("install", "claude", "--yes")
    (place / "settings.json").write_text("{}")
    (place / "skills" / "searchkit" / "notes.md").write_text("mine")

    run("uninstall", "claude", "--yes")

    assert "{}" == (place / "settings.json").read_text()
    assert ["notes.md"] == [path.name for path in (place / "skills" / "searchkit").iterdir()]


def test_installing_twice_changes_nothing(run: Run, place: Path) -> None:
    """The second time there is nothing to do."""
    run("install", "claude", "--yes")
    once = snapshot(place)

    again = run("install", "claude", "--yes", "--json")

    assert ([], False) == (again.json["changes"], again.json["is_done"])
    assert once == snapshot(place)


def test_change_is_shown_before_it_is_made(run: Run, place: Path) -> None:
    """A dry run shows every line and writes none; without a terminal and --yes nothing is done."""
    nothing(place)

    shown = run("install", "claude", "--dry-run")
    refused = run("install", "claude")

    assert "+++ .mcp.json" in shown.out
    assert '+      "args": [' in shown.out
    assert (0, 2) == (shown.status, refused.status)
    assert {} == snapshot(place)


def test_edited_file_is_copied_before_it_is_replaced(run: Run, place: Path) -> None:
    """What a user changed in the plugin is kept, and its mode with the new text."""
    run("install", "claude", "--yes")
    command = place / "skills" / "searchkit" / "commands" / "recall.md"
    command.write_text("mine")
    command.chmod(0o640)

    answer = run("install", "claude", "--yes", "--json").json

    assert ["replace"] == [one["change"] for one in answer["changes"]]
    assert "mine" == (Path(answer["copies"]) / "commands" / "recall.md").read_text()
    assert "mine" != command.read_text()
    assert 0o640 == command.stat().st_mode & 0o777


def test_edited_file_is_copied_before_it_is_removed(run: Run, place: Path) -> None:
    """Uninstalling loses nothing that somebody wrote."""
    run("install", "claude", "--yes")
    (place / "skills" / "searchkit" / "commands" / "recall.md").write_text("mine")

    answer = run("uninstall", "claude", "--yes", "--json").json

    assert "mine" == (Path(answer["copies"]) / "commands" / "recall.md").read_text()
    assert not place.exists()


def test_file_of_an_earlier_version_goes(run: Run, place: Path) -> None:
    """What an earlier version installed and this one does not know is taken away."""
    run("install", "claude", "--yes")
    plugin = place / "skills" / "searchkit"
    receipt = json.loads((plugin / ".claude-plugin" / "installed.json").read_text())
    receipt["files"]["old.md"] = "0"
    (plugin / ".claude-plugin" / "installed.json").write_text(json.dumps(receipt))
    (plugin / "old.md").write_text("old")

    run("install", "claude", "--yes")
    installed = (plugin / "old.md").exists()
    run("uninstall", "claude", "--yes")

    assert (False, False) == (installed, place.exists())


def broken_manifest(plugin: Path) -> None:
    """Leave a manifest that is no JSON."""
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "searchkit",')


def other_plugin(plugin: Path) -> None:
    """Put another plugin there."""
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "other"}')


def plain_skill(plugin: Path) -> None:
    """Put a skill of that name there."""
    plugin.mkdir(parents=True)
    (plugin / "SKILL.md").write_text("---\nname: searchkit\n---\n")


def link(plugin: Path) -> None:
    """Let a link lead elsewhere."""
    (plugin.parent / "elsewhere").mkdir(parents=True)
    plugin.symlink_to(plugin.parent / "elsewhere")


def broken_receipt(plugin: Path) -> None:
    """Leave a receipt that names files of others."""
    (plugin / ".claude-plugin").mkdir(parents=True)
    receipt = {"files": {"../../settings.json": "0"}, "made": []}
    (plugin / ".claude-plugin" / "installed.json").write_text(json.dumps(receipt))


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("there", [broken_manifest, other_plugin, plain_skill, link, broken_receipt])
def test_what_is_not_ours_is_not_touched(run: Run, place: Path, there: Callable[[Path], None], command: str) -> None:
    """Something else in its place, or something that cannot be understood, is an error that touches nothing."""
    there(place / "skills" / "searchkit")
    earlier = snapshot(place)

    refused = run(command, "claude", "--yes")

    assert (2, earlier) == (refused.status, snapshot(place))
    assert "touched" in refused.err


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_directory_that_cannot_be_written_is_told(run: Run, place: Path) -> None:
    """No permission is an error in words."""
    nothing(place)
    place.chmod(0o500)

    refused = run("install", "claude", "--yes")

    place.chmod(0o700)
    assert 2 == refused.status
    assert "cannot write" in refused.err


def test_nothing_to_uninstall_is_told(run: Run, place: Path) -> None:
    """Where nothing is installed, nothing is found."""
    assert 1 == run("uninstall", "claude", "--yes").status


def test_interrupted_installation_can_be_taken_away(run: Run, place: Path) -> None:
    """What a crash leaves behind is known by the receipt, which is written first."""
    run("install", "claude", "--yes")
    plugin = place / "skills" / "searchkit"
    (plugin / ".claude-plugin" / "plugin.json").unlink()
    shutil.rmtree(plugin / "commands")

    run("uninstall", "claude", "--yes")

    assert not place.exists()


def test_index_that_is_named_is_the_one_searched(run: Run, place: Path, tmp_path: Path) -> None:
    """The server is started by its whole path, on the index that was given."""
    run("install", "claude", "--yes", "--index", str(tmp_path / "mine"))

    server = json.loads((place / "skills" / "searchkit" / ".mcp.json").read_text())["mcpServers"]["searchkit"]

    assert Path(server["command"]).is_absolute()
    assert ["mcp", "--index", str(tmp_path / "mine")] == server["args"][-3:]


def test_programs_say_that_they_want_it(run: Run, place: Path) -> None:
    """With --json nothing is shown first, so nothing is changed unless that is said."""
    refused = run("install", "claude", "--json")

    assert (2, True) == (refused.status, "--dry-run" in refused.json["error"]["hint"])
    assert 0 == run("install", "claude", "--json", "--dry-run").status
