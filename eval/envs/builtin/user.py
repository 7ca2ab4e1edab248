"""A user who follows a script: deterministic, patient to a point, and silent about what nobody asks for."""

from __future__ import annotations

from typing import NamedTuple

from eval.envs.builtin.listening import hear, misheard_choices
from eval.envs.builtin.tasks import Script
from eval.envs.outputs import said_outputs

PATIENCE = 14
"""Messages after which a user gives up; and so does one who heard nothing of use three times in a row."""
_IDLE = 3
_NO_WISH = "I have no wish about that."


class Said(NamedTuple):
    """A user's answer.

    Args:
        text: what they say.
        leaves: the conversation is over.
        asked: slots that the agent asked for, or got wrong and was corrected on.
    """

    text: str
    leaves: bool = False
    asked: tuple[str, ...] = ()


class ScriptedUser:
    """One user in one conversation.

    Args:
        script: of the task.
        email, name: of the customer.
    """

    def __init__(self, script: Script, email: str, name: str) -> None:
        self.script = script
        identity = f"My e-mail is {email}, customer id {script.customer}."
        self._answers = {"email": identity, "passengers": f"Just me, {name}.", **script.answers}
        self._request = script.opening
        self._then = list(script.then)
        self._refused = list(script.refused)
        self._heard = 0
        self._idle = 0

    def listen(self, text: str) -> Said:
        """Answer a message of the agent."""
        self._heard += 1
        if self._heard >= PATIENCE:
            return Said("This takes too long, I have to go. Goodbye.", leaves=True)
        heard = hear(text)
        wrong = misheard_choices(text, self.script.choices) if heard.wants_yes else []
        asked = tuple(dict.fromkeys([*heard.asked, *wrong]))
        lines = [self._answers.get(slot, _NO_WISH) for slot in heard.asked]
        lines += [f"No, that is not right: {self._answers[slot]}" for slot in wrong if slot not in heard.asked]
        if heard.says_no and not heard.asked and (self._refused or not heard.wants_yes):
            return self._told_no()
        if heard.wants_yes and not wrong:
            lines.append("Yes, please go ahead.")
        if lines:
            self._idle = 0
            return Said(" ".join(dict.fromkeys(lines)), asked=asked)
        if heard.offers and not heard.settled:
            return Said("Yes, please.")
        answered = bool(self.script.outputs) and said_outputs(self.script.outputs, [text])
        return self._settled() if heard.settled or answered else self._puzzled()

    def _told_no(self) -> Said:
        self._idle = 0
        if self._refused:
            return Said(self._refused.pop(0))
        if self._then:
            return self._next("All right, leave it then.")
        return Said("All right, then leave it as it is. Goodbye.", leaves=True)

    def _settled(self) -> Said:
        self._idle = 0
        return self._next("Thank you.") if self._then else Said("No, that is all. Thank you, goodbye.", leaves=True)

    def _next(self, before: str) -> Said:
        self._request = self._then.pop(0)
        return Said(f"{before} {self._request}")

    def _puzzled(self) -> Said:
        self._idle += 1
        if self._idle >= _IDLE:
            return Said("I do not think that you can help me. Goodbye.", leaves=True)
        return Said(f"As I said: {self._request}")
