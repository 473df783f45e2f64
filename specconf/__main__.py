"""`python -m specconf` is `specconf`."""

from specconf.cli.main import main

if __name__ == "__main__":
    main()
