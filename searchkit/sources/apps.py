"""The agent programs whose transcripts can be read: where each keeps them, and which package reads them.

A program is one row of `APPS`. The process that passes MCP on asks for them, and is to stay small: it imports nothing.
"""

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class App:
    """An agent program."""

    def __init__(
        self,
        *,
        name: str,
        title: str,
        package: str,
        home: str,
        variable: str,
        signs: tuple[str, ...],
        watched: tuple[str, ...],
        resume: tuple[str, ...],
        session_variables: tuple[str, ...] = (),
        marks: tuple[str, ...] = (),
        directory_variable: str = "",
        call_field: str = "",
    ) -> None:
        """Describe a program; what it does not tell is empty."""
        self.name = name
        self.title = title
        self.package = package
        # Where it keeps its files, and the environment variable that says otherwise.
        self.home = home
        self.variable = variable
        # Directories in its own if it has written a transcript, with `*` for any name. Of several programs that find
        # theirs, the one with the longest path is taken: `projects/*/chats` is more than `projects`.
        self.signs = signs
        # What it writes that is worth reading. Beside it lie logs and caches that change all the time.
        self.watched = watched
        # The command that reopens a session, before its id.
        self.resume = resume
        # What it tells the processes that it starts: the session, and the directory of the project.
        self.session_variables = session_variables
        self.directory_variable = directory_variable
        # What it sets for the commands that it runs, whose output becomes part of a transcript.
        self.marks = marks
        # Where in the `_meta` of a request over MCP it names the call that it makes.
        self.call_field = call_field


APPS: "Mapping[str, App]" = {
    app.name: app
    for app in (
        App(
            name="claude",
            title="Claude Code",
            package="searchkit.sources.claude",
            home="~/.claude",
            variable="CLAUDE_CONFIG_DIR",
            signs=("projects",),
            watched=("projects", "todos", "tasks", "plans", "jobs", "paste-cache", "history.jsonl"),
            resume=("claude", "--resume"),
            session_variables=("CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID"),
            marks=("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"),
            directory_variable="CLAUDE_PROJECT_DIR",
            call_field="claudecode/toolUseId",
        ),
        App(
            name="codex",
            title="Codex",
            package="searchkit.sources.codex",
            home="~/.codex",
            variable="CODEX_HOME",
            signs=("sessions", "archived_sessions"),
            watched=("sessions", "archived_sessions", "history.jsonl"),
            resume=("codex", "resume"),
            marks=("CODEX_SANDBOX",),
        ),
    )
}
# What a session is of about which nothing says so: indexes of before were made from its transcripts alone.
DEFAULT = "claude"


def variables() -> set[str]:
    """Return the environment variables by which programs say where their files are, or in which session one is."""
    return {name for app in APPS.values() for name in (app.variable, *app.session_variables, *app.marks)}


def is_set_by_agent(environment: "Mapping[str, str]") -> bool:
    """Say whether an agent runs a command with these variables, and reads what it prints."""
    return any(environment.get(name) for app in APPS.values() for name in app.marks)


def app_of_entrypoint(entrypoint: str | None) -> App:
    """Return the program that wrote a record: all but the default name themselves first in the entrypoint."""
    name = (entrypoint or "").partition(" ")[0]
    return APPS.get(name) or APPS[DEFAULT]


def current_session(environment: "Mapping[str, str]") -> str:
    """Return the session that a process was started in, as the agent that started it says; empty where none does."""
    names = (name for app in APPS.values() for name in app.session_variables)
    return next((environment[name] for name in names if environment.get(name)), "")


def current_directory(environment: "Mapping[str, str]") -> str:
    """Return the directory of the project, as the agent says that started a process; empty where none does."""
    names = (app.directory_variable for app in APPS.values() if app.directory_variable)
    return next((environment[name] for name in names if environment.get(name)), "")
