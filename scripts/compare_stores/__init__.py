"""Asks stores on different databases the same questions and compares their answers."""
