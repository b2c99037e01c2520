"""Write what a teacher takes away: quizzes for learning platforms, and assignments for nbgrader.

python tools/course.py quiz [FOLDER]      the quiz bank in GIFT and QTI, into _build/course/quiz
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))
sys.path.insert(0, str(ROOT))

import pavlov_teach  # noqa: E402

OUT = ROOT / "_build" / "course"


def quiz(folder: Path) -> None:
    """Write every export of the quiz bank into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    banks = pavlov_teach.banks(ROOT)
    for name, content in pavlov_teach.files(banks).items():
        (folder / name).write_bytes(content)
    print(f"{sum(len(bank.items) for bank in banks)} questions on {len(banks)} chapters: {folder}")


def main(words: list[str]) -> int:
    if not words or words[0] != "quiz" or len(words) > 2:
        print(__doc__, file=sys.stderr)
        return 2
    quiz(Path(words[1]) if len(words) == 2 else OUT / "quiz")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
