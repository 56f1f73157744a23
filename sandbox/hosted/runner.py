# Runs one program in a container of somebody else's, once, and writes what came of
# it to a file, whose digest it prints. Only what Python itself brings is used. The
# server appends the call of main, with the order. Streams of files are those of
# package transfer.
import base64, ctypes, hashlib, json, os, resource, shutil, signal, stat
import subprocess, sys, tempfile, threading, time

CHUNK = 128 << 10
MAX_DEPTH, MAX_PATH, MAX_ENTRIES = 64, 4096, 100_000
DIRECTORY, FILE, SYMLINK, HARDLINK, REMOVAL, END = (ord(c) for c in "dflhre")


class Fault(Exception):
    """Why the program was not started: a rule that the server knows."""


def unsigned(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


class Sink:
    """Counts and writes the bytes of a stream."""

    def __init__(self, out):
        self.out, self.size = out, 0

    def write(self, data):
        self.out.write(data)
        self.size += len(data)

    def message(self, *fields):
        body = b"".join(unsigned(f) if isinstance(f, int) else unsigned(len(f)) + f for f in fields)
        self.write(len(body).to_bytes(4, "little") + body)

    def header(self, e):
        self.message(e.kind, e.path, e.mode, e.mtime, e.size, e.target)


class Message:
    """A message that is read."""

    def __init__(self, source):
        self.data = exactly(source, int.from_bytes(exactly(source, 4), "little"))
        self.at = 0

    def integer(self, signed=False):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value - (1 << 64) if signed and value >> 63 else value

    def text(self):
        length = self.integer()
        self.at += length
        return self.data[self.at - length : self.at]


def exactly(source, length):
    data = source.read(length)
    if len(data) != length:
        raise Fault("files-differ")
    return data


class Entry:
    def __init__(self, kind, path, mode=0, mtime=0, size=0, target=b""):
        self.kind, self.path, self.mode, self.mtime, self.size, self.target = kind, path, mode, mtime, size, target
        self.digest, self.inode = b"", 0

    def same(self, other):
        return other is not None and vars(self) == vars(other)


def is_directory(path):
    return os.path.isdir(path) and not os.path.islink(path)


def digest(path):
    hashed = hashlib.sha256()
    with open(path, "rb") as f:
        while data := f.read(CHUNK):
            hashed.update(data)
    return hashed.hexdigest()


# Files on their way in.


def unpack(source, root):
    """Makes what a stream brings, and returns its entries."""
    entries, directories = {}, []
    while True:
        m = Message(source)
        e = Entry(m.integer(), m.text(), m.integer(), m.integer(True), m.integer(), m.text())
        if e.kind == END:
            break
        at = os.path.join(root, e.path)
        if e.kind == DIRECTORY:
            os.mkdir(at, 0o700)
            directories.append((at, e.mode))
        elif e.kind == SYMLINK:
            os.symlink(e.target, at)
        elif e.kind == HARDLINK:
            os.link(os.path.join(root, e.target), at, follow_symlinks=False)
        else:
            e.digest = unpack_file(source, at, e)
            e.inode = os.lstat(at).st_ino
        entries[e.path] = e
    for at, mode in reversed(directories):
        os.chmod(at, mode)
    return entries


def unpack_file(source, at, e):
    hashed, offset = hashlib.sha256(), 0
    with open(at, "wb") as out:
        while True:
            m = Message(source)
            gap, length = m.integer(), m.integer()
            if gap == length == 0:
                break
            data = exactly(source, length)
            offset += gap
            out.seek(offset)
            out.write(data)
            offset += length
            hashed.update(data)
        out.truncate(e.size)
    os.chmod(at, e.mode)
    os.utime(at, ns=(e.mtime, e.mtime))
    return hashed.digest()


# And on their way out.


class Walk:
    """What a directory holds. What keeps its owner out is opened."""

    def __init__(self, root):
        self.root, self.entries, self.names, self.skipped, self.cut = os.fsencode(root), {}, {}, 0, False
        if is_directory(self.root):
            os.chmod(self.root, os.lstat(self.root).st_mode & 0o777 | 0o700)
        if not os.path.islink(self.root):
            self.directory(b"", 0)

    def at(self, path):
        return os.path.join(self.root, path)

    def miss(self):
        self.skipped, self.cut = self.skipped + 1, True

    def directory(self, path, depth):
        if depth > MAX_DEPTH:
            self.skipped += 1
            return
        try:
            names = sorted(os.listdir(self.at(path)))
        except OSError:
            return self.miss()
        for name in names:
            if len(self.entries) >= MAX_ENTRIES:
                return self.miss()
            below = os.path.join(path, name)
            if len(below) > MAX_PATH:
                self.skipped += 1
                continue
            try:
                if self.entry(below):
                    self.directory(below, depth + 1)
            except OSError:
                self.miss()

    def entry(self, path):
        at = self.at(path)
        info = os.lstat(at)
        mode = info.st_mode & 0o777
        if stat.S_ISDIR(info.st_mode):
            self.entries[path] = Entry(DIRECTORY, path, mode)
            if mode & 0o700 != 0o700:
                os.chmod(at, mode | 0o700)
            return True
        if stat.S_ISLNK(info.st_mode):
            self.entries[path] = Entry(SYMLINK, path, target=os.readlink(at))
        elif not stat.S_ISREG(info.st_mode):
            self.skipped += 1
        elif info.st_nlink > 1 and info.st_ino in self.names:
            self.entries[path] = Entry(HARDLINK, path, target=self.names[info.st_ino])
        else:
            self.names[info.st_ino] = path
            e = Entry(FILE, path, mode, info.st_mtime_ns, info.st_size)
            e.inode = info.st_ino
            if mode & 0o400 == 0:
                os.chmod(at, mode | 0o400)
            hashed = hashlib.sha256()
            for _, data in extents(at, e.size):
                hashed.update(data)
            e.digest = hashed.digest()
            self.entries[path] = e
        return False


def extents(at, size):
    """Yields what is no hole of a file, with where it is."""
    with open(os.open(at, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb", buffering=0) as f:
        offset = 0
        while offset < size:
            try:
                start = os.lseek(f.fileno(), offset, os.SEEK_DATA)
                end = min(size, os.lseek(f.fileno(), start, os.SEEK_HOLE))
            except OSError:
                return
            while start < end:
                data = os.pread(f.fileno(), min(CHUNK, end - start), start)
                if not data:
                    return
                yield start, data
                start += len(data)
            offset = end


def send_changes(sink, before, walk, most):
    """Writes what changed, and returns whether that is all of it."""
    whole, resent = True, set()
    for path in reversed(list(before)):
        if path not in walk.entries and not walk.cut:
            sink.header(Entry(REMOVAL, path))
    for path, e in walk.entries.items():
        if e.same(before.get(path)) and e.target not in resent:
            continue
        if e.kind != FILE:
            sink.header(e)
            continue
        blocks = os.lstat(walk.at(path)).st_blocks * 512
        if sink.size + min(e.size, blocks) > most:
            whole = False
            continue
        resent.add(path)
        sink.header(e)
        at = 0
        for offset, data in extents(walk.at(path), e.size):
            sink.message(offset - at, len(data))
            sink.write(data)
            at = offset + len(data)
        sink.message(0, 0)
    sink.header(Entry(END, b"", size=min(walk.skipped, MAX_ENTRIES)))
    return whole


# The program.


def install(skill, to):
    """Copies the skill, which is to be the one that was sent."""
    source = os.path.join(os.environ.get("SKILLS_DIR", "/skills"), skill["name"])
    for file in skill["files"]:
        path = os.path.join(to, file["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            shutil.copyfile(os.path.join(source, file["path"]), path)
        except OSError:
            raise Fault("skill-differs")
        if digest(path) != file["sha256"]:
            raise Fault("skill-differs")
        os.chmod(path, 0o555 if file["executable"] else 0o444)


def find(name, path, cwd):
    """Returns the program of a name, as the server's other sandboxes find one."""
    if "/" in name:
        found = os.path.join(cwd, name)
        return found if os.path.isfile(found) and os.access(found, os.X_OK) else None
    return shutil.which(name, path=path)


def choose(candidates, path, cwd):
    for candidate in candidates:
        argv = [base64.b64decode(a) for a in candidate["argv"]]
        if not candidate["look"]:
            return argv
        found = find(os.fsdecode(base64.b64decode(candidate["look"])), path, cwd)
        if found:
            return [os.fsencode(found)] + argv[1:]
    raise Fault("program-missing")


class Reader(threading.Thread):
    """Reads an output of the program, up to a limit and one byte more."""

    def __init__(self, pipe, limit):
        super().__init__(daemon=True)
        self.pipe, self.limit, self.data = pipe, limit, bytearray()
        self.start()

    def run(self):
        while data := os.read(self.pipe.fileno(), 64 << 10):
            room = self.limit + 1 - len(self.data)
            self.data += data[:room]

    def exceeded(self):
        return len(self.data) > self.limit


def processes():
    """Returns the processes that descend from this one: state, name and pages."""
    children, known = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as f:
                head, _, tail = f.read().rpartition(b")")
        except OSError:
            continue
        fields = tail.split()
        children.setdefault(int(fields[1]), []).append(int(pid))
        known[int(pid)] = (fields[0], head.partition(b"(")[2].decode("utf-8", "replace"), int(fields[21]))
    found, left = {}, [os.getpid()]
    while left:
        for pid in children.get(left.pop(), []):
            found[pid] = known[pid]
            left.append(pid)
    return found


def measure(roots):
    """Returns the bytes and the number of files of directories. What cannot be
    looked into may be anything."""
    size, count, closed = 0, 0, []
    for root in filter(is_directory, roots):
        for above, directories, files in os.walk(root, onerror=closed.append):
            for name in directories + files:
                try:
                    info = os.lstat(os.path.join(above, name))
                except OSError:
                    continue
                size, count = size + info.st_blocks * 512, count + 1
    if any(not isinstance(e, FileNotFoundError) for e in closed):
        return sys.maxsize, sys.maxsize
    return size, count


class Run:
    def __init__(self, order, argv, env, cwd, written):
        self.limits, self.written, self.killed, self.peak = order["limits"], written, "", 0
        self.full = self.is_full()  # and may be tidied
        self.libc = ctypes.CDLL(None)
        self.libc.prctl(36, 1, 0, 0, 0)  # orphans of the program become this one's
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        stdin = base64.b64decode(order["stdin"] or "")
        try:
            self.program = subprocess.Popen(
                argv, cwd=cwd, env=env, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, start_new_session=True, preexec_fn=self.before,
            )
        except OSError as e:
            raise Fault("arguments-too-long" if e.errno == 7 else "start-failed")
        self.deadline = time.monotonic() + self.limits["timeoutMs"] / 1000
        self.out = Reader(self.program.stdout, self.limits["spillBytes"])
        self.err = Reader(self.program.stderr, self.limits["spillBytes"])
        if stdin:
            threading.Thread(target=self.feed, args=(stdin,), daemon=True).start()

    def is_full(self):
        size, count = measure(self.written)
        return size > self.limits["workspaceBytes"] or count > self.limits["workspaceFiles"]

    def before(self):
        self.libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # no program outlives this one
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):  # of the C library, or not to be changed
                action = {"x86_64": 13, "aarch64": 134}.get(os.uname().machine)
                if action:
                    self.libc.syscall(action, number, bytes(32), None, 8)
        for kind, most in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, self.limits["fileBytes"]),
            (resource.RLIMIT_NOFILE, self.limits["openFiles"]),
        ):
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))

    def feed(self, stdin):
        try:
            with self.program.stdin as pipe:
                view = memoryview(stdin)
                while view:
                    view = view[os.write(pipe.fileno(), view) :]
        except OSError:
            pass  # it does not read

    def reap(self):
        """Returns how the program ended, or nothing."""
        status = None
        while True:
            try:
                pid, ended = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return status
            if pid == 0:
                return status
            if pid == self.program.pid:
                status = ended

    def watch(self):
        """Waits for the end of the program, and kills it beyond its limits."""
        status, measured, pause = None, time.monotonic(), 0.2
        while (status := self.reap()) is None:
            left = self.deadline - time.monotonic()
            signal.sigtimedwait([signal.SIGCHLD], max(0.0, min(0.1, left)) if not self.killed else 0.01)
            now = time.monotonic()
            pages = sum(pages for _, _, pages in processes().values())
            self.peak = max(self.peak, pages * resource.getpagesize())
            if self.killed:
                self.kill()
            elif now >= self.deadline:
                self.kill("timeout")
            elif self.out.exceeded() or self.err.exceeded():
                self.kill("output")
            elif self.peak > self.limits["memoryBytes"]:
                self.kill("memory")
            elif now - measured > pause:
                full, measured = self.is_full(), time.monotonic()
                pause = max(0.2, 20 * (measured - now))
                if full and not self.full:
                    self.kill("quota")
        return status

    def kill(self, reason=""):
        self.killed = self.killed or reason
        for pid in processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def finish(self):
        """Ends all that is left, and returns its names."""
        names, status = [], None
        for round in range(1000):
            left = [name for state, name, _ in processes().values() if state not in (b"Z", b"X")]
            if round == 0 and not self.killed:
                names = sorted(left)
            self.kill()
            self.reap()
            if not left:
                break
            time.sleep(0.002)
        for reader in (self.out, self.err):
            reader.join(5)
        return names


