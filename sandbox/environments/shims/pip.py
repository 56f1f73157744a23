"""What "python -m pip" is where packages are prepared once: the program pip."""
import os
import sys

program = os.path.join(os.path.dirname(sys.prefix), "bin", "pip")
os.execv(program, [program] + sys.argv[1:])
