"""Takes things out of the catalog so that nothing of them remains but what other places hold."""

import sqlite3
from collections.abc import Iterable

from searchkit.backends.embedded.texts import Packer, Unpacker

_DOOMED = "CREATE TEMP TABLE IF NOT EXISTS doomed (id INTEGER PRIMARY KEY)"


def erase_file(connection: sqlite3.Connection, file: int) -> None:
    """Take a file's records out; one that lies in other places too moves its home there."""
    execute = connection.execute
    execute(_DOOMED)
    execute("DELETE FROM temp.doomed")
    execute("DELETE FROM places WHERE file = ?", (file,))
    _move_homes(connection, "file = ?", (file,))
    execute("INSERT INTO temp.doomed SELECT id FROM records WHERE file = ?", (file,))
    _erase_doomed(connection)


def erase_session(connection: sqlite3.Connection, session: int) -> None:
    """Take a session out: its records unless another session has them too, its facts, its name."""
    execute = connection.execute
    execute(_DOOMED)
    execute("DELETE FROM temp.doomed")
    execute("DELETE FROM places WHERE session = ?", (session,))
    _move_homes(connection, "session = ?", (session,))
    execute("INSERT INTO temp.doomed SELECT id FROM records WHERE session = ?", (session,))
    _erase_doomed(connection)
    execute("DELETE FROM facts WHERE session = ?", (session,))
    execute("DELETE FROM files WHERE session = ? AND is_gone", (session,))
    execute("UPDATE files SET session = 0 WHERE session = ?", (session,))
    execute("DELETE FROM sessions WHERE id = ?", (session,))


def erase_parts(connection: sqlite3.Connection, parts: Iterable[int]) -> None:
    """Take parts out, and records without a uuid of their own that say nothing without them."""
    connection.execute(_DOOMED)
    connection.execute("DELETE FROM temp.doomed")
    connection.executemany("INSERT OR IGNORE INTO temp.doomed VALUES (?)", [(part,) for part in parts])
    records = [
        row[0]
        for row in connection.execute("SELECT DISTINCT record FROM parts WHERE id IN (SELECT id FROM temp.doomed)")
    ]
    _forget_texts(connection, "id IN (SELECT id FROM temp.doomed)")
    connection.executemany(
        "DELETE FROM records WHERE id = ? AND NOT flags & 8 AND NOT EXISTS"
        " (SELECT 1 FROM parts WHERE parts.record = records.id)",
        [(record,) for record in records],
    )


def _move_homes(connection: sqlite3.Connection, condition: str, values: tuple[int, ...]) -> None:
    """Move the home of each record that has another place to the best of them."""
    moving = connection.execute(
        f"SELECT id FROM records WHERE {condition} AND EXISTS (SELECT 1 FROM places WHERE record = records.id)",
        values,
    ).fetchall()
    for (record,) in moving:
        file, line, session, agent = connection.execute(
            "SELECT file, line, places.session, places.agent FROM places JOIN files ON files.id = file"
            " WHERE record = ? ORDER BY is_copy, path, line LIMIT 1",
            (record,),
        ).fetchone()
        connection.execute(
            "UPDATE records SET file = ?, line = ?, session = ?, agent = ? WHERE id = ?",
            (file, line, session, agent, record),
        )
        connection.execute("UPDATE parts SET session = ? WHERE record = ?", (session, record))
        connection.execute("DELETE FROM places WHERE record = ? AND file = ? AND line = ?", (record, file, line))
        connection.execute("UPDATE sessions SET is_settled = 0 WHERE id = ?", (session,))


def _erase_doomed(connection: sqlite3.Connection) -> None:
    doomed = "IN (SELECT id FROM temp.doomed)"
    _forget_texts(connection, f"record {doomed}")
    connection.execute(f"DELETE FROM touches WHERE record {doomed}")
    connection.execute(f"DELETE FROM places WHERE record {doomed}")
    connection.execute(f"DELETE FROM responses WHERE record IN (SELECT uuid FROM records WHERE id {doomed})")
    connection.execute(f"DELETE FROM records WHERE id {doomed}")


def _forget_texts(connection: sqlite3.Connection, condition: str) -> None:
    """Delete parts and write anew the chunks that held their texts, without them."""
    execute = connection.execute
    chunks = [row[0] for row in execute(f"SELECT DISTINCT chunk FROM parts WHERE {condition}")]
    execute(f"UPDATE parts SET repeats = NULL WHERE repeats IN (SELECT id FROM parts WHERE {condition})")
    execute(f"DELETE FROM parts WHERE {condition}")
    unpacker = Unpacker(connection)
    for chunk in chunks:
        kept = execute("SELECT id, start, length FROM parts WHERE chunk = ? ORDER BY start", (chunk,)).fetchall()
        packer = Packer(chunk)
        moved = [(*packer.add(unpacker.text(chunk, start, length)), part) for part, start, length in kept]
        packer.flush()
        execute("DELETE FROM chunks WHERE id = ?", (chunk,))
        connection.executemany("INSERT INTO chunks VALUES (?, ?)", packer.chunks)
        connection.executemany("UPDATE parts SET chunk = ?, start = ?, length = ? WHERE id = ?", moved)
