"""A home where all clients were used: `init`, `doctor` and `status` name each of them."""
from .checks import KETTLE, hold, step

PROMPT = f"Please {KETTLE} now."


def run(clients, rethread):
    step(f"one prompt for each of {len(clients)} clients, in the same home")
    for client in clients:
        try:
            client.greet(PROMPT)
        finally:
            client.close()
    for command in (["init", "--yes"], ["status"], ["doctor"]):
        step(f"rethread {' '.join(command)} names every agent")
        printed = rethread.run(*command, fine=(0, 1))
        missing = [client.label for client in clients if client.label not in printed and client.agent not in printed]
        hold(f"all are named{': missing ' + ', '.join(missing) if missing else ''}", not missing)
    step("every agent that is read has its session; private chats are not read unless the user says so")
    listed = rethread.run("sessions", "--all-projects", "--json")
    read = [client.agent for client in clients if f'"agent":"{client.agent}"' in listed]
    wanted = [client.agent for client in clients if not client.is_private]
    hold(f"read: {', '.join(read)}", read == wanted)
