"""The clients whose transcripts Rethread reads, one file each."""
from .aider import AiderClient
from .claude import ClaudeClient
from .cline import ClineClient
from .codex import CodexClient
from .continue_cli import ContinueClient
from .copilot import CopilotClient
from .droid import DroidClient
from .gemini import GeminiClient
from .gptme import GptmeClient
from .hermes import HermesClient
from .kimi import KimiClient
from .openclaw import OpenClawClient
from .opencode import KiloClient, OpenCodeClient
from .pi import PiClient
from .qwen import QwenClient

ALL = [ClaudeClient, PiClient, AiderClient, ClineClient, CodexClient, ContinueClient, CopilotClient, DroidClient, GeminiClient, GptmeClient, HermesClient,
       KiloClient, KimiClient, OpenClawClient, OpenCodeClient, QwenClient]
