import threading

import dspy
import pytest
from scripted_lm import Script, lm_of, prompt_of

from prefine_dspy.errors import InputError
from programs.memory_backends.account import Account
from programs.memory_backends.library_lm import LibraryLM

ASK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Anything?"}]
SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}}


def asked(script, schema=None, usable=bool, account=None):
    with dspy.context(lm=lm_of(script)):
        return LibraryLM(account or Account()).ask(ASK, schema, usable)


def test_the_messages_and_the_lms_own_settings_are_sent():
    script = Script(["nothing"])
    assert asked(script) == "nothing"
    assert "Be brief." in prompt_of(script.requests[0])
    assert "Anything?" in prompt_of(script.requests[0])
    assert script.requests[0].config.temperature == 0.0
    assert script.requests[0].config.response_format is None


def test_an_answer_gets_room_for_a_document():
    script = Script(["nothing"])
    asked(script)
    assert script.requests[0].config.max_tokens == 1_024


def test_a_schema_goes_to_an_lm_that_can_be_held_to_one():
    able, unable = Script(["{}"]), Script(["{}"], schema=False)
    asked(able, SCHEMA)
    asked(unable, SCHEMA)
    assert able.requests[0].config.response_format["schema"] == SCHEMA
    assert unable.requests[0].config.response_format == {"type": "json_object"}


def test_unusable_answers_are_counted():
    account = Account()
    asked(Script(["no"]), account=account, usable=lambda reply: reply == "yes")
    assert (account.lm_calls, account.unparsed) == (1, 1)


def test_after_an_error_no_further_call_is_made():
    account, script = Account(), Script(lambda request: OSError("gone"))
    with dspy.context(lm=lm_of(script)):
        lm = LibraryLM(account)
        for _ in range(2):
            with pytest.raises(Exception, match="gone"):
                lm.ask(ASK, None)
    assert len(script.requests) == 1
    with pytest.raises(Exception, match="gone"):
        account.raise_lost()


def test_a_librarys_own_thread_asks_the_same_lm():
    script, answers = Script(["from a thread"]), []
    with dspy.context(lm=lm_of(script)):
        lm = LibraryLM(Account())
        thread = threading.Thread(target=lambda: answers.append(lm.ask(ASK, None)))
        thread.start()
        thread.join()
    assert answers == ["from a thread"]


def test_without_an_lm():
    with pytest.raises(InputError, match=r"dspy\.context"):
        LibraryLM(Account()).ask(ASK, None)
