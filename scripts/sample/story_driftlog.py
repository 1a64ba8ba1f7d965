"""The log shipper: memory that grows without a leak, and lines lost at rotation (in Chinese)."""

from sample.session import Session


def sessions() -> list[Session]:
    """Return the sessions of this story, oldest first."""
    return [_growing_memory(), _rotation()]


def _growing_memory() -> Session:
    s = Session("driftlog", "growing-memory", "2026-03-11T13:02:50", release=72)
    s.begin()
    s.user("""
        driftlog on the edge boxes gets killed by the OOM killer after some six hours. It starts with 18 MB.
        I suspect a leak in the regex cache. Can you check?
        """)
    s.mark("prompt")
    s.bash(
        "ssh box7.example.com 'dmesg | grep -i oom | tail -2; cat /var/log/driftlog/rss.csv | tail -6'",
        "Memory on box 7",
        """
        [21801.44] oom-kill: task=driftlog,pid=811,uid=990
        [21801.45] Out of memory: Killed process 811 (driftlog) total-vm:1934220kB, anon-rss:1720032kB
        08:00,18
        09:00,301
        10:00,622
        11:00,917
        12:00,1240
        13:00,1561
        """,
    )
    s.mark("oom")
    s.think("""
        Linear growth, about 310 MB per hour. A cache would level off. Check with heaptrack which call
        allocates what is still alive.
        """)
    s.bash(
        "heaptrack ./target/release/driftlog --config edge.toml --for 600s && heaptrack_print -p 0 -l 1 | head -14",
        "Heap profile",
        """
        PEAK MEMORY CONSUMERS

        48.91M peak memory consumed over 540113 calls from
        tokio::sync::mpsc::unbounded::UnboundedSender<T>::send
          at src/reader.rs:88

        0.31M peak memory consumed over 61 calls from
        regex_automata::util::pool::Pool<T,F>::get
          at src/parse.rs:40

        total memory leaked: 0B
        """,
    )
    s.mark("heap")
    s.say("""
        It is not the regex cache, and strictly it is not a leak: 0 bytes leaked. The memory sits in the
        **unbounded channel** between reader and sender. The edge boxes read 900 lines/s, the uplink takes
        some 600, and the other 300 a second wait in memory until the kernel ends it.
        """)
    s.mark("cause")
    with s.parallel():
        s.read(
            "src/channel.rs",
            """
            use tokio::sync::mpsc;

            pub fn lines() -> (mpsc::UnboundedSender<Line>, mpsc::UnboundedReceiver<Line>) {
                mpsc::unbounded_channel()
            }
            """,
        )
        s.read(
            "src/reader.rs",
            """
            while let Some(line) = file.next_line().await? {
                queue.send(Line::parse(&line))?;
            }
            """,
            offset=86,
            total=141,
        )
    s.system(
        "api_error",
        level="error",
        error={"status": 529, "message": "Overloaded"},
        retryInMs=612,
        retryAttempt=1,
        maxRetries=10,
    )
    s.say(
        "The change is small: `channel.rs` makes the queue, and line 88 of `reader.rs` is the only place that fills it."
    )
    s.user("so drop lines when it is full?")
    s.say("""
        Better not: the log file on disk already is a queue, and a large one. With a bounded channel the reader
        simply waits when it is full (backpressure) and reads on later; nothing is dropped as long as the file
        is not rotated away meanwhile. 8,192 lines are about 9 seconds of traffic and less than 3 MB.
        """)
    s.mark("backpressure")
    s.user(
        "ok. and for testing on staging turn off the certificate check, it has a self-signed one. only for today, we take it out again"
    )
    s.mark("turn-off-check")
    s.edit(
        "src/channel.rs",
        """
        pub fn lines() -> (mpsc::UnboundedSender<Line>, mpsc::UnboundedReceiver<Line>) {
            mpsc::unbounded_channel()
        }
        """,
        """
        /// Nine seconds of an edge box's traffic; the reader waits when it is full.
        pub const CAPACITY: usize = 8_192;

        pub fn lines() -> (mpsc::Sender<Line>, mpsc::Receiver<Line>) {
            mpsc::channel(CAPACITY)
        }
        """,
    )
    s.edit(
        "src/tls.rs",
        ".build()?;",
        """
        .danger_accept_invalid_certs(true) // staging only, take out again
        .build()?;
        """,
    )
    s.mark_call("danger")
    s.bash(
        "cargo build --release",
        "Build",
        """
           Compiling driftlog v0.6.0-dev (/home/mira/code/driftlog)
        error[E0308]: mismatched types
          --> src/reader.rs:88:5
           |
        88 |     queue.send(Line::parse(&line))?;
           |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected `Result<_, _>`, found future
           |
        help: consider `await`ing on the `Future`
           |
        88 |     queue.send(Line::parse(&line)).await?;
           |                                   ++++++

        error: could not compile `driftlog` (bin "driftlog") due to 1 previous error
        """,
        code=101,
    )
    s.edit("src/reader.rs", "queue.send(Line::parse(&line))?;", "queue.send(Line::parse(&line)).await?;")
    s.slow_bash(
        "cargo build --release && ./scripts/soak --hours 1 --uplink 600",
        "Build and soak for an hour",
        [
            "   Compiling driftlog v0.6.0-dev",
            "rss 22 MB after 20 min",
            """
           Compiling driftlog v0.6.0-dev (/home/mira/code/driftlog)
            Finished `release` profile [optimized] target(s) in 31.22s
        soak: 2,168,192 lines read, 2,160,000 sent, reader waited 33 % of the time
        soak: rss min 18 MB, max 24 MB
        """,
        ],
    )
    s.mark("soak")
    s.bash("git commit -qam 'channel: bound the queue, wait when it is full'", "Commit")
    s.say("""
        Memory now stays between 18 and 24 MB over an hour with an uplink that is too slow. Committed as
        `channel: bound the queue, wait when it is full`. The certificate check is still off for your staging
        test; remember to take that line out.
        """)
    s.mark("reminder")
    s.end("Memory growth on edge boxes: unbounded channel")
    return s


