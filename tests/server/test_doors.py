"""Where requests come in."""

import socket
from contextlib import closing
from pathlib import Path

from searchkit.server.security import Doors


def test_answers_over_a_port_are_sent_at_once(tmp_path: Path) -> None:
    """A connection does not wait for the acknowledgement of one piece of an answer before it sends the next."""
    with socket.socket(socket.AF_UNIX) as first:
        door = Doors(tmp_path, first).add_port(0)

    with closing(door.listening), socket.create_connection(("127.0.0.1", door.port or 0)):
        door.listening.setblocking(True)
        accepted, _ = door.listening.accept()
        with closing(accepted):
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
