"""What is done to any text: cleaning, languages, terms, tokens, and making it safe for where it goes."""
