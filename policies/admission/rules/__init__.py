"""The admission rules, one a file; each takes name, kinds and texts from the rule of the same file name."""
