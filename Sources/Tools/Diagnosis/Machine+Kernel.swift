extension Machine {
  /// The kernel, its Bluetooth, and its known bugs.
  var kernelFindings: [Finding] {
    switch bluetooth {
    case .absent:
      return [
        Finding(
          .kernel, .problem, "Linux \(release) has no Bluetooth here.",
          remedy: """
            Load it with `modprobe bluetooth`. In a container use the host's daemon: share /run/bled \
            (docs/deployment.md), or a controller over H4 (docs/adapters.md). Without hardware: `bled --adapter \
            simulated`.
            """)
      ]
    case .refused(let error):
      return [
        Finding(
          .kernel, .problem, "Linux \(release) refuses Bluetooth sockets (errno \(error)).",
          remedy: "Check the rules of the sandbox that this runs in: it must permit sockets of the family AF_BLUETOOTH."
        )
      ]
    case .present: break
    }
    var findings = [Finding(.kernel, .ok, "Linux \(release) with Bluetooth")]
    if release.hasPrefix("6.1.") {
      findings.append(
        Finding(
          .kernel, .note,
          "Kernels 6.1 can stop with \"kernel BUG at lib/list_debug.c\" when a silent link ends; bled avoids most cases.",
          remedy: "Use a newer kernel, such as 6.12 from bookworm-backports (docs/troubles.md)."))
    }
    return findings
  }

  /// The controllers, with driver, version and state.
  var adapterFindings: [Finding] {
    // Without a socket the usable ones cannot be found.
    guard bluetooth == .present else { return [] }
    // Connections have entries too, such as hci0:64.
    let names = files.names(in: "/sys/class/bluetooth").filter { $0.hasPrefix("hci") && !$0.contains(":") }
    guard !names.isEmpty else {
      return [
        Finding(
          .adapter, .problem, "There is no controller.",
          remedy: """
            Plug one in, or check `sudo dmesg | grep -i bluetooth` for a driver or firmware that is missing. Without \
            hardware: `bled --adapter simulated`.
            """)
      ]
    }
    return names.map(adapterFinding)
  }

  private func adapterFinding(_ name: String) -> Finding {
    let folder = "/sys/class/bluetooth/\(name)"
    let driver = files.target("\(folder)/device/driver")?.split(separator: "/").last.map { "driver \($0)" }
    if taken.contains(name) {
      // The program is not recorded anywhere.
      return Finding(
        .adapter, .ok,
        (["\(name) is in the hands of a program, such as bled with user:\(name)"] + [driver].compactMap { $0 })
          .joined(separator: ", "))
    }
    guard let controller = controllers[name] else {
      return Finding(
        .adapter, .problem,
        (["\(name) is not used by the kernel"] + [driver].compactMap { $0 }).joined(separator: ", "),
        remedy: """
          It lacks an address or software of its maker: `btmgmt config` shows what; an address can be set with \
          publicAddresses (docs/configuration.md).
          """)
    }
    let parts = [driver, Self.family(controller), controller.isPowered ? "powered" : "off"].compactMap { $0 }
    let message = "\(name): \(parts.joined(separator: ", "))"
    guard controller.hasLowEnergy else {
      return Finding(.adapter, .problem, message, remedy: "Use another controller: this one has no Bluetooth LE.")
    }
    return Finding(.adapter, .ok, message)
  }

  /// The version, and the family of LE commands it permits (Core 5.4, Vol 4, Part E, 3.1.1).
  private static func family(_ controller: Controller) -> String {
    let versions: [UInt8: String] = [
      6: "4.0", 7: "4.1", 8: "4.2", 9: "5.0", 10: "5.1", 11: "5.2", 12: "5.3", 13: "5.4", 14: "6.0",
      15: "6.1", 16: "6.2",
    ]
    let version = versions[controller.version].map { "Bluetooth \($0)" } ?? "version \(controller.version)"
    guard controller.hasLowEnergy else { return version }
    return "\(version) (\(controller.version >= 9 ? "extended advertising possible" : "legacy advertising"))"
  }

  /// The switches of radios.
  var rfkillFindings: [Finding] {
    let all = files.names(in: "/sys/class/rfkill").filter {
      files.text("/sys/class/rfkill/\($0)/type") == "bluetooth"
    }
    let blocks = all.compactMap { name -> Finding? in
      let folder = "/sys/class/rfkill/\(name)"
      let adapter = files.text("\(folder)/name") ?? name
      if files.text("\(folder)/hard") == "1" {
        return Finding(
          .rfkill, .problem, "\(adapter) is blocked by a switch of the machine.",
          remedy: "Use the machine's wireless switch or key, or its firmware settings.")
      }
      guard files.text("\(folder)/soft") == "1" else { return nil }
      return Finding(.rfkill, .problem, "\(adapter) is blocked.", remedy: "Run `rfkill unblock bluetooth`.")
    }
    return all.isEmpty || !blocks.isEmpty ? blocks : [Finding(.rfkill, .ok, "no radio is blocked")]
  }

  /// Drivers' messages about missing firmware, and about controllers that do not answer.
  var firmwareFindings: [Finding] {
    guard bluetooth == .present else { return [] }
    guard let kernelLog else {
      return [
        Finding(
          .firmware, .note, "The kernel's messages cannot be read.", remedy: "Run `sudo bleshell doctor` to see them.")
      ]
    }
    let words = ["failed", "error", "timeout", "not found", "no such file"]
    let bad = kernelLog.filter { line in
      let line = line.lowercased()
      return line.contains("bluetooth:") && words.contains { line.contains($0) }
    }
    guard !bad.isEmpty else { return [Finding(.firmware, .ok, "the kernel complained of no controller")] }
    // The last ones are the most helpful; messages are often repeated.
    return bad.suffix(3).map {
      Finding(
        .firmware, .note, "The kernel said: \($0)",
        remedy: $0.lowercased().contains("firmware")
          ? "Install the controller's firmware (on Debian a package of non-free-firmware), then plug it in again." : nil
      )
    }
  }
}
