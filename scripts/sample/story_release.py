"""Fieldnotes grows up: a migration on the phones that was stopped in time, and a release held back."""

from sample.session import Session
from sample.transcript import Json

TASKS = (
    ("Update the changelog", "Collect merged changes since 2.3.1", "completed"),
    ("Run the device matrix", "Six phones, Android 10 to 16 and two iOS versions", "completed"),
    ("Tag and upload 2.4.0", "Signed builds for both stores", "completed"),
    ("Raise the Android rollout to 100 %", "Held at 10 % until Thursday; watch the crash rate", "completed"),
)


def sessions() -> list[Session]:
    """Return the sessions of this story, oldest first."""
    return [_phone_migration(), _phone_migration_again(), _release()]


def tasks() -> list[Json]:
    """Return the task files of the release session."""
    rows = []
    for number, (subject, description, status) in enumerate(TASKS, 1):
        row: Json = {"id": str(number), "subject": subject, "description": description, "status": status}
        before = [str(number - 1)] if number > 1 else []
        after = [str(number + 1)] if number < len(TASKS) else []
        rows.append({**row, "activeForm": subject, "blocks": after, "blockedBy": before})
    return rows


def _phone_migration() -> Session:
    s = Session(
        "fieldnotes",
        "phone-migration",
        "2026-05-05T11:20:15",
        release=132,
        branch="db/v8",
        model="claude-opus-4-7",
    )
    s.begin()
    s.user("""
        The database on the phones goes from schema 7 to 8: tags move from a comma separated column in notes to
        a table of their own. Write the migration. It has to work on phones with 20,000 notes.
        """)
    s.mark("prompt")
    s.attach("todo_reminder", content=[], itemCount=0)
    with s.parallel():
        s.read(
            "src/db/migrations.ts",
            """
            export const migrations: Migration[] = [
              { to: 6, run: addPhotos },
              { to: 7, run: addRevisions },
            ];
            """,
        )
        s.bash(
            "sqlite3 fixtures/large.db '.schema notes' 'select count(*) from notes'",
            "Schema and size",
            """
            CREATE TABLE notes (id TEXT PRIMARY KEY, title TEXT, body TEXT, tags TEXT, stamp TEXT);
            20417
            """,
        )
    s.think("""
        SQLite on old Android cannot drop a column (needs 3.35). The usual twelve-step way: create new table,
        copy, drop the old, rename.
        """)
    s.say("Old phones have a SQLite without DROP COLUMN, so the table is rebuilt: new table, copy, drop, rename.")
    s.interrupt(
        rejected=(
            "Bash",
            {
                "command": "sqlite3 fixtures/large.db 'CREATE TABLE notes8 (id TEXT PRIMARY KEY, title TEXT, body TEXT, stamp TEXT);"
                " DROP TABLE notes; ALTER TABLE notes8 RENAME TO notes'",
                "description": "Try the rebuild on the large fixture",
            },
        )
    )
    s.mark("stopped")
    s.user("""
        stop. you drop notes before anything was copied, and on the only fixture with real sizes. work on a copy,
        and the migration must be one transaction: a phone can die in the middle.
        """)
    s.mark("why-stopped")
    s.think()
    s.say("""
        You are right, on both counts: the copy step was missing before the drop, and I was about to try it on the
        fixture itself. I'll work on a copy in /tmp, put everything into one transaction, and test it by killing
        the process halfway.
        """)
    s.mark("admits")
    s.bash(
        "cp fixtures/large.db /tmp/large.db && sha256sum fixtures/large.db | cut -c1-16",
        "Work on a copy",
        "5b1d0c2f9a77e410",
    )
    s.interrupt()
    s.line("last-prompt", lastPrompt=s.typed[-1][1], leafUuid=s.records[-1]["uuid"])
    return s


