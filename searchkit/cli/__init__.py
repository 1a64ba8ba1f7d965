"""The command line: options, printing, completion, and one file for each command."""
