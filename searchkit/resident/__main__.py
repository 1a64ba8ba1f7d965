"""`python -m searchkit.resident`: the program of the process."""

from searchkit.resident.process import main

if __name__ == "__main__":
    main()
