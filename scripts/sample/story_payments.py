"""Payments: customers charged twice, a wrong diagnosis, and the real cause."""

from sample.session import Session

WEBHOOKS = """
from fastapi import APIRouter, BackgroundTasks, Request, Response

from teashop import orders, payments
from teashop.db import session_scope

router = APIRouter(prefix="/webhooks")


@router.post("/payment")
async def payment_event(request: Request, background: BackgroundTasks) -> Response:
    event = payments.verify(await request.body(), request.headers["x-signature"])
    background.add_task(apply_event, event)
    return Response(status_code=200)


def apply_event(event: payments.Event) -> None:
    with session_scope() as db:
        seen = db.query(payments.Capture).filter_by(event_id=event.id).first()
        if seen is None:
            payments.capture(event.order_id, event.amount)
            db.add(payments.Capture(event_id=event.id, order_id=event.order_id))
            orders.mark_paid(db, event.order_id)
"""


def sessions() -> list[Session]:
    """Return the sessions of this story, oldest first."""
    return [_double_click(), _webhook_race()]


def _double_click() -> Session:
    s = Session("teashop", "double-click", "2026-02-03T09:12:04", release=31, branch="fix/double-charge")
    s.begin()
    s.user("""
        Three customers wrote that their card was charged twice for one order (orders 8841, 8907 and 8912).
        Can you find out how that can happen? The checkout is in web/checkout.ts, the server part in
        teashop/orders.py.
        """)
    s.mark("prompt")
    s.think("""
        Three orders, each charged twice. The first thing to check is whether the client can submit the
        form twice, then what the server does with two submits. Let me read both.
        """)
    s.say("I'll read the checkout form and the order endpoint first.")
    with s.parallel():
        s.read(
            "web/checkout.ts",
            """
            export function bindCheckout(form: HTMLFormElement): void {
              form.addEventListener("submit", async (event) => {
                event.preventDefault();
                const body = new FormData(form);
                const answer = await fetch("/api/orders", { method: "POST", body });
                if (answer.ok) {
                  location.href = (await answer.json()).next;
                }
              });
            }
            """,
        )
        s.read(
            "teashop/orders.py",
            """
            from teashop.db import session_scope
            from teashop.models import Order


            def place(basket_id: int, customer_id: int) -> Order:
                with session_scope() as db:
                    order = Order(basket_id=basket_id, customer_id=customer_id, state="new")
                    db.add(order)
                    db.flush()
                    return order


            def mark_paid(db, order_id: int) -> None:
                db.get(Order, order_id).state = "paid"
            """,
        )
    s.say("Nothing stops a second submit while the first is on its way. Let me look at the three orders in the log.")
    s.bash(
        "grep -hE 'order=(8841|8907|8912)' var/log/app.log | cut -c1-110",
        "Log lines of the three orders",
        """
        2026-02-01 18:02:11,204 INFO  orders   place order=8841 basket=20311 customer=512
        2026-02-01 18:02:14,871 INFO  payments capture order=8841 amount=23.40 event=evt_7731
        2026-02-01 18:02:14,902 INFO  payments capture order=8841 amount=23.40 event=evt_7731
        2026-02-02 07:40:55,018 INFO  orders   place order=8907 basket=20377 customer=188
        2026-02-02 07:40:58,440 INFO  payments capture order=8907 amount=61.00 event=evt_7810
        2026-02-02 07:40:58,466 INFO  payments capture order=8907 amount=61.00 event=evt_7810
        2026-02-02 09:13:20,377 INFO  orders   place order=8912 basket=20390 customer=734
        2026-02-02 09:13:23,950 INFO  payments capture order=8912 amount=12.80 event=evt_7822
        2026-02-02 09:13:23,985 INFO  payments capture order=8912 amount=12.80 event=evt_7822
        """,
    )
    s.mark("log")
    s.think("""
        Two captures about 30 ms apart for each order. Only one "place" line each, though. A double click
        would give two "place" lines, unless the second is answered from the basket lock. The button theory
        is plausible, and it is cheap to fix. I should mention that the place line appears once.
        """)
    s.mark("doubt")
    s.say("""
        The most likely cause is a double click: the submit button stays active while the request runs, so
        an impatient customer sends the form twice. One thing does not fit fully: each order has a single
        `place` line. I'd still disable the button first, since that is a defect in any case.
        """)
    s.mark("misdiagnosis")
    s.edit(
        "web/checkout.ts",
        "    event.preventDefault();",
        """
                event.preventDefault();
                const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
                if (button === null || button.disabled) return;
                button.disabled = true;
        """,
    )
    s.slow_bash(
        "npm test -- checkout",
        "Run the checkout tests",
        [
            "> teashop-web@1.9.0 test\n> vitest run checkout",
            """
        > teashop-web@1.9.0 test
        > vitest run checkout

         ✓ web/checkout.test.ts (4 tests) 61ms

         Test Files  1 passed (1)
              Tests  4 passed (4)
        """,
        ],
    )
    s.say("The submit button is now disabled while the order is on its way. The four checkout tests pass.")
    s.turn_over()
    s.user("ok, ship it. I'll refund the three by hand.")
    s.bash(
        "git commit -qam 'checkout: disable submit while the order is sent' && git log --oneline -2",
        "Commit the change",
        """
        4c1e9ab checkout: disable submit while the order is sent
        90d2f17 webhooks: answer 200 before the work is done
        """,
    )
    s.say("Committed as 4c1e9ab on `fix/double-charge`.")
    s.end()
    s.line("summary", summary="Double charges: submit button disabled during checkout", leafUuid=s.last_uuid)
    return s


