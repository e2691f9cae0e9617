"""Does a wrong, misled or careless model do harm? Whole conversations, with answers that were written to do some."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from tests.llm.hostile_answers import CASES, ECHOES, MORE_CASES, Case
from tests.llm.provider import KEY, Provider, Reply

BELIEVED = 0.5


class Run:
    """One conversation, learned from with the answer of the case, and what is known after it."""

    def __init__(self, folder: Path, case: Case) -> None:
        self.case = case
        provider = Provider(lambda asked: Reply(json.dumps({"claims": [*_numbered(case.claims, asked)]})))
        settings: dict[str, Any] = {"llm": "openai:gpt-x", "llm_url": f"{provider.url}/v1", "llm_key": KEY}
        try:
            with Retentive.open(folder / "m.db", embedder="hashing", **settings) as store:
                for content, slot in case.known.items():
                    store.add(content, slot=slot or None)
                for line in case.talk:
                    role, _, text = line.partition(": ")
                    store.sessions.append("s", role, text)
                self.learned = store.learn("s")[0]
                self.active = {memory.content: memory for memory in store.list(limit=100)}
        finally:
            provider.stop()

    def find_wrong(self) -> Iterator[str]:
        """What is not as it should be."""
        case, active = self.case, self.active
        new = {text: memory for text, memory in active.items() if text not in case.known}
        yield from (f"not verified: {each}" for each in case.believed if self._confidence(each) < BELIEVED)
        yield from (f"verified: {each}" for each in case.doubted if self._confidence(each) >= BELIEVED)
        yield from (f"kept: {each}" for each in case.dropped if each in new)
        yield from (f"ended: {each}" for each in case.stays if each not in active)
        yield from (f"not ended: {each}" for each in case.ends if each in active)
        for text, slot in case.slots.items():
            if text in active and (active[text].slot or "") != slot:
                yield f"slot {active[text].slot}: {text}"
        for words in case.by_rules:
            if not any(words in text for text in active):
                yield f"lost: {words}"
            if not self.learned.notes:
                yield "nothing is said"

    def _confidence(self, text: str) -> float:
        return self.active[text].confidence if text in self.active else 0.0


def _numbered(claims: Sequence[Mapping[str, Any]], asked: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The claims with the numbers of the known facts as they are shown."""
    head = json.loads(asked["messages"][-1]["content"].split("\n")[0])
    numbers = {each["content"]: each["number"] for each in head.get("known", ())}
    for each in claims:
        named = {name: [numbers.get(text, 99) for text in each.get(name, ())] for name in ("known", "replaces")}
        yield {**each, **named}


@pytest.mark.parametrize("case", [*CASES, *MORE_CASES], ids=lambda case: case.name)
def test_a_hostile_answer_does_no_harm(case: Case, tmp_path: Path) -> None:
    assert [*Run(tmp_path, case).find_wrong()] == []


@pytest.mark.parametrize("text", ECHOES)
def test_a_summary_that_echoes_counts_as_failed(text: str, tmp_path: Path) -> None:
    provider = Provider(Reply(text))
    settings: dict[str, Any] = {"llm": "openai:gpt-x", "llm_url": f"{provider.url}/v1", "llm_key": KEY}
    talk = [{"role": "user", "content": f"Heron number {n} flew over the lake " * 5} for n in range(12)]
    with Retentive.open(
        tmp_path / "m.db", embedder="hashing", session_budget=400, summarise=False, **settings
    ) as store:
        store.sessions.append_many("s", talk)
        made = store.sessions.summarise("s").text
        assert "condenser" in store.stats()["failures"]
    provider.stop()
    assert made != text
    assert "flew over the lake" in made
