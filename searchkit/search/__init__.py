"""From a query to ranked results: the channels, the ranking and its weights, snippets, evaluation."""
