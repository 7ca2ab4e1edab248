"""How likely an LM finds each allowed value at its place in a call: `value_distributions(lm, questions)`."""

from prefine_dspy.lm.values.ask import value_distribution, value_distributions
from prefine_dspy.lm.values.cache import ValueCache
from prefine_dspy.lm.values.distribution import ValueDistribution
from prefine_dspy.lm.values.question import ValueQuestion

__all__ = ["ValueCache", "ValueDistribution", "ValueQuestion", "value_distribution", "value_distributions"]
