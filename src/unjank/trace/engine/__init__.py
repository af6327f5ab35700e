"""Finds, compiles, caches and runs the engine's WebAssembly module."""
