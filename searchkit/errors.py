"""Every error searchkit raises on purpose.

SearchkitError
├── UsageError            what was asked makes no sense
│   ├── NotFound          nothing has that id
│   └── TooFewTokens      no passage fits into a pack of that size
├── Refused               a request that the resident process does not answer
├── NotPrivate            a file or directory that is not the user's alone
├── SourceError           a root cannot be read at all
│   ├── RootMissing       no such root, or it holds no projects/
│   └── SourceSilent      the disk or the network it lies on does not answer
├── IndexFault            the index cannot be used as it is
│   ├── IndexMissing      nothing has been indexed yet
│   ├── IndexVersion      written by another format version
│   ├── IndexModel        its vectors were made with another model
│   ├── IndexBusy         another process is writing
│   ├── IndexDamaged      the store itself reports damage
│   └── IndexUnwritable   no permission, or the disk is full
└── ModelFault            no vectors can be made; words are still searched
    ├── ModelMissing      no such model here, or no network to fetch it by
    ├── ModelDamaged      its files cannot be read, or are not those of a model
    ├── ModelMismatch     it gives other vectors than it says
    ├── ModelUnsafe       opening it could run code that it brings
    └── ModelTooLarge     not enough memory, whatever is tried
"""


class SearchkitError(Exception):
    """An error with a sentence on what is wrong and a hint on what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep both sentences; shells print the hint on a line of its own."""
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def kind(self) -> str:
        """The name a program can tell errors apart by."""
        return type(self).__name__


class UsageError(SearchkitError):
    """What was asked makes no sense."""


class NotFound(UsageError):
    """Nothing has that id."""


class TooFewTokens(UsageError):
    """No passage fits into a pack of that size; shells say how theirs is told to be larger."""

    def __init__(self, given: int, least: int) -> None:
        """Keep the number of tokens that would do."""
        super().__init__(f"no passage fits into {given:,} tokens", f"it takes {least:,} or more")
        self.least = least


class Refused(SearchkitError):
    """A request that the resident process does not answer, with the status that HTTP has for it."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        """Keep the status with the sentences."""
        super().__init__(message, hint)
        self.status = status


class NotPrivate(SearchkitError):
    """A file or directory belongs to somebody else, can be written by others, or is a link that leads elsewhere."""


class SourceError(SearchkitError):
    """A root cannot be read at all."""


class RootMissing(SourceError):
    """There is no such root, or it holds no projects/."""


class SourceSilent(SourceError):
    """A root, or a file below it, lies on a disk or a network that does not answer."""


class IndexFault(SearchkitError):
    """The index cannot be used as it is."""


class IndexMissing(IndexFault):
    """Nothing has been indexed yet."""


class IndexVersion(IndexFault):
    """The index was written by another format version; an older one can be migrated."""

    def __init__(self, message: str, hint: str = "", *, is_older: bool = False) -> None:
        """Keep which it is."""
        super().__init__(message, hint)
        self.is_older = is_older


class IndexModel(IndexFault):
    """The vectors in the index were made with another model."""


class IndexBusy(IndexFault):
    """Another process is writing to the index."""


class IndexDamaged(IndexFault):
    """The store itself reports damage."""


class IndexUnwritable(IndexFault):
    """The index cannot be written: no permission, or the disk is full."""


class ModelFault(SearchkitError):
    """No vectors can be made; words are still searched."""


class ModelMissing(ModelFault):
    """There is no such model here, or no network to fetch it by."""


class ModelDamaged(ModelFault):
    """A model's files cannot be read, or are not those of a model."""


class ModelMismatch(ModelFault):
    """A model gives other vectors than it says."""


class ModelUnsafe(ModelFault):
    """A model could run code of its own if it were opened."""


class ModelTooLarge(ModelFault):
    """There is not enough memory for the model, whatever is tried."""
