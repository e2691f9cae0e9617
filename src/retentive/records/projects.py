"""Projects, with links to the contacts who take part."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Required, TypedDict, Unpack

from retentive.model import Priority, Project, ProjectStatus
from retentive.records.collection import RecordCollection
from retentive.records.contacts import ContactLookup
from retentive.records.fields import PROJECT


class ProjectDetails(TypedDict, total=False):
    """The fields of a project beside its name."""

    status: ProjectStatus | str | None
    type: str | None
    description: str | None
    primary_contact: str | None
    participants: Sequence[str] | str | None
    company: str | None
    priority: Priority | str | None


class NewProject(ProjectDetails):
    name: Required[str]


class ProjectChanges(ProjectDetails, total=False):
    name: str


class Projects(RecordCollection[Project]):
    """Projects: name, status, type, description, primary_contact, participants, company, priority.

    Contacts may be given by id, name or email; their ids are stored. A deleted contact is removed from its projects.
    """

    record_type = PROJECT

    if TYPE_CHECKING:  # the shared verbs with the fields of a project

        def create(  # type: ignore[override]
            self, /, *, reason: str | None = None, actor: str = "user", **fields: Unpack[NewProject]
        ) -> Project: ...

        def update(  # type: ignore[override]
            self,
            /,
            id: str,
            *,
            version: int | None = None,
            reason: str | None = None,
            actor: str = "user",
            **fields: Unpack[ProjectChanges],
        ) -> Project: ...

    def _resolve_contacts(self, given: Any) -> Any:
        contacts = ContactLookup(self._store)
        if isinstance(given, str):
            return contacts.get(given).id
        return [*dict.fromkeys(contacts.get(each).id for each in given)]

    def _restorable_body(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        contacts = self._table.list_by_ids(self._store.namespace, "contact", self.record_type.list_linked_ids(body))
        existing = {row.id for row in contacts}
        restored = dict(body)
        if restored.get("primary_contact") not in existing:
            restored.pop("primary_contact", None)
        restored["participants"] = [id for id in body.get("participants", ()) if id in existing]
        return {name: value for name, value in restored.items() if value != []}
