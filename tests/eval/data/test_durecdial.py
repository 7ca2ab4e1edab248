"""DuRecDial 2.0 records to users and sessions, on records of our own."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from eval.data import durecdial
from eval.data.durecdial_reactions import leaks_rejection, reaction, states_preference
from eval.data.durecdial_record import regular
from prefine_dspy.errors import InputError
from prefine_dspy.types import Session

app = typer.Typer()
app.command()(durecdial.main)

ANN = {"Name": "Ann Berg", "Gender": "female", "Age Range": "18-25", "Residence": "Oslo", "Occupation": "Student"}
MOVIE, SONG, CHAT, BYE = "Movie recommendation", "Music recommendation", "Chat about stars", "Say goodbye"

Line = tuple[str, str, str]


def record(*lines: Line, profile: dict[str, Any] = ANN, **more: Any) -> dict[str, Any]:
    """A raw record from (goal, topic, utterance) triples."""
    return {
        "goal": "[1] ...",
        "user_profile": profile,
        "situation": more.get("situation", ""),
        "conversation": [text for _, _, text in lines],
        "goal_type_list": [goal for goal, _, _ in lines],
        "goal_topic_list": [topic for _, topic, _ in lines],
        "knowledge": more.get("knowledge", []),
    }


def session(*lines: Line, **more: Any) -> Session:
    return durecdial.to_session(regular(record(*lines, **more), "en_dev_0"))


def calls(*lines: Line, **more: Any) -> list[str]:
    return [str(call) for call in session(*lines, **more).calls]


def recommended(goal: str, *pairs: tuple[str, str]) -> list[Line]:
    """A chat, then one recommendation a (title, answer of the user)."""
    lines: list[Line] = [(CHAT, "Kim Lee", "Tell me about Kim Lee."), (CHAT, "Kim Lee", "A fine actor.")]
    lines.append((CHAT, "Kim Lee", "Indeed."))
    for title, answer in pairs:
        lines += [(goal, title, f"There is {title}, have you thought of it?"), (goal, title, answer)]
    return [*lines, (BYE, BYE, "See you soon.")]


def test_the_user_begins_unless_the_dialogue_begins_with_greetings() -> None:
    asked = session((CHAT, "Kim Lee", "[1] Who is Kim Lee?"), (CHAT, "Kim Lee", "An actor."))
    assert [(turn.role, turn.text) for turn in asked.turns] == [
        ("user", "Who is Kim Lee?"),
        ("assistant", "An actor."),
    ]
    greeted = session(("Greetings", "Greetings", "[1]Good morning!"), (CHAT, "Kim Lee", "[2] Hello."))
    assert [(turn.role, turn.text) for turn in greeted.turns] == [("assistant", "Good morning!"), ("user", "Hello.")]


def test_goals_may_be_given_by_stage_with_markers() -> None:
    raw = record(*recommended(MOVIE, ("Silver Road", "I will watch it.")))
    raw["goal_type_list"], raw["goal_topic_list"] = [CHAT, MOVIE, BYE], ["Kim Lee", "Silver Road", BYE]
    for place, marker in ((0, "[1] "), (3, "[2]"), (5, "[3] ")):
        raw["conversation"][place] = marker + raw["conversation"][place]
    by_stage = durecdial.to_session(regular(raw, "en_dev_0"))
    assert by_stage == session(*recommended(MOVIE, ("Silver Road", "I will watch it.")))
    assert [str(call) for call in by_stage.calls] == ['GetMovies(movie_name="Silver Road")']


KNOWLEDGE = [["Kim Lee", "Stars", "Silver Road"], [], ["Tide ", "Sings", "Bo Ray"], ["Tide ", "Type", "Pop"]]


@pytest.mark.parametrize(
    ("goal", "topic", "expected"),
    [
        (MOVIE, "Silver Road", 'GetMovies(starring="Kim Lee", movie_name="Silver Road")'),
        (MOVIE, "Movie recommendation", 'GetMovies(movie_name="Movie recommendation")'),
        (SONG, "Tide", 'GetMusic(artist="Bo Ray", song_name="Tide")'),
        ("Play music", "Ebb", 'GetMusic(song_name="Ebb")'),
        ("Music on demand", "Ebb", 'GetMusic(song_name="Ebb")'),
        ("Food recommendation", "Fish Soup ", 'GetFood(food_name="Fish Soup ")'),
        ("POI recommendation", "The Old Pier", 'GetRestaurants(restaurant_name="The Old Pier")'),
        ("Q&A", "Silver Road", None),
        ("Chat about stars", "Kim Lee", None),
        ("Ask about date", "2018-1-2", None),
    ],
)
def test_goals_become_calls_named_by_their_topic(goal: str, topic: str, expected: str | None) -> None:
    found = calls((goal, topic, "What is there?"), (goal, topic, "This one."), knowledge=KNOWLEDGE)
    assert found == ([expected] if expected else [])


def test_weather_is_asked_for_the_residence_and_the_unpadded_day() -> None:
    lines = (("Ask about weather", "weather", "Will it rain?"), ("Ask about weather", "weather", "No."))
    assert calls(*lines, knowledge=[["Oslo", "2018-10-08", "sunny"]]) == ['GetWeather(city="Oslo", date="2018-10-8")']
    assert calls(*lines, situation="Date: 2018-9-21, morning") == ['GetWeather(city="Oslo", date="2018-9-21")']
    assert calls(*lines) == ['GetWeather(city="Oslo")']


def test_of_several_people_the_one_spoken_of_is_meant() -> None:
    cast = [["Silver Road", "Stars", "Someone Else"], ["Silver Road", "Stars", "Kim Lee"]]
    lines = recommended(MOVIE, ("Silver Road", "I will watch it."))
    assert calls(*lines, knowledge=cast) == ['GetMovies(starring="Kim Lee", movie_name="Silver Road")']
    profile = {**ANN, "Accepted celebrities": ["Someone Else"]}
    only = [(MOVIE, "Silver Road", "What is on?"), (MOVIE, "Silver Road", "Silver Road.")]
    assert calls(*only, knowledge=cast[::-1], profile=profile) == [
        'GetMovies(starring="Someone Else", movie_name="Silver Road")'
    ]


def test_a_chain_keeps_its_last_accepted_item() -> None:
    accepted = recommended(SONG, ("Tide", "I'll listen to it."), ("Ebb", "Who sings it?"))
    assert calls(*accepted) == ['GetMusic(song_name="Ebb")']
    then_refused = recommended(SONG, ("Tide", "I'll listen to it."), ("Ebb", "I don't want to hear that."))
    assert calls(*then_refused) == ['GetMusic(song_name="Tide")']


@pytest.mark.parametrize(
    "answer",
    [
        "I don't really wanna see it.",
        "I\u2019m not interested, anything else?",
        "I've watched it before.",
        "I have already seen that one.",
        "What else do you recommend?",
        "I'd like to see something else.",
    ],
)
def test_refused_and_known_items_contribute_no_call(answer: str) -> None:
    one = session(*recommended(MOVIE, ("Silver Road", answer), ("Blue Door", "Sounds good.")))
    assert [str(call) for call in one.calls] == ['GetMovies(movie_name="Blue Door")']
    # the exchange itself stays, as negative evidence
    assert answer in [turn.text for turn in one.turns]
    assert 'GetMovies(movie_name="Silver Road")' in [str(call) for turn in one.turns for call in turn.calls]
    assert calls(*recommended(MOVIE, ("Silver Road", answer))) == []


def test_the_last_word_on_an_item_decides() -> None:
    talked_round = recommended(
        MOVIE, ("Silver Road", "I don't want to watch it."), ("Silver Road", "Well, I will watch it then.")
    )
    assert calls(*talked_round) == ['GetMovies(movie_name="Silver Road")']
    talked_out = recommended(MOVIE, ("Silver Road", "Who is in it?"), ("Silver Road", "I don't want to watch it."))
    assert calls(*talked_out) == []


def test_what_was_asked_for_by_name_stays_beside_a_recommendation() -> None:
    lines = [
        ("Music on demand", "Tide", "Play Tide, please."),
        ("Music on demand", "Tide", "Here it is."),
        ("Music on demand", "Tide", "Thank you."),
        *recommended(SONG, ("Ebb", "I've heard it already."), ("Foam", "Play it."))[3:],
    ]
    assert calls(*lines) == ['GetMusic(song_name="Tide")', 'GetMusic(song_name="Foam")']


def test_an_item_shows_in_every_system_turn_of_its_goal_and_counts_once() -> None:
    one = session(*recommended(SONG, ("Tide", "Who sings it?"), ("Tide", "I will listen to it.")))
    assert [str(call) for call in one.calls] == ['GetMusic(song_name="Tide")']
    assert [len(turn.calls) for turn in one.turns if turn.role == "assistant"] == [0, 1, 1, 0]


def test_a_deferral_becomes_an_acceptance() -> None:
    one = session(*recommended(MOVIE, ("Silver Road", "Some other time perhaps.")))
    assert [str(call) for call in one.calls] == ['GetMovies(movie_name="Silver Road")']
    assert all("other time" not in turn.text for turn in one.turns)
    leaving = session(*recommended(MOVIE, ("Silver Road", "Fine. I'll talk to you another time, bye.")))
    assert "Fine. I'll talk to you another time, bye." in [turn.text for turn in leaving.turns]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I haven't heard of it.", "open"),
        ("I've heard of it, who is in it?", "open"),
        ("I have something else to do now.", "open"),
        ("I have to listen to it.", "accepted"),
        ("No, thank you.", "refused"),
        ("Let me watch it another day.", "deferred"),
    ],
)
def test_reactions(text: str, expected: str) -> None:
    assert reaction(text) == expected


def test_told_preferences_are_recognised() -> None:
    assert states_preference("Because I love Kim Lee, I will watch it.")
    assert states_preference("I'm a fan of Kim Lee, so play one of those.")
    assert not states_preference("I love Kim Lee.")
    assert leaks_rejection("I know you don't like horror.")
    assert not leaks_rejection("You don't know it yet.")


def write(folder: Path, **splits: list[dict[str, Any]]) -> Path:
    for split, records in splits.items():
        lines = "".join(json.dumps(one) + "\n" for one in records)
        (folder / f"en_{split}.txt").write_text(lines, encoding="utf-8")
    return folder


def test_users_are_seekers_with_the_same_persona(tmp_path: Path) -> None:
    ben = {**ANN, "Name": "Ben Dahl"}
    first = record(*recommended(MOVIE, ("Silver Road", "I will watch it.")))
    other = record(*recommended(MOVIE, ("Blue Door", "I will watch it.")), profile=ben)
    later = record(*recommended(SONG, ("Tide", "Play it.")), profile={**ANN, "Accepted music": ["Tide"]})
    users = durecdial.load_users(write(tmp_path, train=[first, other], test=[later]))
    assert [(user.profile, [one.id for one in user.sessions]) for user in users] == [
        (ANN, ["en_train_0", "en_test_0"]),
        (ben, ["en_train_1"]),
    ]


def test_told_preferences_and_inconsistent_seekers_are_discarded(tmp_path: Path) -> None:
    told = record(*recommended(MOVIE, ("Silver Road", "Since I love Kim Lee, I will watch it.")))
    ben = {**ANN, "Name": "Ben Dahl"}
    yes = record(*recommended(MOVIE, ("Blue Door", "I will watch it.")), profile=ben)
    no = record(*recommended(MOVIE, ("Blue Door", "I don't want to watch it.")), profile=ben)
    quiet = record(*recommended(MOVIE, ("Blue Door", "I will watch it.")))
    write(tmp_path, dev=[told, yes, no, quiet])
    assert [one.id for user in durecdial.load_users(tmp_path) for one in user.sessions] == ["en_dev_3"]
    everything = [one.id for user in durecdial.load_users(tmp_path, discard=False) for one in user.sessions]
    assert everything == ["en_dev_0", "en_dev_3", "en_dev_1", "en_dev_2"]
    # refused first, accepted later: a change of mind, not a contradiction of what was accepted
    assert len(durecdial.load_users(write(tmp_path, dev=[no, yes]))) == 1
    assert [one.id for one in durecdial.load_sessions(write(tmp_path, dev=[told, quiet]), discard=True)] == ["en_dev_1"]


def test_the_command_prints_one_json_line_a_dialogue(tmp_path: Path) -> None:
    write(tmp_path, dev=[record(*recommended(MOVIE, ("Silver Road", "I will watch it.")))])
    result = CliRunner().invoke(app, [str(tmp_path)])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "dialogue_id": "en_dev_0",
        "api_call": ['GetMovies(movie_name="Silver Road")'],
        "deprecated_api_call": [],
    }


def test_bad_input_is_one_line_that_names_it(tmp_path: Path) -> None:
    nothing = CliRunner().invoke(app, [str(tmp_path)])
    assert nothing.exit_code == 2
    assert "en_train.txt" in nothing.stderr and len(nothing.stderr.splitlines()) == 1
    (tmp_path / "en_dev.txt").write_text("{'goal': 1}\n", encoding="utf-8")
    with pytest.raises(InputError, match="en_dev.txt is not one JSON record a line"):
        list(durecdial.load_sessions(tmp_path))
    unmarked = record((CHAT, "Kim Lee", "Hello."), (CHAT, "Kim Lee", "Hello."))
    unmarked["goal_type_list"] = [CHAT]
    records: list[Any] = [{"goal": ""}, [], unmarked, {**unmarked, "conversation": ["[9] Hello.", "Hello."]}]
    for bad in records:
        with pytest.raises(InputError, match="en_dev_0 is not DuRecDial"):
            list(durecdial.load_sessions(write(tmp_path, dev=[bad])))