def _webhook_race() -> Session:
    s = Session("teashop", "webhook-race", "2026-02-19T13:40:31", release=45, branch="fix/webhook-race")
    s.begin()
    s.user("""
        Double charges are back: order 9377 this morning, and the button fix from two weeks ago is live.
        So it was not the double click. Please look again, and this time prove it before changing anything.
        """)
    s.mark("prompt")
    s.think("""
        Last time the log had one place line and two capture lines with the same event id, 30 ms apart. The
        same event id twice means the provider delivered the same webhook twice, or we ran the handler
        twice. So the place to look is the webhook handler.
        """)
    s.mark("rethink")
    s.say("Both captures carried the same event id back then, which points at the webhook and not at the form.")
    with s.parallel():
        s.read("teashop/webhooks.py", WEBHOOKS)
        s.bash(
            "grep -hE 'order=9377|evt_8460' var/log/app.log var/log/access.log | sort | cut -c1-120",
            "Log of 9377",
            """
            2026-02-19 08:21:40,112 access POST /webhooks/payment 200 3ms  worker=2 event=evt_8460
            2026-02-19 08:21:40,131 access POST /webhooks/payment 200 2ms  worker=4 event=evt_8460
            2026-02-19 08:21:40,559 INFO  payments capture order=9377 amount=44.20 event=evt_8460 worker=2
            2026-02-19 08:21:40,583 INFO  payments capture order=9377 amount=44.20 event=evt_8460 worker=4
            """,
        )
        s.grep("class Capture", "teashop/payments.py:41:class Capture(Base):", path="teashop")
    agent = s.spawn(
        "Explore",
        "Provider delivery rules",
        """
        Find everything in this repository (docs, vendored client, comments) about how the payment provider
        delivers webhook events: how often, in which order, when it retries. Quote the lines.
        """,
    )
    with agent.parallel():
        agent.grep(
            "retry|at least once|duplicate",
            """
            docs/provider.md:18:Events are delivered at least once. An event may arrive more than once, also concurrently.
            docs/provider.md:22:An endpoint that does not answer within 3 s gets the event again.
            docs/provider.md:31:Use the event id to detect duplicates.
            """,
            path="docs",
        )
        agent.glob("vendor/**/*.py", "vendor/payclient/client.py", "vendor/payclient/events.py")
    agent.read(
        "docs/provider.md",
        """
        ## Delivery

        Events are delivered at least once. An event may arrive more than once, also concurrently.
        The order of events is not guaranteed.

        An endpoint that does not answer within 3 s gets the event again.
        """,
        offset=16,
        total=60,
    )
    s.join(
        agent,
        """
        The provider promises at-least-once delivery, and says in docs/provider.md line 18 that the same
        event may arrive more than once, **also concurrently**. Duplicates are to be detected by event id
        (line 31). Retries come after 3 s without an answer (line 22).
        """,
    )
    s.think("""
        So two deliveries 19 ms apart, on two workers. Each opens a transaction, each SELECTs the capture by
        event_id, neither sees the other's uncommitted row under READ COMMITTED, both capture. Classic
        check-then-act. There is no unique constraint on event_id. Write a test with two threads and a
        barrier inside payments.capture.
        """)
    s.say("Now I can say how it happens. Before I change anything, here is a test that shows it.")
    s.write(
        "tests/test_webhook_race.py",
        """
        import threading

        from teashop import payments, webhooks


        def test_the_same_event_on_two_workers_captures_once(db, monkeypatch):
            charges = []
            meet = threading.Barrier(2, timeout=2)

            def slow_capture(order_id, amount):
                try:
                    meet.wait()
                except threading.BrokenBarrierError:
                    pass
                charges.append((order_id, amount))

            monkeypatch.setattr(payments, "capture", slow_capture)
            event = payments.Event(id="evt_1", order_id=7, amount=12.80)
            workers = [threading.Thread(target=webhooks.apply_event, args=(event,)) for _ in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            assert charges == [(7, 12.8)]
        """,
    )
    s.bash(
        "pytest -q tests/test_webhook_race.py",
        "Run the new test",
        """
        F                                                                        [100%]
        =================================== FAILURES ===================================
        _______________ test_the_same_event_on_two_workers_captures_once _______________
        >       assert charges == [(7, 12.8)]
        E       assert [(7, 12.8), (7, 12.8)] == [(7, 12.8)]
        E         Left contains one more item: (7, 12.8)

        tests/test_webhook_race.py:25: AssertionError
        =========================== short test summary info ============================
        FAILED tests/test_webhook_race.py::test_the_same_event_on_two_workers_captures_once
        1 failed in 0.84s
        """,
        code=1,
    )
    s.mark("proof")
    s.say("""
        That is the proof. The provider delivered `evt_8460` twice, 19 ms apart, to two workers. Each asks
        "have I seen this event?" before the other has committed, both hear no, and both charge the card.
        It is a check-then-act race in `apply_event`; the form had nothing to do with it.

        The fix: let the database decide. A unique constraint on `captures.event_id`, and an
        `INSERT ... ON CONFLICT DO NOTHING` **before** the capture. Whoever inserts the row does the work;
        the other sees zero rows and leaves.
        """)
    s.mark("cause")
    s.user("convinced. do it, with the migration")
    s.todo("> unique constraint and migration", "  claim the event before capturing", "  run all payment tests")
    s.write(
        "migrations/0031_capture_event_unique.sql",
        """
        DELETE FROM captures a USING captures b
         WHERE a.event_id = b.event_id AND a.id > b.id;
        ALTER TABLE captures ADD CONSTRAINT captures_event_id_key UNIQUE (event_id);
        """,
    )
    s.edit(
        "teashop/webhooks.py",
        """
                seen = db.query(payments.Capture).filter_by(event_id=event.id).first()
                if seen is None:
                    payments.capture(event.order_id, event.amount)
                    db.add(payments.Capture(event_id=event.id, order_id=event.order_id))
                    orders.mark_paid(db, event.order_id)
        """,
        """
                claim = insert(payments.Capture).values(event_id=event.id, order_id=event.order_id)
                if db.execute(claim.on_conflict_do_nothing()).rowcount == 0:
                    return
                payments.capture(event.order_id, event.amount, idempotency_key=event.id)
                orders.mark_paid(db, event.order_id)
        """,
    )
    s.mark_call("fix")
    s.slow_bash(
        "pytest -q tests -k 'payment or webhook'",
        "Run the payment tests",
        [
            "..............",
            """
        ..............................                                           [100%]
        30 passed in 6.12s
        """,
        ],
    )
    s.todo("x unique constraint and migration", "x claim the event before capturing", "x run all payment tests")
    s.say("""
        Done: 30 tests pass, the race test among them. The second delivery blocks on the unique index until
        the first commits, then inserts nothing. I also hand the event id to the provider as idempotency
        key, so a crash between our insert and their capture cannot charge twice either.
        """)
    s.end()
    s.line("custom-title", customTitle="double charge, the real cause")
    s.line("summary", summary="Webhook race fixed with a unique constraint on event_id", leafUuid=s.last_uuid)
    return s
