"""The profile of a namespace: one JSON document, every change of which is kept."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from retentive.errors import Conflict, Invalid
from retentive.model import Profile, Revision
from retentive.records import json_patch
from retentive.records.collection import Told
from retentive.records.fields import PROFILE
from retentive.records.profile_sync import ID, LARGEST, Profiles
from retentive.records.render import profile as rendered
from retentive.storage.tables.records import Row
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.views import writes


class ProfileVerbs:
    """The verbs of the profile. Facts in slots such as `user.dog.name` flow into it, and say so in `sources`."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._profiles = Profiles(store)

    def get(self) -> Profile:
        """As it is: version 0 and empty before anything was said."""
        return PROFILE.read(self._profiles.current())

    def text(self) -> str:
        """In words, as a context shows it."""
        return rendered(self.get().document)

    @writes
    def set(
        self,
        path: str,
        value: Any,
        *,
        version: int | None = None,
        reason: str | None = None,
        actor: str = "user",
    ) -> Profile:
        """One value, at a JSON pointer (`/dog/name`) or a path with dots (`dog.name`); the whole document at `""`.

        With `version` it is refused, and told what changed, unless the profile is still that version.
        """
        pointer = json_patch.pointer_of(validate.plain(path, "path"))
        if pointer.count("/") > validate.DEEPEST:
            raise Invalid(f"the path goes through more than {validate.DEEPEST} names")
        kept = validate.json_value(value, "value", LARGEST)
        return self._changed(lambda old: json_patch.placed(old, pointer, kept), Told("set", actor, reason), version)

    @writes
    def merge(
        self, patch: Mapping[str, Any], *, version: int | None = None, reason: str | None = None, actor: str = "user"
    ) -> Profile:
        """Change it by a merge patch (RFC 7396): what is null goes, objects are merged, all else is replaced."""
        if not isinstance(patch, Mapping):
            raise Invalid(f"a merge patch is an object, not a {type(patch).__name__}", "Give an object of changes.")
        given = validate.json_value(patch, "patch", LARGEST)
        return self._changed(lambda old: json_patch.merged(old, given), Told("merged", actor, reason), version)

    @writes
    def patch(
        self,
        operations: Sequence[Mapping[str, Any]],
        *,
        version: int | None = None,
        reason: str | None = None,
        actor: str = "user",
    ) -> Profile:
        """Change it by a JSON Patch (RFC 6902): all of its operations, or none."""
        given = validate.json_value(operations, "operations", LARGEST)
        return self._changed(lambda old: json_patch.patched(old, given), Told("patched", actor, reason), version)

    @writes
    def schema(self, schema: Mapping[str, Any] | None, *, reason: str | None = None, actor: str = "user") -> Profile:
        """A JSON Schema that the document must meet from now on; None for none."""
        given = json_patch.checked_schema(validate.json_value(schema, "schema", LARGEST))

        def make(old: Row) -> Mapping[str, Any]:
            json_patch.meet(old.body["document"], given)
            return {**old.body, "schema": given}

        return self._profiles.change(ID, make, Told("schema set" if given else "schema removed", actor, reason))

    def history(self) -> Sequence[Revision[Profile]]:
        """Every change, the oldest first: who, when, why, and the document after it."""
        return self._profiles.history(ID) if self._profiles.stored().version else []

    def diff(self, old: int, new: int | None = None) -> Sequence[Mapping[str, Any]]:
        """What changed between two versions, the second being the newest if not given: a JSON Patch."""
        self._begun()
        return self._profiles.diff(ID, old, new)

    @writes
    def rollback(self, to: int, *, reason: str | None = None, actor: str = "user") -> Profile:
        """The very document of an earlier version, which is itself a change.

        A fact that flowed in since is not put back until it changes.
        """
        self._begun()
        told = Told("rolled back", actor, reason or f"to version {to}")
        return self._changed(lambda _: self._profiles.at(ID, to)["document"], told)

    def _begun(self) -> None:
        if not self._profiles.stored().version:
            raise Conflict("the profile has no versions yet", "Set something first.")

    def _changed(self, make: Callable[[Any], Any], told: Told, version: int | None = None) -> Profile:
        def body(old: Row) -> Mapping[str, Any]:
            made = make(old.body["document"])
            if not isinstance(made, Mapping):
                raise Invalid(f"a profile is an object, not {type(made).__name__}", "Nothing was changed.")
            validate.json_value(made, "the profile", LARGEST)
            json_patch.meet(made, old.body.get("schema"))
            return {**old.body, "document": secret_policy.guarded_json(self._store, made, "memory")}

        return self._profiles.change(ID, body, told, version)
