"""Stand-ins for the provider plugins of AWS: same type tokens and inputs, no account, no network, nothing real touched."""
