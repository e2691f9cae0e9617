"""Integrity mode: changes of a store's file that bypass Retentive are found, row by row.

It is off by default, and only for stores in a file. While it is on, every row that is written or deleted gets an entry
in the table `integrity_log`, in the same transaction:

    row   = HMAC(key, table and the row's own key)          identifies the row
    mac   = HMAC(key, all its columns)                      its content; empty if it was deleted
    chain = HMAC(key, the chain so far, number, time, row, mac)

The key is in a file of its own (`keys.py`). Nobody who can write to the store may be able to read it. Beside it is the
head: number and chain of the newest entry, so that an older copy of the whole store is noticed, too. `verify.py`
compares rows, log and head.

Triggers of the writing connection record the rows (`sealing.py`). They are temporary: they are not in the file, and
cost nothing in stores without integrity mode. A program that writes without the key leaves rows without an entry.

Derived data (full-text index, vectors) and counts of uses are not sealed.
"""

from retentive.storage.integrity.keys import KeyFile
from retentive.storage.integrity.mode import IntegrityMode
from retentive.storage.integrity.sealing import Sealer
from retentive.storage.integrity.verify import Tampering, row_name

__all__ = ["IntegrityMode", "KeyFile", "Sealer", "Tampering", "row_name"]
