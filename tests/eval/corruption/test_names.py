from eval.corruption.names import nearest_names

NAMES = ["city", "pickup_city", "check_in_date", "check_out_date", "visit_date", "cuisine", "price", "price_range"]


def test_names_with_the_same_words_are_near():
    assert nearest_names("pickup_city", [n for n in NAMES if n != "pickup_city"], 1) == ["city"]
    assert nearest_names("check_in_date", [n for n in NAMES if n != "check_in_date"], 2) == [
        "check_out_date",
        "visit_date",
    ]
    assert nearest_names("a fair price", NAMES, 1) == ["price"]


def test_the_order_of_the_candidates_does_not_matter():
    assert nearest_names("zzz", NAMES, 3) == nearest_names("zzz", NAMES[::-1], 3) == sorted(NAMES)[:3]
    assert nearest_names("zzz", [], 3) == []
