#!/bin/sh
# SPDX-License-Identifier: MIT
# site.sh BUILD: `make site` renders the pages without dead links, and each page can be used in headless Chromium
# (tests/tools/site_page.py).
set -u
. "$(dirname "$0")/report.sh"
begin "site.sh BUILD" "$@"

chromium=$(command -v chromium || command -v chromium-browser || echo chromium)
build_site() { "${MAKE:-make}" --no-print-directory BUILD="$build" site; }
works() { timeout 120 python3 tests/tools/site_page.py "$chromium" "$build/site/html"; }
why=$(missing mkdocs python3)
if [ "$why" ]; then
    for name in site-has-no-dead-link site-can-be-used; do skip $name "$why"; done
else
    setup site-has-no-dead-link build_site
    why=$(missing "$chromium")
    if [ "$why" ]; then skip site-can-be-used "$why"; else check site-can-be-used works; fi
fi
report_end
