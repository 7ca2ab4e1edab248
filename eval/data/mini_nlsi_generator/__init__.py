"""Our own small set in NLSI's format: dialogues and instructions written by hand, profiles filled up by a seed.

The three text files beside this one are the source. A block is one dialogue:

    == MultiHop                      the reasoning type
    User: ... / Agent: ...           the dialogue
    + [IN:GET_HOTELS ... ]           an instruction that applies, with its gold tags in bracket form
    ! [IN:GET_HOTELS ... ]           one that the user overrides in this dialogue, likewise
    - ...                            one of the same domain that does not apply, without tags
    > GetHotels(...)                 a gold call

What NLSI's annotation does (looked up in its train and validation splits), and these files do too:

- A call holds what the user said and what the applicable instructions say, nothing else: no argument is guessed. The
  user's come first. Requests are short and general ("somewhere to eat"); the instructions decide on the function.
- Values are the user's words: "Boston, MA", "honolulu", "half past 9 in the morning", "Monday next week". Dates drop
  the article before a month ("the 7th of May" is 7th of May, "23rd of this month") and keep it alone ("the 9th").
  Closed values are the catalogue's: a small car is Compact, affordable is moderate, a concert is Music, a game Sports,
  gardens are a Park. Counts are digits, what is true of a place is True.
- "?" stands for what the user asks in the last turn, never for what is merely unknown; "any" for what "doesn't matter".
- What the agent says counts only when the user accepts it (a date, a name); asking about its offer does not take it.
- An instruction names its function in one or two words (HouseStays, RentalCars, Media, Travel), often the argument too
  ("theater name", "star rating"), and has six to fifteen words. Plain has one or two of them, MultiHop two to four: a
  value of the first is the condition of the next.
- MultiPreference: a second instruction of the same argument, or "A or B" in one, makes a second call with everything
  that the dialogue and the other instructions say. What hangs on A stays with A. A third of them are MultiDomain, too.
- MultiDomain: one instruction without values joins two functions (mostly Travel and Hotels, Restaurants and Movies,
  Events and Restaurants, Hotels and Flights). The call that is joined gets the place of the first, and from a request
  for events the date and the number of people (tickets are party_size), from a hotel the days (departure_date,
  return_date, the city as destination). A car gets the date of an event, not the city; an event no date of a bus.
- Conflict: the user's value replaces that of an instruction, which then does not apply, nor what hangs on it.

Not taken over: its slips (a price as number of tickets, misspelt cities, values that nobody said).

`python -m eval.data.mini_nlsi_generator` writes the folder eval/data/mini_nlsi.
"""
