"""Facts read from pod templates: which model server runs, with what arguments, on which GPUs."""
