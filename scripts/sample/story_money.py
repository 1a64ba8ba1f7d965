"""Money: prices move from floating point to integer cents, and months later a cent goes missing."""

from sample.session import Session

PLAN = """
# Money as integer cents

## Why
`Order.total` and `Line.price` are `double precision`. Sums drift: 0.1 + 0.2 is 0.30000000000000004, and the
bookkeeping export was off by 0.01 on 14 of 9,212 invoices in January.

## Decision
Integer cents (`bigint`), not `numeric(12,2)`.
- The payment provider and the invoice format both speak cents; with numeric we would convert at both ends.
- A Python int cannot be mixed with a float by accident without the type checker noticing.
- We sell in one currency with two decimals. If that changes, we need a currency column in either case.

## Steps (expand, then contract; the shop stays open)
1. Add `price_cents`, `total_cents`, nullable. Write both columns.
2. Backfill in batches of 5,000 rows, `round(price * 100)`.
3. Compare both columns for a week; alert on any difference.
4. Read from the cents columns. Set NOT NULL.
5. Drop the old columns two releases later.

## Not done
No change to the JSON API in this step: it keeps sending decimals as strings.
"""


def sessions() -> list[Session]:
    """Return the sessions of this story, oldest first."""
    return [_cents(), _missing_cent()]


def _cents() -> Session:
    s = Session(
        "teashop",
        "cents",
        "2026-03-05T09:31:00",
        release=66,
        branch="money/cents",
        slug="brisk-copper-kettle",
    )
    s.begin()
    s.user("""
        The bookkeeping export is off by a cent on some invoices. I think we should stop storing prices as
        floats. Make a plan for the migration first; the shop must not go down. NUMERIC or integers?
        """)
    s.mark("prompt")
    with s.parallel():
        s.grep(
            "Float|double",
            """
            teashop/models.py:31:    price = Column(Float, nullable=False)
            teashop/models.py:58:    total = Column(Float, nullable=False)
            teashop/models.py:83:    voucher_value = Column(Float)
            """,
            path="teashop",
        )
        s.bash(
            "psql -qAt -c 'select count(*) from lines; select count(*) from orders'",
            "Count rows",
            "418233\n96127",
        )
        s.bash(
            "python -m teashop.export --month 2026-01 --check | tail -3",
            "Check January's export",
            """
            9212 invoices checked
            14 differ from the sum of their lines by 0.01
            largest difference 0.01
            """,
        )
    s.think("""
        418k lines, small. The choice between numeric and integer cents: provider speaks cents, the invoice
        XML speaks cents. Integers are the simpler end to end. Expand and contract migration. Write the plan.
        """)
    s.call(
        "ExitPlanMode",
        {"plan": PLAN.strip(), "planFilePath": "/home/mira/.claude/plans/brisk-copper-kettle.md"},
        "User has approved your plan. You can now start coding. Start with updating your todo list if applicable",
        {
            "plan": PLAN.strip(),
            "isAgent": False,
            "filePath": "/home/mira/.claude/plans/brisk-copper-kettle.md",
        },
    )
    s.mark_call("plan")
    s.todo(
        "> add cents columns, write both",
        "  backfill in batches",
        "  comparison job",
        "  read cents, set NOT NULL",
    )
    s.write(
        "migrations/0034_cents_expand.sql",
        """
        ALTER TABLE lines  ADD COLUMN price_cents bigint;
        ALTER TABLE orders ADD COLUMN total_cents bigint;
        """,
    )
    s.write(
        "teashop/backfill_cents.py",
        """
        \"\"\"Fill the cents columns in batches, so that no lock is held for long.\"\"\"

        BATCH = 5_000


        def backfill(db) -> int:
            done = 0
            while True:
                changed = db.execute(
                    "UPDATE lines SET price_cents = round(price * 100) WHERE id IN "
                    "(SELECT id FROM lines WHERE price_cents IS NULL ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED)",
                    {"n": BATCH},
                ).rowcount
                db.commit()
                done += changed
                if changed == 0:
                    return done
        """,
    )
    s.slow_bash(
        "time python -m teashop.backfill_cents --database staging",
        "Backfill on the staging copy",
        [
            "lines: 150000 of 418233",
            "lines: 300000 of 418233",
            """
        lines: 418233 of 418233
        orders: 96127 of 96127
        0 rows where abs(price * 100 - price_cents) > 0.5

        real    1m12.4s
        user    0m3.1s
        """,
        ],
    )
    s.mark("backfill")
    s.todo(
        "x add cents columns, write both",
        "x backfill in batches",
        "> comparison job",
        "  read cents, set NOT NULL",
    )
    s.say("""
        Steps 1 and 2 are done on staging: both columns are written, and the backfill took 72 s for 418,233
        lines without holding a lock longer than one batch. The comparison job comes next; reading from the
        new columns waits for a week without differences.
        """)
    s.user("why not numeric again? the new colleague will ask me")
    s.say("""
        Three reasons. The payment provider and the invoice format already count in cents, so integers pass
        through unconverted. A Python `int` that meets a `float` is caught by the type checker, while
        `Decimal` from the driver gets turned into `float` silently by the JSON encoder we use. And we have
        one currency with two decimals, so the flexibility of NUMERIC buys nothing today.
        """)
    s.mark("why-integers")
    s.end("Plan and start the move from float prices to integer cents")
    return s


