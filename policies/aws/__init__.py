"""Readers of AWS resources as pulumi-aws names them: node groups, launch templates, security groups, instance types."""
