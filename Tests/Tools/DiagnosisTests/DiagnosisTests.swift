import FoundationEssentials
import Testing

@testable import Diagnosis

/// The checks of `bleshell doctor` on systems that are folders.
@Suite struct DiagnosisTests: SystemSuite {
  let system: SystemFolder

  init() throws { system = try SystemFolder() }

  /// A machine without problems, except for the test's change.
  private func machine(_ change: (inout Machine) -> Void = { _ in }) -> Machine {
    var machine = Machine(
      files: SystemFiles(root: root), release: "6.12.9-amd64", bluetooth: .present,
      controllers: ["hci0": .init(version: 12, hasLowEnergy: true, isPowered: true)], kernelLog: [],
      user: .init(name: "ann", isRoot: false, groups: ["bluetooth"], members: ["ann"]),
      socket: "/run/bled/bled.sock", maySpeak: true)
    change(&machine)
    return machine
  }

  private func good() throws {
    try link("/sys/class/bluetooth/hci0/device/driver", to: "../../../bus/usb/drivers/btusb")
    try write("/sys/class/bluetooth/hci0:64/address")
    try write("/sys/class/rfkill/rfkill0/type", "bluetooth\n")
    try write("/sys/class/rfkill/rfkill0/name", "hci0\n")
    try write("/sys/class/rfkill/rfkill0/soft", "0\n")
    try write("/sys/class/rfkill/rfkill0/hard", "0\n")
    try write("/sys/class/rfkill/rfkill1/type", "wlan\n")
    try write("/sys/class/rfkill/rfkill1/soft", "1\n")
    try write("/run/systemd/system/x")
    try write("/lib/systemd/system/bled.socket")
    try link("/etc/systemd/system/sockets.target.wants/bled.socket", to: "/lib/systemd/system/bled.socket")
    try write("/run/bled/bled.sock")
    // The unit's process, and one started by hand.
    try write("/proc/70/comm", "bled\n")
    try write("/proc/70/cgroup", "0::/user.slice/user-1000.slice\n")
    try write("/proc/71/comm", "bled\n")
    try write("/proc/71/cgroup", "0::/system.slice/bled.service\n")
    try write("/var/lib/bled/bonds", "x")
  }

  private func problems(_ machine: Machine) -> [Finding] { machine.findings.filter { $0.verdict == .problem } }

