"""Copies of the store, and its room."""

from retentive.cli.parser.options import Verbs


def backing(verb: Verbs) -> None:
    create = verb(
        "create",
        "copy the store into a file, while it is in use, and check the copy",
        epilog="In a folder the file is called retentive-YYYYMMDD-HHMMSS.db, by the time (UTC).",
    )
    create.add_argument("target", metavar="FILE|FOLDER")
    create.add_argument("--keep", type=int, metavar="N", help="in a folder: remove all but the newest N of this store")
    create.add_argument("--force", action="store_true", help="replace the file if it is there")

    verify = verb("verify", "see whether a backup is whole and can be restored")
    verify.add_argument("file", metavar="FILE")

    restore = verb(
        "restore",
        "make the store what a backup of it is",
        epilog="What was there is kept beside it, as FILE.before-restore-... Other programs may have the store open.",
    )
    restore.add_argument("file", metavar="FILE")
    restore.add_argument("--dry-run", action="store_true", help="check the backup, and only say what would happen")
    restore.add_argument("--yes", "-y", action="store_true", help="do not ask")


def compacting(verb: Verbs) -> None:
    verb("compact", "give back the room that deleted rows left")
