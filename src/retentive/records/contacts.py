"""People who are known."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from retentive.errors import Invalid
from retentive.model import Contact
from retentive.records.collection import Change, Store, Told, gone
from retentive.records.fields import CONTACT, SHAPES
from retentive.records.fuzzy_names import EXACT, Asked, folded
from retentive.storage.tables import records as rows
from retentive.storage.tables.records import Row
from retentive.store import validate
from retentive.store.views import writes

AT_ONCE = 1000  # contacts read at a time to be compared with a name
PHONE = 5  # digits that are enough to know a number by
ABOUT = 0.8  # how much a company or a role counts beside a name


class Contacts(Store[Contact]):
    """Contacts: name, aliases, email, phone, company, role, type (work, personal, ignored), notes."""

    shape = CONTACT

    def find(self, text: str, limit: int = 10) -> Sequence[Contact]:
        """Who may be meant, the surest first: by name or alias, also half or misspelt; by email, phone, company, role.

        Those who are to be ignored come last.
        """
        asked = Asked(validate.question(text))
        digits = _digits(text)
        found = [(sure, row) for row in self._all() if (sure := _sure(asked, digits, row.body))]
        found.sort(key=lambda each: (each[1].body.get("type") == "ignored", -each[0], folded(each[1].body["name"])))
        return [self._read(row) for _, row in found[: validate.limit_of(limit)]]

    @writes
    def merge(self, id: str, other: str, *, reason: str | None = None, actor: str = "user") -> Contact:
        """Make one of two: `other` goes into `id`, and both histories are kept.

        What `id` has stays; what it has not comes from the other. The other's name and aliases become aliases; what
        both have and is not the same is noted. Projects that name the other name this one.
        """

        def decide(now: int) -> list[Change]:
            kept, away = self._live(id), self._live(other)
            if kept.id == away.id:
                raise Invalid(f"{id[:60]!r} and {other[:60]!r} are one contact")
            said = Told("merged", actor, reason or f"with {away.id}")
            into = Told("merged away", actor, reason or f"into {kept.id}")
            changes = [Change(each, said) for each in self._renaming(away, kept.id, now)]
            made = rows.next_row(kept, _union(kept.body, away.body), now)
            return [*changes, Change(gone(away, now, kept.id), into), Change(made, said)]

        return self._done(decide)

    def _unlinked(self, old: Row, now: int, actor: str) -> Iterator[Change]:
        """Projects that name one who goes name them no more."""
        said = Told("updated", actor, f"contact {old.id} was deleted")
        return (Change(each, said) for each in self._renaming(old, None, now))

    def _renaming(self, gone: Row, kept: str | None, now: int) -> Iterator[Row]:
        """What names a contact, naming another instead, or nobody."""
        for row in self._rows.naming(gone.namespace, gone.id):
            body = dict(row.body)
            for name in SHAPES[row.type].links:
                if body.get(name) == gone.id:
                    body[name] = kept
                elif isinstance(body.get(name), list):
                    others = (kept if each == gone.id else each for each in body[name])
                    body[name] = [*dict.fromkeys(each for each in others if each)]
            yield rows.next_row(row, {name: each for name, each in body.items() if each}, now)

    def _named(self, asked: str) -> list[Row]:
        """By name; if there is none, by alias or email."""
        return super()._named(asked) or self._known_as(folded(asked))

    def _known_as(self, asked: str) -> list[Row]:
        return [row for row in self._all() if asked in map(folded, _known(row.body))]

    def _all(self) -> Iterator[Row]:
        last: str | None = None
        while page := self._rows.page(self._store.namespace, self.shape.type, AT_ONCE, last):
            yield from page
            last = page[-1].id


class Lookup(Contacts):
    """For one look at several who are named: all are read once, and only if one is not called so by name."""

    def _known_as(self, asked: str) -> list[Row]:
        return self._everybody.get(asked, [])

    @cached_property
    def _everybody(self) -> Mapping[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self._all():
            for name in {*map(folded, _known(row.body))}:
                found.setdefault(name, []).append(row)
        return found


def _sure(asked: Asked, digits: str, body: Mapping[str, Any]) -> float:
    if not asked.name:
        return 0.0
    is_phone = len(digits) >= PHONE and digits in _digits(body.get("phone", ""))
    if is_phone or asked.name == folded(body.get("email", "")):
        return EXACT
    about = (body[name] for name in ("company", "role") if name in body)
    return max(asked.likeness((body["name"], *body.get("aliases", ()))), asked.likeness(about) * ABOUT)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _known(body: Mapping[str, Any]) -> Iterator[str]:
    """What somebody is called beside the name."""
    yield from body.get("aliases", ())
    if "email" in body:
        yield body["email"]


def _union(kept: Mapping[str, Any], gone: Mapping[str, Any]) -> dict[str, Any]:
    made = {**gone, **kept}
    others = [gone["name"], *gone.get("aliases", ())]
    known = {folded(kept["name"])}
    made["aliases"] = []
    for alias in (*kept.get("aliases", ()), *others):
        if folded(alias) not in known:
            known.add(folded(alias))
            made["aliases"].append(alias)
    both = (name for name in ("email", "phone", "company", "role") if kept.get(name) and gone.get(name))
    also = [f"Also {name}: {gone[name]}" for name in both if folded(kept[name]) != folded(gone[name])]
    notes = [kept.get("notes"), gone.get("notes") if gone.get("notes") != kept.get("notes") else None, *also]
    made["notes"] = "\n".join(each for each in notes if each)
    return {name: each for name, each in made.items() if each}
