"""What a scenario gets: a folder, a cluster, nodes, and ways to report."""

import contextlib
import pathlib
import shutil
import tempfile

from .cluster import Cluster
from .nodes import SPACE, Failed, Node, Program


class Team:
    """Everything of one scenario. Servers and nodes end with it."""

    def __init__(self, binary, folder, rounds, seed):
        self.binary, self.folder, self.rounds, self.seed = binary, pathlib.Path(folder), rounds, seed

    @contextlib.contextmanager
    def cluster(self, name="primary", **options):
        cluster = Cluster(self.folder, name, **options)
        try:
            yield cluster.create()
        finally:
            cluster.stop()

    @contextlib.contextmanager
    def nodes(self, cluster, count, url=None, options=(), **environment):
        """Nodes of one space. The first one creates the schema."""
        nodes = [Node(self.binary, self.folder / f"node{number}", url or cluster.url(SPACE), **environment)
                 for number in range(count)]
        try:
            for number, node in enumerate(nodes):
                node.options = list(options)
                node.start(*(["--migrate"] if number == 0 else []), token=nodes[0].token)
            yield nodes
        finally:
            for node in nodes:
                node.stop()

    def program(self, url, name="home", **environment):
        return Program(self.binary, self.folder / name, url, **environment)

    def say(self, text):
        print(f"    {text}", flush=True)

    def require(self, holds, what):
        if not holds:
            raise Failed(what)


@contextlib.contextmanager
def temporary_folder(keep):
    """A folder that other users may enter, because PostgreSQL runs as another user."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rethread-team-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        if keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
