extension Machine {
  /// Facts of Raspberry Pis: the helper of the package pi-bluetooth, and the firmware's configuration.
  var raspberryFindings: [Finding] { helperFindings + overlayFindings }

  /// A unit of pi-bluetooth, which udev starts for each controller. It requires bluetooth.service, even where that is
  /// disabled, and has bluetoothd power the controller off and on five seconds later (RPi-Distro/pi-bluetooth,
  /// usr/bin/bthelper).
  private var helperFindings: [Finding] {
    let unit = "bthelper@.service"
    let folders = ["/usr/lib/systemd/system", "/lib/systemd/system"]
    guard folders.contains(where: { files.exists("\($0)/\(unit)") }),
      files.target("/etc/systemd/system/\(unit)") != "/dev/null"
    else { return [] }
    return [
      Finding(
        .owner, .problem,
        "bthelper of the package pi-bluetooth starts bluetoothd at boot, and powers each adapter off and on.",
        remedy: "Run `sudo systemctl mask bthelper@.service` (docs/raspberry-pi.md).")
    ]
  }

  /// A line in the configuration of the firmware that takes the controller away from Linux.
  private var overlayFindings: [Finding] {
    ["/boot/firmware/config.txt", "/boot/config.txt"].filter(switchesBluetoothOff).prefix(1).map { path in
      Finding(
        .adapter, controllers.isEmpty ? .problem : .note,
        "\(path) switches the Bluetooth of this Raspberry Pi off: dtoverlay=disable-bt.",
        remedy: "Remove that line, and restart the machine.")
    }
  }

  private func switchesBluetoothOff(_ path: String) -> Bool {
    (files.text(path) ?? "").split(whereSeparator: \.isNewline).contains { line in
      let setting = line.filter { !$0.isWhitespace }
      return ["dtoverlay=disable-bt", "dtoverlay=pi3-disable-bt"].contains(setting)
    }
  }
}
