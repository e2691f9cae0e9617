"""One class per group of tables: named queries in, values out. `Tables` has one of each for an engine."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from retentive.storage.tables.chunks import Chunks
from retentive.storage.tables.conversations import Conversations
from retentive.storage.tables.learning import Learning
from retentive.storage.tables.memories import Memories
from retentive.storage.tables.metrics import Metrics
from retentive.storage.tables.timeline import Timeline

if TYPE_CHECKING:
    from retentive.storage import Engine
    from retentive.storage.tables.expectations import ExpectationRows
    from retentive.storage.tables.files import FileRows
    from retentive.storage.tables.hidden import HiddenMessages
    from retentive.storage.tables.ids import Ids
    from retentive.storage.tables.proposals import ProposalRows
    from retentive.storage.tables.purges import Purges
    from retentive.storage.tables.quarantine import Quarantine
    from retentive.storage.tables.records import RecordRows
    from retentive.storage.tables.spaces import Spaces
    from retentive.storage.tables.tokens import TokenRows


class Tables:
    """The tables of a store. Those that a plain add or search does not need are imported at their first use."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.memories = Memories(engine)
        self.conversations = Conversations(engine)
        self.chunks = Chunks(engine)
        self.learning = Learning(engine)
        self.metrics = Metrics(engine)
        self.timeline = Timeline(engine)

    @cached_property
    def expectations(self) -> ExpectationRows:
        from retentive.storage.tables.expectations import ExpectationRows

        return ExpectationRows(self._engine)

    @cached_property
    def files(self) -> FileRows:
        from retentive.storage.tables.files import FileRows

        return FileRows(self._engine)

    @cached_property
    def hidden_messages(self) -> HiddenMessages:
        from retentive.storage.tables.hidden import HiddenMessages

        return HiddenMessages(self._engine)

    @cached_property
    def ids(self) -> Ids:
        from retentive.storage.tables.ids import Ids

        return Ids(self._engine)

    @cached_property
    def proposals(self) -> ProposalRows:
        from retentive.storage.tables.proposals import ProposalRows

        return ProposalRows(self._engine)

    @cached_property
    def purges(self) -> Purges:
        from retentive.storage.tables.purges import Purges

        return Purges(self._engine)

    @cached_property
    def quarantine(self) -> Quarantine:
        from retentive.storage.tables.quarantine import Quarantine

        return Quarantine(self._engine)

    @cached_property
    def records(self) -> RecordRows:
        from retentive.storage.tables.records import RecordRows

        return RecordRows(self._engine)

    @cached_property
    def spaces(self) -> Spaces:
        from retentive.storage.tables.spaces import Spaces

        return Spaces(self._engine)

    @cached_property
    def tokens(self) -> TokenRows:
        from retentive.storage.tables.tokens import TokenRows

        return TokenRows(self._engine)
