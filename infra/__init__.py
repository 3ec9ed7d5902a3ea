"""The program: reads the stack's config, composes the components, starts."""
