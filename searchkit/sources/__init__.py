"""Where conversations come from; one package per kind of agent."""
