"""An answer as text, for clients that show a model no structured content."""

from collections.abc import Iterator

from searchkit.mcp import answers
from searchkit.mcp.quoting import line


def text(answer: answers.Answer) -> str:
    """Write an answer in few lines, nothing of it cut again; what is quoted is indented."""
    return "\n".join([*_results(answer), *_beside(answer)]) or "Nothing."


def _results(answer: answers.Answer) -> Iterator[str]:
    match answer:
        case answers.Search(results=results):
            for one in results:
                yield from _found(one)
        case answers.Show():
            yield _place(answer)
            yield from (row for one in answer.messages for row in _message(one))
        case answers.Context():
            yield answer.text
        case answers.Sessions(sessions=sessions, total=total):
            yield from (_joined(one.ended, one.project, one.title, f"session {one.session}") for one in sessions)
            yield f"{total} in all"
        case answers.Files(conversations=conversations):
            for touched in conversations:
                yield _joined(touched.project, touched.title, f"session {touched.session}")
                yield from _asked(touched.asked)
                yield from (row for one in touched.touches for row in _message(one))
        case answers.Fixes(fixes=fixes, seen=seen):
            for fix in fixes:
                yield _joined(fix.project, fix.title, f"session {fix.session}", f"{fix.edits} edits")
                for name, several in (("failed", fix.failed), ("changed", fix.changes), ("passed", fix.passed)):
                    yield f"{name}:"
                    yield from (row for one in several for row in _message(one))
            for found in seen:
                yield from _found(found)


def _beside(answer: answers.Answer) -> Iterator[str]:
    if answer.empty_because:
        yield f"Nothing found: {answer.empty_because}."
    yield from answer.hints
    yield from (f"Left out: session {one.session}; {one.because}." for one in answer.left_out)
    following = getattr(answer, "next_offset", None)
    if following is not None:
        yield f"More with offset {following}."


def _found(one: answers.Found) -> Iterator[str]:
    yield _joined(one.time, one.project, one.title, f"session {one.session}", f"agent {one.agent}" if one.agent else "")
    yield from _asked(one.asked)
    yield from _message(one, with_time=False)
    yield from (row for other in one.others for row in _message(other, with_time=False))


def _asked(asked: str) -> Iterator[str]:
    if asked:
        yield f"  asked: {asked}"


def _place(answer: answers.Show) -> str:
    more = f"{answer.earlier} turns before, {answer.later} after"
    return _joined(answer.project, answer.branch, answer.title, f"session {answer.session}", more)


def _message(one: answers.Message, with_time: bool = True) -> Iterator[str]:
    """Write who speaks, and the text below, so that nothing in it can be taken for ours."""
    failed = "failed" if one.is_error else ""
    asked_for = "asked for" if one.is_hit else ""
    yield "  " + _joined(f"uuid {one.uuid}", one.kind, one.tool, failed, asked_for, one.time if with_time else "")
    yield from (f"    {row}" for row in one.text.splitlines())
    if one.cut:
        yield f"    ({one.cut} characters not shown)"


def _joined(*parts: str) -> str:
    return " · ".join(line(part, 400) for part in parts if part)
