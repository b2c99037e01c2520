"""nbgrader for this course. Everything not said here is nbgrader's own default."""

c = get_config()  # noqa: F821  nbgrader provides it

c.CourseDirectory.course_id = "pavlov"

# What stands in a student's notebook in place of a solution.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError"}
c.ClearSolutions.text_stub = "*Your answer here.*"

# A cell that never ends is stopped, costs its own marks, and lets the next cell run.
c.ExecutePreprocessor.timeout = 60
c.ExecutePreprocessor.interrupt_on_timeout = True
