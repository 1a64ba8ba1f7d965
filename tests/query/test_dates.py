"""Dates are read as people write them, in their own time zone."""

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from searchkit.query import dates
from searchkit.query.types import Period, Span

PARIS = ZoneInfo("Europe/Paris")
SAO_PAULO = ZoneInfo("America/Sao_Paulo")
# A Wednesday.
NOW = datetime(2026, 4, 15, 14, 30, tzinfo=PARIS)

# What may be typed, with the beginning and the end of what it names in Paris.
SPANS = [
    ("2026", "2026-01-01", "2027-01-01"),
    ("2026-03", "2026-03-01", "2026-04-01"),
    ("2026-03-01", "2026-03-01", "2026-03-02"),
    ("2026/03/01", "2026-03-01", "2026-03-02"),
    ("2026-3-1", "2026-03-01", "2026-03-02"),
    ("2026-12-31", "2026-12-31", "2027-01-01"),
    ("2026-03-01T10:00", "2026-03-01T10:00", "2026-03-01T10:01"),
    ("2026-03-01 10:00:30", "2026-03-01T10:00:30", "2026-03-01T10:00:31"),
    ("2026-03-01T10:00:00.000Z", "2026-03-01T11:00", "2026-03-01T11:00:01"),
    ("2026-03-01T10:00+02:00", "2026-03-01T09:00", "2026-03-01T09:01"),
    ("10:30", "2026-04-15T10:30", "2026-04-15T10:31"),
    ("7d", "2026-04-08", "2026-04-09"),
    ("2w", "2026-03-30", "2026-04-06"),
    ("3m", "2026-01-01", "2026-02-01"),
    ("3 months", "2026-01-01", "2026-02-01"),
    ("1y", "2025-01-01", "2026-01-01"),
    ("12h", "2026-04-15", "2026-04-16"),
    ("90min", "2026-04-15", "2026-04-16"),
    ("today", "2026-04-15", "2026-04-16"),
    ("Yesterday", "2026-04-14", "2026-04-15"),
    ("tomorrow", "2026-04-16", "2026-04-17"),
    ("the day before yesterday", "2026-04-13", "2026-04-14"),
    ("last night", "2026-04-14", "2026-04-15"),
    ("monday", "2026-04-13", "2026-04-14"),
    ("wednesday", "2026-04-08", "2026-04-09"),
    ("last monday", "2026-04-13", "2026-04-14"),
    ("sun", "2026-04-12", "2026-04-13"),
    ("this week", "2026-04-13", "2026-04-20"),
    ("last week", "2026-04-06", "2026-04-13"),
    ("this month", "2026-04-01", "2026-05-01"),
    ("last month", "2026-03-01", "2026-04-01"),
    ("last year", "2025-01-01", "2026-01-01"),
    ("last 3 days", "2026-04-12T14:30", "2026-04-15T14:30"),
    ("past week", "2026-04-08T14:30", "2026-04-15T14:30"),
    ("march", "2026-03-01", "2026-04-01"),
    ("in March", "2026-03-01", "2026-04-01"),
    ("last march", "2026-03-01", "2026-04-01"),
    ("april", "2026-04-01", "2026-05-01"),
    ("last april", "2025-04-01", "2025-05-01"),
    ("may", "2025-05-01", "2025-06-01"),
    ("mar 2025", "2025-03-01", "2025-04-01"),
    ("march 2025", "2025-03-01", "2025-04-01"),
    ("1 march 2025", "2025-03-01", "2025-03-02"),
    ("March 1st, 2025", "2025-03-01", "2025-03-02"),
    ("march 1", "2026-03-01", "2026-03-02"),
    ("15 april", "2026-04-15", "2026-04-16"),
    ("16 april", "2025-04-16", "2025-04-17"),
    ("29 february", "2024-02-29", "2024-03-01"),
    ("3 days ago", "2026-04-12", "2026-04-13"),
    ("two weeks ago", "2026-03-30", "2026-04-06"),
    ("an hour ago", "2026-04-15", "2026-04-16"),
    ("last-march", "2026-03-01", "2026-04-01"),
    ("LAST_WEEK", "2026-04-06", "2026-04-13"),
    ("3-days-ago", "2026-04-12", "2026-04-13"),
]
OTHER_LANGUAGES = [
    ("aujourd'hui 今天 오늘", "today"),
    ("hier 昨天 어제", "yesterday"),
    ("avant-hier 前天 그저께", "day before yesterday"),
    ("cette_semaine 本周 이번주", "this week"),
    ("la_semaine_dernière 上周 上个星期 지난주 지난_주", "last week"),
    ("le_mois_dernier 上个月 지난달", "last month"),
    ("l'année_dernière l'an_dernier 去年 작년", "last year"),
    ("il_y_a_3_jours il_y_a_trois_jours 3天前 三天前 3일_전", "3 days ago"),
    ("il_y_a_2_semaines 两周前 2个星期前 2주_전", "2 weeks ago"),
    ("il_y_a_6_mois 6个月前 6개월_전", "6 months ago"),
    ("mars mars_dernier 3月 3월", "march"),
    ("lundi lundi_dernier", "monday"),
    ("le_12_mars_2025 2025年3月12日 2025년_3월_12일", "2025-03-12"),
    ("2025年3月", "2025-03"),
]
NO_DATES = [
    *(
        "",
        " ",
        "-",
        "click",
        "march on",
        "20",
        "2026-02-30",
        "2026-13",
        "2026-13-01",
        "0000",
        "0000-01-01",
        "1066-10-14",
    ),
    *("9999-12-31", "99999d", "9999y", "9999w", "7x", "d", "24:00", "10:60", "32 march", "30 february", "13月"),
    *("2026-03-01T25:00", "2026-03-01T10:00+99:99", "12-2025", "01/02/2026", "v2026", "last", "the", "x" * 100_000),
]
# A question, and what the dates in it would be as filters.
MENTIONS = [
    ("what did we decide in march", ["march"]),
    ("In March we decided", ["march"]),
    ("last march's outage", ["last march"]),
    ("the outage of may", ["may"]),
    ("during mid-march", ["march"]),
    ("the January outage", ["january"]),
    ("Mar 2025 budget", ["mar 2025"]),
    ("on 12 March 2026", ["2026-03-12"]),
    ("was it 12 march?", ["march 12"]),
    ("the release of Dec 10", ["10 december"]),
    ("last week's flaky test", ["last week"]),
    ("during the last week", ["last week"]),
    ("what broke yesterday, exactly?", ["yesterday"]),
    ("the day before yesterday", ["day before yesterday"]),
    ("the fix (3 days ago)", ["3 days ago"]),
    ("everything in the last 3 days", ["last 3 days"]),
    ("on Monday we said", ["monday"]),
    ("see 2026-03-01.", ["2026-03-01"]),
    ("at 2026-03-01T10:00:00Z it failed", ["2026-03-01"]),
    ("in 2025?", ["2025"]),
    ("in March 2025 or in June 2025", ["2025-03", "2025-06"]),
    ("qu'est-ce qu'on a fait hier", ["yesterday"]),
    ("ce qu'on a décidé en mars", ["march"]),
    ("上周的问题", ["last week"]),
    ("在3月的决定", ["march"]),
    ("어제 뭐 했지", ["yesterday"]),
    ("3天前的错误", ["3 days ago"]),
]
NO_MENTIONS = [
    *("you may march on", "it may 5 times", "option 1 may fail", "the january outage", "april said so", "dec 10"),
    *("logs/2026-03-01.log", "backup-2026-03-01", "2026-03-01.log", "date=2026-03-01", "/2026/03/01/x", "x_2026-03-01"),
    *("version 2.3.2026", "port 2025", "in 2024 lines", "2026", "7d", "10:30", "3 days", "monday.com", "every monday"),
    *("2026-02-30", "yesterday.py", "today()", "claude-3-5-sonnet-20241022", "the last thing", "tomorrow", ""),
]


