import Testing

@testable import Diagnosis

/// The checks of `bleshell doctor` on systems of Raspberry Pis that are folders.
@Suite struct RaspberryPiTests: SystemSuite {
  let system: SystemFolder

  init() throws { system = try SystemFolder() }

  private func findings(_ controllers: [String: Machine.Controller] = [:]) -> [Finding] {
    let machine = Machine(
      files: SystemFiles(root: root), release: "6.12.34+rpt-rpi-v8", bluetooth: .present, controllers: controllers,
      kernelLog: [], user: .init(name: "pi", isRoot: false, groups: ["bluetooth"], members: ["pi"]),
      socket: "/run/bled/bled.sock", maySpeak: true)
    return machine.findings.filter { $0.remedy?.contains("bthelper") == true || $0.message.contains("disable-bt") }
  }

  @Test(
    "the helper of pi-bluetooth is a problem until its unit or bluetoothd's is masked",
    arguments: ["/usr/lib", "/lib"], ["bthelper@.service", "bluetooth.service"])
  func helper(folder: String, masked: String) throws {
    #expect(findings().isEmpty)
    try write("\(folder)/systemd/system/bthelper@.service", "[Unit]\n")
    let found = findings()
    #expect(found.map(\.check) == [.owner] && found.map(\.verdict) == [.problem])
    #expect(found.first?.remedy?.contains("systemctl mask bthelper@.service") == true)
    try link("/etc/systemd/system/\(masked)", to: "/dev/null")
    #expect(findings().isEmpty)
  }

  @Test(
    "a line of config.txt that takes the controller away is named",
    arguments: ["/boot/firmware/config.txt", "/boot/config.txt"], ["disable-bt", "disable-bt-pi5", "pi3-disable-bt"])
  func overlay(path: String, name: String) throws {
    try write(path, "# dtoverlay=\(name)\r\ndtparam=audio=on\r\ndtoverlay=miniuart-bt\r\n")
    #expect(findings().isEmpty)
    try write(path, "dtparam=audio=on\r\n dtoverlay = \(name)\r\n")
    let found = findings()
    #expect(found.map(\.check) == [.adapter] && found.map(\.verdict) == [.problem])
    #expect(found.first?.message.hasPrefix(path) == true)
    #expect(found.first?.message.hasSuffix("off: dtoverlay=\(name).") == true)
  }

  @Test("beside another controller, such as one at USB, that line is only a note")
  func dongle() throws {
    try write("/boot/firmware/config.txt", "dtoverlay=disable-bt")
    let found = findings(["hci0": .init(version: 9, hasLowEnergy: true, isPowered: true)])
    #expect(found.map(\.verdict) == [.note])
  }
}
