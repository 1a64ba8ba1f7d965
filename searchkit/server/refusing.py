"""How the process says no: the same JSON as commands print, with the status that HTTP has for it."""

import orjson
from starlette.responses import Response

from searchkit.errors import (
    IndexFault,
    ModelFault,
    NotFound,
    NotPrivate,
    Refused,
    SearchkitError,
    SourceError,
    UsageError,
)
from searchkit.render import json
from searchkit.text.sanitize import escaped

# Too many at once, or an index that cannot be read now: worth another try after this.
RETRY_SECONDS = 1


def answered(fields: object, status: int = 200) -> Response:
    """Answer with JSON, whose text may be printed on a terminal as it is."""
    return Response(escaped(orjson.dumps(fields).decode()), status, media_type="application/json")


def refused(error: SearchkitError) -> Response:
    """Answer with what went wrong."""
    response = answered(json.error(error), status_of(error))
    if response.status_code == 503:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def status_of(error: SearchkitError) -> int:
    """Return the status of an error."""
    match error:
        case Refused():
            return error.status
        case NotFound():
            return 404
        case UsageError():
            return 400
        case IndexFault() | ModelFault() | SourceError() | NotPrivate():
            # The index or the model cannot be used as it is now; the request was good.
            return 503
    return 500
