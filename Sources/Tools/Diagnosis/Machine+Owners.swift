extension Machine {
  /// Other users of controllers: bluetoothd, and programs with raw sockets.
  var ownerFindings: [Finding] {
    var findings = files.processes(named: "bluetoothd").filter(isSystems).map {
      Finding(
        .owner, .problem, "bluetoothd (process \($0)) holds the adapters: each can have only one owner.",
        remedy: """
          `sudo systemctl disable --now bluetooth`, or name an adapter of bled's own in the configuration \
          (docs/deployment.md).
          """)
    }
    let sockets = rawSockets
    let known: Set<String> = ["bled", "bluetoothd"]
    for process in files.processes where !sockets.isEmpty {
      guard let name = files.text("/proc/\(process)/comm"), !known.contains(name) else { continue }
      let folder = "/proc/\(process)/fd"
      let holds = files.names(in: folder).contains { descriptor in
        guard let target = files.target("\(folder)/\(descriptor)") else { return false }
        return sockets.contains { target == "socket:[\($0)]" }
      }
      if holds {
        findings.append(
          Finding(
            .owner, .note, "\(name) (process \(process)) has a raw Bluetooth socket.",
            remedy: "If an adapter behaves strangely, end it: it may send commands of its own."))
      }
    }
    if findings.isEmpty, bluetooth == .present {
      findings.append(Finding(.owner, .ok, "no other program was seen to use an adapter"))
    }
    return findings
  }

  /// True if a process is root's, with all four user ids, or bluetooth.service: any user may name a program bluetoothd.
  func isSystems(_ process: Int) -> Bool {
    let status = (files.text("/proc/\(process)/status") ?? "").split(separator: "\n")
    let ids = status.first { $0.hasPrefix("Uid:") }?.split { $0 == " " || $0 == "\t" }.dropFirst() ?? []
    let groups = (files.text("/proc/\(process)/cgroup") ?? "").split(separator: "\n")
    return ids.count == 4 && ids.allSatisfy { $0 == "0" }
      || groups.contains { $0.hasSuffix(":/system.slice/bluetooth.service") }
  }

  /// The inodes of all HCI sockets: /proc/net/hci, in its last column but one.
  private var rawSockets: Set<String> {
    let lines = (files.text("/proc/net/hci") ?? "").split(separator: "\n").dropFirst()
    return Set(
      lines.compactMap { line in
        let fields = line.split(separator: " ")
        return fields.count >= 2 ? String(fields[fields.count - 2]) : nil
      })
  }
}
