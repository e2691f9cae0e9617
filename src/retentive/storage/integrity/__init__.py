"""Integrity mode: who changes a store's file behind Retentive's back is found out, row by row.

Off by default, for stores in a file. While it is on, every row that is written or deleted gets an entry in the table
`integrity_log`, in the same transaction:

    row   = HMAC(key, table and the row's own key)          which row
    mac   = HMAC(key, all its columns)                      what it said; empty if it was deleted
    chain = HMAC(key, the chain so far, number, time, row, mac)

The key is in a file of its own (`keys.py`), which must be where whoever can write the store cannot read. Beside it is
the head: number and chain of the newest entry, so that an older copy of the whole store is noticed, too. `verify.py`
compares rows, log and head.

How rows are noticed: triggers of the writing connection alone (TEMP), which are not in the file and cost nothing in
stores without integrity mode (`sealing.py`). A program that writes without the key leaves rows without an entry.

Not sealed is what is made from the rest and can be made anew (full-text index, vectors), and what counts uses.
"""

from retentive.storage.integrity.keys import KeyFile
from retentive.storage.integrity.mode import IntegrityMode
from retentive.storage.integrity.sealing import Sealer
from retentive.storage.integrity.verify import Tampering, row_name

__all__ = ["IntegrityMode", "KeyFile", "Sealer", "Tampering", "row_name"]
