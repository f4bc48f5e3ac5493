"""Finds the kit (fake model, installer) and the installed agents."""
import os, subprocess, sys
from pathlib import Path

from .agents import CLAUDE, CODEX, NODE, PI
from .checks import step

ROOT = Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
PROGRAMS = (CLAUDE, PI, CODEX, f"{NODE}/node")


def find_kit(named):
    """The folder with the fake model: as named, by RETHREAD_E2E_KIT, or shared/clients beside the project or above it."""
    places = [named] if named else [Path(os.environ["RETHREAD_E2E_KIT"])] if os.environ.get("RETHREAD_E2E_KIT") else beside("shared/clients")
    found = [place for place in places if (place / "fake_llm.py").exists()]
    if not found:
        skip(f"no kit in {', '.join(map(str, places))}; it contains the fake model and installs the agents (--kit DIR or RETHREAD_E2E_KIT)")
    return found[0].absolute()


def find_clients(named, kit, may_install):
    """The folder with the agents: as named, by RETHREAD_E2E_CLIENTS, in the cache, or `clients` beside the project or above it."""
    variable = os.environ.get("RETHREAD_E2E_CLIENTS")
    wanted = named or (Path(variable) if variable else None)
    if wanted:
        return install(wanted.absolute(), kit)
    found = [place for place in [cache(), *beside("clients")] if has_agents(place)]
    if found:
        return found[0]
    if not may_install:
        skip(f"no agents in {cache()}; --install installs them there (about two minutes, 1.6 GB)")
    return install(cache(), kit)


def beside(name):
    return [folder / name for folder in ROOT.parents]


def cache():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rethread-e2e" / "clients"


def has_agents(clients):
    return all((clients / program).exists() for program in PROGRAMS)


def install(clients, kit):
    if not has_agents(clients):
        step(f"installing the agents into {clients} (about two minutes)")
        clients.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["bash", kit / "setup.sh", clients], stdin=subprocess.DEVNULL)
        if done.returncode or not has_agents(clients):
            skip("cannot install the agents")
    return clients


class Missing(Exception):
    """A client is not installed."""


def require(client, clients, kit):
    """Fails if a client is not installed. Installs it first if there is a kit."""
    if kit and not client.is_installed(clients):
        step(f"installing {client.label} into {clients}")
        words = [client.package] if client.installer == "setup-more.sh" else []
        subprocess.run(["bash", kit / client.installer, clients, *words], stdin=subprocess.DEVNULL)
    if not client.is_installed(clients):
        raise Missing(f"{client.label} is not in {clients}; --install installs it")


def skip(why):
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(SKIPPED)
