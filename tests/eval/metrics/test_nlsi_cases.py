"""Every open case of TAPS's published code: calls and tags."""

import csv
import json
from pathlib import Path

import pytest

from eval.metrics.locations import find_aliases, own_table
from eval.metrics.nlsi_reference import optimiser_em, optimiser_f1, score_calls
from eval.metrics.tag_metrics import score_tags as score_tokens
from eval.metrics.tag_metrics import summarise_tags
from eval.metrics.tag_reference import Unscorable, score_tags, tagged_calls

SHARED = Path(__file__).parents[4] / "shared" / "data"
CALL_CASES = SHARED / "nlsi_metric_cases_open.json"
TAG_CASES = SHARED / "tagger_metric_cases_open.json"
TAGS = SHARED / "taps"

pytestmark = pytest.mark.shared_data


def cases(path):
    if not path.exists():
        pytest.skip(f"{path.name} is not beside the checkout")
    return json.loads(path.read_text(encoding="utf-8"))


def disagreeing(aliases):
    wrong = []
    for case in cases(CALL_CASES)["cases"]:
        gold, prediction = case["gold_api_calls"], case["prediction"]
        got = score_calls(gold, prediction, aliases)._asdict() | {
            "optimizer_em": optimiser_em(gold, prediction, aliases),
            "optimizer_f1": optimiser_f1(gold, prediction, aliases),
        }
        if got != pytest.approx(case["expected"], abs=1e-12):
            wrong.append(case["id"])
    return wrong


def test_every_call_case():
    assert len(cases(CALL_CASES)["cases"]) == 120
    assert disagreeing(None) == []


def test_our_own_names_of_places_differ_in_few_cases():
    assert len(disagreeing(own_table())) <= 2


def test_the_table_beside_the_checkout_is_found():
    assert len(find_aliases().table) == 263


def test_every_tag_case():
    wrong = []
    data = cases(TAG_CASES)["cases"]
    for case in data:
        same = [str(call) for call in tagged_calls(case["gold"])] == case["parsed_gold"]
        same &= [str(call) for call in tagged_calls(case["pred"])] == case["parsed_pred"]
        expected = case["expected"]
        try:
            same &= score_tags(case["gold"], case["pred"]) == pytest.approx(expected, abs=1e-9)
        except Unscorable:
            same &= "error" in expected
        if not same:
            wrong.append(case["id"])
    assert len(data) == 45
    assert wrong == []


@pytest.fixture(scope="module")
def released():
    """(gold, GPT-4) tags of the validation instructions."""

    def read(name):
        if not (TAGS / name).exists():
            pytest.skip(f"{name} is not beside the checkout")
        with (TAGS / name).open(encoding="utf-8", newline="") as file:
            return {row["org"]: row["aug"] for row in csv.DictReader(file)}

    gold, predicted = read("val_instructions_tag_golden.csv"), read("gpt4_tag_2_shot.csv")
    return [(tags, predicted[text]) for text, tags in gold.items()]


def test_the_published_tag_scorer_on_the_released_tags(released):
    scores = []
    for gold, predicted in released:
        try:
            scores.append(score_tags(gold, predicted))
        except Unscorable:
            continue
    expected = cases(TAG_CASES)["meta"]["corpus"]["expected"]
    assert len(scores) == 382
    means = {name: sum(score[name] for score in scores) / len(scores) for name in expected}
    assert means == pytest.approx(expected, abs=1e-9)


def test_the_token_level_figures_of_the_released_tags(released):
    scores = [score_tokens(gold, predicted) for gold, predicted in released]
    figures = summarise_tags(scores)
    assert (figures.n, figures.misaligned) == (398, 47)
    aligned = (figures.aligned_f1, figures.aligned_precision, figures.aligned_recall)
    assert aligned == pytest.approx((0.883, 0.881, 0.908), abs=5e-4)
    kept = summarise_tags([score for score in scores if score.aligned])
    assert (kept.corpus_f1, kept.micro_f1) == pytest.approx((0.70, 0.94), abs=5e-3)