@pytest.mark.parametrize(("text", "start", "end"), SPANS)
def test_words_name_a_stretch_of_local_time(text: str, start: str, end: str) -> None:
    """What is typed names all of a day, a week, a month or a year, from local midnight to local midnight."""
    assert Span(start=at(start), end=at(end)) == dates.span(text, NOW)


@pytest.mark.parametrize(("typed", "english"), OTHER_LANGUAGES)
def test_french_chinese_and_korean_say_the_same(typed: str, english: str) -> None:
    """The commonest sayings of three more languages name what the English ones do."""
    expected = dates.span(english, NOW)

    assert expected is not None
    assert {expected} == {dates.span(text.replace("_", " "), NOW) for text in typed.split()}


@pytest.mark.parametrize("text", NO_DATES, ids=[repr(text)[:20] for text in NO_DATES])
def test_what_is_no_date_names_nothing(text: str) -> None:
    """Impossible dates, and words that are none, name nothing and raise nothing."""
    assert dates.span(text, NOW) is None
    assert dates.moment(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03", "2026-03-01"),
        ("yesterday", "2026-04-14"),
        ("7d", "2026-04-08T14:30"),
        ("3 weeks ago", "2026-03-25T14:30"),
        ("2 months", "2026-02-15T14:30"),
        ("12h", "2026-04-15T02:30"),
    ],
)
def test_moment_is_the_beginning_or_that_long_ago(text: str, moment: str) -> None:
    """Filters count from the beginning of what is named, and from the very moment for a time ago."""
    assert at(moment) == dates.moment(text, NOW)


