"""The tables of the catalog.

A record is one row of `records`, as its home shows it. Nearly every record has one place. Of one
that has several (a copy, a fork, a line written twice) `places` holds all of them, home included,
each as it shows the record, and `tellings` which text is told where: whatever comes or goes, the
row in `records` follows from these.

Uuids are kept as 16 bytes, or as text where they are no uuids. Strings that recur (types,
tools, agents) are kept once in `names`. Session 0 is "none": history lines of old versions,
plans and memory belong to no session. A negative line is where a record was in a file that
has since been replaced. A parent that is known is kept by its number, one that is not by its
uuid until it comes: in 98.8 % of records it is, and an index over numbers in order is a fraction
of one over random uuids. Numbers of records, parts and chunks are never given twice: derived stores can
tell by the highest part they hold what is new, and a reader that keeps a chunk can trust its number.
What they hold of older parts can become wrong: whatever changes or erases a part puts it on the list
`stale`, from which it goes when they have taken note; `stale_vectors` is the same for the vectors.

`settings` is what the manifest says, so that it can be written again from here. `store_files` has the checksums
of the files of derived stores that have none of their own. `losses` names what was damaged on the disk and
could not be read from its transcript again.
"""

from searchkit.types import Kind, Language, Role

# The numbers of kinds, roles and languages in the tables: a new one goes to the end of its enumeration.
KINDS = tuple(Kind)
ROLES = tuple(Role)
# 0 is none, which like 1 takes no room in a row.
LANGUAGES = (None, *Language)
# The values of filters that the tables hold as such numbers.
NUMBERED = {
    name: {number: value.value for number, value in enumerate(values) if value is not None}
    for name, values in {"kind": KINDS, "role": ROLES, "language": LANGUAGES}.items()
}
# What a person typed. SQLite uses the index over these parts only for queries with the very same words.
IS_TYPED = f"kind IN ({','.join(str(KINDS.index(kind)) for kind in (Kind.PROMPT, Kind.COMMAND, Kind.HISTORY))})"

