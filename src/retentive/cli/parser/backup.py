"""Verbs of backups, and `compact`."""

from retentive.cli.parser.options import VerbGroup


def add_backup_verbs(verb: VerbGroup) -> None:
    create = verb(
        "create",
        "copy the store into a file, also while it is in use, and verify the copy",
        epilog="In a folder the file is called retentive-YYYYMMDD-HHMMSS.db, by the time (UTC).",
    )
    create.add_argument("target", metavar="FILE|FOLDER")
    create.add_argument(
        "--keep", type=int, metavar="N", help="in a folder: delete all but the newest N backups of this store"
    )
    create.add_argument("--force", action="store_true", help="overwrite an existing file")

    verify = verb("verify", "check that a backup is complete and can be restored")
    verify.add_argument("file", metavar="FILE")

    restore = verb(
        "restore",
        "replace the content of the store by a backup",
        epilog="A copy of the store stays beside it: FILE.before-restore-... Other programs may have the store open.",
    )
    restore.add_argument("file", metavar="FILE")
    restore.add_argument("--dry-run", action="store_true", help="only check the backup and show what would happen")
    restore.add_argument("--yes", "-y", action="store_true", help="do not ask")


def add_compact(verb: VerbGroup) -> None:
    verb("compact", "shrink the store: free the space of deleted rows")
