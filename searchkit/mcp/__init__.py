"""What agents are told over the Model Context Protocol: tools, resources, and the two ways to reach them."""
