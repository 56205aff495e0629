"""The software bill of materials, the licenses and the dependencies of the packages."""
import hashlib
import json
import os
import re
import subprocess
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

try:
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
except ImportError:
    parse_file = None

ROOT = Path(__file__).resolve().parents[2]
ARCH = os.environ["ARCH"]
MADE = ROOT / ".build-packages" / ARCH
VERSION = (MADE / "version").read_text().strip()
BILL = ROOT / f".build-packages/bluectl-{VERSION}-linux-{ARCH}.spdx.json"
PINS = {pin["location"].rsplit("/", 1)[1].removesuffix(".git"): pin["state"]["version"]
        for pin in json.loads((MADE / "Package.resolved").read_text())["pins"]}
# The fields that SPDX 2.3 requires.
DOCUMENT_FIELDS = {"spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages"}
PACKAGE_FIELDS = {"SPDXID", "name", "downloadLocation"}


def output(*command: str) -> str:
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


class BillTests(unittest.TestCase):
    def setUp(self):
        self.bill = json.loads(BILL.read_text())
        self.packages = {package["name"]: package for package in self.bill["packages"]}

    def test_the_required_fields_are_there(self):
        self.assertEqual(DOCUMENT_FIELDS - self.bill.keys(), set())
        self.assertEqual(self.bill["spdxVersion"], "SPDX-2.3")
        for package in self.bill["packages"]:
            self.assertEqual(PACKAGE_FIELDS - package.keys(), set(), package["name"])
            self.assertRegex(package["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
        identifiers = {package["SPDXID"] for package in self.bill["packages"]}
        self.assertEqual(len(identifiers), len(self.bill["packages"]))
        for relationship in self.bill["relationships"]:
            self.assertIn(relationship["relatedSpdxElement"], identifiers)

    @unittest.skipUnless(parse_file, "spdx-tools is not installed")
    def test_the_validator_of_spdx_finds_no_mistake(self):
        messages = validate_full_spdx_document(parse_file(str(BILL)))
        self.assertEqual([message.validation_message for message in messages], [])

    def test_every_swift_package_is_listed_with_its_version(self):
        self.assertEqual({name: self.packages[name]["versionInfo"] for name in PINS}, PINS)

    def test_every_debian_package_is_listed(self):
        needed = output("Packaging/dependencies", MADE / "bluectl", ARCH)
        for name in re.findall(r"(?:^|, )([^\s,]+)", needed):
            self.assertIn(name, self.packages)

    def test_the_checksum_is_that_of_the_binary(self):
        checksum = self.packages["bluectl"]["checksums"][0]["checksumValue"]
        self.assertEqual(checksum, hashlib.sha256((MADE / "bluectl").read_bytes()).hexdigest())

    def test_every_part_has_a_notice_with_its_licence(self):
        notices = (ROOT / "Packaging/copyright").read_text()
        linked = [relationship["relatedSpdxElement"] for relationship in self.bill["relationships"]
                  if relationship["relationshipType"] == "STATIC_LINK"]
        self.assertGreaterEqual(len(linked), len(PINS))
        for package in self.bill["packages"]:
            if package["SPDXID"] in linked:
                self.assertIn(package["name"].lower().removesuffix("-runtime"), notices.lower())
        used = set(re.findall(r"^Files:.*\nCopyright:.*\n(?: .*\n)*License: (.*)$", notices, re.M))
        self.assertEqual(used, set(re.findall(r"^License: (.*)\n ", notices, re.M)))


class DependencyTests(unittest.TestCase):
    def test_both_ways_find_the_same(self):
        found = output("Packaging/dependencies", MADE / "bluectl", ARCH)
        self.assertEqual(output("Packaging/dependencies", "--by-symbols", MADE / "bluectl", ARCH), found)

    def test_a_library_without_a_known_package_is_an_error(self):
        result = subprocess.run(
            [ROOT / "Packaging/dependencies", "--by-symbols", "/bin/bash", ARCH], capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no package is known for libtinfo.so.6", result.stderr)


class ForeignTests(unittest.TestCase):
    """A binary for arm64 on a machine that cannot run it; libraries that only have versions stand in for those of arm64."""

    def build(self, folder: Path) -> Path:
        def clang(*options: str) -> None:
            subprocess.run(["clang", "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-nostdlib", "-O1", *map(str, options)],
                           cwd=folder, check=True)

        versions = {"libc.so.6": "GLIBC_2.38", "libstdc++.so.6": "CXXABI_1.3.13", "libgcc_s.so.1": "GCC_4.2.0"}
        for number, (library, version) in enumerate(versions.items()):
            (folder / "library.c").write_text(f"int function{number}(void) {{ return 0; }}\n")
            (folder / "versions").write_text(f"{version} {{ function{number}; }};\n")
            clang("-shared", "library.c", f"-Wl,-soname,{library}", "-Wl,--version-script=versions", "-o", library)
        (folder / "main.c").write_text(
            "int function0(void), function1(void), function2(void);\n"
            "int _start(void) { return function0() + function1() + function2(); }\n")
        clang("-pie", "-fPIE", "-Wl,-rpath,$ORIGIN", "main.c", *versions, "-o", "bluectl")
        return folder / "bluectl"

    def test_it_is_packaged(self):
        with TemporaryDirectory() as name:
            folder, environment = Path(name), {**os.environ, "ARCH": "arm64", "OUTPUT": f"{name}/output"}
            environment |= {"BLUECTL": str(self.build(folder)), "DESCRIBED_BY": str(MADE / "bluectl"), "SWIFT_VERSION": "6.2.3"}
            for script in ("release", "deb", "tarball"):
                subprocess.run([ROOT / "Packaging" / script], env=environment, check=True, stdout=subprocess.DEVNULL)
            package = folder / f"output/bluectl_{VERSION.replace('-', '~')}-1_arm64.deb"
            self.assertEqual(output("dpkg-deb", "--field", package, "Architecture"), "arm64")
            self.assertEqual(output("dpkg-deb", "--field", package, "Depends"),
                             "libc6 (>= 2.38), libdbus-1-3, libgcc-s1 (>= 4.2.0), libstdc++6 (>= 11)")
            listed = output("tar", "tf", folder / f"output/bluectl-{VERSION}-linux-arm64.tar.xz")
            self.assertIn(f"bluectl-{VERSION}-linux-arm64/share/man/man1/bluectl-world-serve.1", listed.splitlines())
            bill = json.loads((folder / f"output/bluectl-{VERSION}-linux-arm64.spdx.json").read_text())
            self.assertIn("6.2.3", [package["versionInfo"] for package in bill["packages"]])

    def test_a_binary_for_another_machine_is_refused(self):
        environment = {**os.environ, "ARCH": "arm64", "BLUECTL": str(MADE / "bluectl")}
        with TemporaryDirectory() as name:
            result = subprocess.run(
                [ROOT / "Packaging/release"], env={**environment, "OUTPUT": name}, capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("not for arm64", result.stderr)


class BinaryTests(unittest.TestCase):
    def test_the_binary_does_not_say_where_it_was_built(self):
        self.assertNotIn(str(ROOT).encode(), (MADE / "bluectl").read_bytes())

    def test_the_binary_looks_for_libraries_nowhere_else_and_has_no_symbols(self):
        self.assertNotRegex(output("readelf", "--wide", "--dynamic", MADE / "bluectl"), "RUNPATH|RPATH")
        self.assertNotIn(".symtab", output("readelf", "--wide", "--sections", MADE / "bluectl"))


if __name__ == "__main__":
    unittest.main()
