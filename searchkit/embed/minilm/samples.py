"""Texts of the kinds that transcripts hold, over which a quantised model is compared with its original."""

SAMPLES = (
    "fix it",
    "Why is the build red on CI when everything passes on my laptop?",
    "The root cause was a race: two workers opened the same temporary file, and the second one truncated it.",
    "Let me check how the session store expires its entries before I change anything.",
    "Now all 214 tests pass. I replaced the retry loop by a queue, because a failed call was counted twice.",
    "Could you make the sidebar collapse on small screens, and keep the active item in view?",
    "I'd rather not add a dependency for this; write the parser by hand, it is forty lines.",
    "Summary: the user asked for faster imports. We measured, made two modules lazy, and cut 1.8 s to 0.3 s.",
    "def mean(values: list[float]) -> float:\n    return sum(values) / len(values) if values else 0.0\n",
    "export const useDebounce = <T,>(value: T, ms = 300): T => {\n  const [held, setHeld] = useState(value);\n"
    "  useEffect(() => { const id = setTimeout(() => setHeld(value), ms); return () => clearTimeout(id); }, [value]);\n"
    "  return held;\n};",
    "impl Iterator for Lines<'_> {\n    type Item = &[u8];\n    fn next(&mut self) -> Option<Self::Item> { None }\n}",
    "SELECT s.id, count(*) FROM sessions s LEFT JOIN records r ON r.session = s.id GROUP BY s.id HAVING count(*) > 10;",
    'Traceback (most recent call last):\n  File "app/server.py", line 88, in handle\n    body = json.loads(raw)\n'
    "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "error[E0502]: cannot borrow `buffer` as mutable because it is also borrowed as immutable\n --> src/ring.rs:41:9",
    "TypeError: Cannot read properties of undefined (reading 'map') at Table.render (table.tsx:57:21)",
    "command: git log --oneline -20 && git diff --stat HEAD~3\ndescription: See what changed lately",
    "docker compose up -d postgres redis && npm run migrate -- --env=staging",
    "file_path: src/components/UserMenu/index.tsx\nold_string: onClick={open}\nnew_string: onClick={() => open(true)}",
    '{"name": "billing-worker", "version": "2.14.0", "scripts": {"test": "vitest run", "lint": "eslint ."}}',
    "@@ -12,7 +12,9 @@ class Cache:\n-        self.entries = {}\n+        self.entries = OrderedDict()\n"
    "+        self.limit = limit\n",
    "2026-03-01T10:04:17.221Z WARN pool exhausted after 30000 ms (active=20 idle=0 waiting=57)",
    "CONTAINER ID   IMAGE          STATUS          PORTS\n9f2c1a77be01   redis:7        Up 3 hours      6379/tcp\n",
    "drwxr-xr-x  14 dev  staff   448 Mar  1 10:04 node_modules\n-rw-r--r--   1 dev  staff  1203 Mar  1 09:58 a.ts",
    "PASS tests/parser.test.ts (3.1 s)\nFAIL tests/queue.test.ts\n  expected 3 calls, received 4\n",
    "getUserByEmailAddress HTTPServerError parse_config_file --no-verify-ssl ../lib/os/path.py:120",
    "# Release notes\n\n- Faster start\n- `--json` on every command\n\n| before | after |\n|---|---|\n| 2 s | 1 s |",
    "https://example.org/docs/v2/api/reference.html?section=auth#refresh-tokens",
    "[ERROR] 404 404 404 ---- ==== //// 0x7ffdeadbeef 3.14159 1e-9",
    "/review the last commit, but only its SQL",
    "Peux-tu corriger l'encodage des accents dans l'export ? Les données sont corrompues depuis mardi.",
    "Die Prüfung schlägt fehl, weil der Schlüssel abgelaufen ist; bitte einen neuen erzeugen.",
    "El servidor devuelve 502 cuando la cola está llena.",
    "修复登录页面的内存泄漏 然后重新运行测试。",
    "백필링 작업이 왜 두 번 실행되는지 확인해 줘.",
    "テストが時々失敗する原因を調べてください。",
    "thanks! 🎉 works now",
    "The plan has three steps. First, move the tokens into their own table, keyed by device. Second, sign in once with "
    "the old flow and write both places, so that a rollback loses nobody. Third, read only from the new table and drop "
    "the old columns after two weeks. The risk is in the second step: a device that signs in while the migration runs "
    "may be written to one place only. A unique constraint and an upsert make that harmless, and a nightly job counts "
    "the rows that differ. Nothing of this needs downtime. I have written the migration and a test that interrupts it "
    "at every statement; the only thing left is the index on last_seen, which takes about four minutes on production "
    "because the table has ninety million rows, and should be built concurrently.",
)