def follow(order, base):
    """Does what is ordered, and returns the head of the reply and its parts."""
    inputs = os.path.dirname(os.path.abspath(__file__))
    workspace, skill = os.path.join(base, "workspace"), os.path.join(base, "skill")
    for name in ("workspace", "skill", "home", "tmp"):
        os.mkdir(os.path.join(base, name), 0o700)
    sent = os.path.join(inputs, order["files"]["name"])
    if not os.path.isfile(sent) or digest(sent) != order["files"]["sha256"]:
        raise Fault("files-differ")
    with open(sent, "rb") as f:
        before = unpack(f, os.fsencode(workspace))
    if order["skill"]["files"]:
        install(order["skill"], skill)
    place = lambda data: base64.b64decode(data).replace(order["base"].encode(), os.fsencode(base))
    env = dict(place(variable).split(b"=", 1) for variable in order["env"])
    path = ":".join(d for d in os.environ.get("PATH", os.defpath).split(":") if d.startswith("/"))
    env[b"PATH"] = os.fsencode(path)
    cwd = skill if order["inSkill"] else workspace
    argv = [a.replace(order["base"].encode(), os.fsencode(base)) for a in choose(order["candidates"], path, cwd)]
    written = [workspace, os.path.join(base, "home"), os.path.join(base, "tmp")]
    run = Run(order, argv, env, cwd, written)
    status = run.watch()
    left = run.finish()
    walks = [Walk(place) for place in written]
    if not run.killed and not run.full and run.is_full():
        run.killed = "quota"  # it was faster than the measurements
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    head = {
        "code": os.waitstatus_to_exitcode(status), "signal": "", "killed": run.killed, "leftBehind": left[:8], "leftBehindOmitted": max(0, len(left) - 8),
        "cpuNs": int((used.ru_utime + used.ru_stime) * 1e9), "peakBytes": max(run.peak, used.ru_maxrss << 10),
    }
    if head["code"] < 0:
        head["signal"], head["code"] = signal.Signals(-head["code"]).name, -1
    return head, run.out.data, run.err.data, before, walks[0]


def main(encoded):
    order = json.loads(base64.b64decode(encoded))
    out = os.environ.get("OUTPUT_DIR", os.getcwd())
    base = tempfile.mkdtemp(prefix="skills-mcp-")
    try:
        with tempfile.TemporaryFile() as files:
            stdout = stderr = b""
            try:
                head, stdout, stderr, before, walk = follow(order, base)
                sink = Sink(files)
                head["whole"] = send_changes(sink, before, walk, order["limits"]["replyBytes"])
                head["files"] = sink.size
            except Fault as fault:
                head = {"fault": str(fault)}
            head["stdout"], head["stderr"] = len(stdout), len(stderr)
            files.seek(0)
            name = os.path.join(out, order["reply"])
            with open(name, "wb") as reply:
                reply.write(json.dumps(head).encode() + b"\n" + stdout + stderr)
                shutil.copyfileobj(files, reply)
            print("skills-mcp", order["nonce"], digest(name), os.path.getsize(name))
    finally:
        Walk(base)  # opens what is closed
        shutil.rmtree(base, ignore_errors=True)
