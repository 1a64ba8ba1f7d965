"""Performance hunts with numbers: the slow product list, a fork that tried a cache, the log shipper."""

from sample.session import Session

SUMMARY = """
    Summary:
    1. Primary request: the product list `/api/products` is slow (p95 1,840 ms at 20 requests/s); find out why
       with measurements and bring it below 150 ms.
    2. Measured so far:
       - JSON encoding was suspected first. Replacing the encoder won 40 ms of 1,840. A red herring; reverted.
       - 601 SQL statements per request (N+1: one per product for its stock, one for its tags). With
         `selectinload` 3 statements remain and p95 is 610 ms.
    3. Pending: the remaining statement on `stock_moves` takes 480 ms; look at its query plan.
    4. The user does not want a cache unless nothing else helps.
    """


AWAY = (
    "Throughput of driftlog went from 41,059 to 212,314 lines/s with a write buffer and shared Bytes. "
    "Next: run all tests and commit on perf/batch."
)


def sessions() -> list[Session]:
    """Return the sessions of this story, oldest first."""
    slow = _slow_list()
    return [slow, _cache_fork(slow), _lines_per_second()]


def _slow_list() -> Session:
    s = Session(
        "teashop",
        "slow-list",
        "2026-05-12T09:00:12",
        release=139,
        branch="perf/products",
        model="claude-opus-4-7",
    )
    s.begin()
    s.user("""
        The product list takes almost two seconds at the 95th percentile since we have 300 teas. Target:
        under 150 ms. Measure first. I would rather not add a cache.
        """)
    s.mark("prompt")
    s.attach(
        "hook_success",
        hookName="UserPromptSubmit",
        hookEvent="UserPromptSubmit",
        toolUseID="hook-1",
        content="branch perf/products, working tree clean",
        stdout="",
        stderr="",
        exitCode=0,
        command="scripts/env.sh",
    )
    s.bash(
        "oha -n 400 -q 20 --no-tui http://localhost:8000/api/products | grep -E 'p50|p95|p99|Requests/sec'",
        "Measure the product list",
        """
          Requests/sec: 11.20
          50.00% in 1.2110 secs (p50)
          95.00% in 1.8403 secs (p95)
          99.00% in 2.2207 secs (p99)
        """,
    )
    s.mark("baseline")
    s.local_command("model", "Set model to opus (claude-opus-4-7)")
    s.say("Baseline: p95 1,840 ms. Now where the time goes.")
    s.bash(
        "py-spy record -d 20 -f raw -o /tmp/p.txt --pid $(pgrep -f uvicorn) && sort -t' ' -k2 -nr /tmp/p.txt | head -5",
        "Profile for 20 seconds",
        """
        products:list;serialize;json_default;isoformat 412
        products:list;Product.stock;Query.first;execute 1630
        products:list;Product.tags;Query.all;execute 1287
        products:list;price_of 61
        """,
    )
    s.think("""
        isoformat in the encoder is visible, but the two lazy loads dominate: stock and tags. The user said
        once that JSON was slow; let me try the encoder quickly since it is one line, and then the loads.
        """)
    s.say("JSON encoding shows up too and is a one-line try, so I'll measure it on its own before the queries.")
    s.bash(
        "ENCODER=fast oha -n 400 -q 20 --no-tui http://localhost:8000/api/products | grep p95",
        "Measure with another JSON encoder",
        "  95.00% in 1.8011 secs (p95)",
    )
    s.say("40 ms of 1,840: a red herring, I take it out again. The queries are the cause.")
    s.mark("red-herring")
    s.user("how many queries per request are that?")
    s.bash(
        "SQL_ECHO=1 curl -s localhost:8000/api/products -o /dev/null; grep -c 'SELECT' var/log/sql.log",
        "Count statements",
        "601",
    )
    s.mark("n-plus-one")
    s.edit(
        "teashop/products.py",
        "db.query(Product).all()",
        """
        db.query(Product).options(selectinload(Product.tags), selectinload(Product.stock)).all()
        """,
    )
    s.bash(
        "oha -n 400 -q 20 --no-tui http://localhost:8000/api/products | grep p95 && grep -c SELECT var/log/sql.log",
        "Measure again",
        """
          95.00% in 0.6102 secs (p95)
        3
        """,
    )
    s.say("601 statements became 3, p95 went from 1,840 to 610 ms. One of the three still takes 480 ms.")
    s.compact(SUMMARY, tokens=168_204)
    s.bash(
        "psql -c 'explain (analyze, buffers) select product_id, sum(amount) from stock_moves where product_id = any(...) group by 1'",
        "Show the query plan",
        """
         HashAggregate  (cost=48211.07..48214.07 rows=300) (actual time=478.913..478.990 rows=300 loops=1)
           ->  Seq Scan on stock_moves  (cost=0.00..41877.30 rows=1266754) (actual time=0.021..601.448 rows=1270113)
                 Filter: (product_id = ANY ('{...}'::integer[]))
                 Rows Removed by Filter: 9120
         Buffers: shared hit=112 read=25921
         Execution Time: 479.206 ms
        """,
    )
    s.mark("plan")
    s.think("""
        It sums the complete history of stock movements, 1.27 million rows, on every request. An index on
        product_id does not help since nearly all rows match. A covering index gives an index-only scan, but
        still 1.27 M rows. Better: a running balance kept by the same transaction which inserts a move.
        """)
    s.say("""
        An index would not help here: the filter keeps 99 % of the rows. The query adds up the **whole history**
        of stock movements, 1.27 million rows, each time. I'd keep a `stock_balance` table with one row per
        product, updated in the same transaction as the movement (trigger), so the sum is never out of date.
        """)
    s.mark("balance")
    s.user("good, that is not a cache, that is a ledger with a balance. go")
    s.write(
        "migrations/0040_stock_balance.sql",
        """
        CREATE TABLE stock_balance (product_id int PRIMARY KEY, amount bigint NOT NULL);
        INSERT INTO stock_balance SELECT product_id, sum(amount) FROM stock_moves GROUP BY 1;
        CREATE FUNCTION keep_balance() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO stock_balance VALUES (NEW.product_id, NEW.amount)
          ON CONFLICT (product_id) DO UPDATE SET amount = stock_balance.amount + EXCLUDED.amount;
          RETURN NEW;
        END $$;
        CREATE TRIGGER stock_moves_balance AFTER INSERT ON stock_moves
          FOR EACH ROW EXECUTE FUNCTION keep_balance();
        """,
    )
    s.bash(
        "oha -n 400 -q 20 --no-tui http://localhost:8000/api/products | grep -E 'p50|p95|p99'",
        "Measure the result",
        """
          50.00% in 0.0583 secs (p50)
          95.00% in 0.0961 secs (p95)
          99.00% in 0.1302 secs (p99)
        """,
    )
    s.say("""
        p95 is 96 ms now, from 1,840 ms:

        | step | statements | p95 |
        |---|---|---|
        | before | 601 | 1,840 ms |
        | other JSON encoder (reverted) | 601 | 1,801 ms |
        | selectinload instead of lazy loads | 3 | 610 ms |
        | stock balance instead of summing the history | 3 | 96 ms |
        """)
    s.mark("result")
    s.turn_over()
    s.end("Product list from 1,840 ms to 96 ms")
    return s


