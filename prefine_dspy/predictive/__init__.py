"""Verification by prediction: a hypothesis is believed as far as it predicts what the user chose, and an argument is
filled in as far as a hypothesis moves what the LM would write."""

from prefine_dspy.predictive.contrast import ContrastiveCaller
from prefine_dspy.predictive.lift import Lift, LiftRule
from prefine_dspy.predictive.memory import PredictiveMemory
from prefine_dspy.predictive.metric import PredictiveLikelihood
from prefine_dspy.predictive.prefine import PredictivePRefine
from prefine_dspy.predictive.verifier import PredictiveVerifier

__all__ = [
    "ContrastiveCaller",
    "Lift",
    "LiftRule",
    "PredictiveLikelihood",
    "PredictiveMemory",
    "PredictivePRefine",
    "PredictiveVerifier",
]
