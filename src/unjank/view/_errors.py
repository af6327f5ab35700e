"""What this package raises of its own."""

from unjank._errors import UnjankError


class ViewError(UnjankError):
    """The UI could not be served: the port is taken, or its files are not whole."""
