"""Facts as data, each with its source and date.

Everything else asks here; nothing else holds a version, price or size.
"""