def _phone_migration_again() -> Session:
    s = Session(
        "fieldnotes",
        "phone-migration-2",
        "2026-05-06T09:02:44",
        release=133,
        branch="db/v8",
        model="claude-opus-4-7",
    )
    s.begin()
    s.user("""
        Yesterday I stopped you at the schema 8 migration. Start over: one transaction, copy before drop, on a
        copy of the fixture, and prove that a crash in the middle leaves version 7 intact.
        """)
    s.mark("prompt")
    s.write(
        "src/db/to8.ts",
        """
        export async function tagsToTable(db: Database): Promise<void> {
          await db.transaction(async (tx) => {
            await tx.run("CREATE TABLE tags (note TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (note, tag))");
            await tx.run(SPLIT_TAGS);
            await tx.run("CREATE TABLE notes8 (id TEXT PRIMARY KEY, title TEXT, body TEXT, stamp TEXT)");
            await tx.run("INSERT INTO notes8 SELECT id, title, body, stamp FROM notes");
            await tx.run("DROP TABLE notes");
            await tx.run("ALTER TABLE notes8 RENAME TO notes");
            await tx.run("PRAGMA user_version = 8");
          });
        }
        """,
    )
    s.mark_call("migration")
    s.write(
        "tests/db/to8.test.ts",
        """
        test.each([1, 2, 3, 4, 5, 6, 7])("a crash in statement %i leaves version 7 intact", async (n) => {
          const file = await copyOf("fixtures/large.db");
          await runAndKill("migrate", file, { inStatement: n });
          expect(await userVersion(file)).toBe(7);
          expect(await columns(file, "notes")).toContain("tags");
          expect(await count(file, "notes")).toBe(20417);
        });
        """,
    )
    s.bash(
        "npx vitest run db/to8 --reporter=dot",
        "Kill the migration in each statement",
        """
         ❯ tests/db/to8.test.ts (7 tests | 1 failed) 4410ms
           × a crash in statement 7 leaves version 7 intact
             → expected [ 'id', 'title', 'body', 'stamp' ] to include 'tags'

        AssertionError: expected [ 'id', 'title', 'body', 'stamp' ] to include 'tags'
         ❯ tests/db/to8.test.ts:5:47
        """,
        code=1,
    )
    s.mark("failure")
    s.think("""
        Statement 7 is PRAGMA user_version. Killed inside it, the tables are those of 8 already, while the
        version says 7: so the transaction was committed before the PRAGMA ran. The driver does that in run();
        exec() sends the statement as it is.
        """)
    s.say("""
        The test found something: the driver commits the open transaction before it runs a `PRAGMA`. For a moment
        the tables are those of version 8 while the version still says 7. A phone that dies right then would
        migrate again at the next start and fail with "no such column: tags", for good. `tx.exec` sends the
        statement as it is, inside of the transaction.
        """)
    s.mark("pragma")
    s.edit(
        "src/db/to8.ts",
        'await tx.run("PRAGMA user_version = 8");',
        'await tx.exec("PRAGMA user_version = 8");',
    )
    s.bash(
        "npx vitest run db/to8 --reporter=dot && node scripts/time-migration.mjs /tmp/large.db",
        "Test and time it",
        """
         ✓ tests/db/to8.test.ts (7 tests) 4388ms
        20417 notes, 51733 tags: 1.9 s on this machine, 7.4 s on the oldest test phone
        """,
    )
    s.say("All seven crash points leave version 7 intact. 20,417 notes take 7.4 s on the oldest test phone.")
    s.mark("result")
    s.end("Schema 8 migration, crash-safe")
    return s


def _release() -> Session:
    s = Session(
        "fieldnotes",
        "release",
        "2026-06-16T07:55:10",
        release=171,
        branch="release/2.4.0",
        model="claude-opus-4-7",
    )
    s.begin()
    s.user("Let's release fieldnotes 2.4.0 today: changelog, device matrix, tag, upload to both stores.")
    s.mark("prompt")
    for row in tasks():
        text = f"Task #{row['id']} created successfully: {row['subject']}"
        created = {"task": {"id": row["id"], "subject": row["subject"]}}
        s.call("TaskCreate", {k: row[k] for k in ("subject", "description", "activeForm")}, text, created)
    s.bash(
        "git log --oneline v2.3.1..HEAD | head -8",
        "Changes since the last release",
        """
        b7720de db: schema 8, tags in a table of their own
        a90c1f4 android: upload with WorkManager when in background
        77e0b35 sync: the client names a note, retries cannot create a second one
        5d1a7be photos: captions are searchable
        """,
    )
    s.write(
        "CHANGELOG.md",
        """
        ## 2.4.0

        - Uploads go on when the app is in the background (Android).
        - Notes are no longer created twice on slow connections.
        - Captions of photos can be searched.
        - Tags moved to a table of their own; the first start takes a few seconds longer.
        """,
    )
    s.slow_bash(
        "./scripts/device-matrix",
        "Run the device matrix",
        [
            "",
            """
        Android 10  PASS   Android 12  PASS   Android 14  PASS   Android 16  PASS
        iOS 17      PASS   iOS 26      PASS
        migration 7 -> 8 on all phones: ok, slowest 7.6 s
        """,
        ],
    )
    s.mark("matrix")
    s.queued("wait: hold the Android rollout at 10 % until Thursday, support has nobody tomorrow")
    s.mark("hold")
    s.say("Understood: Android stays at 10 % until Thursday, iOS goes out in phases as usual.")
    s.bash(
        "git tag -s v2.4.0 -m 'fieldnotes 2.4.0' && ./scripts/upload --android-rollout 10 --ios phased",
        "Tag and upload",
        """
        android: 2.4.0 (240) uploaded, rollout 10 %
        ios: 2.4.0 (240) submitted, phased release on
        """,
    )
    s.mark("upload")
    update = {"success": True, "taskId": "3", "updatedFields": ["status"]}
    s.call(
        "TaskUpdate",
        {"taskId": "3", "status": "completed"},
        "Updated task #3 status",
        {**update, "statusChange": {"from": "in_progress", "to": "completed"}},
    )
    s.say("""
        2.4.0 is tagged and uploaded. Android is at 10 % and iOS in phased release. One task stays open: raise the
        Android rollout to 100 % on Thursday if the crash rate is below 0.3 %.
        """)
    s.mark("result")
    s.turn_over()
    s.wait(days=2, hours=1)
    s.user("it's Thursday. crash rate?")
    s.bash(
        "./scripts/crash-rate --version 2.4.0 --hours 48",
        "Crash rate of the release",
        """
        android 2.4.0: 1,204 users, 1 crash (0.08 %)
        ios 2.4.0: 2,880 users, 0 crashes
        """,
    )
    s.bash("./scripts/rollout android 2.4.0 100", "Raise the rollout", "android: 2.4.0 rollout 100 %")
    s.call(
        "TaskUpdate",
        {"taskId": "4", "status": "completed"},
        "Updated task #4 status",
        {**update, "taskId": "4", "statusChange": {"from": "pending", "to": "completed"}},
    )
    s.say("0.08 % on Android, no crash on iOS. The rollout is at 100 % now.")
    s.mark("thursday")
    s.end("Release fieldnotes 2.4.0")
    return s
