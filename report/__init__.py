"""The comment that a pull request gets: what the engine's preview would change, break and cost."""
