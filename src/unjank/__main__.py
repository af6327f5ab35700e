"""`python -m unjank`: the command line, where its script is not on the path."""

from unjank.cli import main

if __name__ == "__main__":
    main()
