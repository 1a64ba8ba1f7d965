"""A history with two projects that the interface shows; some of its texts would be markup for Rich."""

from pathlib import Path

import pytest

from searchkit import Engine
from tests.support.transcript import Home

SLOW = "11111111-1111-4111-8111-111111111111"
LEAK = "22222222-2222-4222-8222-222222222222"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of two sessions, one of which can be reopened in a directory that is there."""
    place = tmp_path_factory.mktemp("interface")
    shop, driftlog = place / "shop", place / "driftlog"
    shop.mkdir()
    home = Home(place / "claude")
    slow = home.session(SLOW, cwd=str(shop))
    slow.prompt("why is the checkout query slow?")
    call = slow.call("Bash", {"command": "psql -c 'explain select 1'", "description": "Explain the query"})
    slow.result(call, "Seq Scan on orders [red]4.2 s[/red]")
    slow.text("The checkout query scans all orders; an index on customer_id makes it fast. [bold]Done[/bold]")
    leak = home.session(LEAK, cwd=str(driftlog), branch="fix/leak")
    leak.prompt("memory grows without end \x1b[31m[link=https://bad.example]here[/link]")
    leak.text("The channel is unbounded, so memory grows while the uplink is slow.")
    with Engine(place / "index", [home.root]) as engine:
        engine.index()
    return place / "index"
