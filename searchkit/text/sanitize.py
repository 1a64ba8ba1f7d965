"""The gate that texts of transcripts pass on their way out, with a function for each place that they go to.

Transcripts are hostile text: names of branches, ids and paths as well as what was said. Code that prints, quotes or
links something of them asks here, and nowhere else.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# All control characters but line ends and tabs; the separators of lines and paragraphs; whatever Unicode says to show
# nothing for (Default_Ignorable_Code_Point: marks of direction, characters without width, variation selectors, tags);
# and annotations between lines. `web/page/script/harmless.js` has the same list, and a test holds them together.
HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
# Pictures that may be joined to one, or be shown in colours or without.
_PICTURES = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u23ff\u2460-\u27bf\u2900-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
# Scripts that are spelt wrong without what joins or parts letters: from Arabic to Sinhala, Burmese and Khmer.
_JOINING = f"{_PICTURES}\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"
_ANY_HIDDEN = re.compile(f"[{HIDDEN}]")
# Whole ranges of hidden characters but for one that people need, alone in its place: by many of them in a row, or
# between letters that need none, a text could tell a program what its reader does not see.
_GONE = re.compile(
    f"(?!(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    f"|(?<=[{_PICTURES}]\ufe0f)\u200d(?=[{_JOINING}])"
    f"|(?<=[{_PICTURES}])[\ufe0e\ufe0f]"
    f"|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    f")[{HIDDEN}]"
)
# What `click.style` is asked to write here, none of which hides anything.
_COLOURS = re.compile("(\x1b\\[(?:[012]|22|3[0-7])m)")
# Nothing in it means anything to bash, zsh or fish, wherever it stands: no blank, quote, glob, comma (which ends a
# value in click's script for fish) or backslash (which `read` in its script for bash takes away); nothing at its
# beginning is an option, a home directory, a comment, a program (`=ls` in zsh) or a job.
_WORD = re.compile(r"[\w./@+][\w./@+:=%#-]*")
# The same with single blanks within, for shells that quote what they insert.
_WORDS = re.compile(rf"{_WORD.pattern}(?: [\w./@+:=%-][\w./@+:=%#-]*)*")
# Words that need no quotes on a command line.
_UNQUOTED = re.compile(r"[A-Za-z0-9_./@+-][A-Za-z0-9_./@+:=,%-]*")
# What ids of Claude Code are made of: uuids, and hashes with a word before them.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
# Bytes that every file system takes as a name.
MOST_NAME_BYTES = 255


def safe(text: str) -> str:
    """Write lines of text for a terminal, a file or an agent: nothing in them is hidden, or commands anything."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _GONE.sub("", text) if _ANY_HIDDEN.search(text) else text


def one_line(text: str) -> str:
    """Write text for one line of a terminal: as `safe` does, all white space folded."""
    return " ".join(safe(text).split())


def printed(line: str) -> str:
    """Let a line leave for a terminal, with colours and nothing else beside text.

    Colours that a text brought along cannot be told from ours any more: `safe` is for texts.
    """
    if not _ANY_HIDDEN.search(line):
        return line
    return "".join(piece if number % 2 else safe(piece) for number, piece in enumerate(_COLOURS.split(line)))


def escaped(json: str) -> str:
    """Escape in the text of JSON what could command a terminal, or is hidden; parsed, it is the same value."""
    return _ANY_HIDDEN.sub(lambda found: _escape(found[0]), json)


def spoken(value: Any) -> Any:
    """Clean all texts of an answer to an agent, names of fields included: a model reads what no person sees."""
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, Mapping):
        return {spoken(name): spoken(one) for name, one in value.items()}
    return [spoken(one) for one in value] if isinstance(value, Sequence) else value


def words(values: Iterable[str], is_quoting: bool = False) -> list[str]:
    """Choose values that a shell may be offered, each but once: those that arrive as they are.

    A shell that is quoting puts quotes around what it inserts; to others a blank ends the word.
    """
    form = _WORDS if is_quoting else _WORD
    return [one for one in dict.fromkeys(values) if form.fullmatch(one) and _is_seen(one)]


