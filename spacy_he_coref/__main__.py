"""``python -m spacy_he_coref``: the same as the console command ``he-coref``."""

from .cli.main import main

if __name__ == "__main__":
    main()
