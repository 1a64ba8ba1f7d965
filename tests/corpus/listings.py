"""Templates of what tools print: code in several languages, stack traces, logs and shell output.

The slots are those of `words.py`.
"""

PYTHON = (
    '''def {i}({j}: str, limit: int = {n}) -> list[str]:
    """Return what {j} holds, newest first."""
    found = []
    for item in {j}.split(","):
        if not item.strip():
            continue
        found.append(item.lower())
    return found[:limit]
''',
    """class {i}:
    def __init__(self, {j}, timeout={n}):
        self.{j} = {j}
        self.timeout = timeout

    async def run(self):
        try:
            return await self.{j}.fetch(timeout=self.timeout)
        except {e} as error:
            logger.warning("giving up after %s: %s", self.timeout, error)
            raise
""",
)
TYPESCRIPT = (
    """export async function {i}(options: {{ {j}: string; retries?: number }}): Promise<Response> {{
  const url = `/api/{j}/${{options.{j}}}`;
  for (let attempt = 0; attempt < (options.retries ?? {n}); attempt += 1) {{
    const response = await fetch(url);
    if (response.ok) return response;
    await sleep(2 ** attempt * {m});
  }}
  throw new Error("{e}: " + url);
}}
""",
    """const {i} = useMemo(() => items.filter((item) => item.{j} > {n}), [items]);
return <section className="{j}">{{{i}.map((item) => <Row key={{item.id}} {{...item}} />)}}</section>;
""",
)
GO = (
    """func (s *Server) {i}(ctx context.Context, {j} string) error {{
	ctx, cancel := context.WithTimeout(ctx, {n}*time.Second)
	defer cancel()
	rows, err := s.db.QueryContext(ctx, "select id, name from {j} limit {m}")
	if err != nil {{
		return fmt.Errorf("{i}: %w", err)
	}}
	defer rows.Close()
	return rows.Err()
}}
""",
)
RUST = (
    """impl {i} {{
    pub fn {j}(&self, limit: usize) -> Result<Vec<u8>, Error> {{
        let mut buffer = Vec::with_capacity({n});
        for chunk in self.chunks.iter().take(limit) {{
            buffer.extend_from_slice(chunk);
        }}
        Ok(buffer)
    }}
}}
""",
)
SQL = (
    """create table if not exists {i} (
  id bigint primary key,
  {j} text not null default '',
  created_at timestamptz not null default now()
);
create index {i}_{j}_idx on {i} ({j}) where id > {n};
""",
)
TRACES = (
    """Traceback (most recent call last):
  File "{p}", line {n}, in {i}
    return self.{j}(request, timeout={m})
  File "{p}", line {m}, in {j}
    raise {e}("no answer from {t} after {n} ms")
{e}: no answer from {t} after {n} ms
""",
    """Error: {e}: {i} is not a function
    at {i} ({p}:{n}:{m})
    at Object.{j} ({p}:{m}:12)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
""",
    """thread 'main' panicked at {p}:{n}:{m}:
called `Result::unwrap()` on an `Err` value: {e}
   2: {i}::{j}
   3: core::ops::function::FnOnce::call_once
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
""",
    """java.lang.IllegalStateException: {e} while closing {i}
	at com.acme.{j}.close({j}.java:{n})
	at com.acme.Main.main(Main.java:{m})
Caused by: java.io.IOException: {t} went away
	... {n} more
""",
)
LOGS = (
    "2026-03-{d} 10:{d}:{d},{n} INFO  {i}: accepted {j} in {m} ms\n",
    "2026-03-{d} 11:{d}:{d},{n} WARN  {i}: {t} answered {e}, retry {d} of 5\n",
    '{{"level":"error","service":"{i}","msg":"{e}","trace":"{h}","took_ms":{n}}}\n',
    "\x1b[32mPASS\x1b[0m {p} ({n} ms)\n",
    "\x1b[31mFAIL\x1b[0m {p} > {i} > handles {j}\n",
    '10.0.{d}.{d} - - "GET /{i}/{j}?page={d} HTTP/1.1" 200 {n}\n',
    "[{i}] worker {d} finished batch {n} of {m}\n",
)
SHELL = (
    "-rw-r--r--  1 mira staff  {n} Mar {d} 10:{d} {p}\n",
    "{h} {i}: handle empty {j} ({t} {v})\n",
    "{p}:{n}:    {i}({j})\n",
    " M {p}\n",
    "added {n} packages, changed {d} packages in {d}s\n",
    "{i}-{h}   1/1   Running   {d}   {n}m\n",
    "test {i}::{j} ... ok\n",
    " {p} | {n} {m} ++++----\n",
)
SHELL_CJK = (
    "警告: {i} 的配置项 {j} 已弃用\n",
    "エラー: {p} が見つかりません ({n})\n",
    "경고: {i} 응답 시간이 {n}ms 를 넘었습니다\n",
)
SKILL = """# {i}

Use this skill when the user asks to work on {j}.

1. Read {p} first.
2. Run the checks of {t} and keep their output.
3. Report {n} findings at most, each with a path and a line.
"""
PLAN = """# Plan: {i}

## Why
{j} fails with {e} when {t} is slow.

## Steps
1. Move the retry into {i}.
2. Cover {p} with a test.
3. Measure again; expect less than {n} ms.
"""
