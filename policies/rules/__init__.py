"""The rules, one a file. A file's ``RULE`` is found by listing this folder: adding a rule edits nothing else."""
