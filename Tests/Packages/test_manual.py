"""What the manual pages say, against the tool: each example is run, each exit status is caused, the variables are the tool's."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import tomllib
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = ROOT / ".build-packages" / os.environ["ARCH"]
MANUAL = tomllib.loads((ROOT / "Packaging/manual.toml").read_text())
# Seconds for an example; they take a few.
LIMIT = 90


class Place:
    """A folder with the package's examples, and an environment in which nothing of this machine's is found."""

    def __enter__(self) -> "Place":
        self.holder = tempfile.TemporaryDirectory()
        self.folder = Path(self.holder.name, "examples")
        shutil.copytree(ROOT / "Packaging/examples", self.folder)
        Path(self.holder.name, "run").mkdir(mode=0o700)
        self.environment = {
            "PATH": f"{MADE}:/usr/bin:/bin", "HOME": self.holder.name, "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": f"{self.holder.name}/run"}
        return self

    def __exit__(self, *_) -> None:
        self.holder.cleanup()

    def start(self, *command: str) -> subprocess.Popen:
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, command: str) -> tuple[int, str]:
        """Within an emulated BlueZ; a command that hangs is an error."""
        process = self.start("bluectl", "world", "run", "--", "bash", "-euc", command)
        try:
            output, _ = process.communicate(timeout=LIMIT)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            kill(process)
            return -1, f"{process.communicate()[0]}\nit did not end in {LIMIT} s"

    def run_until(self, pattern: str, *command: str) -> tuple[int, str]:
        """Ends the command when it has printed the pattern. In a job in the background, SIGINT would be ignored."""
        process, output = self.start(*command), ""
        limit = threading.Timer(LIMIT, kill, [process])
        limit.start()
        for line in process.stdout:
            output += line
            if re.search(pattern, output):
                break
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate()
        limit.cancel()
        return process.returncode, output + rest


def kill(process: subprocess.Popen) -> None:
    """With all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        # It has ended, and so have they.
        pass


def failure(example: dict) -> str | None:
    command, pattern = example["command"].strip(), example.get("expect", "")
    with Place() as place:
        if example.get("endless"):
            status, output = place.run_until(
                pattern, "bluectl", "world", "run", "--", "bash", "-c", f"exec {command}")
        elif "server" in example:
            status, output = controlled(place, example)
        else:
            status, output = place.run(command)
    if status == 0 and re.search(pattern, output) or re.search(example.get("otherwise", "(?!)"), output):
        return None
    return f"{example['page']}: {command}\nended with status {status}, and printed:\n{output}"


def controlled(place: Place, example: dict) -> tuple[int, str]:
    """The command, while another one serves the world that it controls."""
    processes = [place.start("bash", "-c", f"exec {example['server']}")]
    try:
        first = ""
        while not re.search(r"# ready|^http", first, re.M):
            line = processes[0].stdout.readline()
            if not line:
                return -1, f"the server ended: {first}"
            first += line
        if "meanwhile" in example:
            processes.append(place.start("bash", "-c", f"while sleep 0.2; do {example['meanwhile']}; done"))
        done = subprocess.run(
            ["timeout", f"{LIMIT}", "bash", "-euc", example["command"]], cwd=place.folder, env=place.environment, text=True,
            capture_output=True)
        return done.returncode, done.stdout + done.stderr
    finally:
        for process in reversed(processes):
            kill(process)
            process.communicate()


class ManualTests(unittest.TestCase):
    maxDiff = None

    def test_every_example_succeeds(self):
        with ThreadPoolExecutor(4) as pool:
            failures = list(filter(None, pool.map(failure, MANUAL["example"])))
        self.assertEqual("\n\n".join(failures), "")

    def test_every_command_has_an_example(self):
        pages = {page.stem for page in (MADE / "man").glob("*.1")}
        self.assertEqual({example["page"] for example in MANUAL["example"]}, pages)

    def test_every_exit_status_occurs(self):
        for status in MANUAL["exit"]:
            with self.subTest(status["status"]), Place() as place:
                expected = status.get("expect") or int(status["status"])
                code, output = place.run(status["command"])
                self.assertEqual(code, expected, output)

    def test_the_variables_are_those_that_the_tool_knows(self):
        known = {name.decode() for name in re.findall(rb"COREBLUETOOTH_[A-Z_]+", (MADE / "bluectl").read_bytes())}
        named = {variable["name"] for variable in MANUAL["environment"]}
        self.assertEqual({name for name in named if name.startswith("COREBLUETOOTH_")}, known)

    def test_every_option_is_on_the_page_of_its_command(self):
        dump = subprocess.run([MADE / "bluectl", "--experimental-dump-help"], check=True, capture_output=True, text=True)
        common = (MADE / "man/bluectl.1").read_text()

        def check(command: dict, parents: tuple[str, ...] = ()) -> None:
            path = (*parents, command["commandName"])
            for argument in command.get("arguments", []):
                page = (MADE / f"man/{'-'.join(path)}.1").read_text() + common
                for name in argument.get("names", []) if argument["shouldDisplay"] else []:
                    spelled = f"-{name['name']}" if name["kind"] == "long" else name["name"]
                    self.assertRegex(page, rf"\.It Fl (.* , )?{re.escape(spelled)}(\s|$)", " ".join(path))
            for inner in command.get("subcommands", []):
                if inner["commandName"] != "help":
                    check(inner, path)

        check(json.loads(dump.stdout)["command"])

    def test_the_policy_is_that_of_the_documentation(self):
        page = ROOT / "Sources/Tools/EmulatedBlueZ/EmulatedBlueZ.docc/TheEmulatorForEveryProgram.md"
        self.assertIn((ROOT / "Packaging/examples/emulated-bluez.conf").read_text(), page.read_text())


if __name__ == "__main__":
    unittest.main()
