"""Our own small set in NLSI's format: dialogues and instructions written by hand, profiles filled up by a seed.

The three text files beside this one are the source. A block is one dialogue:

    == MultiHop                      the reasoning type
    User: ... / Agent: ...           the dialogue
    + [IN:GET_HOTELS ... ]           an instruction that applies, with its gold tags in bracket form
    ! [IN:GET_HOTELS ... ]           one that the user overrides in this dialogue, likewise
    - ...                            one of the same domain that does not apply, without tags
    > GetHotels(...)                 a gold call

`python -m eval.data.mini_nlsi_generator` writes the folder eval/data/mini_nlsi.
"""
