from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.envs.builtin.listening import SLOTS, hear
from eval.envs.builtin.tasks import scripts
from eval.envs.builtin.user import PATIENCE, ScriptedUser


def user(task_id: str) -> ScriptedUser:
    return ScriptedUser(scripts()[task_id], "someone@mail.example", "Some One")


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("Would you like a window or an aisle seat?", ("seat",)),
        ("Which meal do you want, and how many bags will you take?", ("meal", "bags")),
        ("To book I need:\n- your seat preference\n- your meal\n- payment method", ("seat", "meal", "payment")),
        ("Please provide the following:\n1. Seat\n2. Travel protection", ("seat", "protection")),
        ("please share your e-mail address so I can find you", ("email",)),
        ("Could you please confirm your e-mail?", ("email",)),
        ("What is the reason for the cancellation?", ("reason",)),
        ("I have booked the window seat with a vegan meal. Is there anything else?", ()),
        ("Your seat: window\n- one bag\n- paid with the card", ()),
        ("One moment, I am looking at your booking and its meals.", ()),
    ],
)
def test_what_is_asked(text: str, slots: tuple[str, ...]) -> None:
    assert hear(text).asked == slots


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("I will book an aisle seat with the card. Shall I go ahead?", "wants_yes"),
        ("Is that correct?", "wants_yes"),
        ("Would you like me to look for another day?", "offers"),
        ("I am sorry, but a basic booking cannot be moved.", "says_no"),
        ("Unfortunately there are no seats left, so it is not possible.", "says_no"),
        ("Your booking has been cancelled.", "settled"),
        ("Can I help you with anything else?", "settled"),
    ],
)
def test_what_is_said(text: str, part: str) -> None:
    assert getattr(hear(text), part)


@pytest.mark.parametrize("text", ["I cannot do this without your e-mail.", "I can't go on until you confirm."])
def test_waiting_for_the_user_is_no_refusal(text: str) -> None:
    assert not hear(text).says_no


def test_only_what_is_asked_is_told() -> None:
    caller = user("usual-eva")
    answers = scripts()["usual-eva"].answers
    said = caller.listen("Which seat would you like?")
    assert said.text == answers["seat"] and said.asked == ("seat",)
    assert caller.listen("What is your e-mail?").text.startswith("My e-mail is someone@mail.example")


def test_a_wrong_proposal_is_corrected() -> None:
    said = user("usual-eva").listen("I book an aisle seat and the vegan meal on flex. Shall I go ahead?")
    assert said.text == "No, that is not right: By the window." and said.asked == ("seat",)
    assert user("usual-eva").listen("Window, vegan, flex. Do you agree?").text == "Yes, please go ahead."


def test_told_no_the_user_tries_once_more_and_then_gives_in() -> None:
    caller = user("no-cancel")
    first = caller.listen("I am sorry, this booking cannot be cancelled.")
    assert first.text == scripts()["no-cancel"].refused[0] and not first.leaves
    assert caller.listen("No, this is not allowed. Is there anything else?").leaves


def test_blocked_the_user_names_the_other_way() -> None:
    caller = user("rebook-basic")
    said = caller.listen("A basic booking cannot be moved. Would you like me to do something else?")
    assert "cancel it" in said.text
    assert caller.listen("I cancel KBB202 and book K205. A basic fare can't be changed. Shall I go ahead?").text == (
        "Yes, please go ahead."
    )


def test_further_requests_come_one_by_one() -> None:
    caller = user("two-wishes")
    said = caller.listen("KBJ010 is moved to 17 May.")
    assert scripts()["two-wishes"].then[0] in said.text and not said.leaves
    assert caller.listen("The bag is added. Anything else?").leaves


def test_nonsense_ends_the_conversation() -> None:
    caller = user("meal")
    assert [caller.listen("Hm.").leaves for _ in range(3)] == [False, False, True]
    patient = user("meal")
    assert [patient.listen("Your meal?").leaves for _ in range(PATIENCE)] == [False] * (PATIENCE - 1) + [True]


@given(st.text(max_size=300))
def test_any_text_is_heard(text: str) -> None:
    assert set(hear(text).asked) <= SLOTS.keys()
    user("usual-ada").listen(text)


@given(st.text(alphabet="ab cdefgh\n.!:-", max_size=200))
def test_a_text_without_a_question_draws_nothing_out(text: str) -> None:
    said = user("usual-ada").listen(text)
    assert not said.asked and "aisle" not in said.text.casefold()
