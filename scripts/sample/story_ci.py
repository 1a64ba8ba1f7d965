"""Builds that fail now and then: a shared Redis in one project, a fixed port in another."""

from sample.session import Session

STEPS = ("Set up job", "Check out", "Set up Python", "Install", "Start services", "Lint", "Types")


def sessions() -> list[Session]:
    """Return the sessions of this story, oldest first."""
    return [_redis_flush(), _port_in_use()]


def _ci_log() -> str:
    """Return the log of a build, long enough to be kept in a file of its own."""
    lines = []
    for number, step in enumerate(STEPS):
        for n in range(12):
            lines.append(f"test\t{step}\t2026-02-11T07:{number:02d}:{n * 4:02d}.0041Z step {n + 1} of 12 finished")
    for n in range(180):
        worker, second = f"gw{n % 4}", 10 + n // 6
        name = ("basket", "orders", "search", "invoice", "voucher")[n % 5]
        state = "FAILED" if n == 133 else "PASSED"
        test = "test_checkout.py::test_basket_survives_login" if n == 133 else f"test_{name}.py::test_case_{n:03d}"
        lines.append(f"test\tRun pytest\t2026-02-11T07:09:{second}.{n:04d}Z [{worker}] {state} tests/{test}")
    lines += [
        "test\tRun pytest\t2026-02-11T07:09:41.0001Z redis-monitor: 07:09:39.118 [0 127.0.0.1:51022] SET basket:77",
        "test\tRun pytest\t2026-02-11T07:09:41.0002Z redis-monitor: 07:09:39.120 [0 127.0.0.1:51026] FLUSHDB",
        "test\tRun pytest\t2026-02-11T07:09:41.0003Z redis-monitor: 07:09:39.121 [0 127.0.0.1:51022] GET basket:77",
        "test\tRun pytest\t2026-02-11T07:09:41.0004Z E   KeyError: 'basket:77'",
        "test\tRun pytest\t2026-02-11T07:09:41.0005Z ===== 1 failed, 179 passed in 31.02s =====",
    ]
    return "\n".join(lines)


def _redis_flush() -> Session:
    s = Session("teashop", "redis-flush", "2026-02-11T08:20:45", release=38, branch="ci/flaky")
    s.begin()
    s.user("""
        CI is flaky again. test_basket_survives_login fails about one run in nine, never on my machine.
        Everybody just presses re-run. I want to know why.
        """)
    s.mark("prompt")
    s.think("Get the log of a failed run, and see what differs from local: parallel workers, services, timing.")
    with s.parallel():
        s.bash(
            "gh run list --workflow test --status failure -L 5",
            "List failed runs",
            """
            X  main  test  push  29103  31s  2026-02-11T07:09:12Z
            X  main  test  push  29077  33s  2026-02-10T15:48:02Z
            X  main  test  push  29031  30s  2026-02-09T11:20:37Z
            """,
        )
        s.bash("gh run view 29103 --log", "Show the log of the last failed run", full=_ci_log())
        s.mark("overflow")
        s.read(
            "tests/conftest.py",
            """
            import pytest
            import redis


            @pytest.fixture
            def cache():
                client = redis.Redis(host="localhost", db=0)
                client.flushdb()
                yield client
                client.flushdb()
            """,
        )
    s.mark("conftest")
    s.say("CI runs `pytest -n 4`; let me see whether the failure comes back locally with four workers.")
    s.slow_bash(
        "for i in $(seq 20); do pytest -q -n 4 tests | tail -1; done | sort | uniq -c",
        "Run the suite 20 times",
        [
            "...",
            "......",
            """
         2 1 failed, 179 passed
        18 180 passed
        """,
        ],
    )
    s.mark("repeat")
    s.think("""
        Reproduced at 10 %. The fixture flushes database 0 before and after each test, and all four xdist
        workers use database 0 of the same Redis. So worker A's teardown wipes worker B's basket between
        its SET and GET. Locally without -n there is one worker, so it never happens.
        """)
    s.say("""
        Found it, and it is not the test. All four pytest-xdist workers share Redis database 0, and the
        `cache` fixture calls `FLUSHDB` before and after every test. When one worker tears down while
        another sits between writing and reading its basket, the basket is gone. You never saw it because
        you run without `-n 4`.

        Each worker gets a database of its own: `gw0` → 1, `gw1` → 2 and so on (Redis has 16).
        """)
    s.mark("cause")
    s.edit(
        "tests/conftest.py",
        """
        @pytest.fixture
        def cache():
            client = redis.Redis(host="localhost", db=0)
        """,
        """
        @pytest.fixture
        def cache(worker_id):
            # One database per xdist worker: a flush must not empty another worker's.
            number = 0 if worker_id == "master" else int(worker_id.removeprefix("gw")) + 1
            client = redis.Redis(host="localhost", db=number)
        """,
    )
    s.slow_bash(
        "for i in $(seq 60); do pytest -q -n 4 tests | tail -1; done | sort | uniq -c",
        "Run the suite 60 times",
        [
            "...",
            "60 180 passed",
        ],
    )
    s.say("60 of 60 runs pass with four workers, against 18 of 20 before.")
    s.mark("numbers")
    s.user("great. write that down somewhere so we don't do it again in the next project")
    s.write("/home/mira/.claude/projects/-home-mira-work-teashop/memory/MEMORY.md", MEMORY)
    s.say("Noted in the project memory: shared services in tests need one namespace per worker.")
    s.end()
    s.line("summary", summary="Flaky basket test: xdist workers flushed each other's Redis", leafUuid=s.last_uuid)
    return s


