import logging
import threading

import pytest

from programs.memory_backends.account import Account, estimated_tokens


def test_embeddings_are_counted_by_the_given_count_and_not_while_a_store_is_reopened():
    account = Account(count=len)
    account.embedded(["four", "one"])
    with account.reopening():
        account.embedded(["not counted"])
    assert (account.embedded_texts, account.embedding_tokens) == (2, 7)


def test_an_unusable_reply_is_kept_in_part():
    account = Account()
    account.reply("good", usable=True, lm="scripted/one")
    account.reply("x" * 9_000, usable=False, lm="scripted/one")
    assert (account.lm_calls, account.unparsed, account.lm) == (2, 1, "scripted/one")
    assert account.replies == [{"stage": "reply", "unparsed": "x" * 2_000}]


def test_errors_that_a_library_only_logs_are_failures():
    account = Account()
    with account.listening("a.library"):
        logging.getLogger("a.library.part").error("could not\nwrite %s", "it")
        logging.getLogger("a.library.part").warning("nothing of importance")
        logging.getLogger("another").error("somebody else's")
    logging.getLogger("a.library").error("too late")
    assert account.replies == [{"stage": "failure", "message": "could not write it"}]


def test_updates_beside_each_other_do_not_hear_each_other():
    accounts = [Account(), Account()]
    both = threading.Barrier(2)

    def update(account, times):
        with account.listening("a.library"):
            both.wait(5)
            for _ in range(times):
                logging.getLogger("a.library").error("lost")
            both.wait(5)

    threads = [threading.Thread(target=update, args=(one, times)) for one, times in zip(accounts, (1, 3), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.failed for one in accounts] == [1, 3]


def test_a_swallowed_error_comes_back():
    account = Account()
    account.raise_lost()
    account.error = OSError("gone")
    with pytest.raises(OSError, match="gone"):
        account.raise_lost()


def test_the_estimate_rounds_up():
    assert [estimated_tokens(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]
