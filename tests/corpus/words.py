"""Sentence templates of developer talk in eight languages; `text.py` fills their slots.

Slots: {i} {j} identifiers, {p} a path, {n} {m} numbers, {v} a version, {e} an error name, {t} a technology.
"""

VERBS = (
    "load store fetch parse merge split flush retry queue drain route bind render resolve encode decode "
    "verify commit rollback schedule collect compact index scan throttle batch stream shard replay "
    "normalize validate hydrate sanitize publish consume dispatch migrate snapshot restore warm evict "
    "trim pad align hash sign mount probe watch"
).split()
NOUNS = (
    "session token cursor invoice ledger basket order payment tenant account profile avatar widget panel "
    "canvas shader buffer socket packet header cookie cache bucket queue worker thread mutex lease lock "
    "manifest bundle chunk segment column table schema migration fixture snapshot report metric gauge span "
    "trace alert webhook callback gateway proxy router handler adapter parser lexer grammar checkpoint "
    "partition replica quorum heartbeat deadline backoff quota budget calendar locale currency address"
).split()
SUFFIXES = (
    "service store manager client factory registry reader writer builder config state error helper pool "
    "map list index guard policy view model test"
).split()
DIRECTORIES = (
    "src lib app server client core internal pkg cmd web api workers jobs models views components hooks "
    "services adapters tests migrations scripts infra"
).split()
EXTENSIONS = ("py", "ts", "tsx", "go", "rs", "java", "sql", "yaml", "md", "css", "rb", "kt", "swift", "sh")
TECHNOLOGIES = (
    "Postgres|Redis|Kafka|SQLite|nginx|gRPC|GraphQL|Docker|Kubernetes|Terraform|React|Svelte|FastAPI|Django|"
    "Rails|Tokio|Webpack|Vite|Playwright|pytest|Celery|RabbitMQ|Elasticsearch|ClickHouse|S3|OAuth|JWT|"
    "WebSocket|Protobuf|OpenTelemetry"
).split("|")
ERRORS = (
    "TimeoutError ConnectionResetError KeyError ValueError TypeError NullPointerException IndexOutOfBounds "
    "DeadlockDetected PermissionDenied BrokenPipe ENOENT EADDRINUSE ECONNREFUSED OOMKilled StaleElementReference "
    "IntegrityError UnicodeDecodeError SegmentationFault AssertionError RateLimited"
).split()

