"""What tests share: transcripts, histories, and ways to run commands."""