MEMORY = """
# teashop

- Tests run with `pytest -n 4` in CI. Anything shared between workers (Redis database, port, directory)
  needs a name per worker; a shared Redis database made test_basket_survives_login flaky in February.
- Webhook events arrive more than once and concurrently. Claim the event id in the database before acting.
- Money is integer cents everywhere; rounding happens once, at the invoice line.
- Do not answer a question about payments from the log alone: write the failing test first.
"""


def _port_in_use() -> Session:
    s = Session("driftlog", "port-in-use", "2026-05-20T14:02:10", release=146, model="claude-opus-4-7")
    s.begin()
    s.user("""
        The integration tests fail on the CI runner every few days with "address already in use". On my
        laptop they always pass. Have someone look through the tests for everything that is shared, please.
        """)
    s.mark("prompt")
    s.attach(
        "skill_listing",
        content="- release: prepare a release\n- bench: run the throughput benchmark",
        skillCount=2,
        isInitial=True,
    )
    s.think()
    s.say("I'll let an agent list what the tests share, and read the CI log meanwhile.")
    agent = s.spawn(
        "general-purpose",
        "Find what the tests share",
        """
        List everything that two integration tests of this repository could share when they run at the same
        time: ports, directories, environment variables, global state. Give file and line for each.
        """,
    )
    agent.grep(
        "bind\\(|set_var|temp_dir|static ",
        """
        tests/ship.rs:21:    let listener = TcpListener::bind("127.0.0.1:4317").await?;
        tests/retry.rs:17:    let listener = TcpListener::bind("127.0.0.1:4317").await?;
        tests/rotate.rs:12:    let dir = std::env::temp_dir().join("driftlog-rotate");
        tests/config.rs:30:    std::env::set_var("DRIFTLOG_CONFIG", path);
        """,
        path="tests",
    )
    nested = agent.spawn(
        "Explore",
        "Who reads DRIFTLOG_CONFIG",
        """
        Find every reader of the environment variable DRIFTLOG_CONFIG, and say whether tests that do not
        set it would read a value left by another test in the same process.
        """,
    )
    nested.grep(
        "DRIFTLOG_CONFIG",
        """
        src/config.rs:44:    let path = std::env::var_os("DRIFTLOG_CONFIG").map(PathBuf::from);
        tests/config.rs:30:    std::env::set_var("DRIFTLOG_CONFIG", path);
        tests/config.rs:52:    std::env::remove_var("DRIFTLOG_CONFIG");
        """,
    )
    agent.join(
        nested,
        """
        One reader, src/config.rs:44. Each file below tests/ is its own process, so the variable only leaks
        between the tests of tests/config.rs, and there it is removed at line 52 unless the test panics.
        """,
    )
    nested.mark("leak")
    s.join(
        agent,
        """
        Shared between integration tests:

        1. Port 4317, bound by tests/ship.rs:21 and tests/retry.rs:17. Cargo runs test binaries one after
           another, but a socket in TIME_WAIT or a second job on the same runner holds the port.
        2. The directory driftlog-rotate in the system's temporary directory (tests/rotate.rs:12).
        3. DRIFTLOG_CONFIG (tests/config.rs:30), only within that file, and only after a panic.
        """,
    )
    s.bash(
        "gh run view 5518 --log-failed | tail -12",
        "Show the failed step",
        """
        ---- retries_after_reset stdout ----
        thread 'retries_after_reset' panicked at tests/retry.rs:17:66:
        called `Result::unwrap()` on an `Err` value: Os { code: 98, kind: AddrInUse,
        message: "Address already in use" }

        failures:
            retries_after_reset

        test result: FAILED. 6 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 4.03s
        """,
    )
    s.mark("log")
    s.say("""
        Same pattern as the Redis flake in teashop in February: a resource with a fixed name, used by tests
        that can overlap. Here it is port 4317. Our runner takes two jobs at a time, so a pull request and
        a push to main run the same test side by side, and the second one cannot bind.

        Bind port 0 and ask the listener which port it got; then nothing is shared.
        """)
    s.mark("cause")
    with s.parallel():
        s.edit(
            "tests/retry.rs",
            'let listener = TcpListener::bind("127.0.0.1:4317").await?;',
            """
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            """,
        )
        s.edit(
            "tests/ship.rs",
            'let listener = TcpListener::bind("127.0.0.1:4317").await?;',
            """
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            """,
        )
        s.edit(
            "tests/rotate.rs",
            'let dir = std::env::temp_dir().join("driftlog-rotate");',
            "let dir = tempfile::tempdir()?;",
        )
    s.queued("also set fail-fast to false in the workflow please, I want to see all failures at once")
    s.mark("queued")
    s.edit(
        ".github/workflows/test.yml",
        "    strategy:",
        """
            strategy:
              fail-fast: false
        """,
    )
    s.bash(
        "(cargo test -q & cargo test -q --target-dir /tmp/second & wait) 2>&1 | grep 'test result' | sort | uniq -c",
        "Run the whole suite twice at the same time",
        """
             14 test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out
        """,
    )
    s.say("""
        Two complete runs side by side pass now, which failed every time before. The tests ask the system
        for a free port and use a fresh directory each, and the workflow no longer stops at the first failure.
        """)
    s.turn_over()
    s.end("Integration tests: address already in use on CI")
    return s
