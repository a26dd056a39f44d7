#!/bin/sh
# What some tests need beyond setup.sh. "node" makes tests/web/node_modules (Dawn). "chromium"
# installs a browser, whose package also brings SwiftShader, a second software Vulkan. "opengl"
# installs Mesa's OpenGL. "metal" makes tests/metal/node_modules (Naga) and installs clang. "vulkan"
# installs what a layer of Vulkan is made with, and Mesa's drivers. "wine" installs what makes and
# runs Windows programs. WGDML_NO_APT=1 forbids installing system packages.
set -eu

cd "$(dirname "$0")/.."

fail() {
    printf 'setup: error: %s\n' "$*" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# apt_install COMMAND PACKAGE...: unless the command is there.
apt_install() {
    have "$1" && return
    command=$1
    shift
    have apt-get && [ -z "${WGDML_NO_APT:-}" ] || fail "$command is not here: install it with your system's package manager"
    if [ "$(id -u)" -ne 0 ]; then root="sudo"; else root=""; fi
    printf 'setup: installing %s\n' "$*" >&2
    $root apt-get -qq update || true
    log=$($root env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends install "$@" 2>&1) ||
        fail "could not install $*: $log"
}

# node_modules FOLDER: what its lock has.
node_modules() {
    apt_install node nodejs
    apt_install npm npm
    if ! cmp -s "$1/package-lock.json" "$1/node_modules/wgdml-lock.json"; then
        (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null)
        cp "$1/package-lock.json" "$1/node_modules/wgdml-lock.json"
    fi
}

for what in "$@"; do
    case $what in
    node) node_modules tests/web ;;
    chromium) have google-chrome || apt_install chromium chromium ;;
    opengl)
        if ! ldconfig -p | grep -q libEGL.so; then apt_install no-such-command libegl1 libegl-mesa0 libgl1-mesa-dri; fi
        ;;
    metal)
        node_modules tests/metal
        apt_install clang++ clang
        ;;
    vulkan)
        apt_install gcc gcc libc6-dev
        if [ ! -e /usr/include/vulkan/vk_layer.h ]; then apt_install no-such-command libvulkan-dev; fi
        if ! ls /usr/share/vulkan/icd.d/radeon_icd.* >/dev/null 2>&1; then apt_install no-such-command mesa-vulkan-drivers libvulkan1; fi
        ;;
    wine)
        [ "$(uname -m)" = x86_64 ] || fail 'Windows programs run on x86-64 alone'
        apt_install wine wine wine64
        apt_install xvfb-run xvfb xauth
        apt_install x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64-posix
        if ! ldconfig -p | grep -q libGL.so; then apt_install no-such-command libgl1 libgl1-mesa-dri; fi
        ;;
    *) fail "$what: unknown; say node, chromium, opengl, metal, vulkan or wine" ;;
    esac
done
