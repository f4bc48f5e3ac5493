"""Runs every command with two builds of the binary and compares their answers."""
