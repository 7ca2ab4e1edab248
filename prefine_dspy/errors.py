"""The exceptions a caller may want to catch. Every message is one line that says what to type next."""


class PrefineError(Exception):
    """Base class of every error that this package raises on purpose."""


class MissingExtra(PrefineError):
    """An optional dependency is not installed.

    Args:
        what: the feature that needs it, e.g. "the local LM".
        extra: the extra's name, e.g. "local".
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'prefine-dspy[{extra}]'")
        self.extra = extra


class InputError(PrefineError):
    """The caller's input (a file, a name, an option) cannot be used."""


class BudgetExhausted(PrefineError):
    """A stated limit on LM calls was reached; what was done so far is kept."""
