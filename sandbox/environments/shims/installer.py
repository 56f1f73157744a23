# Stands in for pip, uv and uvx in an environment of packages that is made once
# and cannot be changed: what is asked for and is there is said to be there, and
# programs are run with it; for what is not there it says what to do. uv itself
# compares versions.
#
# Arguments are the name that was called, the path of uv, and the user's.
import os
import re
import shutil
import subprocess
import sys

called, uv, args = sys.argv[1], sys.argv[2], sys.argv[3:]
here = os.path.dirname(os.path.abspath(__file__))
environment = os.path.join(os.path.dirname(here), "python")
python = os.path.join(environment, "bin", "python")

# Installers are there, in this form.
INSTALLERS = {"pip", "setuptools", "wheel", "uv"}
# Options of installing that a value follows, and that do not matter here.
VALUED = {
    "-i", "--index-url", "--extra-index-url", "--index", "--default-index", "-f", "--find-links", "--trusted-host", "--upgrade-strategy",
    "--progress-bar", "--root-user-action", "--python", "-p", "--timeout", "--retries", "--cert", "--cache-dir", "--link-mode", "--exclude-newer",
    "--python-version", "--no-binary", "--only-binary", "--group", "--extra", "--optional",
}
ELSEWHERE = {"-t", "--target", "--prefix", "--root"}


def stop(text, code=1):
    print(text, file=sys.stderr)
    sys.exit(code)


def run(arguments):
    sys.stdout.flush()
    os.execv(arguments[0], arguments)


def real_uv(arguments):
    return [uv, "--offline", "--no-config", "--no-python-downloads"] + arguments


def name_of(requirement):
    return re.sub(r"[-_.]+", "-", re.split(r"[^A-Za-z0-9._-]", requirement.strip(), maxsplit=1)[0]).lower()


def listed(text):
    """The requirements between commas, of which some are within requirements."""
    found = []
    for part in text.split(","):
        if found and (re.match(r"\s*[<>=!~]", part) or found[-1].count("[") > found[-1].count("]")):
            found[-1] += "," + part
        elif part.strip():
            found.append(part)
    return found


def parse_install(arguments):
    """The requirements, and the files of them, that arguments ask for."""
    wanted, files = [], []
    arguments = list(arguments)
    while arguments:
        argument = arguments.pop(0)
        option, joined, value = argument.partition("=")
        if option in ("-r", "--requirement", "--requirements"):
            files.append(value if joined else (arguments.pop(0) if arguments else ""))
        elif option.startswith("-r") and not option.startswith("--"):
            files.append(argument[2:])
        elif option in ("-c", "--constraint", "--constraints"):
            joined or arguments and arguments.pop(0)
        elif option in ELSEWHERE:
            stop("%s: %s is not possible: programs cannot install packages here." % (called, option))
        elif option in ("-e", "--editable"):
            stop("%s: a project cannot be installed here. Run its files where they are." % called)
        elif option in VALUED:
            joined or arguments and arguments.pop(0)
        elif not argument.startswith("-"):
            if argument in (".", "..") or os.sep in argument and "@" not in argument or "://" in argument:
                stop("%s: %s cannot be installed here: the packages of this skill are those of an index." % (called, argument))
            wanted.append(argument)
    return [w for w in wanted if name_of(w) not in INSTALLERS], files