def _rotation() -> Session:
    s = Session(
        "driftlog",
        "rotation",
        "2026-04-22T03:18:09",
        release=118,
        branch="fix/rotation",
        model="claude-opus-4-7",
    )
    s.begin()
    s.user(
        "日志轮转的时候会丢日志，每次大概丢几十到几百行。客户用的是 logrotate，配置里有 copytruncate。帮我查一下原因，先复现再改。"
    )
    s.mark("prompt")
    s.think("""
        copytruncate: the file is copied, then truncated in place, so the inode stays the same and the size
        goes back to 0. The reader keeps its offset and continues there. Look at how the reader detects it.
        """)
    s.say("我先看读取端怎么判断文件被轮转，再写一个能复现的测试。")
    with s.parallel():
        s.read(
            "src/tail.rs",
            """
            pub async fn poll(&mut self) -> io::Result<()> {
                let meta = self.file.metadata().await?;
                if meta.ino() != self.inode {
                    self.reopen().await?;
                    self.offset = 0;
                }
                self.file.seek(SeekFrom::Start(self.offset)).await?;
                self.offset += self.read_lines().await?;
                Ok(())
            }
            """,
        )
        s.bash(
            "cat deploy/logrotate.conf",
            "Show the rotation settings",
            """
            /var/log/app/*.log {
                size 50M
                rotate 5
                copytruncate
                compress
            }
            """,
        )
    s.write(
        "tests/truncate.rs",
        """
        #[tokio::test]
        async fn lines_written_after_a_truncation_are_read() {
            let mut log = support::Log::new();
            log.append(1000);
            let mut tail = log.tail().await;
            tail.poll().await.unwrap();
            log.copytruncate();
            log.append(300);
            tail.poll().await.unwrap();
            assert_eq!(tail.lines(), 1300);
        }
        """,
    )
    s.bash(
        "cargo test -q --test truncate",
        "Run the new test",
        """
        running 1 test
        F
        ---- lines_written_after_a_truncation_are_read stdout ----
        thread 'lines_written_after_a_truncation_are_read' panicked at tests/truncate.rs:10:5:
        assertion `left == right` failed
          left: 1000
         right: 1300

        test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
        """,
        code=101,
    )
    s.mark("failure")
    s.say("""
        复现了：截断之后写入的 300 行全部丢失。

        原因：`copytruncate` 先把文件复制一份，再把**原文件**截断为 0，所以 inode 不变。我们的代码只用 inode 判断轮转，
        于是继续从旧的偏移量读取；直到新文件长到超过旧偏移量之前，中间写入的内容都被跳过了。

        修复分两步：
        1. 如果文件大小小于已读偏移量，说明被截断过，偏移量归零，从头读。
        2. 偏移量只在接收端确认之后才保存，这样进程重启时最多重复发送，不会丢失。
        """)
    s.mark("cause")
    s.user("第 1 步有个漏洞：如果截断以后写得很快，文件大小又超过了旧偏移量，光比较大小是看不出来的。")
    s.mark("hole")
    s.think("""
        Right. Needs a content check: remember a hash of the first N bytes (fingerprint) and of the bytes just
        before the offset; compare before reading on.
        """)
    s.say("""
        你说得对。那就再加一个指纹：记住文件开头 1 KiB 的哈希值，每次继续读之前先比较。开头变了，就说明是新内容，
        无论大小如何都从头读。代价是每次轮询多读 1 KiB，可以忽略。
        """)
    s.mark("fingerprint")
    s.edit(
        "src/tail.rs",
        """
            if meta.ino() != self.inode {
                self.reopen().await?;
                self.offset = 0;
            }
        """,
        """
            let head = fingerprint(&mut self.file, HEAD_BYTES.min(self.offset)).await?;
            if meta.ino() != self.inode {
                self.reopen().await?;
                self.offset = 0;
            } else if meta.len() < self.offset || head != self.head {
                // copytruncate keeps the inode: only size and content tell.
                self.offset = 0;
            }
        """,
    )
    s.bash(
        "cargo test -q --test truncate --test rotate && ./scripts/soak --rotate 200 --compare",
        "Tests and 200 rotations",
        """
        test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s
        test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.92s
        soak: 200 rotations, 4,000,000 lines written, 4,000,000 received, 0 missing, 112 twice
        """,
    )
    s.mark("soak")
    s.say("改好了。连续轮转 200 次，400 万行一行不丢；有 112 行重复发送，接收端按（文件，偏移量）去重即可。")
    s.end("日志轮转 copytruncate 丢行")
    return s
