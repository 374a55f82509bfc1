# apt-get as root, or with a sudo that asks for no password; source it.

apt_get() {
  local as_root=()
  ((EUID == 0)) || as_root=(sudo -n)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 "$@"
}

may_apt() {
  command -v apt-get >/dev/null &&
    { ((EUID == 0)) || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }
}
