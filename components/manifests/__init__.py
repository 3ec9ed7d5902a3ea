"""Kubernetes object bodies as plain dicts, built by pure functions."""
