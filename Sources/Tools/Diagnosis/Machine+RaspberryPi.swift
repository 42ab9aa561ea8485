extension Machine {
  /// Facts about Raspberry Pis: the helper in the package pi-bluetooth, and the firmware's configuration.
  var raspberryFindings: [Finding] { helperFindings + overlayFindings }

  /// A unit in pi-bluetooth, started by udev for each controller. It requires bluetooth.service, even if that is
  /// disabled, and makes bluetoothd power the controller off and on five seconds later (RPi-Distro/pi-bluetooth,
  /// usr/bin/bthelper). It cannot start while either is masked.
  private var helperFindings: [Finding] {
    let unit = "bthelper@.service"
    let folders = ["/usr/lib/systemd/system", "/lib/systemd/system"]
    guard folders.contains(where: { files.exists("\($0)/\(unit)") }),
      ![unit, "bluetooth.service"].contains(where: { files.target("/etc/systemd/system/\($0)") == "/dev/null" })
    else { return [] }
    return [
      Finding(
        .owner, .problem,
        "bthelper of the package pi-bluetooth starts bluetoothd at boot, and powers each adapter off and on.",
        remedy: "Run `sudo systemctl mask bthelper@.service` (docs/raspberry-pi.md).")
    ]
  }

  /// A line in the firmware's configuration that takes the controller away from Linux. Its name varies by model.
  private var overlayFindings: [Finding] {
    for path in ["/boot/firmware/config.txt", "/boot/config.txt"] {
      guard let line = bluetoothSwitch(path) else { continue }
      return [
        Finding(
          .adapter, controllers.isEmpty ? .problem : .note,
          "\(path) switches the Bluetooth of this Raspberry Pi off: \(line).",
          remedy: "Remove that line, and restart the machine.")
      ]
    }
    return []
  }

  /// The line in a file that switches Bluetooth off, without its white space.
  private func bluetoothSwitch(_ path: String) -> String? {
    (files.text(path) ?? "").split(whereSeparator: \.isNewline).lazy.map { line in
      line.filter { !$0.isWhitespace }
    }.first { line in
      ["disable-bt", "disable-bt-pi5", "pi3-disable-bt"].contains { line == "dtoverlay=\($0)" }
    }
  }
}
