"""Files that this package writes by itself: one store for files of a host, and tables in `storage.tables`.

`files` keeps immutable files in one folder: written aside, renamed, and compared with their checksum when they are
read. It has two uses. `scratch` keeps the tables of a join that go beyond its memory: they go with the join, and a
file that is lost or changed is an error. `chunk_files` keeps chunks of state for all Python workers of a host: they are
copies, so a file that is lost or damaged is read from the state store instead. `private_folder` decides which folders
may be used at all.

Invariant: what is read is what was written under that name, or it is not returned.

May import `model` and `errors`. Tests: `tests/storage/`.
"""