  @Test func aGoodMachineHasNoProblems() throws {
    try good()
    let findings = machine().findings
    #expect(findings.allSatisfy { $0.verdict == .ok }, "\(findings)")
    let texts = findings.map { "\($0.check): \($0.message)" }
    #expect(texts.contains("kernel: Linux 6.12.9-amd64 with Bluetooth"))
    #expect(
      texts.contains("adapter: hci0: driver btusb, Bluetooth 5.3 (extended advertising possible), powered"))
    #expect(texts.contains("service: bled.socket is enabled; it runs (process 71)"))
    #expect(texts.contains("store: 1 document in /var/lib/bled"))
  }

  @Test func withoutBluetoothThereIsOneProblemAndItSaysSo() throws {
    try good()
    // In a container the host's controllers are in /sys, but none can be used.
    let found = problems(machine { ($0.bluetooth, $0.controllers, $0.kernelLog) = (.absent, [:], nil) })
    #expect(found.map(\.check) == [.kernel])
    #expect(found[0].remedy?.contains("modprobe bluetooth") == true)
    try FileManager.default.removeItem(atPath: "\(root)/sys")
    let empty = problems(machine { $0.controllers = [:] })
    #expect(empty.map(\.message) == ["There is no controller."])
    #expect(problems(machine { $0.bluetooth = .refused(13) }).first?.message.contains("errno 13") == true)
  }

  @Test func controllersThatCannotBeUsedAreNamed() throws {
    try good()
    let unused = machine { $0.controllers = [:] }
    #expect(problems(unused).map(\.message) == ["hci0 is not used by the kernel, driver btusb"])
    let taken = machine { ($0.controllers, $0.taken) = ([:], ["hci0"]) }
    #expect(problems(taken).isEmpty)
    let old = machine { $0.controllers["hci0"] = .init(version: 4, hasLowEnergy: false, isPowered: false) }
    #expect(problems(old).map(\.message) == ["hci0: driver btusb, version 4, off"])
  }

  @Test func blockedRadiosHaveTheirRemedies() throws {
    try good()
    try write("/sys/class/rfkill/rfkill0/soft", "1\n")
    #expect(problems(machine()).map(\.remedy) == ["Run `rfkill unblock bluetooth`."])
    try write("/sys/class/rfkill/rfkill0/hard", "1\n")
    #expect(problems(machine()).map(\.message) == ["hci0 is blocked by a switch of the machine."])
  }

  @Test func theKernelsMessagesAboutFirmwareAreShown() throws {
    try good()
    let lines = [
      "Bluetooth: Core ver 2.22", "Bluetooth: hci0: Failed to load Intel firmware file intel/ibt-0040-0041.sfi (-2)",
    ]
    let found = machine { $0.kernelLog = lines }.findings.filter { $0.check == .firmware }
    #expect(found.map(\.message) == ["The kernel said: \(lines[1])"])
    #expect(found[0].remedy?.contains("firmware") == true)
    #expect(machine { $0.kernelLog = nil }.findings.first { $0.check == .firmware }?.verdict == .note)
  }

  @Test func otherOwnersAreNamed() throws {
    try good()
    try write("/proc/99/comm", "bluetoothd\n")
    try write("/proc/99/status", "Name:\tbluetoothd\nUid:\t0\t0\t0\t0\n")
    // Any user can start a program of this name, a setuid one too.
    try write("/proc/98/comm", "bluetoothd\n")
    try write("/proc/98/status", "Name:\tbluetoothd\nUid:\t1000\t0\t0\t0\n")
    try write("/proc/123/comm", "btmon\n")
    try link("/proc/123/fd/3", to: "socket:[4711]")
    try write("/proc/124/comm", "cat\n")
    try link("/proc/124/fd/3", to: "socket:[4712]")
    try write(
      "/proc/net/hci",
      """
      sk               RefCnt Rmem   Wmem   User   Inode  Parent
      0000000000000000 2      0      0      0      4711   0
      """)
    let found = machine().findings.filter { $0.check == .owner }
    #expect(found.map(\.verdict) == [.problem, .note])
    #expect(found[0].message.contains("bluetoothd (process 99)"))
    #expect(found[1].message == "btmon (process 123) has a raw Bluetooth socket.")
  }

  @Test func socketGroupAndServiceHaveTheirRemedies() throws {
    try good()
    let outsider = machine { ($0.user.groups, $0.user.members, $0.maySpeak) = ([], [], false) }
    #expect(problems(outsider).map(\.check) == [.socket, .group])
    #expect(problems(outsider).allSatisfy { $0.remedy == "sudo usermod -aG bluetooth ann, then log in again." })
    let early = machine { ($0.user.groups, $0.maySpeak) = ([], false) }
    #expect(problems(early).allSatisfy { $0.remedy == "Log in again." })

    try FileManager.default.removeItem(atPath: "\(root)/etc/systemd/system/sockets.target.wants/bled.socket")
    try FileManager.default.removeItem(atPath: "\(root)/run/bled/bled.sock")
    #expect(problems(machine()).map(\.check) == [.service, .socket])
    #expect(machine { $0.user.members = nil }.findings.contains { $0.check == .group && $0.verdict == .note })
  }

  @Test func theOwnerOfTheNameOfBlueZ() throws {
    try good()
    #expect(!machine().findings.contains { $0.check == .bluez }, "bled-bluez is not installed")
    try write("/usr/lib/systemd/system/bled-bluez.service")
    func found() -> [Finding] { machine().findings.filter { $0.check == .bluez } }
    #expect(found().map(\.verdict) == [.note])
    try write("/etc/systemd/system/multi-user.target.wants/bled-bluez.service")
    #expect(found().first?.message == "There is no system bus: programs for BlueZ find nothing.")
    try write("/run/dbus/system_bus_socket")
    #expect(found().first?.remedy == "Install bled-bluez again: org.bled.bluez.conf is missing.")
    try write("/usr/share/dbus-1/system.d/org.bled.bluez.conf")
    let alias = "/etc/systemd/system/dbus-org.bluez.service"
    try link(alias, to: "/lib/systemd/system/bluetooth.service")
    #expect(found().first?.remedy?.contains("reenable bled-bluez") == true)
    try FileManager.default.removeItem(atPath: root + alias)
    #expect(found().first?.remedy?.contains("reenable bled-bluez") == true)
    try link(alias, to: "/usr/lib/systemd/system/bled-bluez.service")
    #expect(found().first?.message == "bled-bluez is enabled but does not run.")
    // Any user can start a program of this name.
    try write("/proc/80/comm", "bled-bluez\n")
    try write("/proc/80/cgroup", "0::/user.slice/user-1000.slice\n")
    #expect(found().map(\.verdict) == [.problem])
    try write("/proc/81/comm", "bled-bluez\n")
    try write("/proc/81/cgroup", "0::/system.slice/bled-bluez.service\n")
    #expect(found().map(\.message) == ["org.bluez is served by bled-bluez (process 81)"])
    #expect(found().map(\.verdict) == [.ok])
    try write("/proc/99/comm", "bluetoothd\n")
    try write("/proc/99/status", "Name:\tbluetoothd\nUid:\t0\t0\t0\t0\n")
    #expect(found().first?.message == "bluetoothd (process 99) runs: the name org.bluez has one owner.")
  }

  @Test func gatewaysTellHowTheyFare() throws {
    try good()
    #expect(
      !machine().findings.contains { $0.check == .mqtt || $0.check == .esphome || $0.check == .hid },
      "they are not installed")
    try write("/usr/lib/systemd/system/bled-mqtt.service")
    try write("/lib/systemd/system/bled-esphome.service")
    try write("/lib/systemd/system/bled-hid.service")
    try write("/lib/systemd/system/bled-midi.service")
    func found(_ check: Finding.Check) -> Finding? { machine().findings.first { $0.check == check } }
    #expect(found(.mqtt)?.verdict == .note)
    #expect(found(.esphome)?.remedy?.contains("systemctl enable --now bled-esphome") == true)
    #expect(found(.hid)?.remedy?.contains("systemctl enable --now bled-hid") == true)
    #expect(found(.midi)?.remedy?.contains("systemctl enable --now bled-midi") == true)

    try write("/etc/systemd/system/multi-user.target.wants/bled-mqtt.service")
    #expect(found(.mqtt)?.message == "bled-mqtt is enabled but does not run.")
    // Any user can start a program of this name.
    try write("/proc/80/comm", "bled-mqtt\n")
    try write("/proc/80/cgroup", "0::/user.slice/user-1000.slice\n")
    #expect(found(.mqtt)?.verdict == .problem)
    try write("/proc/81/comm", "bled-mqtt\n")
    try write("/proc/81/cgroup", "0::/system.slice/bled-mqtt.service\n")
    #expect(found(.mqtt)?.message == "bled-mqtt runs (process 81)")
    try write("/run/bled-mqtt/report", "ok 1700000000 connected to the broker at b:1883\n")
    #expect(
      found(.mqtt)?.message
        == "bled-mqtt (process 81): connected to the broker at b:1883, since 2023-11-14 22:13 UTC")
    #expect(found(.mqtt)?.verdict == .ok)
    try write("/run/bled-mqtt/report", "problem 1700000060 the broker at b:1883 cannot be used: refused\n")
    #expect(found(.mqtt)?.message.hasSuffix("cannot be used: refused, since 2023-11-14 22:14 UTC") == true)
    #expect(found(.mqtt)?.verdict == .problem)

    try write("/etc/systemd/system/multi-user.target.wants/bled-esphome.service")
    try write("/run/bled-esphome/report", "problem 1700000060 port 6053 cannot be opened: in use\n")
    #expect(found(.esphome)?.message == "bled-esphome is enabled but does not run: port 6053 cannot be opened: in use")
    // Lines that no gateway writes.
    try write("/proc/82/comm", "bled-esphome\n")
    try write("/proc/82/cgroup", "0::/system.slice/bled-esphome.service\n")
    for line in ["", "ok", "ok x y", "ok 9223372036854775807 y", "bad 1 y"] {
      try write("/run/bled-esphome/report", line)
      #expect(found(.esphome)?.message == "bled-esphome runs (process 82)")
    }
  }

  @Test func aDaemonThatOnlyWouldStartIsNotAsked() throws {
    try good()
    #expect(machine().daemonRuns)
    try FileManager.default.removeItem(atPath: "\(root)/proc/71")
    #expect(!machine().daemonRuns)
    // In a container the host's processes are not seen; systemd is not, either.
    try FileManager.default.removeItem(atPath: "\(root)/run/systemd")
    #expect(machine().daemonRuns)
  }

  @Test func damagedDocumentsAndKnownKernelBugsAreTold() throws {
    try good()
    try write("/var/lib/bled/bonds.damaged.1")
    #expect(problems(machine()).map(\.check) == [.store])
    #expect(machine { $0.socket = "/tmp/bled.sock" }.storeFindings.isEmpty, "that daemon stores elsewhere")
    let old = machine { $0.release = "6.1.0-37-amd64" }.findings.filter { $0.check == .kernel }
    #expect(old.map(\.verdict) == [.ok, .note])
  }
}