def check(wanted, files):
    """Says what is missing, and ends there."""
    for file in files:
        if not os.path.isfile(file):
            stop("%s: there is no file %s" % (called, file))
    if not wanted and not files:
        return ""
    arguments = ["pip", "install", "--no-index", "--no-cache", "--no-build", "--python", python]
    for file in files:
        arguments += ["-r", file]
    found = subprocess.run(real_uv(arguments + ["--"] + wanted), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if found.returncode == 0:
        return found.stderr
    reason = [line for line in found.stderr.splitlines() if line.strip() and not line.startswith(("hint:", "Using Python", "  hint"))]
    stop("\n".join(reason[:20]) + "\n" + MISSING, found.returncode)


MISSING = (
    "Not all of this is among the packages that were prepared for this skill, and programs cannot install any: "
    "the user prepares what a skill's files ask for with `skills-mcp prepare`."
)


def install(arguments):
    wanted, files = parse_install(arguments)
    check(wanted, files)
    what = ", ".join(wanted + ["what %s asks for" % file for file in files]) or "the installer"
    print("Already there, among the packages that were prepared for this skill: %s." % what)


def program(name, arguments):
    """Runs a program of the environment, or of the system."""
    own = os.path.join(environment, "bin", name)
    found = own if os.path.isfile(own) else shutil.which(name)
    if not found:
        stop("%s: there is no program %s. %s" % (called, name, MISSING))
    run([found] + arguments)


RUN_VALUED = VALUED | {
    "--env-file", "--directory", "--project", "--package", "--config-file", "--color", "--with-editable", "--index-strategy", "--keyring-provider", "--resolution",
    "--prerelease", "--no-extra", "--no-group", "--only-group",
}


def uv_run(arguments):
    wanted, files, module, script = [], [], None, False
    while arguments and (arguments[0].startswith("-") and arguments[0] != "-"):
        argument = arguments.pop(0)
        option, joined, value = argument.partition("=")
        take = lambda: value if joined else (arguments.pop(0) if arguments else "")
        if option == "--":
            break
        elif option in ("--with", "-w"):
            wanted += listed(take())
        elif option == "--with-requirements":
            files.append(take())
        elif option in ("-m", "--module"):
            module = take()
            break
        elif option in ("-s", "--script"):
            script = True
        elif option == "--directory":
            os.chdir(take())
        elif option in RUN_VALUED:
            take()
    if module is None and not arguments:
        stop("uv run: there is no command")
    name = "" if module is not None else arguments[0]
    if os.path.isfile(name) and (script or name.endswith(".py")):
        with open(name, "rb") as file:
            if re.search(rb"^# /// script\s*$", file.read(1 << 20), re.M):
                files.append(name)
        script = True
    check(wanted, files)
    if module is not None:
        run([python, "-m", module] + arguments)
    if script or name == "-":
        run([python] + arguments)
    if name in ("python", "python3"):
        run([python] + arguments[1:])
    program(name, arguments[1:])


def uv_tool(arguments):
    wanted = []
    while arguments and arguments[0].startswith("-"):
        argument = arguments.pop(0)
        option, joined, value = argument.partition("=")
        take = lambda: value if joined else (arguments.pop(0) if arguments else "")
        if option in ("--from", "--with"):
            wanted += listed(take())
        elif option in RUN_VALUED:
            take()
    if not arguments:
        stop("%s: there is no command" % called)
    name, _, version = arguments[0].partition("@")
    if version and version != "latest":
        wanted.append("%s==%s" % (name, version))
    check(wanted, [])
    program(name, arguments[1:])


def positional(arguments):
    """The first argument that is no option, and what comes after it."""
    for i, argument in enumerate(arguments):
        if not argument.startswith("-"):
            return argument, arguments[i + 1:]
    return "", []


command, rest = positional(args)
if called in ("pip", "pip3"):
    if command == "install":
        install(rest)
    elif args[:1] in (["--version"], ["-V"]):
        print("pip, by uv, for the packages in %s" % environment)
    else:
        run(real_uv(["pip"] + args))
elif called == "uvx":
    uv_tool(list(args))
elif command == "run":
    uv_run(list(rest))
elif command == "pip" and positional(rest)[0] == "install":
    install(positional(rest)[1])
elif command == "add":
    install([argument for argument in rest if argument != "--dev"])
elif command == "sync":
    install(["-r", "pyproject.toml"])
elif command == "tool" and positional(rest)[0] == "run":
    uv_tool(positional(rest)[1])
else:
    run(real_uv(args))
