"""Write what a teacher takes away: quizzes for learning platforms, and assignments for students.

python tools/course.py quiz [FOLDER]      the quiz bank in GIFT and QTI, into _build/course/quiz
python tools/course.py release [FOLDER]   the course for nbgrader, into _build/course: what students get is in
                                          its folder release, without solutions and without the marking tests
"""

import csv
import os
import shutil
import sys
import warnings
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


def grade(folder: Path) -> None:
    """Mark every submission; a notebook that cannot be run at all is named, and does not stop the others.

    Whoever marks runs what students wrote. Do it where that can do no harm.
    """
    handed_in = sorted(path for path in folder.glob("submitted/*/*") if path.is_dir())
    if not handed_in:
        raise SystemExit(f"expected submissions in {folder / 'submitted'}/<student>/<assignment>; got none")
    api, failed = nbgrader(folder), []
    for path in handed_in:
        if not api.autograde(path.name, path.parent.name, force=True)["success"]:
            failed.append(f"{path.parent.name}/{path.name}")
    rows = marks(folder)
    with (folder / "marks.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["assignment", "student", "task", "marks", "of"])
        writer.writerows(rows)
    print(f"{len(handed_in) - len(failed)} of {len(handed_in)} submissions marked: {folder / 'marks.csv'}")
    if failed:
        print(f"could not be run, look at them by hand: {', '.join(failed)}", file=sys.stderr)


def marks(folder: Path) -> list[tuple]:
    """Assignment, student, task, marks and the most there could be; no marks yet where a person has to read."""
    from nbgrader.api import Gradebook

    rows = []
    with Gradebook(f"sqlite:///{(folder / 'gradebook.db').resolve()}") as book:
        for submission in (s for a in book.assignments for s in a.submissions):
            for grade in (g for notebook in submission.notebooks for g in notebook.grades):
                waiting = grade.needs_manual_grade and grade.manual_score is None
                rows.append(
                    (submission.assignment.name, submission.student.id, grade.name, None if waiting else grade.score,
                     grade.max_score)
                )  # fmt: skip
    return sorted(rows, key=lambda row: row[:3])


def nbgrader(folder: Path):
    """nbgrader's own interface to the course in ``folder``."""
    # nbgrader calls alembic by name, also when the environment is not activated
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    from nbgrader.apps import NbGraderAPI
    from sqlalchemy.exc import SAWarning
    from traitlets.config import PyFileConfigLoader

    warnings.filterwarnings("ignore", category=SAWarning)  # nbgrader's own, and nothing that a teacher can mend

    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder.resolve())
    return NbGraderAPI(config=config)


COMMANDS = {"quiz": (quiz, OUT / "quiz"), "release": (release, OUT), "grade": (grade, OUT)}


def main(words: list[str]) -> int:
    if not words or words[0] not in COMMANDS or len(words) > 2:
        print(__doc__, file=sys.stderr)
        return 2
    command, folder = COMMANDS[words[0]]
    command(Path(words[1]) if len(words) == 2 else folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
