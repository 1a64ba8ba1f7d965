"""Security: files outside the invoice directory, and a certificate check that stayed switched off."""

from sample.session import Session


def sessions() -> list[Session]:
    """Return the sessions of this story, oldest first."""
    return [_traversal(), _certificates()]


def _traversal() -> Session:
    s = Session("teashop", "traversal", "2026-04-14T12:15:33", release=105, branch="security/invoices")
    s.begin()
    s.command(
        "security-review",
        "teashop/invoice_api.py",
        """
        Review the named files for security problems. For each finding give the file and line, how it could
        be used, how bad it is, and a fix. Report only what you can demonstrate. Do not change any file
        before the findings have been confirmed by the user.
        """,
    )
    s.mark("expansion")
    s.attach(
        "skill_listing",
        content="- security-review: review files for security problems",
        skillCount=1,
        isInitial=True,
    )
    s.read(
        "teashop/invoice_api.py",
        """
        from pathlib import Path

        from fastapi import APIRouter, Depends
        from fastapi.responses import FileResponse

        from teashop.auth import current_customer

        router = APIRouter(prefix="/invoices")
        ROOT = Path("/srv/teashop/invoices")


        @router.get("/{name:path}")
        def download(name: str, customer=Depends(current_customer)) -> FileResponse:
            return FileResponse(ROOT / name, filename=name)
        """,
    )
    s.think("""
        `{name:path}` accepts slashes, `ROOT / name` with ".." leaves the directory, and `ROOT / "/etc/passwd"`
        is just "/etc/passwd" in pathlib. Second finding: customer is never compared to the owner. Demonstrate both.
        """)
    s.bash(
        """
        curl -s -H 'Authorization: Bearer sk-example' --path-as-is localhost:8000/invoices/../config/app.toml | head -3
        curl -s -o /dev/null -w '%{http_code}\\n' -H 'Authorization: Bearer sk-example' localhost:8000/invoices/2026/03/511-0007.pdf
        """,
        "Try both on the development server",
        """
        [database]
        host = "db.example.com"
        password = "example-password"
        200
        """,
    )
    s.mark("demonstration")
    s.say("""
        Two findings, both demonstrated on the development server:

        1. **Path traversal (high).** `/invoices/../config/app.toml` returns the configuration with the database
           password. `{name:path}` lets slashes through, and `ROOT / name` follows `..` and even absolute paths.
        2. **Other people's invoices (high).** A logged-in customer can fetch any invoice whose number they
           guess; `customer` is required but never compared with the invoice's owner.

        Fix for both: look the invoice up by its number *and* the customer in the database, and take the path
        from there. No part of the URL becomes a path any more.
        """)
    s.mark("findings")
    s.user("confirmed, fix both. were they used? check the access logs of the last 90 days")
    s.mark("were-they-used")
    s.edit(
        "teashop/invoice_api.py",
        """
        @router.get("/{name:path}")
        def download(name: str, customer=Depends(current_customer)) -> FileResponse:
            return FileResponse(ROOT / name, filename=name)
        """,
        """
        @router.get("/{number}")
        def download(number: str, customer=Depends(current_customer), db=Depends(session)) -> FileResponse:
            invoice = db.query(Invoice).filter_by(number=number, customer_id=customer.id).one_or_none()
            if invoice is None:
                raise HTTPException(404)
            return FileResponse(ROOT / invoice.file, filename=f"{invoice.number}.pdf")
        """,
    )
    with s.parallel():
        s.bash(
            "zgrep -hE 'GET /invoices/.*(\\.\\.|%2e|%2f)' var/log/access.log* | wc -l",
            "Look for traversal in the logs",
            "0",
        )
        s.bash(
            "python -m teashop.audit invoices --days 90",
            "Compare downloads with owners",
            """
            18220 downloads in 90 days
            0 by a customer other than the owner
            """,
        )
    s.mark("not-used")
    s.write(
        "tests/test_invoice_api.py",
        """
        import pytest


        @pytest.mark.parametrize("name", ["../config/app.toml", "%2e%2e/config/app.toml", "/etc/passwd"])
        def test_nothing_outside_the_directory_is_served(client, name):
            assert client.get(f"/invoices/{name}").status_code == 404


        def test_an_invoice_is_served_to_its_owner_only(client, other_customer, invoice):
            client.login(other_customer)
            assert client.get(f"/invoices/{invoice.number}").status_code == 404
        """,
    )
    s.bash(
        "pytest -q tests/test_invoice_api.py",
        "Run the new tests",
        "....                                      [100%]\n4 passed in 0.71s",
    )
    s.bash(
        "git push -q -u origin security/invoices && gh pr create --title 'invoices: serve by number and owner' --fill",
        "Open a pull request",
        "https://git.example.com/teashop/teashop/pull/388",
    )
    s.line(
        "pr-link",
        prNumber=388,
        prUrl="https://git.example.com/teashop/teashop/pull/388",
        prRepository="teashop/teashop",
        timestamp="2026-04-14T12:40:02.000Z",
    )
    s.say("""
        Both are fixed in pull request 388, with tests. There is no sign that either was used: no request with
        `..` in 90 days of access logs, and all 18,220 downloads went to the invoice's owner. Since the
        configuration could have been read, the database password should be changed all the same.
        """)
    s.end("Security review of the invoice download")
    return s