def _cache_fork(slow: Session) -> Session:
    s = Session(
        "teashop",
        "cache-fork",
        "2026-05-13T16:20:00",
        release=139,
        branch="perf/products",
        model="claude-opus-4-7",
    )
    s.copy_from(slow, "n-plus-one")
    s.user("""
        Different branch of thought, for comparison only: what would a Redis cache of the whole response give
        us, and what would it cost? Do not merge anything.
        """)
    s.mark("prompt")
    s.write(
        "/tmp/cached_products.py",
        """
        def cached(redis, build, ttl=60):
            body = redis.get("products:v1")
            if body is None:
                body = build()
                redis.set("products:v1", body, ex=ttl)
            return body
        """,
    )
    s.bash(
        "CACHE=1 oha -n 400 -q 20 --no-tui http://localhost:8000/api/products | grep -E 'p50|p95|p99'",
        "Measure with the cache",
        """
          50.00% in 0.0041 secs (p50)
          95.00% in 0.0068 secs (p95)
          99.00% in 1.9120 secs (p99)
        """,
    )
    s.mark("measure")
    s.think("""
        p95 7 ms, but p99 1.9 s: every 60 s someone pays for the rebuild, and at 20 rps some 38 requests pile
        up behind it, all rebuilding (a stampede). And the stock shown is up to a minute old.
        """)
    s.say("""
        With a 60 s cache p95 is 7 ms but p99 stays at 1.9 s: when the entry expires, all requests of those
        two seconds rebuild it at once (a stampede). And stock would be up to a minute old, so we would sell
        tea we do not have. The slow query would still be there, only hidden. I'd leave the cache out.
        """)
    s.mark("verdict")
    s.user("thanks, that is what I wanted to have in writing. closing this fork.")
    s.say("Nothing was merged; the try-out is only in /tmp/cached_products.py.")
    s.end()
    s.line("custom-title", customTitle="fork: would a response cache have been enough?")
    return s


