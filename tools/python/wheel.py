#!/usr/bin/env python3
"""Makes a wheel of an installation of heedgrad and of tools/python/heedgrad; tools/python/build_wheel.sh calls it.

The installation lies in the wheel as heedgrad/_native/{bin,lib,include,share}. The shared libraries that it needs are
copied to heedgrad/_native/lib, each with its licence, and every file looks for them relative to itself (DT_RPATH, which
goes before LD_LIBRARY_PATH: another OpenBLAS on that path has other bits). glibc, libstdc++ and libgcc_s are the
system's, as manylinux has it. Needs Python 3.11, patchelf, readelf and dpkg.
"""
import argparse
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GLIBC = (2, 36)  # Debian 12's
NEWEST = {"GLIBC": GLIBC, "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|gcc_s|stdc\+\+))\.so\.\d")
# Loaded when a run asks for them: of an MPI, libedit and GNU readline the system's are taken, or none.
LEFT_OUT = "libheedgrad-mpi*.so"
# What is compiled into the programs: headers, and Vega's JavaScript.
COMPILED_IN = ("nlohmann-json3-dev", "libcli11-dev", "libjs-vega")
START = "_heedgrad_start"  # a module outside of the package, which would load NumPy first


class Mistake(Exception):
    pass


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def elf_files(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink() and is_elf(path)]


def machine(path):
    """x86_64 or aarch64."""
    with open(path, "rb") as file:
        number = int.from_bytes(file.read(20)[18:], "little")
    if number not in (62, 183):
        raise Mistake(f"{path.name}: expected a program for x86-64 or 64-bit Arm, got ELF machine {number}")
    return "x86_64" if number == 62 else "aarch64"


def needed(path):
    return output("patchelf", "--print-needed", path).split()


def add_libraries(native, unpacked):
    """Copies to lib/ what the installation needs, and what that needs. Returns where each came from, by its name."""
    lib = native / "lib"
    files = elf_files(native)
    triplet = machine(files[0]) + "-linux-gnu"
    folders = [folder for root in (unpacked, pathlib.Path("/")) for folder in (root / "usr/lib" / triplet, root / "lib" / triplet)]
    came_from, waiting = {}, [name for file in files for name in needed(file)]
    while waiting:
        name = waiting.pop()
        if name in came_from or OF_THE_SYSTEM.fullmatch(name) or (lib / name).exists():
            continue
        found = next((folder / name for folder in folders if (folder / name).exists()), None)
        if found is None:
            raise Mistake(f"{name} is in none of {', '.join(map(str, folders))}")
        came_from[name] = found.resolve()
        shutil.copyfile(came_from[name], lib / name)
        waiting += needed(lib / name)
    return came_from


def point_at(native):
    """Every program and library looks for the others relative to itself."""
    for file in elf_files(native):
        depth = len(file.parent.relative_to(native).parts)
        to_lib = "/".join([".."] * depth + ["lib"])
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", f"$ORIGIN/{to_lib}", file], check=True)


def check_versions(native):
    for file in elf_files(native):
        for kind, version in re.findall(r"\bName: (\w+)_([\d.]+)", output("readelf", "--version-info", "--wide", file)):
            if tuple(map(int, version.split("."))) > NEWEST.get(kind, (99,)):
                raise Mistake(f"{file.name} needs {kind}_{version}, newer than Debian 12's: build the wheel on Debian 12")


def package_of(path, unpacked):
    """The Debian package of a file, and the root that it is installed or unpacked in."""
    if path.is_relative_to(unpacked.resolve()):
        soname = re.sub(r"\.so\..*", "", path.name)
        docs = sorted((unpacked / "usr/share/doc").glob(f"{soname}*"))
        return (docs[0].name, unpacked) if docs else (None, unpacked)
    for name in (str(path), str(path).removeprefix("/usr")):
        found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0], pathlib.Path("/")
    return None, pathlib.Path("/")


