"""The mistake behind the double charges, a month later in another project: notes created twice."""

from sample.session import Session


def sessions() -> list[Session]:
    """Return the one session of this story."""
    return [_twin_notes()]


def _twin_notes() -> Session:
    s = Session("fieldnotes", "twin-notes", "2026-03-18T10:05:12", release=78, branch="fix/twin-notes")
    s.begin()
    s.user("""
        Field users with bad reception get every note twice on the server. Looks familiar: in teashop we
        had customers charged twice last month. Is it the same thing?
        """)
    s.mark("prompt")
    s.think("""
        Same family probably: something is retried and the receiver does not recognise it. Here the client
        retries. Let me look at the upload code and the server's handler.
        """)
    with s.parallel():
        s.read(
            "src/sync/upload.ts",
            """
            import { api } from "../net/api";
            import type { Draft } from "../model/note";

            const ATTEMPTS = 5;

            export async function upload(draft: Draft): Promise<string> {
              for (let attempt = 1; ; attempt += 1) {
                try {
                  const { id } = await api.post("/notes", draft, { timeoutMs: 8000 });
                  return id;
                } catch (error) {
                  if (attempt === ATTEMPTS) throw error;
                  await pause(500 * 2 ** attempt);
                }
              }
            }
            """,
        )
        s.grep(
            'app.post\\("/notes"',
            """
            server/routes/notes.ts:14:app.post("/notes", async (request, reply) => {
            server/routes/notes.ts:15:  const id = crypto.randomUUID();
            server/routes/notes.ts:16:  await db.insert("notes", { id, ...request.body });
            server/routes/notes.ts:17:  return reply.code(201).send({ id });
            """,
            path="server",
        )
    s.bash(
        "node scripts/slow-proxy.mjs --delay 9000 & npx vitest run sync/upload --reporter=dot",
        "Upload by a slow link",
        """
         ❯ src/sync/upload.test.ts (3 tests | 1 failed) 17412ms
           × a slow answer does not create a second note
             → expected [ 'a41f', 'c903' ] to have a length of 1 but got 2

         FAIL  src/sync/upload.test.ts > a slow answer does not create a second note
        AssertionError: expected [ 'a41f', 'c903' ] to have a length of 1 but got 2
         ❯ src/sync/upload.test.ts:48:31
        """,
        code=1,
    )
    s.mark("failure")
    s.say("""
        Related, but from the other side. In teashop the sender delivered an event twice and two workers
        raced. Here *we* are the sender: the request reaches the server, the answer takes longer than 8 s,
        the client gives up and posts again, and the server invents a **new id** each time, so it cannot
        know the note already. Both cases lack the same thing: a name for the operation which the sender
        chooses once, and a unique constraint on the receiver.

        So: the client makes the note's id (UUID v7) when the draft is created, keeps it over all retries,
        and the server does `INSERT ... ON CONFLICT (id) DO NOTHING` and answers 200 with the same id.
        """)
    s.mark("same-family")
    s.user("yes, do that. does the id in the client break old app versions?")
    s.think("Old versions send no id. The server must keep generating one then.")
    s.say("Old versions send no id, so the server keeps inventing one for them; they stay as they are until updated.")
    s.mark("old-versions")
    with s.parallel():
        s.edit(
            "src/model/note.ts",
            "return { title, body, tags: [], photos: [] };",
            """
            // Chosen once and kept over all retries: the server knows a note by it.
            return { id: uuidv7(), title, body, tags: [], photos: [] };
            """,
        )
        s.edit(
            "server/routes/notes.ts",
            """
            const id = crypto.randomUUID();
            await db.insert("notes", { id, ...request.body });
            return reply.code(201).send({ id });
            """,
            """
            const id = request.body.id ?? crypto.randomUUID();
            const created = await db.insertOrIgnore("notes", { ...request.body, id });
            return reply.code(created ? 201 : 200).send({ id });
            """,
        )
    s.bash(
        "npx vitest run sync --reporter=dot",
        "Run the sync tests",
        """
         ✓ src/sync/upload.test.ts (3 tests) 9120ms
         ✓ src/sync/merge.test.ts (22 tests) 88ms

         Test Files  2 passed (2)
              Tests  25 passed (25)
        """,
    )
    s.bash(
        "git commit -qam 'sync: the client names a note, retries cannot create a second one' && gh pr create --fill",
        "Commit and open a pull request",
        "https://git.example.com/fieldnotes/fieldnotes/pull/212",
    )
    s.line(
        "pr-link",
        prNumber=212,
        prUrl="https://git.example.com/fieldnotes/fieldnotes/pull/212",
        prRepository="fieldnotes/fieldnotes",
        timestamp="2026-03-18T10:31:40.000Z",
    )
    s.say("All 25 sync tests pass, and the change is in pull request 212.")
    s.end("Fix notes created twice on slow connections")
    return s
