"""What the engine imports of its host: time, memory, and a refusal of all files."""