def licences(native, came_from, unpacked):
    """Texts by their name: of heedgrad, of the libraries, of what is compiled in."""
    texts = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    packages = [(name, *package_of(path, unpacked)) for name, path in came_from.items()]
    # Of the packages' build, the installation has these by names of its own (tools/cmake/dependencies.cmake).
    copies = [f"lib{name}-dev" for name in ("yaml-cpp", "utf8proc") if (native / f"lib/libheedgrad-{name}.so").exists()]
    packages += [(name, name, pathlib.Path("/")) for name in (*COMPILED_IN, *copies)]
    for of, package, root in packages:
        file = root / "usr/share/doc" / (package or "") / "copyright"
        if package is None or not file.exists():
            if of == "libjs-vega":  # optional: a build without it has nothing of it
                continue
            raise Mistake(f"the licence of {of} was not found")
        texts[f"{package}.txt"] = file.read_bytes()
    return texts


def tree(folder, into):
    """The files of a folder as {name in the wheel: (bytes, whether it is run)}. A wheel has no links: they are files."""
    return {f"{into}/{path.relative_to(folder)}": (path.read_bytes(), bool(path.stat().st_mode & 0o100))
            for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


def version_of(native):
    text = (native / "lib/cmake/heedgrad/heedgradConfigVersion.cmake").read_text()
    return re.search(r'set\(PACKAGE_VERSION "([\d.]+)"\)', text)[1]


def metadata(version):
    """What pip and the like read, from pyproject.toml."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    readme = HERE / project["readme"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}",
             f"License: {project['license']['text']}", "Classifier: Operating System :: POSIX :: Linux",
             f"Requires-Python: {project['requires-python']}", "Description-Content-Type: text/markdown"]
    lines += [f"Requires-Dist: {package}" for package in project["dependencies"]]
    for extra, packages in project.get("optional-dependencies", {}).items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {package} ; extra == '{extra}'" for package in packages)]
    return "\n".join(lines) + "\n\n" + (readme.read_text() if readme.exists() else "")


def write(path, files):
    """A zip file that depends on the files alone: sorted, with one time and two modes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files, key=lambda name: (".dist-info/" in name, name)):
            data, run = files[name]
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if run else 0o100644) << 16
            archive.writestr(entry, data)


def wheel(native, unpacked, out):
    package = HERE / "heedgrad"
    if not (package / "__init__.py").exists():
        raise Mistake(f"there is no Python package in {package}")
    lib = native / "lib"
    for folder in lib.glob("*-linux-gnu"):  # of a build for /usr, from which Debian packages are made
        for each in folder.iterdir():
            each.rename(lib / each.name)
        folder.rmdir()
    for library in lib.glob(LEFT_OUT):
        library.unlink()
    came_from = add_libraries(native, unpacked)
    point_at(native)
    check_versions(native)

    version = version_of(native)
    tag = f"py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine(native / 'bin/heed')}"
    info = f"heedgrad-{version}.dist-info"
    files = tree(package, "heedgrad") | tree(native, "heedgrad/_native")
    files[f"{START}.py"] = ((HERE / f"{START}.py").read_bytes(), False)
    files[f"{info}/entry_points.txt"] = (f"[console_scripts]\nheed = {START}:main\n".encode(), False)
    files[f"{info}/METADATA"] = (metadata(version).encode(), False)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: heedgrad\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), False)
    for name, text in licences(native, came_from, unpacked).items():
        files[f"{info}/licenses/{name}"] = (text, False)
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
              for name, (data, _) in sorted(files.items())]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode(), False

    out.mkdir(parents=True, exist_ok=True)
    path = out / f"heedgrad-{version}-{tag}.whl"
    write(path, files)
    print(f"wheel: {path}, {path.stat().st_size / 1e6:.1f} MB, with {', '.join(sorted(came_from))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("native", type=pathlib.Path, help="an installation, which is changed")
    parser.add_argument("--unpacked", type=pathlib.Path, required=True, help="where libraries may be unpacked, as arm64.sh does")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    given = parser.parse_args()
    try:
        wheel(given.native, given.unpacked, given.out)
    except Mistake as mistake:
        print(f"wheel: {mistake}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
