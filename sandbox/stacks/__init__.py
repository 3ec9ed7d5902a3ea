"""Running the engine against the sandbox: its own state backend, its own plugins, and repair after a killed run."""
