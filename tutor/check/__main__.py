"""`python -m tutor.check --audit`: are the checks themselves right? The course knows."""

import runpy

if __name__ == "__main__":
    runpy.run_module("course.audit", run_name="__main__", alter_sys=True)