def command_line(*arguments: str) -> str | None:
    """Write a program and its arguments so that bash, zsh and fish read just them; None where nothing does so.

    Hidden characters cannot be typed, and pasted they may reach the terminal before any shell.
    """
    return " ".join(map(_quoted, arguments)) if all(map(_is_seen, arguments)) else None


def is_id(text: str) -> bool:
    """Whether a text can be nothing but an id, whatever program is given it: no option, no path, no pattern."""
    return bool(_ID.fullmatch(text))


def path(text: str) -> str:
    """Write a path as an argument of a program that would take it for an option."""
    return f"./{text}" if text.startswith("-") else text


def markup(text: str) -> str:
    """Write lines of text for HTML, between tags."""
    # A terminal needs neither this nor what makes URLs.
    import html

    return html.escape(safe(text))


def attribute(text: str) -> str:
    """Write text for HTML on one line: between tags, or as the value of an attribute in quotes."""
    import html

    return html.escape(one_line(text))


def longest_run(text: str) -> int:
    """Return the length of the longest run of backticks, which a fence of Markdown must exceed."""
    return max(map(len, re.findall("`+", safe(text))), default=0)


def url(text: str) -> str:
    """Write text as one part of a URL, which nothing in it can end."""
    from urllib.parse import quote

    return quote(text, safe="")


def file_name(text: str) -> str | None:
    """Return a text that can be the name of a file and lead nowhere else; None where it cannot."""
    is_name = text not in ("", ".", "..") and _is_seen(text) and not set(text) & set("/\\")
    return text if is_name and len(text.encode("utf-8", "replace")) <= MOST_NAME_BYTES else None


def _is_seen(text: str) -> bool:
    """Whether a text is on one line and all of it is seen; pasted, a line end runs a command, a tab completes one."""
    return safe(text) == text and "\n" not in text and "\t" not in text


def _escape(character: str) -> str:
    """Escape a character as JSON has it: beyond the first plane as a pair of surrogates."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _quoted(argument: str) -> str:
    """Quote an argument for all three shells at once.

    `shlex.quote` is for POSIX shells: in fish a backslash means something within single quotes, too, so that a text
    could end them. Quotes and backslashes therefore stand outside, each behind a backslash.
    """
    if _UNQUOTED.fullmatch(argument):
        return argument
    pieces = re.split(r"(['\\])", argument)
    quoted = (f"\\{piece}" if number % 2 else f"'{piece}'" for number, piece in enumerate(pieces) if piece)
    return "".join(quoted) or "''"


# Makes foreign text fit to be searched: no colour codes, no base64.


_ANSI = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # window titles and hyperlinks
    r"|[PX^_][^\x1b]*\x1b\\"  # device control strings
    r"|[ -/]*[0-~])"
)
# How base64 of PNG, JPEG, PDF, GIF, WebP and ZIP begins, and data URLs.
_BASE64 = r"(?:iVBORw0KGgo|/9j/4AA|JVBERi0|R0lGOD|UklGR|UEsDBBQ|base64,)[A-Za-z0-9+/=_-]{200,}"


def clean(text: str) -> str:
    """Strip what is not text; words stay as they are, and so does white space."""
    if "\x1b" in text:
        text = re.sub(_ANSI, "", text)
    if len(text) > 200 and _may_hold_base64(text):
        text = re.sub(_BASE64, lambda match: f"[base64, {len(match.group())} characters]", text)
    return text


def _may_hold_base64(text: str) -> bool:
    """Look for the openings one by one: ten times faster than the expression over texts without any."""
    return (
        "base64," in text
        or "iVBORw0KGgo" in text
        or "/9j/4AA" in text
        or "JVBERi0" in text
        or "R0lGOD" in text
        or "UklGR" in text
        or "UEsDBBQ" in text
    )
