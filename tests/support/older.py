"""The transcripts that the catalogs of older formats in `data/catalogs` were made of."""

import shutil
from pathlib import Path

from tests.support.transcript import Home

FIRST = "aaaaaaaa-0000-4000-8000-000000000001"
SECOND = "bbbbbbbb-0000-4000-8000-000000000002"
FORKED = "cccccccc-0000-4000-8000-000000000003"


def write(root: Path) -> Home:
    """Write two sessions, an agent, and a fork that has the records of the first, too."""
    home = Home(root)
    first = home.session(FIRST, branch="fix/lantern")
    first.prompt("why does the lantern go out when the warehouse door is opened?")
    first.thinking("the draught may reach the wick, or the oil may be used up")
    call = first.call("Bash", {"command": "grep -rn wick src/lantern.py", "description": "look for the wick"})
    first.result(call, "src/lantern.py:12: wick = None", is_error=False)
    edit = first.call(
        "Edit", {"file_path": "/home/mira/src/shop/lantern.py", "old_string": "None", "new_string": "Wick()"}
    )
    first.result(edit, "The file was updated.")
    first.text("The root cause was the wick: it was never made. The lantern stays lit now.")
    second = home.session(SECOND)
    second.prompt("pourquoi la bouilloire en cuivre ne chauffe-t-elle pas quand la porte est ouverte ?")
    second.text("La bouilloire ne chauffe pas parce que la porte laisse entrer le froid de la rue.")
    fork = home.project() / f"{FORKED}.jsonl"
    shutil.copy(first.path, fork)
    with fork.open("a") as file:
        file.write(
            '{"type":"user","uuid":"dddddddd-0000-4000-8000-00000000000d","parentUuid":null,'
            f'"sessionId":"{FORKED}","timestamp":"2026-03-02T10:00:00.000Z","cwd":"/home/mira/src/shop",'
            '"version":"2.1.100","gitBranch":"main","message":{"role":"user","content":"and the candle?"}}\n'
        )
    return home
