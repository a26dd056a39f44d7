#!/bin/sh
# Make .venv with the package in it, and see that there is a GPU adapter, installing Mesa's software
# one where that is one apt-get away. Safe to run again: what is done already is not done twice.
#
# "setup.sh test" also sees to the virtual display that the tests of the demo's window need,
# "setup.sh check" to ruff and mypy.
# PYTHON=... chooses the interpreter; WGDML_NO_APT=1 forbids installing system packages.
set -eu

cd "$(dirname "$0")/.."
: "${XDG_RUNTIME_DIR:=${TMPDIR:-/tmp}}"
export XDG_RUNTIME_DIR

venv_python=.venv/bin/python
stamp=.venv/wgdml-setup

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
    printf 'setup: error: %s\n' "$*" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# --- System packages ---

apt_updated=
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    # Without a terminal nobody can type a password: fail instead of hanging.
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# apt_install WHY PACKAGE...: false when it cannot be done, after saying what to run by hand.
apt_install() {
    why=$1
    shift
    if [ -n "${WGDML_NO_APT:-}" ]; then
        say "$why, and WGDML_NO_APT is set. Install it yourself: apt-get install $*"
        return 1
    fi
    if [ "$(id -u)" -ne 0 ] && ! have sudo; then
        say "$why, and only root may install it. As root, run: apt-get install $*"
        return 1
    fi
    say "$why: installing $*"
    if [ -z "$apt_updated" ]; then
        as_root apt-get -qq update || say "apt-get update failed; trying with the lists that are here"
        apt_updated=yes
    fi
    # Forty lines of unpacking tell nobody anything, unless it fails.
    if ! log=$(as_root env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends install "$@" 2>&1); then
        printf '%s\n' "$log" >&2
        say "could not install them. As root, run: apt-get install $*"
        return 1
    fi
}

# --- Python ---

recent_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        have "$PYTHON" || fail "PYTHON=$PYTHON: there is no such program"
        recent_enough "$PYTHON" || fail "PYTHON=$PYTHON is not Python 3.11 or later"
        printf '%s\n' "$PYTHON"
        return
    fi
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if have "$candidate" && recent_enough "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

make_venv() {
    python=$(find_python) || {
        [ -z "${PYTHON:-}" ] || exit 1
        fail "Python 3.11 or later is needed and none was found: install it (Debian 12 and Ubuntu 24.04: apt-get" \
            "install python3 python3-venv; Fedora: dnf install python3; Arch: pacman -S python; macOS: brew install python)"
    }
    rm -rf .venv
    # Debian splits the venv module's pip off into a package of its own, named for the version.
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
        if have apt-get; then
            apt_install "$python cannot make virtual environments" "$version-venv" ||
                fail "$python needs its venv module"
        else
            fail "$python has no venv and ensurepip modules: install your system's package for them"
        fi
    fi
    say "making .venv with $("$python" -V)"
    "$python" -m venv .venv || {
        rm -rf .venv
        fail "$python could not make .venv"
    }
}

# The folder's own path is part of it: neither .venv nor an editable install survives being moved.
wanted_stamp() {
    printf '%s\n' "$PWD"
    "$venv_python" -V
    cksum <pyproject.toml
}

install_package() {
    say "installing wgdml and what it needs into .venv"
    "$venv_python" -m pip install --quiet --disable-pip-version-check -e '.[test,demo]' ||
        fail "pip could not install the package (is the network there?); run make setup again"
    wanted_stamp >"$stamp.new"
    mv "$stamp.new" "$stamp"
}

ensure_check_tools() {
    [ "$(wanted_stamp)" != "$(cat "$stamp-check" 2>/dev/null)" ] || return 0
    say "installing ruff, mypy and pre-commit into .venv"
    "$venv_python" -m pip install --quiet --disable-pip-version-check -e '.[check]' ||
        fail "pip could not install them (is the network there?)"
    wanted_stamp >"$stamp-check"
}

# --- Adapter ---

adapter_found() {
    "$venv_python" - <<'PY' 2>/dev/null
import sys
import wgpu
# OpenGL adapters are listed even where no Vulkan driver is, and lack what the shaders need.
found = {adapter.info["backend_type"] for adapter in wgpu.gpu.enumerate_adapters_sync()}
sys.exit(not found & {"Vulkan", "Metal", "D3D12"})
PY
}

ensure_adapter() {
    adapter_found && return
    if have apt-get; then
        apt_install "no GPU adapter found (Vulkan)" mesa-vulkan-drivers libvulkan1 || fail "a Vulkan driver is needed"
        adapter_found || fail "Mesa's Vulkan driver is installed, and still no adapter is found;" \
            "look at: $venv_python -c 'import wgpu; print(wgpu.gpu.enumerate_adapters_sync())'"
        return
    fi
    hint="install a Vulkan driver for your GPU, or Mesa's software one (lavapipe)"
    have dnf && hint="dnf install mesa-vulkan-drivers vulkan-loader"
    have pacman && hint="pacman -S vulkan-swrast vulkan-icd-loader"
    have zypper && hint="zypper install libvulkan_lvp libvulkan1"
    [ "$(uname -s)" = Darwin ] && hint="Metal comes with macOS; a virtual machine needs GPU support switched on"
    fail "no GPU adapter found (Vulkan, Metal or D3D12): $hint"
}

# --- A display for the tests ---

ensure_test_display() {
    [ "$(uname -s)" = Linux ] || return 0
    have Xvfb && have xdotool && return
    if have apt-get; then
        apt_install "the tests open a window on a virtual display" xvfb xdotool || fail "Xvfb and xdotool are needed"
        return
    fi
    hint="your system's packages of Xvfb and xdotool"
    have dnf && hint="dnf install xorg-x11-server-Xvfb xdotool"
    have pacman && hint="pacman -S xorg-server-xvfb xdotool"
    have zypper && hint="zypper install xorg-x11-server-Xvfb xdotool"
    fail "the tests open a window on a virtual display: $hint"
}

if ! "$venv_python" -c 'import pip' 2>/dev/null; then make_venv; fi
if [ "$(wanted_stamp)" != "$(cat "$stamp" 2>/dev/null)" ]; then install_package; fi
case ${1:-} in
check) ensure_check_tools ;;
test)
    ensure_adapter
    ensure_test_display
    ;;
*) ensure_adapter ;;
esac
