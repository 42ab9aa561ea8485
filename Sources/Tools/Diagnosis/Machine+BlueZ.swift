/// The names used by `make install-bluez`, the package bled-bluez and the system bus.
private enum Facade {
  static let name = "bled-bluez"
  static let unit = "bled-bluez.service"
  static let enabled = "/etc/systemd/system/multi-user.target.wants/bled-bluez.service"
  /// The unit started by the bus for a program that needs org.bluez.
  static let activated = "/etc/systemd/system/dbus-org.bluez.service"
  static let policies = ["/etc/dbus-1/system.d/org.bled.bluez.conf", "/usr/share/dbus-1/system.d/org.bled.bluez.conf"]
  static let bus = "/run/dbus/system_bus_socket"
}

extension Machine {
  /// org.bluez on the system bus, for programs written for BlueZ; none without bled-bluez.
  var facadeFindings: [Finding] {
    guard Service.unitFolders.contains(where: { files.exists("\($0)/\(Facade.unit)") }) else { return [] }
    guard files.isListed(Facade.enabled) || facade != nil else {
      return [
        Finding(
          .bluez, .note, "bled-bluez is not enabled: programs for BlueZ do not use bled.",
          remedy: "sudo systemctl disable --now bluetooth; sudo systemctl enable --now bled-bluez (docs/bluez.md)")
      ]
    }
    if let problem = busProblem ?? nameProblem { return [problem] }
    guard let facade else {
      return [
        Finding(
          .bluez, .problem, "bled-bluez is enabled but does not run.",
          remedy: "sudo systemctl restart bled-bluez; `journalctl -u bled-bluez` says why it ended.")
      ]
    }
    return [Finding(.bluez, .ok, "org.bluez is served by bled-bluez (process \(facade))")]
  }

  /// The unit's process.
  private var facade: Int? { process(of: Facade.unit, named: Facade.name) }

  private var busProblem: Finding? {
    guard files.isListed(Facade.bus) else {
      return Finding(
        .bluez, .problem, "There is no system bus: programs for BlueZ find nothing.",
        remedy: "sudo systemctl start dbus; in a container share the host's /run/dbus")
    }
    guard Facade.policies.contains(where: files.exists) else {
      return Finding(
        .bluez, .problem, "The bus has no policy that lets bled-bluez have the name org.bluez.",
        remedy: "Install bled-bluez again: org.bled.bluez.conf is missing.")
    }
    return nil
  }

  private var nameProblem: Finding? {
    if let other = files.processes(named: "bluetoothd").first(where: isSystems) {
      return Finding(
        .bluez, .problem, "bluetoothd (process \(other)) runs: the name org.bluez has one owner.",
        remedy: "sudo systemctl disable --now bluetooth; sudo systemctl restart bled-bluez")
    }
    guard files.target(Facade.activated)?.split(separator: "/").last.map({ $0 == Facade.unit }) != true else {
      return nil
    }
    return Finding(
      .bluez, .problem, "The bus does not start bled-bluez for programs that want org.bluez.",
      remedy: "sudo systemctl disable bluetooth; sudo systemctl reenable bled-bluez")
  }
}
