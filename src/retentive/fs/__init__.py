"""Files and folders: paths that users give, reads that always end, atomic writes, locks, private folders."""
