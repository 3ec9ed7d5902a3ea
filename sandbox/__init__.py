"""A local Kubernetes control plane with simulated GPU nodes: no cloud, GPU or Docker needed.

Start it with ``python -m sandbox up``; ``sandbox.control_plane.Sandbox`` is the same from Python.
"""
