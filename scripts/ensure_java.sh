#!/bin/sh
# Make sure that Spark will find Java 17 or newer, the way Spark looks for it: JAVA_HOME first, then the PATH.
#
# Installs it with the system's package manager where that needs no question asked. Exit code 0: found or installed;
# 1: not there, with what to do on standard error. PUNCTUATED_INSTALL_JAVA=no looks, but installs nothing.

set -eu

OLDEST=17

say() {
    printf '%s\n' "$*" >&2
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# The major version of a java binary, 0 if it does not run: "17.0.15" is 17, "1.8.0_402" is 8, "25-ea" is 25.
major_of() {
    version=$("$1" -version 2>&1 | sed -n 's/.*version "\([^"]*\)".*/\1/p' | head -n 1) || version=
    major=$(printf '%s' "${version#1.}" | sed 's/[^0-9].*//')
    printf '%s\n' "${major:-0}"
}

is_new_enough() {
    [ "$(major_of "$1")" -ge "$OLDEST" ]
}

java_in_use() {
    if [ -n "${JAVA_HOME:-}" ]; then
        printf '%s\n' "$JAVA_HOME/bin/java"
    else
        command -v java || true
    fi
}

found() {
    java=$(java_in_use)
    [ -n "$java" ] && is_new_enough "$java"
}

# Where package managers put Java without putting it on the PATH.
java_home_elsewhere() {
    for home in /usr/lib/jvm/* /opt/homebrew/opt/openjdk* /usr/local/opt/openjdk*; do
        if [ -x "$home/bin/java" ] && is_new_enough "$home/bin/java"; then
            printf '%s\n' "$home"
            return
        fi
    done
}

# Runs a command as root, if that is possible without a password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

can_be_root() {
    [ "$(id -u)" -eq 0 ] || { has sudo && sudo -n true 2>/dev/null; }
}

# Tries packages in turn with an install command, given as one string.
install_first_of() {
    manager=$1
    shift
    for package in "$@"; do
        say "installing $package"
        # shellcheck disable=SC2086  # the command is meant to be split into words
        if as_root $manager "$package" >/dev/null; then
            return 0
        fi
    done
    return 1
}

install_java() {
    if has brew; then
        say "installing openjdk@17"
        brew install --quiet openjdk@17 >/dev/null
        return
    fi
    can_be_root || return 1
    if has apt-get; then
        as_root apt-get update -qq >/dev/null || say "warning: apt-get update failed"
        install_first_of "env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends" \
            openjdk-17-jre-headless openjdk-21-jre-headless default-jre-headless
    elif has dnf; then
        install_first_of "dnf install -y -q" java-17-openjdk-headless java-21-openjdk-headless java-latest-openjdk-headless
    elif has apk; then
        install_first_of "apk add -q" openjdk17-jre-headless openjdk21-jre-headless
    elif has pacman; then
        install_first_of "pacman -S --noconfirm --needed" jre17-openjdk-headless jre21-openjdk-headless
    else
        return 1
    fi
}

explain() {
    java=$(java_in_use)
    if [ -n "${JAVA_HOME:-}" ]; then
        say "Spark needs Java $OLDEST or newer, but JAVA_HOME=$JAVA_HOME holds none (Spark looks there first)."
    elif [ -n "$java" ]; then
        say "Spark needs Java $OLDEST or newer, but $java is version $(major_of "$java") (0: it does not run)."
    else
        say "Spark needs Java $OLDEST or newer, and there is no java on the PATH."
    fi
    elsewhere=$(java_home_elsewhere)
    if [ -n "$elsewhere" ]; then
        say "There is one in $elsewhere. To use it:"
        say "    export JAVA_HOME=$elsewhere"
        return
    fi
    say "Install it with one of"
    say "    Debian, Ubuntu   sudo apt-get install openjdk-17-jre-headless    (or default-jre-headless)"
    say "    Fedora, RHEL     sudo dnf install java-17-openjdk-headless       (or java-21-openjdk-headless)"
    say "    Alpine           sudo apk add openjdk17-jre-headless"
    say "    Arch             sudo pacman -S jre17-openjdk-headless"
    say "    macOS            brew install openjdk@17"
    say "then run make again; if java is then not on the PATH, set JAVA_HOME to where it is."
}

if found; then
    exit 0
fi
# A JAVA_HOME that points to something else is the user's choice: no package can mend it.
if [ -z "${JAVA_HOME:-}" ] && [ -z "$(java_home_elsewhere)" ] && [ "${PUNCTUATED_INSTALL_JAVA:-yes}" != no ]; then
    if install_java && found; then
        exit 0
    fi
fi
explain
exit 1
