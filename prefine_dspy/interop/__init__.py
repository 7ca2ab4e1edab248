"""Other agents' tools, calls and logs in this package's nouns, and back."""

from prefine_dspy.interop.catalogue import catalogue
from prefine_dspy.interop.results import Calls, read_call
from prefine_dspy.interop.sessions import to_query, to_session

__all__ = ["Calls", "catalogue", "read_call", "to_query", "to_session"]
