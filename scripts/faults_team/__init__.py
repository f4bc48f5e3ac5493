"""Scenarios of scripts/faults-team, and what they share."""