TABLES = """
CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);
CREATE TABLE numbers (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  session INTEGER NOT NULL DEFAULT 0,
  agent INTEGER,
  directory TEXT,
  is_copy INTEGER NOT NULL,
  is_gone INTEGER NOT NULL DEFAULT 0,
  checkpoint BLOB,
  bytes INTEGER NOT NULL DEFAULT 0,
  lines INTEGER NOT NULL DEFAULT 0,
  torn INTEGER NOT NULL DEFAULT 0,
  noise TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX files_session ON files (session);
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  started INTEGER,
  ended INTEGER,
  has_transcript INTEGER NOT NULL DEFAULT 0,
  is_settled INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX sessions_ended ON sessions (ended);
CREATE INDEX sessions_unsettled ON sessions (id) WHERE is_settled = 0;
CREATE TABLE contexts (
  id INTEGER PRIMARY KEY,
  cwd TEXT, branch TEXT, version TEXT, entrypoint TEXT, model TEXT
);
CREATE INDEX contexts_values ON contexts (cwd, branch, version, model);
CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  uuid BLOB NOT NULL UNIQUE,
  parent INTEGER,
  missing_parent BLOB,
  logical_parent BLOB,
  source_call BLOB,
  type INTEGER NOT NULL,
  session INTEGER NOT NULL,
  agent INTEGER,
  file INTEGER NOT NULL,
  line INTEGER NOT NULL,
  time INTEGER,
  context INTEGER NOT NULL,
  response INTEGER,
  standing INTEGER NOT NULL,
  flags INTEGER NOT NULL
);
CREATE INDEX records_parent ON records (parent) WHERE parent IS NOT NULL;
CREATE INDEX records_place ON records (file, line);
CREATE TABLE places (
  record INTEGER NOT NULL,
  file INTEGER NOT NULL,
  line INTEGER NOT NULL,
  is_by_file INTEGER NOT NULL,
  session INTEGER NOT NULL,
  agent INTEGER,
  parent BLOB,
  logical_parent BLOB,
  source_call BLOB,
  type INTEGER NOT NULL,
  time INTEGER,
  context INTEGER NOT NULL,
  response INTEGER,
  standing INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  PRIMARY KEY (record, file, line, is_by_file)
) WITHOUT ROWID;
CREATE INDEX places_file ON places (file);
CREATE INDEX places_session ON places (session);
CREATE TABLE parts (
  id INTEGER PRIMARY KEY,
  record INTEGER NOT NULL,
  block INTEGER NOT NULL,
  variant INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  role INTEGER NOT NULL,
  session INTEGER NOT NULL,
  standing INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  tool INTEGER,
  call TEXT,
  is_error INTEGER NOT NULL,
  fields TEXT,
  chunk INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  language INTEGER NOT NULL,
  repeats INTEGER
);
CREATE INDEX parts_record ON parts (record, block);
CREATE INDEX parts_typed ON parts (session, kind) WHERE [typed];
CREATE TABLE tellings (
  part INTEGER NOT NULL,
  file INTEGER NOT NULL,
  line INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  role INTEGER NOT NULL,
  tool INTEGER,
  call TEXT,
  is_error INTEGER NOT NULL,
  fields TEXT,
  PRIMARY KEY (part, file, line)
) WITHOUT ROWID;
CREATE INDEX tellings_file ON tellings (file, line);
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  first_part INTEGER NOT NULL,
  last_part INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE TABLE responses (
  id INTEGER PRIMARY KEY,
  record BLOB NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost REAL,
  cache_write_1h INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE paths (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
);
CREATE TABLE touches (
  path INTEGER NOT NULL,
  record INTEGER NOT NULL,
  action INTEGER NOT NULL,
  PRIMARY KEY (path, record, action)
) WITHOUT ROWID;
CREATE INDEX touches_record ON touches (record);
CREATE TABLE facts (
  session INTEGER NOT NULL,
  name INTEGER NOT NULL,
  value TEXT NOT NULL,
  agent INTEGER NOT NULL,
  leaf BLOB,
  line INTEGER NOT NULL,
  PRIMARY KEY (session, name, value, agent)
) WITHOUT ROWID;
CREATE INDEX facts_leaf ON facts (leaf) WHERE leaf IS NOT NULL;
CREATE TABLE problems (
  file INTEGER NOT NULL,
  line INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (file, line, kind, detail)
) WITHOUT ROWID;
CREATE TABLE stale (
  part INTEGER PRIMARY KEY
);
CREATE TABLE stale_vectors (
  part INTEGER PRIMARY KEY
);
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE store_files (
  path TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE losses (
  id INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  part INTEGER,
  detail TEXT NOT NULL
);
CREATE TRIGGER part_changed AFTER UPDATE OF kind, role, session, tool, is_error, repeats ON parts
WHEN (old.kind, old.role, old.session, old.tool, old.is_error, old.repeats)
  IS NOT (new.kind, new.role, new.session, new.tool, new.is_error, new.repeats)
BEGIN
  INSERT OR IGNORE INTO stale VALUES (new.id);
END;
CREATE TRIGGER part_erased AFTER DELETE ON parts
BEGIN
  INSERT OR IGNORE INTO stale VALUES (old.id);
END;
CREATE TRIGGER record_changed AFTER UPDATE OF agent, context, time, flags ON records
WHEN (old.agent, old.context, old.time, old.flags & 1) IS NOT (new.agent, new.context, new.time, new.flags & 1)
BEGIN
  INSERT OR IGNORE INTO stale SELECT id FROM parts WHERE record = new.id;
END;
""".replace("[typed]", IS_TYPED)
# Without seals a catalog is filled that others are copied to, and sealed once it is.
BEGINNING = "INSERT INTO sessions (id, name, is_settled) VALUES (0, '', 1);"

# Indexes that writing a new catalog does without: sorting all rows once takes a third of the time that
# it takes to put each in its place. They are made before the first sessions are settled, and, after a
# first build that was killed, by the next process that opens the catalog to write. A search does without them, too.
LATE_INDEXES = (
    "CREATE INDEX IF NOT EXISTS records_missing_parent ON records (missing_parent) WHERE missing_parent IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS records_session ON records (session)",
    "CREATE INDEX IF NOT EXISTS parts_session ON parts (session, standing)",
    "CREATE INDEX IF NOT EXISTS parts_call ON parts (call) WHERE call IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS parts_repeats ON parts (repeats) WHERE repeats IS NOT NULL",
)

# What `state` says of a part in the stores that derive from the catalog.
IS_ERROR, IS_SIDECHAIN = 1, 2

# Flags of a record.
SIDECHAIN = 1
FORKED = 2
BOUNDARY = 4
LINK = 8
# The record has several places.
SHARED = 32
# The call that a result belongs to is its parent (99.8 % of results), so that it need not be kept twice.
CALLED_BY_PARENT = 16

# Orders the places of a record, the home first; the files must be joined.
BEST = f"places.line < 0, is_copy, (places.flags & {FORKED}) != 0, path, abs(places.line), is_by_file"


def new_catalog() -> str:
    """Return what makes an empty catalog."""
    # A search makes no catalog, and verifies none.
    from searchkit.backends.local.catalog.checksums import SEALS

    return TABLES + SEALS + BEGINNING
