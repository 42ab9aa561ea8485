/// The names used by `make install` and the packages.
enum Service {
  static let socket = "/run/bled/bled.sock"
  /// The folders of systemd's units, systemd.unit(5).
  static let unitFolders = [
    "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
    "/lib/systemd/system",
  ]
  static let enabled = "/etc/systemd/system/sockets.target.wants/bled.socket"
  static let state = "/var/lib/bled"
}

extension Machine {
  /// The unit's process.
  var service: Int? { process(of: "bled.service", named: "bled") }

  /// A unit's process: others with its name are started by hand.
  func process(of unit: String, named name: String) -> Int? {
    files.processes(named: name).first { files.text("/proc/\($0)/cgroup")?.contains(unit) ?? false }
  }

  /// The units.
  var serviceFindings: [Finding] {
    guard files.exists("/run/systemd/system") else {
      return [Finding(.service, .note, "systemd does not run here: bled is started by hand.")]
    }
    guard Service.unitFolders.contains(where: { files.exists("\($0)/bled.socket") }) else {
      return [
        Finding(
          .service, .note, "bled is not installed as a service.",
          remedy: "Install the package, or `make build && sudo make install`; or start bled by hand.")
      ]
    }
    let running = service.map { "it runs (process \($0))" }
    guard files.isListed(Service.enabled) else {
      return [
        Finding(
          .service, .problem, ["bled.socket is not enabled", running].compactMap { $0 }.joined(separator: "; "),
          remedy: "sudo systemctl enable --now bled.socket")
      ]
    }
    return [
      Finding(.service, .ok, "bled.socket is enabled; \(running ?? "the first program starts the service")")
    ]
  }

  /// The socket, and whether this user may use it.
  var socketFindings: [Finding] {
    guard files.isListed(socket) else {
      return [
        Finding(
          .socket, .problem, "There is no \(socket): the daemon is not running.",
          remedy: socket == Service.socket
            ? "sudo systemctl enable --now bled.socket; or by hand: bled --adapter hci0 (without hardware: simulated)"
            : "Start a daemon there: bled --socket \(socket)")
      ]
    }
    guard maySpeak else {
      return [
        Finding(
          .socket, .problem, "\(user.name) may not use \(socket).",
          remedy: groupRemedy ?? "Check the socket's owner, group and mode: ls -l \(socket)")
      ]
    }
    return [Finding(.socket, .ok, "\(socket), which \(user.name) may use")]
  }

  /// Checks that this user is in the group with the default permissions.
  var groupFindings: [Finding] {
    guard let members = user.members else {
      return [
        Finding(
          .group, .note, "There is no group bluetooth: only root and bled's own user may use the daemon.",
          remedy: "Installing bled creates it (sysusers.d).")
      ]
    }
    if user.isRoot { return [Finding(.group, .ok, "root has all permissions")] }
    if user.groups.contains("bluetooth") {
      return [Finding(.group, .ok, "\(user.name) is in the group bluetooth")]
    }
    let isMember = members.contains(user.name)
    return [
      Finding(
        .group, maySpeak ? .note : .problem,
        isMember
          ? "\(user.name) is in the group bluetooth, but this login began before that."
          : "\(user.name) is not in the group bluetooth.",
        remedy: groupRemedy)
    ]
  }

  private var groupRemedy: String? {
    guard let members = user.members, !user.isRoot, !user.groups.contains("bluetooth") else { return nil }
    return members.contains(user.name)
      ? "Log in again." : "sudo usermod -aG bluetooth \(user.name), then log in again."
  }

  /// The stored state of the system's daemon.
  var storeFindings: [Finding] {
    guard socket == Service.socket, files.exists(Service.state) else { return [] }
    let names = files.names(in: Service.state)
    let damaged = names.filter { $0.contains(".damaged") }
    guard damaged.isEmpty else {
      return [
        Finding(
          .store, .problem,
          "\(Service.state) has documents that could not be read: \(damaged.joined(separator: ", ")).",
          remedy: "Their contents are lost to bled; `journalctl -u bled` says why. Remove them when you are done.")
      ]
    }
    guard !names.isEmpty else { return [] }
    return [
      Finding(.store, .ok, "\(names.count) \(names.count == 1 ? "document" : "documents") in \(Service.state)")
    ]
  }
}
