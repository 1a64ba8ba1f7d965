"""The table of what only the page asks for: conversations to leaf through, whole texts, and pictures."""

from searchkit.server.routes import Address
from searchkit.web import conversation_api as api

FEEDS = (
    Address(path="/v1/readings/{id}", parameters=api.ReadingParameters, answer=api.reading, returns=api.Reading),
    Address(path="/v1/readings/{id}/fold", parameters=api.FoldParameters, answer=api.fold, returns=api.Fold),
    Address(path="/v1/parts/{id}", parameters=api.Marked, answer=api.part, returns=api.PartText),
    Address(path="/v1/pictures/{id}", answer=api.pictures, returns=api.Pictures),
)
