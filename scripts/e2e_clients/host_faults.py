"""What can go wrong around a host: no binary, a damaged store, a full or read-only disk, no home. It answers, and shows no error."""
import contextlib, shutil, subprocess
from pathlib import Path

from .checks import step
from .fault_scenes import damage, small_disk
from .host_chat import chat_with
from .injections import BLOCK
from .terminal import TROUBLE

GONE = "the binary is gone"


def faults(scene):
    scene.store = scene.rethread.home / ".rethread"
    for what, fault in ((GONE, missing_binary), ("the store is damaged", damaged_store), ("the disk is full", full_disk),
                        ("the disk is read-only", read_only_disk), ("our home cannot be created", no_home)):
        step(f"{scene.label}: {what}: it answers as before and shows no error")
        with fault(scene) as is_possible:
            if is_possible:
                unharmed(scene, what)
            else:
                step("skipped: cannot mount a small file system")


def unharmed(scene, what):
    chat = chat_with(scene.b_client)
    try:
        # Fails if the client exits with an error or prints no answer.
        turn = chat.say(f"water the fern while {what}", scene.b_client.running("true"))
    finally:
        chat.close()
    known = troubles(scene.plain_output)
    # A client may always say that it loads our plugin.
    lines = set(printed_lines(scene, turn.output)) - set(printed_lines(scene, scene.sound_output))
    lines = sorted(line for line in lines if "rethread" in line.lower() or troubles(line) - known)
    # A client reports that it cannot start a program that is gone.
    shown = [line for line in lines if what != GONE or "MCP" not in line]
    scene.compare.equal("lines about us or an error", [], shown)


def printed_lines(scene, output):
    """What a client printed, without what a hook added, and without paths of the home and of the clients, which have our name."""
    return BLOCK.sub("", output).replace(str(scene.home), "~").replace(str(scene.b_client.programs), "").splitlines()


def troubles(text):
    return {found.group().lower() for found in TROUBLE.finditer(text)}


@contextlib.contextmanager
def missing_binary(scene):
    binary = Path(scene.rethread.binary)
    away = binary.with_name("away")
    binary.rename(away)
    try:
        yield True
    finally:
        away.rename(binary)


@contextlib.contextmanager
def damaged_store(scene):
    damage(scene.rethread)
    yield True


@contextlib.contextmanager
def instead_of_store(scene):
    """Puts our home aside."""
    kept = scene.store.with_name(".rethread-kept")
    scene.store.rename(kept)
    try:
        yield
    finally:
        if scene.store.is_dir():
            shutil.rmtree(scene.store)
        else:
            scene.store.unlink(missing_ok=True)
        kept.rename(scene.store)


@contextlib.contextmanager
def full_disk(scene):
    with instead_of_store(scene), small_disk(scene.store, 1024) as mounted:
        with contextlib.suppress(OSError):
            (scene.store / "filler").write_bytes(b"x" * (2 << 20))
        yield mounted


@contextlib.contextmanager
def read_only_disk(scene):
    with instead_of_store(scene), small_disk(scene.store, 4096) as mounted:
        if mounted:
            subprocess.run(["mount", "-o", "remount,ro", scene.store], check=True)
        yield mounted


@contextlib.contextmanager
def no_home(scene):
    """A file is where our home should be."""
    with instead_of_store(scene):
        scene.store.write_text("")
        yield True
