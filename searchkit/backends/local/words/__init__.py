"""The keyword index in Tantivy: terms, queries, filters, facets, spelling, highlights."""
