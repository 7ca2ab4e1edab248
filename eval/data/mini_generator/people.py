"""Who the invented users are: what they ask for in their sessions, so that a preference shows without being said."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eval.data.mini_generator import dialogue, values
from eval.data.preferences import Mapping, Stance
from eval.data.users import User

Wish = tuple[str, dict[str, str]]
"""A function, and the arguments that say how the user wants it."""


class Person(NamedTuple):
    """A user to be invented.

    Args:
        source: which part of life their sessions are about.
        stance: what they prefer; None for someone without a preference.
        support: how many of their sessions show it.
        sessions: how many they have.
    """

    source: str
    stance: Stance | None
    support: int
    sessions: int


def people(rng: random.Random) -> list[Person]:
    """The cast: enough of each side for contested histories, and some without any preference."""
    cast: list[Person] = []
    for preference, source, n in (
        ("low_cost", "errands", 10),
        ("high_cost", "errands", 8),
        ("solo_usage", "errands", 7),
        ("eco", "home", 9),
    ):
        cast += [Person(source, Stance(preference), 3 + k % 2, 4 + k % 3) for k in range(n)]
    cast += [
        Person("leisure", Stance("prefers_star", values.STARS[k % len(values.STARS)]), 2 + k % 3, 4 + k % 3)
        for k in range(17)
    ]
    cast += [Person(source, None, 0, 4 + k % 2) for source in ("errands", "leisure", "home") for k in range(4)]
    rng.shuffle(cast)
    return cast


def user(number: int, person: Person, rng: random.Random) -> User:
    """The person's sessions, written out."""
    name = f"{person.source}-{number:02d}"
    supporting = _supporting(person, rng)
    wishes = supporting + _unrelated(person, len(supporting), rng)
    rng.shuffle(wishes)
    sessions = []
    for k, (function, chosen) in enumerate(wishes):
        call = values.request(function, chosen, rng)
        dates = [name for name in dialogue.CORRECTABLE if name in call.arguments]
        corrected = None
        if dates and rng.random() < dialogue.CORRECTION_SHARE:
            new = values.time if dates[0] == "time" else values.date
            corrected = {dates[0]: new(rng)}
        sessions.append(dialogue.session(f"{name}-s{k + 1}", call, rng, corrected))
    return User(id=name, source=person.source, sessions=tuple(sessions))


def _supporting(person: Person, rng: random.Random) -> list[Wish]:
    """One function twice, others once, and at least one left out: Recall, Induction and Transfer at once."""
    if person.stance is None:
        return []
    known = list(Mapping(values.STARS).realisations(person.stance))
    rng.shuffle(known)
    if person.stance.preference == "prefers_star":
        # two functions only: a third of these users leave one of them out
        order = [known[0]] * 2 + ([known[0]] if person.sessions == 4 else [known[1]]) + [known[0]]
    else:
        order = [known[0], known[1], known[0], known[2 if len(known) > 3 else 0]]
    chosen = order[: person.support]
    if person.stance.preference == "prefers_star" and person.support == 2 and person.sessions != 4:
        chosen = known[:2]
    return [(r.function, {r.argument: rng.choice(r.values)}) for r in chosen]


def _unrelated(person: Person, taken: int, rng: random.Random) -> list[Wish]:
    """Sessions of no preference; in some lives a small habit recurs, such as one airline or one brightness."""
    pool = _everyday(person.source, rng)
    rng.shuffle(pool)
    n = max(1, person.sessions - taken)
    wishes: list[Wish] = []
    if n >= 2 and (person.stance is None or rng.random() < 0.5):
        habit = rng.choice(_habits(person.source, rng))
        wishes = [habit, habit]
    return wishes + pool[: n - len(wishes)]


def _everyday(source: str, rng: random.Random) -> list[Wish]:
    party = str(rng.randint(2, 4))
    lives: dict[str, Iterable[Wish]] = {
        "errands": (
            ("GetWeather", {}),
            ("GetRestaurants", {}),
            ("GetRestaurants", {"number_of_seats": party}),
            ("GetHomes", {"pets_allowed": "True"}),
            ("GetEvents", {"category": "Music", "event_type": rng.choice(("Jazz", "Pop", "Rock"))}),
            ("GetTravel", {"category": rng.choice(values.SIGHTS)}),
            ("GetHotels", {"number_of_rooms": str(rng.randint(1, 2))}),
            ("GetRideSharing", {}),
            ("GetBuses", {}),
        ),
        "leisure": (
            ("GetFood", {}),
            ("GetMovies", {"genre": rng.choice(values.GENRES)}),
            ("GetMovies", {"movie_name": rng.choice(values.FILMS)}),
            ("GetMusic", {"song_name": rng.choice(values.SONGS)}),
            ("GetEvents", {"category": "Sports", "event_type": rng.choice(("Baseball", "Football"))}),
            ("GetWeather", {}),
        ),
        "home": (
            ("GetCurtain", {}),
            ("GetLight", {"brightness": str(rng.randrange(20, 100, 5))}),
            ("GetFan", {"speed": rng.choice(("low", "high"))}),
            ("GetMediaPlayer", {"volume": str(rng.randrange(10, 80, 5))}),
            ("GetHeating", {"temperature": str(rng.randint(18, 24))}),
            ("GetAirConditioner", {"temperature": str(rng.randint(20, 26))}),
        ),
    }
    return list(lives[source])


def _habits(source: str, rng: random.Random) -> Sequence[Wish]:
    lives: dict[str, Sequence[Wish]] = {
        "errands": (
            ("GetFlights", {"airlines": rng.choice(values.AIRLINES)}),
            ("GetHomes", {"number_of_beds": str(rng.randint(2, 4))}),
            ("GetBanks", {"recipient_account_type": rng.choice(("checking", "savings"))}),
            ("GetHotels", {"number_of_rooms": "2"}),
        ),
        "leisure": (
            ("GetMovies", {"genre": rng.choice(("Comedy", "Mystery", "Horror"))}),
            ("GetMusic", {"song_name": rng.choice(values.SONGS)}),
            ("GetFood", {"food_name": rng.choice(values.DISHES)}),
        ),
        "home": (
            ("GetLight", {"brightness": str(rng.randrange(20, 100, 5))}),
            ("GetMediaPlayer", {"volume": str(rng.randrange(10, 80, 5))}),
            ("GetWaterHeater", {"temperature": str(rng.randint(40, 55))}),
        ),
    }
    return lives[source]
