import ArgumentParser
import Bluetooth
import Capture

/// `bleshell scenario`
struct ScenarioCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenario", abstract: "Turns the devices of a recording into devices of the simulated adapter.",
    discussion: """
      The recording is a file of "bleshell capture" or btmon, an Android phone's btsnoop_hci.log, pcapng or pcap of \
      Wireshark, or Apple's PacketLogger. The scenario goes to standard output: bleshell scenario phone.log \
      >devices.json; bled --adapter simulated:devices.json. Comments in it say which facts were not recorded. A daemon \
      is not needed.
      """)

  @Argument(help: "The recording.", completion: .file()) var recording: String
  @Argument(help: "Only these devices: names or addresses (default: all).") var devices: [String] = []
  @Flag(help: "Only devices that were connected.") var connected = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let progress = output.progress("Reading \(recording)")
    defer { progress.end() }
    let (found, remarks) = try await RecordingFile(path: recording).devices()
    progress.end()
    for text in devices where !found.contains(where: { Self.matches($0, text) }) {
      let names = found.compactMap(\.name)
      throw Failure(
        "\(recording) has no device \(text)\(Suggestion.question(text, among: names)); without a device all are written"
      )
    }
    let chosen = found.filter { device in
      (devices.isEmpty || devices.contains { Self.matches(device, $0) }) && (!connected || !device.services.isEmpty)
    }
    guard !chosen.isEmpty else { throw Failure("\(recording) has no devices of Bluetooth LE") }
    output.text(ScenarioText.text(chosen, remarks: remarks))
    for remark in remarks { output.problem(remark) }
    output.problem("\(chosen.count) devices, \(chosen.count { !$0.services.isEmpty }) of them with services")
  }

  private static func matches(_ device: RecordedDevice, _ text: String) -> Bool {
    "\(device.address)" == DeviceCandidate.address(text) || device.name?.hasSameOctets(as: text) == true
  }
}