ASKS = (
    "The {i} in {p} fails with {e} after {n} seconds, can you find out why?",
    "Please rename {i} to {j} everywhere and keep the tests green.",
    "Why does {i} call {j} twice when {t} is slow?",
    "Add a test for {i} that covers an empty {j}.",
    "I still see {e} in staging, commit {n} did not help.",
    "Can we replace {t} with something lighter for {i}?",
    "Write a migration that adds {i} to the {j} table, and make it reversible.",
    "The page takes {n} ms to load since version {v}, profile it.",
    "Look at {p} and tell me what {i} is for.",
    "Upgrade {t} to {v} and fix whatever breaks.",
    "Let {i} back off when {t} answers 429, at most {n} times.",
    "continue",
    "Yes, do that, but leave {j} alone.",
    "Revert the last change to {p}, it broke {i}.",
    "Make the error message of {i} say which {j} was wrong.",
    "Run the whole suite and fix the {n} failures you find.",
    "Document {i} in the README, three sentences at most.",
    "How often does {i} hit {t} per request?",
    "Our users in Lisbon report that {i} shows yesterday's {j}.",
    "Split {p} into two modules, {i} and {j}.",
)
ANSWERS = (
    "I found the cause: {i} keeps a reference to {j} after the {t} connection is closed.",
    "The failing assertion in {p} compares {n} with {m}, so {i} must round earlier.",
    "Let me read {p} before changing anything.",
    "There are {n} callers of {i}, and only one of them passes a {j}.",
    "All {n} tests pass now, the slowest takes {m} ms.",
    "{i} swallowed the {e}, which is why the log stayed empty.",
    "I moved {i} behind {j} so that {t} is only touched once per batch.",
    "The lock is taken in {i} and again in {j}: that is the deadlock.",
    "Version {v} of {t} changed the default timeout from {n} to {m} seconds.",
    "Next I will add an index on {i}, since the query plan shows a full scan of {n} rows.",
    "The retry loop in {p} never resets its counter, hence the {e}.",
    "This works, but {j} should not know about {t}.",
    "I could not reproduce the {e} locally with {t} {v}.",
    "To be safe I kept the old signature of {i} and marked it as deprecated.",
    "Memory stays flat at {n} MB now; before the change it grew by {m} MB per minute.",
    "The summary of the change: {i} validates, {j} stores, and nothing else writes to {t}.",
    "Two things remain: the flaky test in {p} and the missing translation for {i}.",
    "Here the time zone matters: {i} uses local time while {j} expects UTC.",
)
# What is said between two calls; most of what is said at all is of this kind.
NARRATIONS = (
    "Let me check {p}.",
    "Now I'll look at {i}.",
    "Let me run the tests for {i} again.",
    "Now the callers of {j}:",
    "I'll update {i} to use {j}.",
    "Next, {p}.",
    "Let me see how {i} is called.",
    "Good. Now {j}.",
    "That passes. Let me also check {j}.",
    "Let me search for {e} in the logs.",
    "I'll fix {i} first.",
    "Now let me verify with {t} {v}:",
)
THOUGHTS = (
    "The user wants {i} to be faster, so I should measure before touching {j}.",
    "If {t} holds the lock while {i} waits, then {e} would follow.",
    "Perhaps {p} is generated; let me check before editing.",
    "There are {n} matches, most of them in tests, so the real caller is {j}.",
    "I was wrong about {i}: the trace shows {j} first.",
    "A smaller change would be to guard {i} against an empty {j}.",
    "Let me think about what happens when {n} workers call {i} at once.",
    "The type says optional, yet nobody checks it.",
)
CHINESE = (
    "请帮我检查 {i} 为什么会超时,日志里有 {e}。",
    "数据库连接池在第 {n} 次请求之后耗尽了。",
    "这个函数的返回值不正确,应该先验证令牌再写入缓存。",
    "我已经修改了 {p},并且补充了 {n} 个单元测试。",
    "迁移脚本需要支持回滚,否则线上环境有风险。",
    "原因是并发写入时没有加锁,导致库存数量变成负数。",
    "建议把重试逻辑放到 {i} 里面,不要在每个调用处重复。",
    "前端页面加载需要 {n} 毫秒,主要时间花在渲染列表上。",
)
JAPANESE = (
    "{i} が {e} で失敗する原因を調べてください。",
    "データベースの接続が切れたあと、再試行の処理が動いていません。",
    "テストを {n} 件追加して、すべて成功することを確認しました。",
    "設定ファイル {p} の文字コードが間違っているようです。",
    "キャッシュの有効期限を {n} 秒に変更しました。",
    "この関数は二回呼び出されるので、結果を保存しておくべきです。",
    "ログイン画面の表示が遅い問題を修正します。",
)
KOREAN = (
    "{i} 함수에서 {e} 오류가 발생하는 이유를 찾아 주세요.",
    "데이터베이스 마이그레이션을 되돌릴 수 있게 작성했습니다.",
    "테스트 {n}개를 추가했고 모두 통과했습니다.",
    "설정 파일 {p} 의 기본값이 잘못되어 있습니다.",
    "캐시가 만료되기 전에 요청이 겹치면 값이 사라집니다.",
    "로그인 화면이 느려진 원인은 불필요한 요청 때문입니다.",
)
FRENCH = (
    "La requête échoue après {n} secondes, vérifie pourquoi {i} n'est jamais libéré.",
    "J'ai déplacé la validation dans {j}, les tests passent à nouveau.",
    "Le fichier {p} a été généré, ne le modifie pas à la main.",
    "Où est-ce que la clé de chiffrement est chargée au démarrage ?",
    "Il manque une gestion d'erreur côté serveur pour {e}.",
)
SPANISH = (
    "La página tarda {n} ms en cargar desde la versión {v}.",
    "Añade una prueba para {i} cuando el carrito está vacío.",
    "El error {e} aparece sólo en producción, ¿puedes reproducirlo?",
    "He cambiado {p} para que la contraseña nunca llegue al registro.",
    "Según la documentación, {t} ya no admite esa opción.",
)
RUSSIAN = (
    "Почему {i} падает с ошибкой {e} после {n} секунд?",
    "Я добавил проверку в {p}, теперь пустая корзина не ломает отчёт.",
    "Соединение с базой данных закрывается раньше времени.",
    "Нужно переписать миграцию так, чтобы её можно было откатить.",
    "Все тесты прошли, самый медленный занял {n} мс.",
)
TITLES = (
    "Fix {e} in {i}",
    "Rename {i} to {j}",
    "Speed up {i}",
    "Upgrade {t} to {v}",
    "Investigate flaky {i} test",
    "修复 {i} 超时",
    "{i} の不具合調査",
    "Ajouter des tests pour {i}",
)
TASKS = (
    "Find every caller of {i}",
    "Review {p} for {e}",
    "Map how {i} reaches {t}",
    "Write tests for {j}",
    "Compare {i} with {j}",
)
COMMANDS = (
    "git log --oneline -{n} -- {p}",
    "grep -rn {i} {p}",
    "pytest -q tests/test_{i}.py -k {j}",
    "npm run build -- --filter {i}",
    "docker compose logs --tail {n} {i}",
    "cargo test {i} -- --nocapture",
    "kubectl get pods -l app={i} -o wide",
    "curl -sS http://localhost:{n}/{i}/{j}",
    "psql -c 'select count(*) from {i} where {j} is null'",
    "sed -n '{n},+40p' {p}",
    "make {i} && ./bin/{j} --limit {n}",
    "ls -la {p} | head -{n}",
)