@pytest.mark.parametrize(
    ("now", "text", "moment"),
    [
        ("2026-03-31T12:00", "1m", "2026-02-28T12:00"),
        ("2024-03-31T12:00", "1m", "2024-02-29T12:00"),
        ("2024-02-29T12:00", "1y", "2023-02-28T12:00"),
        ("2026-01-15T12:00", "2m", "2025-11-15T12:00"),
        ("2026-12-31T12:00", "12m", "2025-12-31T12:00"),
    ],
)
def test_months_ago_end_with_the_month(now: str, text: str, moment: str) -> None:
    """A month before the 31st is the last day of a shorter month, leap days included."""
    assert at(moment) == dates.moment(text, datetime.fromisoformat(now).replace(tzinfo=PARIS))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("yesterday", "2025-12-31", "2026-01-01"),
        ("this week", "2025-12-29", "2026-01-05"),
        ("last week", "2025-12-22", "2025-12-29"),
        ("last month", "2025-12-01", "2026-01-01"),
        ("january", "2026-01-01", "2026-02-01"),
        ("december", "2025-12-01", "2026-01-01"),
        ("december 31", "2025-12-31", "2026-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
    ],
)
def test_dates_cross_the_new_year(text: str, start: str, end: str) -> None:
    """On the first of January, what is past lies in the year before."""
    assert Span(start=at(start), end=at(end)) == dates.span(text, datetime(2026, 1, 1, 0, 30, tzinfo=PARIS))


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-10-26", 24)])
def test_days_have_the_hours_that_the_zone_gives_them(day: str, hours: int) -> None:
    """A day on which the clocks change is shorter or longer by an hour, whatever the season of now."""
    span = dates.span(day, NOW)

    assert span is not None
    assert span.start is not None
    assert span.end is not None
    assert hours * 3_600_000 == span.end - span.start


def test_days_ago_keep_the_clock_and_hours_ago_the_hours() -> None:
    """Across a change of the clocks, two days ago was at the same time of day, and 48 hours ago was not."""
    now = datetime(2026, 3, 30, 12, tzinfo=PARIS)

    assert at("2026-03-28T12:00") == dates.moment("2d", now)
    assert at("2026-03-28T11:00") == dates.moment("48h", now)


