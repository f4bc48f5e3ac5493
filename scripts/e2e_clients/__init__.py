"""Runs the real agents with the real binary and a fake model, and checks which texts reach the model."""
