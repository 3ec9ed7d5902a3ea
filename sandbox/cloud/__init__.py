"""Stand-ins for the provider plugins of AWS: same type tokens and inputs, nothing real touched."""
