"""Memories of many users, kept between sessions: versions, evidence, correction, forgetting."""

from prefine_dspy.store.errors import StoreError
from prefine_dspy.store.preferences import PreferenceStore, Updater
from prefine_dspy.store.records import Export, Version

__all__ = ["Export", "PreferenceStore", "StoreError", "Updater", "Version"]