def _lines_per_second() -> Session:
    s = Session(
        "driftlog",
        "lines-per-second",
        "2026-06-02T10:11:40",
        release=162,
        branch="perf/batch",
        model="claude-opus-4-7",
    )
    s.begin()
    s.user(
        "driftlog ships 41,000 lines per second on the test box and then one core is full. Where does it go? Please use perf, no guessing."
    )
    s.mark("prompt")
    s.think()
    s.bash(
        "cargo build --release -q && ./target/release/driftlog bench --lines 2000000 && perf report --stdio -g none | head -12",
        "Benchmark under perf",
        """
        2000000 lines in 48.71 s: 41059 lines/s

          31.20%  driftlog  [kernel]            entry_SYSCALL_64
          22.84%  driftlog  libc.so.6           __write
          17.05%  driftlog  libc.so.6           malloc
          11.91%  driftlog  driftlog            <serde_json::Value as Clone>::clone
           6.02%  driftlog  driftlog            driftlog::parse::timestamp
        """,
    )
    s.mark("profile")
    s.say("""
        More than half is system calls: one `write` per line. After that come allocations, because each line
        becomes a `serde_json::Value` that is cloned for the retry queue. Two independent things; I take them
        one after the other so that each has its number.
        """)
    with s.parallel():
        s.read(
            "src/sink.rs",
            """
            pub async fn send(&mut self, line: &Line) -> io::Result<()> {
                let body = serde_json::to_vec(&line.value)?;
                self.stream.write_all(&body).await?;
                self.stream.write_all(b"\\n").await?;
                self.unacked.push_back(line.clone());
                Ok(())
            }
            """,
        )
        s.grep(
            "unacked",
            """
            src/sink.rs:6:        self.unacked.push_back(line.clone());
            src/retry.rs:19:    for line in sink.unacked.drain(..) {
            """,
            path="src",
        )
    s.edit(
        "src/sink.rs",
        """
            self.stream.write_all(&body).await?;
            self.stream.write_all(b"\\n").await?;
        """,
        """
            self.buffer.extend_from_slice(&body);
            self.buffer.push(b'\\n');
            if self.buffer.len() >= FLUSH_BYTES || self.oldest.elapsed() >= FLUSH_AFTER {
                self.flush().await?;
            }
        """,
    )
    s.bash(
        "cargo build --release -q && ./target/release/driftlog bench --lines 2000000",
        "Benchmark with a 64 KiB buffer",
        "2000000 lines in 17.02 s: 117508 lines/s",
    )
    s.mark("buffer")
    s.edit(
        "src/sink.rs",
        "    self.unacked.push_back(line.clone());",
        "    self.unacked.push_back(line.bytes.clone()); // Bytes: a counter, not a copy",
    )
    s.bash(
        "cargo build --release -q && ./target/release/driftlog bench --lines 2000000",
        "Benchmark without the deep clone",
        "2000000 lines in 9.42 s: 212314 lines/s",
    )
    s.say("""
        41,059 → 117,508 lines/s by writing 64 KiB at a time in place of one system call per line, then
        → 212,314 lines/s by keeping unacknowledged lines as shared `Bytes` in place of cloned JSON values.
        A line now waits at most 50 ms in the buffer (`FLUSH_AFTER`).
        """)
    s.mark("result")
    s.system("away_summary", content=AWAY, isMeta=False)
    s.user("does the buffer lose lines if the process is killed?")
    s.say("""
        No: the read position of a file is saved only after the receiver has acknowledged the lines, as since
        the rotation fix in April. Lines in the buffer are read again after a restart. They can arrive twice,
        not get lost; the receiver drops repeats by (file, offset).
        """)
    s.mark("no-loss")
    s.bash(
        "cargo test -q 2>&1 | grep 'test result' | head -2",
        "Run the tests",
        """
        test result: ok. 64 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s
        test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 3.88s
        """,
    )
    s.say("All tests pass; the change is on `perf/batch`.")
    s.end("driftlog throughput: 41k to 212k lines per second")
    return s