def _certificates() -> Session:
    s = Session(
        "driftlog",
        "certificates",
        "2026-06-23T09:05:00",
        release=176,
        branch="security/tls",
        model="claude-opus-4-7",
    )
    s.begin()
    s.user("""
        A customer's audit says driftlog accepts any TLS certificate. That cannot be right?! When did that come
        in and why?
        """)
    s.mark("prompt")
    s.attach("date_change", newDate="2026-06-23")
    s.think()
    with s.parallel():
        s.grep(
            "danger|verify",
            """
            src/tls.rs:18:        .danger_accept_invalid_certs(true) // staging only, take out again
            """,
            path="src",
        )
        s.bash(
            "git log -S danger_accept_invalid_certs --format='%h %ad %s' --date=short -- src/tls.rs",
            "When it came in",
            """
            e07b3d2 2026-03-11 channel: bound the queue, wait when it is full
            """,
        )
    s.mark("git-log")
    s.bash(
        "git show e07b3d2 --stat | tail -5; git tag --contains e07b3d2 | head -3",
        "What else was in that commit",
        """
         src/channel.rs | 41 ++++++++++++++++++++++++++++-------------
         src/tls.rs     |  1 +
         2 files changed, 29 insertions(+), 13 deletions(-)
        v0.6.0
        v0.6.1
        v0.7.0
        """,
    )
    s.say("""
        It is right, unfortunately. The line came in with e07b3d2 on 11 March, the commit that bounded the queue.
        It was meant for an afternoon against the staging server with its self-signed certificate ("take out
        again") and went along with `git commit -a`. It is in v0.6.0, v0.6.1 and v0.7.0: in these three
        versions anyone between shipper and receiver can read and change the logs.
        """)
    s.mark("history")
    s.user("""
        Remove it now. Staging gets its own CA file in the config instead. And make it impossible to
        commit such a thing again.
        """)
    s.edit(
        "src/tls.rs",
        """
                .danger_accept_invalid_certs(true) // staging only, take out again
        """,
        """
                .add_root_certificates(config.extra_ca_file.as_deref())
        """,
    )
    s.write(
        "tests/tls.rs",
        """
        #[tokio::test]
        async fn a_self_signed_certificate_is_refused() {
            let server = support::tls_server(support::SELF_SIGNED).await;
            let error = driftlog::connect(&server.url(), &Config::default()).await.unwrap_err();
            assert!(error.to_string().contains("self-signed certificate"), "{error}");
        }

        #[tokio::test]
        async fn a_certificate_of_the_configured_ca_is_accepted() {
            let server = support::tls_server(support::SIGNED_BY_TEST_CA).await;
            let config = Config { extra_ca_file: Some(support::TEST_CA.into()), ..Config::default() };
            driftlog::connect(&server.url(), &config).await.unwrap();
        }
        """,
    )
    s.edit(
        "clippy.toml",
        "disallowed-methods = []",
        """
        disallowed-methods = [
          { path = "reqwest::ClientBuilder::danger_accept_invalid_certs", reason = "use extra_ca_file" },
        ]
        """,
    )
    s.bash(
        "cargo test -q --test tls && cargo clippy -q -- -D warnings && echo clean",
        "Tests and lints",
        """
        running 2 tests
        ..
        test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.19s

        clean
        """,
    )
    s.mark("tests")
    s.bash(
        "git commit -qam 'tls: check certificates again; extra_ca_file for private authorities' && git tag v0.7.1 && git push -q --tags",
        "Commit and tag",
        "",
    )
    s.say("""
        v0.7.1 checks certificates again. A private authority goes into `extra_ca_file`; a test refuses a
        self-signed server; clippy rejects `danger_accept_invalid_certs` from now on. Users of 0.6.0 to 0.7.0
        need an advisory, and I would rotate tokens that were sent through those versions.
        """)
    s.mark("result")
    s.turn_over()
    s.end("TLS certificate check was off since March")
    return s
