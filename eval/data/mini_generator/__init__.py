"""Writes the mini data set: our own dialogues of invented users, nothing copied from a corpus."""
