"""`python -m searchkit.server`: the program of the process."""

from searchkit.server.process import main

if __name__ == "__main__":
    main()
