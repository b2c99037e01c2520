"""Write what a teacher takes away: quizzes for learning platforms, and assignments for students.

python tools/course.py quiz [FOLDER]      the quiz bank in GIFT and QTI, into _build/course/quiz
python tools/course.py release [FOLDER]   the course for nbgrader, into _build/course: what students get is in
                                          its folder release, without solutions and without the marking tests
"""

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_teach  # noqa: E402

COURSE = ROOT / "book" / "teach" / "course"
OUT = ROOT / "_build" / "course"


def quiz(folder: Path) -> None:
    """Write every export of the quiz bank into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    banks = pavlov_teach.banks(ROOT)
    for name, content in pavlov_teach.files(banks).items():
        (folder / name).write_bytes(content)
    print(f"{sum(len(bank.items) for bank in banks)} questions on {len(banks)} chapters: {folder}")


def assignments() -> list[str]:
    return sorted(path.parent.name for path in COURSE.glob("source/*/*.ipynb"))


def release(folder: Path) -> None:
    """Copy the course into ``folder`` and let nbgrader write the students' version of every assignment.

    Submissions, marks and feedback that are in ``folder`` already stay there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(COURSE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", "gradebook.db"))
    for name in assignments():
        log = nbgrader(folder).generate_assignment(name, force=True)
        if not log["success"]:
            raise SystemExit(f"nbgrader could not release {name}:\n{log.get('error') or log['log']}")
    print(f"{len(assignments())} assignments ({', '.join(assignments())}): {folder / 'release'}")


def nbgrader(folder: Path):
    """nbgrader's own interface to the course in ``folder``."""
    # nbgrader calls alembic by name, also when the environment is not activated
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder.resolve())
    return NbGraderAPI(config=config)


def main(words: list[str]) -> int:
    if not words or words[0] not in ("quiz", "release") or len(words) > 2:
        print(__doc__, file=sys.stderr)
        return 2
    if words[0] == "quiz":
        quiz(Path(words[1]) if len(words) == 2 else OUT / "quiz")
    else:
        release(Path(words[1]) if len(words) == 2 else OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
