"""The rules that one object decides, as ``ValidatingAdmissionPolicy`` objects in CEL for the API server.

``rules/`` holds one expression a file, ``variables`` what they share, ``objects`` the Kubernetes objects around them.
docs/decisions/policies-admission.md says which rules are here, which are not, and why.
"""
