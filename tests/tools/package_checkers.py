# SPDX-License-Identifier: MIT
# package_checkers.py KIND WORK FOLDER...: checks packages of the kind by its ecosystem's own tools, without a network.
# Prints what they find, and what an archive lacks; status 1 if there is any. WORK: a folder for archives and caches.
import json
import os
import sys
import tarfile


def platformio(work, folder):
    """`pio pkg pack`: its manifest schema, and the archive. The list of licences, which it downloads, is given."""
    from platformio.package.manifest.parser import ManifestParserFactory
    from platformio.package.manifest.schema import ManifestSchema
    from platformio.package.pack import PackagePacker
    known = {"licenses": [{"licenseId": name} for name in ("0BSD", "MIT", "Apache-2.0")]}
    ManifestSchema.load_spdx_licenses = staticmethod(lambda: known)
    archive = PackagePacker(folder).pack(work)
    with tarfile.open(archive) as packed:
        names = set(packed.getnames())
    read = ManifestSchema().load_manifest(ManifestParserFactory.new_from_archive(archive).as_dict())
    with open(os.path.join(folder, "library.json"), encoding="utf-8") as f:
        written = json.load(f)
    # The schema ignores keys that it does not know; the builder reads "build".
    yield from ("unknown key %s" % key for key in set(written) - set(read) - {"$schema", "build"})
    files = ["src/" + name for name in read["headers"]] + ["README.md", "LICENSE"]
    for example in read["examples"]:
        files += ["%s/%s" % (example["base"], name) for name in example["files"]]
    yield from ("no %s in the archive" % name for name in files if name not in names)


def esp_idf(work, folder):
    """`compote manifest lint` and `compote component pack`, whose warnings are errors."""
    os.environ.update(IDF_COMPONENT_CHECK_NEW_VERSION="0", IDF_COMPONENT_CACHE_PATH=os.path.join(work, "cache"))
    import ruamel.yaml
    from idf_component_manager.cli.core import initialize_cli
    manifest = os.path.join(folder, "examples/selftest/main/idf_component.yml")
    with open(manifest, encoding="utf-8") as f:
        name, = ruamel.yaml.YAML(typ="safe").load(f)["dependencies"]
    pack = ["component", "pack", "--project-dir", folder, "--name", name, "--dest-dir", work]
    for arguments in (["manifest", "lint", folder], pack):
        try:
            status = initialize_cli().main(["-W", *arguments], standalone_mode=False)
        except SystemExit as e:
            status = e.code
        if status:
            yield "compote %s: %s" % (" ".join(arguments), status)


def zephyr(_, folder):
    """kconfiglib, and PyYAML as Zephyr's scripts use it: names are texts, and named files exist."""
    import kconfiglib
    import yaml

    def read(path):
        with open(os.path.join(folder, path), encoding="utf-8") as f:
            return yaml.safe_load(f)

    module, sample, tests = (read(path) for path in
                             ("zephyr/module.yml", "samples/run/sample.yaml", "tests/selftest/testcase.yaml"))
    name = module["name"]
    paths = [module["build"]["cmake"] + "/CMakeLists.txt", module["build"]["kconfig"]]
    paths += ["src/%s.h" % name] + module["tests"] + module["samples"]
    yield from ("no %s" % path for path in paths if not os.path.exists(os.path.join(folder, path)))
    if sample["sample"]["name"] != name:
        yield "the sample's name is %r" % sample["sample"]["name"]
    if list(sample["tests"]) + list(tests["tests"]) != ["sample.%s.run" % name, "model.%s.selftest" % name]:
        yield "the tests are %s, %s" % (list(sample["tests"]), list(tests["tests"]))
    config = kconfiglib.Kconfig(os.path.join(folder, "Kconfig"), warn_to_stderr=False)
    yield from config.warnings
    network, selftest = (config.syms[str(name).upper() + end] for end in ("", "_SELFTEST"))
    if kconfiglib.expr_value(selftest.direct_dep) != 0:
        yield "the self-test does not depend on the network"
    network.set_value("y")
    if selftest.assignable != (0, 2):
        yield "the self-test cannot be chosen with the network"


def main(kind, work, *folders):
    check = {"platformio": platformio, "esp-idf": esp_idf, "zephyr": zephyr}[kind]
    found = ["%s: %s" % (folder, what) for folder in folders for what in check(work, folder)]
    print("\n".join(found))
    return bool(found)


sys.exit(main(*sys.argv[1:]))
