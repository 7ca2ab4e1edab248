"""Labelled demonstrations for compiling, written by rule from the benchmark's own annotation.

MPT tells which latent preference each argument expresses (PRefine Tables 2 and 19). Of a history to train on that says
what a good hypothesis would be after every session, which hypotheses deserve rejection and why, and which call follows
from which memory. The wording of each preference is data (`phrases.json`), never part of the library or its prompts.
"""
