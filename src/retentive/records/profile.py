"""The verbs of the profile: one JSON document for each namespace, with the history of its changes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from retentive.errors import Conflict, Invalid
from retentive.model import Profile, Revision
from retentive.records import json_patch
from retentive.records.collection import CallerNote
from retentive.records.fields import PROFILE
from retentive.records.profile_sync import MAX_PROFILE_CHARS, PROFILE_ID, Profiles
from retentive.records.render import render_profile
from retentive.storage.tables.records import RecordRow
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.views import mutates


class ProfileVerbs:
    """The profile of a namespace. Facts in slots such as `user.dog.name` go into it; `sources` lists them."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._profiles = Profiles(store)

    def get(self) -> Profile:
        """Return the profile, in step with the user's facts: empty and at version 0 before the first write."""
        return PROFILE.read(self._profiles.load_current())

    def text(self) -> str:
        """Return the profile as text, as a context shows it."""
        return render_profile(self.get().document)

    @mutates
    def set(
        self,
        path: str,
        value: Any,
        *,
        version: int | None = None,
        reason: str | None = None,
        actor: str = "user",
    ) -> Profile:
        """Set one value at a JSON pointer (`/dog/name`) or a dotted path (`dog.name`); at `""` the whole document.

        With `version`, the change is refused unless the profile is still at that version. The error says what changed.
        """
        pointer = json_patch.to_pointer(validate.require_text(path, "path"))
        if pointer.count("/") > validate.MAX_JSON_DEPTH:
            raise Invalid(f"the path goes through more than {validate.MAX_JSON_DEPTH} names")
        checked = validate.require_json(value, "value", MAX_PROFILE_CHARS)
        note = CallerNote("set", actor, reason)
        return self._change(lambda old: json_patch.set_value(old, pointer, checked), note, version)

    @mutates
    def merge(
        self, patch: Mapping[str, Any], *, version: int | None = None, reason: str | None = None, actor: str = "user"
    ) -> Profile:
        """Apply a merge patch (RFC 7396): null removes a value, objects are merged, everything else replaces."""
        if not isinstance(patch, Mapping):
            raise Invalid(f"a merge patch is an object, not a {type(patch).__name__}", "Give an object of changes.")
        given = validate.require_json(patch, "patch", MAX_PROFILE_CHARS)
        note = CallerNote("merged", actor, reason)
        return self._change(lambda old: json_patch.apply_merge_patch(old, given), note, version)

    @mutates
    def patch(
        self,
        operations: Sequence[Mapping[str, Any]],
        *,
        version: int | None = None,
        reason: str | None = None,
        actor: str = "user",
    ) -> Profile:
        """Apply a JSON Patch (RFC 6902): all of its operations, or none."""
        given = validate.require_json(operations, "operations", MAX_PROFILE_CHARS)
        note = CallerNote("patched", actor, reason)
        return self._change(lambda old: json_patch.apply_json_patch(old, given), note, version)

    @mutates
    def schema(self, schema: Mapping[str, Any] | None, *, reason: str | None = None, actor: str = "user") -> Profile:
        """Set the JSON Schema that the document must meet from now on; None removes it."""
        given = json_patch.check_schema(validate.require_json(schema, "schema", MAX_PROFILE_CHARS))

        def make(old: RecordRow) -> Mapping[str, Any]:
            json_patch.check_document(old.body["document"], given)
            return {**old.body, "schema": given}

        return self._profiles.change(
            PROFILE_ID, make, CallerNote("schema set" if given else "schema removed", actor, reason)
        )

    def history(self) -> Sequence[Revision[Profile]]:
        """Return every change, oldest first: who, when, why, and the document after it."""
        return self._profiles.history(PROFILE_ID) if self._profiles.load_stored().version else []

    def diff(self, old: int, new: int | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the JSON Patch from one version to another, by default to the newest."""
        self._require_versions()
        return self._profiles.diff(PROFILE_ID, old, new)

    @mutates
    def rollback(self, to: int, *, reason: str | None = None, actor: str = "user") -> Profile:
        """Write the document of an earlier version as a new version.

        A fact that came in since then is not put back until it changes.
        """
        self._require_versions()
        note = CallerNote("rolled back", actor, reason or f"to version {to}")
        return self._change(lambda _: self._profiles.load_body(PROFILE_ID, to)["document"], note)

    def _require_versions(self) -> None:
        if not self._profiles.load_stored().version:
            raise Conflict("the profile has no versions yet", "Set something first.")

    def _change(self, edit: Callable[[Any], Any], note: CallerNote, version: int | None = None) -> Profile:
        """Write the document that `edit` returns for the newest one, if it is valid."""

        def make(old: RecordRow) -> Mapping[str, Any]:
            document = edit(old.body["document"])
            if not isinstance(document, Mapping):
                raise Invalid(f"a profile is an object, not {type(document).__name__}", "Nothing was changed.")
            validate.require_json(document, "the profile", MAX_PROFILE_CHARS)
            json_patch.check_document(document, old.body.get("schema"))
            return {**old.body, "document": secret_policy.apply_policy_to_json(self._store, document, "memory")}

        return self._profiles.change(PROFILE_ID, make, note, version)
