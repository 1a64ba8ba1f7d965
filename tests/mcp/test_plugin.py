"""The plugin and the marketplace are what Claude Code's documentation asks for."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from searchkit import __version__
from searchkit.mcp.server import TOOLS
from searchkit.sources import tools

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "searchkit" / "plugin"
NAME = {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}
TEXT = {"type": "string", "minLength": 1}
WORDS = {"type": "array", "items": TEXT}
PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": TEXT, "email": TEXT, "url": TEXT},
    "additionalProperties": False,
}
PATHS = {"anyOf": [{"type": "string", "pattern": r"^\./"}, {"type": "array", "items": {"pattern": r"^\./"}}]}
ABOUT = {
    "name": NAME,
    "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
    "description": TEXT,
    "author": PERSON,
    "homepage": TEXT,
    "repository": TEXT,
    "license": TEXT,
    "keywords": WORDS,
}
# As "Plugins reference: plugin manifest schema" has it; `claude plugin validate --strict` refuses other names.
MANIFEST = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        **ABOUT,
        "$schema": TEXT,
        "displayName": TEXT,
        "defaultEnabled": {"type": "boolean"},
        **dict.fromkeys(("skills", "commands", "agents", "workflows", "outputStyles"), PATHS),
        **{name: {"anyOf": [PATHS, {"type": "object"}]} for name in ("hooks", "mcpServers", "lspServers")},
    },
}
# As "Marketplace reference" has it: names that are taken may not be used.
MARKETPLACE = {
    "type": "object",
    "required": ["name", "owner", "plugins"],
    "additionalProperties": False,
    "properties": {
        "name": {**NAME, "not": {"pattern": "official|anthropic|^claude-|^agent-skills$"}},
        "owner": PERSON,
        "description": TEXT,
        "metadata": {"type": "object"},
        "plugins": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name", "source"],
                "additionalProperties": False,
                "properties": {**ABOUT, "source": {"type": "string", "pattern": r"^\./"}, "category": TEXT},
            },
        },
    },
}
SERVERS = {
    "type": "object",
    "required": ["mcpServers"],
    "additionalProperties": False,
    "properties": {
        "mcpServers": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["command"],
                "additionalProperties": False,
                "properties": {"command": TEXT, "args": WORDS, "env": {"type": "object"}, "type": {"const": "stdio"}},
            },
        }
    },
}


def read(path: Path) -> Any:
    """Read a file of JSON."""
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        (PLUGIN / ".claude-plugin" / "plugin.json", MANIFEST),
        (PLUGIN / ".mcp.json", SERVERS),
        (ROOT / ".claude-plugin" / "marketplace.json", MARKETPLACE),
    ],
    ids=["plugin", "servers", "marketplace"],
)
def test_manifest_is_valid(path: Path, schema: dict[str, Any]) -> None:
    """A file has the fields that are asked for, of the right types, and no others."""
    Draft202012Validator(schema).validate(read(path))


def test_marketplace_leads_to_the_plugin() -> None:
    """The entry names the plugin where it is; the plugin has the version of the package."""
    (entry,) = read(ROOT / ".claude-plugin" / "marketplace.json")["plugins"]
    manifest = read(ROOT / entry["source"] / ".claude-plugin" / "plugin.json")

    assert PLUGIN == (ROOT / entry["source"]).resolve()
    assert (entry["name"], __version__) == (manifest["name"], manifest["version"])


def test_server_is_what_tools_are_known_by() -> None:
    """The names under which transcripts hold our tools are those that the plugin gives them."""
    (server,) = read(PLUGIN / ".mcp.json")["mcpServers"]
    plugin = read(PLUGIN / ".claude-plugin" / "plugin.json")["name"]

    assert (server, f"plugin_{plugin}_{server}") == tools.OWN_TOOLS


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("skills/history/SKILL.md", {"name", "description"}),
        ("commands/recall.md", {"name", "description", "argument-hint"}),
    ],
)
def test_instructions_have_their_head(path: str, fields: set[str]) -> None:
    """A skill or command begins with what is known of it before it is read, and is no longer than a page or two."""
    text = (PLUGIN / path).read_text(encoding="utf-8")
    found = re.match(r"---\n(.+?)\n---\n\n(.+)", text, re.DOTALL)

    assert found is not None
    head = dict(line.split(": ", 1) for line in found[1].splitlines())
    assert fields == head.keys()
    assert head["name"] in Path(path).parts[1].removesuffix(".md")
    # What is always in mind may take so much, and no more.
    assert len(head["description"]) <= 1_024
    assert len(text) <= 4_000


def test_skill_names_every_tool() -> None:
    """Whoever reads the skill knows what there is."""
    text = (PLUGIN / "skills" / "history" / "SKILL.md").read_text(encoding="utf-8")

    assert [] == [name for name in TOOLS if f"`{name}`" not in text]


@pytest.mark.parametrize("name", TOOLS)
def test_every_argument_is_documented(name: str) -> None:
    """The table of tools names what each takes; that any may be told who asks is said once."""
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith(f"| `{name}` |"))

    documented = set(re.findall(r"`(\w+)`", row.split("|")[2]))

    assert documented == TOOLS[name].input_schema["properties"].keys() - {"exclude_session"}
