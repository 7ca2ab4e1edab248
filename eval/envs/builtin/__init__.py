"""Kestrel Air: a small airline that is always there. Policy, database, tools, tasks and users are our own."""

from eval.envs.builtin.environment import BuiltinEnvironment
from eval.envs.builtin.tasks import chosen

__all__ = ["BuiltinEnvironment", "chosen"]
