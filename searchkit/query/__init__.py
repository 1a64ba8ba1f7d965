"""From what was typed to a query: words, filters, dates; and what a filter means for a part."""
