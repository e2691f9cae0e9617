"""What is being done, and with whom."""

from collections.abc import Mapping
from typing import Any

from retentive.model import Project
from retentive.records.collection import Store
from retentive.records.contacts import Lookup
from retentive.records.fields import PROJECT


class Projects(Store[Project]):
    """Projects: name, status, type, description, primary_contact, participants, company, priority.

    Contacts may be given by id, name or email; their ids are kept. One that is deleted is named no more.
    """

    shape = PROJECT

    def _contacts(self, given: Any) -> Any:
        contacts = Lookup(self._store)
        if isinstance(given, str):
            return contacts.get(given).id
        return [*dict.fromkeys(contacts.get(each).id for each in given)]

    def _again(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Without contacts that are no more."""
        there = {row.id for row in self._rows.several(self._store.namespace, "contact", self.shape.targets(body))}
        made = dict(body)
        if made.get("primary_contact") not in there:
            made.pop("primary_contact", None)
        made["participants"] = [id for id in body.get("participants", ()) if id in there]
        return {name: each for name, each in made.items() if each != []}
