"""Contacts: the people in the user's life. They can be found by a partial or misspelt name, and merged."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Required, TypedDict, Unpack

from retentive.errors import Invalid
from retentive.model import Contact, ContactType
from retentive.records.collection import CallerNote, Change, RecordCollection, make_deleted_row
from retentive.records.fields import CONTACT, RECORD_TYPES
from retentive.records.fuzzy_names import EXACT, NameQuery, fold_name
from retentive.storage.tables import records as record_rows
from retentive.storage.tables.records import RecordRow
from retentive.store import validate
from retentive.store.views import mutates

CONTACT_PAGE_SIZE = 1000  # contacts read at a time to be compared with a name
MIN_PHONE_DIGITS = 5  # enough to recognise a number
COMPANY_WEIGHT = 0.8  # how much a company or a role counts beside a name


class ContactDetails(TypedDict, total=False):
    """The fields of a contact beside its name."""

    aliases: Sequence[str] | str | None
    email: str | None
    phone: str | None
    company: str | None
    role: str | None
    type: ContactType | str | None
    notes: str | None


class NewContact(ContactDetails):
    name: Required[str]


class ContactChanges(ContactDetails, total=False):
    name: str


class _Match(NamedTuple):
    certainty: float
    row: RecordRow

    def sort_key(self) -> tuple[bool, float, str]:
        is_ignored = self.row.body.get("type") == ContactType.IGNORED
        return is_ignored, -self.certainty, fold_name(self.row.body["name"])


class Contacts(RecordCollection[Contact]):
    """Contacts: name, aliases, email, phone, company, role, type (work, personal, ignored), notes."""

    record_type = CONTACT

    if TYPE_CHECKING:  # the shared verbs with the fields of a contact

        def create(  # type: ignore[override]
            self, /, *, reason: str | None = None, actor: str = "user", **fields: Unpack[NewContact]
        ) -> Contact: ...

        def update(  # type: ignore[override]
            self,
            /,
            id: str,
            *,
            version: int | None = None,
            reason: str | None = None,
            actor: str = "user",
            **fields: Unpack[ContactChanges],
        ) -> Contact: ...

    def find(self, text: str, limit: int = 10) -> Sequence[Contact]:
        """Find contacts by name or alias, also partial or misspelt, or by email, phone, company or role.

        The most certain match comes first; contacts of type `ignored` come last.
        """
        query = NameQuery(validate.clean_question(text))
        digits = _digits(text)
        scored = (_Match(_score_match(query, digits, row.body), row) for row in self._all())
        matches = sorted((each for each in scored if each.certainty), key=_Match.sort_key)
        return [self._to_record(each.row) for each in matches[: validate.positive_int(limit)]]

    @mutates
    def merge(self, id: str, other: str, *, reason: str | None = None, actor: str = "user") -> Contact:
        """Merge `other` into `id`. Both histories are kept.

        Fields of `id` stay, and empty ones are filled from the other. The other's name and aliases become aliases.
        Where an email, phone, company or role differs, the other's is added to the notes. Projects that name the other
        then name `id`.
        """

        def decide(now: int) -> list[Change]:
            kept, absorbed = self._live_row(id), self._live_row(other)
            if kept.id == absorbed.id:
                raise Invalid(f"{id[:60]!r} and {other[:60]!r} are one contact")
            kept_note = CallerNote("merged", actor, reason or f"with {absorbed.id}")
            absorbed_note = CallerNote("merged away", actor, reason or f"into {kept.id}")
            relinked = [Change(each, kept_note) for each in self._relink(absorbed, kept.id, now)]
            merged = record_rows.next_row(kept, _merge_bodies(kept.body, absorbed.body), now)
            return [
                *relinked,
                Change(make_deleted_row(absorbed, now, kept.id), absorbed_note),
                Change(merged, kept_note),
            ]

        return self._write_and_read(decide)

    def _unlink_changes(self, old: RecordRow, now: int, actor: str) -> Iterator[Change]:
        """Yield the projects that named a deleted contact, without it."""
        note = CallerNote("updated", actor, f"contact {old.id} was deleted")
        return (Change(each, note) for each in self._relink(old, None, now))

    def _relink(self, old: RecordRow, new: str | None, now: int) -> Iterator[RecordRow]:
        """Yield the records that link to a contact, linked to another one or to none."""
        for row in self._table.list_naming(old.namespace, old.id):
            body = dict(row.body)
            for name in RECORD_TYPES[row.type].links:
                if body.get(name) == old.id:
                    body[name] = new
                elif isinstance(body.get(name), list):
                    ids = (new if each == old.id else each for each in body[name])
                    body[name] = [*dict.fromkeys(each for each in ids if each)]
            yield record_rows.next_row(row, {name: value for name, value in body.items() if value}, now)

    def _find_by_name(self, name: str) -> list[RecordRow]:
        """Return the contacts of this name; if there is none, those with this alias or email."""
        return super()._find_by_name(name) or self._find_by_alias(fold_name(name))

    def _find_by_alias(self, name: str) -> list[RecordRow]:
        return [row for row in self._all() if name in map(fold_name, _aliases(row.body))]

    def _all(self) -> Iterator[RecordRow]:
        last: str | None = None
        while page := self._table.list_page(self._store.namespace, self.record_type.type, CONTACT_PAGE_SIZE, last):
            yield from page
            last = page[-1].id


class ContactLookup(Contacts):
    """Contacts for several lookups in a row: the aliases of all are read at most once."""

    def _find_by_alias(self, name: str) -> list[RecordRow]:
        return self._by_alias.get(name, [])

    @cached_property
    def _by_alias(self) -> Mapping[str, list[RecordRow]]:
        found: dict[str, list[RecordRow]] = {}
        for row in self._all():
            for name in {*map(fold_name, _aliases(row.body))}:
                found.setdefault(name, []).append(row)
        return found


def _score_match(query: NameQuery, digits: str, body: Mapping[str, Any]) -> float:
    """Return how certain it is that a contact is meant, from 0 to 1."""
    if not query.name:
        return 0.0
    is_phone = len(digits) >= MIN_PHONE_DIGITS and digits in _digits(body.get("phone", ""))
    if is_phone or query.name == fold_name(body.get("email", "")):
        return EXACT
    by_name = query.likeness((body["name"], *body.get("aliases", ())))
    by_company = query.likeness(body[name] for name in ("company", "role") if name in body)
    return max(by_name, by_company * COMPANY_WEIGHT)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _aliases(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the aliases and the email of a contact."""
    yield from body.get("aliases", ())
    if "email" in body:
        yield body["email"]


def _merge_bodies(kept: Mapping[str, Any], absorbed: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**absorbed, **kept, "aliases": _merge_aliases(kept, absorbed), "notes": _merge_notes(kept, absorbed)}
    return {name: value for name, value in merged.items() if value}


def _merge_aliases(kept: Mapping[str, Any], absorbed: Mapping[str, Any]) -> list[str]:
    aliases = []
    known = {fold_name(kept["name"])}
    for alias in (*kept.get("aliases", ()), absorbed["name"], *absorbed.get("aliases", ())):
        if fold_name(alias) not in known:
            known.add(fold_name(alias))
            aliases.append(alias)
    return aliases


def _merge_notes(kept: Mapping[str, Any], absorbed: Mapping[str, Any]) -> str:
    notes = dict.fromkeys((kept.get("notes"), absorbed.get("notes")))
    both = [name for name in ("email", "phone", "company", "role") if kept.get(name) and absorbed.get(name)]
    also = [f"Also {name}: {absorbed[name]}" for name in both if fold_name(kept[name]) != fold_name(absorbed[name])]
    return "\n".join(each for each in (*notes, *also) if each)
