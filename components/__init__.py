"""The component resources: one ComponentResource a file, each with its frozen Args.

``manifests/`` holds the pure functions that build the Kubernetes object bodies; they know nothing of Pulumi.
"""
