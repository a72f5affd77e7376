# SPDX-License-Identifier: MIT
# Finds a Python with the packages that a test requires; to be sourced. POSIX shell.

# python_with PACKAGE... : the first of $PYTHON, BUILD/venv/bin/python and the PATH's python3s that imports the
# packages, on standard output; status 1 if there is none. $build is the build folder.
python_with() {
    imports=$(echo "$*" | sed 's/ /, /g')
    for candidate in ${PYTHON:-} "$build/venv/bin/python" $(echo "$PATH" | tr : '\n' | sed 's|$|/python3|'); do
        [ -x "$candidate" ] && "$candidate" -c "import $imports" > /dev/null 2>&1 && echo "$candidate" && return
    done
    return 1
}

# The installation command, for a message.
python_hint='python3 -m venv build/venv && build/venv/bin/pip install -r tests/requirements.txt'