def _missing_cent() -> Session:
    s = Session("teashop", "missing-cent", "2026-06-09T08:47:20", release=168, branch="tva", model="claude-opus-4-7")
    s.begin()
    s.user("""
        Le total TTC de la facture diffère parfois d'un centime de celui du panier. Exemple : commande 14022,
        panier 37,41 €, facture 37,40 €. On est pourtant passé aux centimes entiers en mars. D'où vient l'écart ?
        """)
    s.mark("prompt")
    s.attach(
        "nested_memory",
        path="/home/mira/code/teashop/CLAUDE.md",
        displayPath="CLAUDE.md",
        content="Money is integer cents. Run `pytest -q` before you commit.",
    )
    s.think()
    s.say("Je regarde d'abord où la TVA est calculée, côté panier et côté facture.")
    with s.parallel():
        s.grep(
            "vat_rate",
            """
            teashop/basket.py:72:    return sum(round(line.net_cents * (1 + line.vat_rate)) for line in lines)
            teashop/invoice.py:51:    vat = round(sum(line.net_cents for line in lines) * vat_rate)
            teashop/invoice.py:52:    return sum(line.net_cents for line in lines) + vat
            """,
            path="teashop",
        )
        s.bash(
            "psql -c 'select net_cents, vat_rate from lines where order_id = 14022'",
            "Lignes de la commande 14022",
            """
             net_cents | vat_rate
            -----------+----------
                  1182 |    0.055
                  1182 |    0.055
                  1182 |    0.055
            (3 rows)
            """,
        )
    s.think("""
        Panier : round(1182 * 1.055) = round(1247.01) = 1247 par ligne, 3741 au total. Facture :
        3546 * 0.055 = 195.03 → 195, total 3741. Hmm, that gives 3741 as well. So the invoice's 3740 comes
        from something else: float noise? Check with the real function and its Python round (banker's).
        """)
    s.bash(
        "python -m teashop.invoice --explain 14022",
        "Détail du calcul de la facture",
        """
        line 1  net 1182  discount -3.33 %  ->  1142.64  -> 1143
        line 2  net 1182  discount -3.33 %  ->  1142.64  -> 1143
        line 3  net 1182  discount  0.00 %  ->  1182     -> 1182
        invoice: vat on 3467.28 (not rounded per line) = 190.70 -> 191
        basket : vat per rounded line = 62.87 + 62.87 + 65.01 -> 63 + 63 + 65 = 191, net 3468
        total  : basket 3659, invoice 3658
        shipping 82 -> basket 3741, invoice 3740
        """,
    )
    s.mark("explain")
    s.say("""
        L'écart vient de l'**ordre des arrondis**, pas du stockage. Avec une remise, une ligne vaut
        1142,64 centimes. Le panier arrondit chaque ligne (1143), puis additionne ; la facture additionne les
        valeurs non arrondies (3467,28) et n'arrondit qu'à la fin. Les centimes entiers de mars ont
        supprimé le bruit des flottants, mais chaque module a gardé sa propre règle d'arrondi.

        Je propose une seule règle, dans une seule fonction : arrondir une fois, à la ligne, remise comprise,
        et faire la somme d'entiers ensuite. C'est aussi ce que le client voit, ligne par ligne.
        """)
    s.mark("cause")
    s.user("D'accord. Arrondi au plus proche, la moitié vers le haut : le comptable ne veut pas de l'arrondi bancaire.")
    s.mark("half-up")
    s.write(
        "teashop/rounding.py",
        """
        \"\"\"The only place where an amount is rounded: once per line, half a cent goes up.\"\"\"

        from decimal import ROUND_HALF_UP, Decimal


        def to_cents(amount: Decimal) -> int:
            return int(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP))
        """,
    )
    with s.parallel():
        s.edit(
            "teashop/basket.py",
            "round(line.net_cents * (1 + line.vat_rate))",
            "to_cents(line.net * (1 + line.vat_rate))",
        )
        s.edit(
            "teashop/invoice.py",
            "vat = round(sum(line.net_cents for line in lines) * vat_rate)",
            "vat = sum(to_cents(line.net * vat_rate) for line in lines)",
        )
    s.bash(
        "pytest -q tests/test_rounding.py tests/test_invoice.py && python -m teashop.export --month 2026-05 --check | tail -2",
        "Tests et contrôle de l'export de mai",
        """
        .....................                                                    [100%]
        21 passed in 1.90s
        11804 invoices checked
        0 differ from the sum of their lines
        """,
    )
    s.say("""
        C'est corrigé : 21 tests passent, et sur les 11 804 factures de mai plus aucune ne s'écarte de la somme
        de ses lignes (avant : 37). L'arrondi se fait à un seul endroit, `teashop/rounding.py`.
        """)
    s.mark("result")
    s.end("Écart d'un centime entre panier et facture")
    return s
