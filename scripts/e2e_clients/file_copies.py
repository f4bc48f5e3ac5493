"""Copies of a client's files from before an installation, to compare with what an uninstall leaves."""
import hashlib, os

# Our own folder, the project, and what the fake model writes.
NOT_THEIRS = (".rethread", "project", "bin", "requests.jsonl")


class FileCopies:
    """The hashes of a home's files at one moment."""

    def __init__(self, home):
        self.home, self.files = home, {}
        for folder, folders, names in os.walk(home):
            if folder == str(home):
                folders[:] = [name for name in folders if name not in NOT_THEIRS]
            folders[:] = [name for name in folders if name != "node_modules"]
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and os.path.relpath(path, home) not in NOT_THEIRS:
                    with open(path, "rb") as file:
                        self.files[os.path.relpath(path, home)] = hashlib.sha256(file.read()).hexdigest()

    def changed_since(self, earlier):
        """The files that are new or different."""
        return sorted(name for name, content in self.files.items() if earlier.files.get(name) != content)


def left_over(home, before, installed, last):
    """What an uninstall left. Files that the installation changed have to be as before, byte by byte.

    `last` is the state right before the uninstall: a file that the client itself wrote since only has to be free of our name."""
    now, problems = FileCopies(home), []
    for name in installed.changed_since(before):
        if now.files.get(name) == before.files.get(name):
            continue
        if last.files.get(name) == installed.files[name]:
            problems.append(f"{name} differs from the copy")
        elif name in now.files and "rethread" in (home / name).read_text(errors="replace").lower():
            problems.append(f"{name} still names us")
    return problems