def test_day_begins_when_midnight_was_skipped() -> None:
    """Where the clocks went from midnight to one, the day begins with that change."""
    span = dates.span("2018-11-04", NOW.astimezone(SAO_PAULO))

    assert span == Span(
        start=milliseconds(datetime(2018, 11, 4, 3, tzinfo=UTC)), end=milliseconds(datetime(2018, 11, 5, 2, tzinfo=UTC))
    )


def test_zone_decides_which_day_it_is() -> None:
    """At one moment it is today in one zone and yesterday in another."""
    moment = datetime(2026, 4, 15, 2, tzinfo=UTC)
    west = timezone(timedelta(hours=-8))

    assert dates.span("2026-04-15", moment) == dates.span("today", moment)
    assert dates.span("2026-04-14", moment.astimezone(west)) == dates.span("today", moment.astimezone(west))


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of the process cannot be set here")
def test_local_zone_knows_summer_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The zone of the operating system has the offset of each day, and of both hours when one comes twice."""
    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    try:
        local = [datetime(2026, 10, 24, 22, tzinfo=UTC) + timedelta(hours=hours) for hours in range(8)]
        here = [moment.astimezone(dates.LOCAL) for moment in local]

        assert [moment.astimezone(PARIS).isoformat() for moment in local] == [moment.isoformat() for moment in here]
        assert local == [moment.astimezone(UTC) for moment in here]
        assert dates.span("2026-10-25", NOW) == dates.span("2026-10-25", NOW.astimezone(dates.LOCAL))
        assert ["CEST", "CET"] == [here[0].tzname(), here[-1].tzname()]
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(("text", "named"), MENTIONS)
def test_questions_name_dates_in_passing(text: str, named: list[str]) -> None:
    """A date that can hardly mean anything else is found inside a question."""
    spans = tuple(span for span in (dates.span(one, NOW) for one in named) if span is not None)

    assert Period(spans=spans) == dates.mentioned(text, NOW)


@pytest.mark.parametrize("text", NO_MENTIONS)
def test_what_may_mean_something_else_is_not_mentioned(text: str) -> None:
    """Verbs, names, versions, paths and bare numbers are no dates."""
    assert dates.mentioned(text, NOW) is None


def test_since_and_before_leave_one_end_open() -> None:
    """What is said to be since a date has no end, and what was before one has no beginning."""
    assert Period(spans=(Span(start=at("2026-03-01")),)) == dates.mentioned("all changes since march", NOW)
    assert Period(spans=(Span(end=at("2026-04-06")),)) == dates.mentioned("it worked before last week", NOW)


PIECES = st.sampled_from(
    "last this in since march may 12 2026 2026-03-01 99 9999 0 ago days weeks y m 3 two T10:00 - / :".split()
    + "il y a jours dernier 前 天 月 年 전 일".split()
)


@settings(deadline=None)
@given(
    st.one_of(
        st.text(max_size=80), st.lists(PIECES, max_size=8).map(" ".join), st.lists(PIECES, max_size=8).map("".join)
    )
)
@example("\ud800")
@example("٣ days ago")
def test_no_text_breaks_dates(text: str) -> None:
    """Whatever is typed, reading it as a date raises nothing, and a span never ends before it begins."""
    span = dates.span(text, NOW)
    dates.mentioned(text, NOW)

    assert (span is None) == (dates.moment(text, NOW) is None)
    assert span is None or (span.start is not None and span.end is not None and span.start <= span.end)


def at(text: str) -> int:
    """Tell the milliseconds of a local time in Paris."""
    return milliseconds(datetime.fromisoformat(text).replace(tzinfo=PARIS))


def milliseconds(moment: datetime) -> int:
    """Tell the milliseconds since 1970."""
    return int(moment.timestamp() * 1000)
