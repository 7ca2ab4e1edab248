"""Kestrel Air: a small airline that is always there. Policy, database, tools, tasks and users are our own."""

from eval.envs.builtin.environment import BuiltinEnvironment

__all__ = ["BuiltinEnvironment"]
