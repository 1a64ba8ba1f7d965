"""The reference: a backend of dictionaries with hashed keys, and functions that compare what backends hold."""

from tests.reference.backend import ReferenceBackend

__all__ = ["ReferenceBackend"]
