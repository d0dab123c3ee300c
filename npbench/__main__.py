"""``python -m npbench``: the same as the command ``npbench``."""

from npbench.cli import main

if __name__ == "__main__":
    main()
