import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import Capture
import FoundationEssentials
import Synchronization
import ValueFormats

/// `bleshell log`
struct LogCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Shows packets between adapters and devices, live or from a recording.",
    usage: """
      bleshell log [<device>] [--follow] [--time <time>]
      bleshell log <recording> [<device>]
      """,
    discussion: """
      An arrow to the right is what this machine sent. Attributes have their names and values as in other commands, also \
      those of "bleshell name" and of the device's descriptors that were read, as far as the discovery was seen or bled \
      knows the device. Links that are already up are shown as connected at the beginning. Live, RPC calls are shown by \
      client, and without --time it runs until Ctrl-C; you need the permission "capture" in bled's configuration. A recording is a file of "bleshell capture" or btmon, an Android phone's \
      btsnoop_hci.log, pcapng or pcap of Wireshark, or Apple's PacketLogger: its name has a "/" or ends in .btsnoop, \
      .snoop, .log, .cfa, .pcapng, .pcap or .pklg.
      """)

  @Argument(help: "A recording; only this device (default: live; all).", completion: .file()) var words: [String] = []
  @Option(help: "Only this adapter.", completion: ShellCompletion.adapters) var adapter: String?
  @Option(help: "Stop after this many seconds.") var time: Double?
  @Flag(help: "With a device: wait until bled knows it, and follow it to a new address.") var follow = false
  @Flag(help: "Leave out the calls of sessions.") var noCalls = false
  @Flag(help: "Show advertisements, too.") var advertisements = false
  @Flag(help: "Show commands to controllers and all their events, too.") var hci = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    try checkTime(time)
    let recordings = words.prefix(1).filter { RecordingFile.isNamed($0) }.count
    guard words.count <= recordings + 1 else {
      throw ValidationError(
        "expected [RECORDING] [DEVICE]; the name of a recording has a \"/\" or a suffix as .btsnoop")
    }
    guard recordings == 0 || (adapter == nil && time == nil && !follow) else {
      throw ValidationError("--adapter, --time and --follow are for packets that pass now, not for a recording")
    }
    guard !follow || words.count == 1 else { throw ValidationError("--follow needs a device") }
  }

  func run(in shell: Shell) async throws {
    if let path = words.first, RecordingFile.isNamed(path) {
      try await show(RecordingFile(path: path), of: words.dropFirst().first, shell.names(), output(of: shell))
    } else {
      try await showLive(words.first, in: shell)
    }
  }

  /// Shows a recording. Devices have the names given by the user, or revealed in it.
  @MainActor private func show(
    _ recording: RecordingFile, of device: String?, _ own: NameList, _ output: Output
  ) async throws {
    let devices = try await recording.devices().devices
    let names = Dictionary(uniqueKeysWithValues: devices.map { ($0.address, $0.name) })
    var view = TrafficView(output: output, own: own, showsAnnotations: !noCalls) { names[$0] ?? nil }
    if let device {
      let found = devices.first {
        "\($0.address)" == (own.address(ofDevice: device) ?? DeviceCandidate.address(device))
          || $0.name?.hasSameOctets(as: device) == true
      }
      guard let found else {
        let question = Suggestion.question(device, among: devices.compactMap(\.name))
        throw Failure("\(recording.path) has no device \(device)\(question)")
      }
      view.filter = .device(found.address, identifier: nil)
    }
    var decoder = TrafficDecoder(advertisements: advertisements, commands: hci)
    let rest = try await recording.read { record in
      for entry in decoder.decode(record) { try await view.show(entry) }
    }
    if rest.octets > 0 { output.problem("\(recording.path) ends within a packet: \(rest.octets) octets are left out") }
  }

  @MainActor private func showLive(_ device: String?, in shell: Shell) async throws {
    let output = output(of: shell)
    let client = try await shell.connection()
    var view = TrafficView(output: output, own: shell.names(), showsAnnotations: !noCalls) { peer in
      let listed = try await client.call(PeripheralList.self, Empty()).peripherals
      return listed.first { $0.address == "\(peer)" && $0.addressType.known == peer.kind }?.name
    }
    view.users = { userName($0) }
    if let device, follow {
      view.filter = .following { [finder = try await shell.finder()] in
        guard let known = try? await finder.known(device) else { return nil }
        let listed = try await client.call(PeripheralList.self, Empty()).peripherals
        return listed.first { $0.peripheral == known.identifier }
      }
    } else if let device {
      let known = try await shell.finder().known(device)
      let listed = try await client.call(PeripheralList.self, Empty()).peripherals
      guard let found = listed.first(where: { $0.peripheral == known.identifier }) else { return }
      view.filter = .device(found.deviceAddress, identifier: found.peripheral)
    }
    let (capture, received) = try await client.startCapture(format: .pcapng, adapter: adapter)
    guard let descriptor = received.take() else { return }
    // A slow reader loses packets in the daemon, which reports that, and none here.
    let reader = Mutex((RecordingParser(), TrafficDecoder(advertisements: advertisements, commands: hci)))
    let (entries, continuation) = AsyncStream.makeStream(
      of: TrafficEntry.self, bufferingPolicy: .bufferingOldest(65_536))
    let reading = RecordingReader(descriptor) { octets in
      reader.withLock { reader in
        reader.0.append(octets)
        do throws(RecordingProblem) {
          while let record = try reader.0.next() {
            for entry in reader.1.decode(record) { continuation.yield(entry) }
          }
          return nil
        } catch {
          return "bled sent something that is not a recording"
        }
      }
    }
    let showing = Task { @MainActor [view] in
      var view = view
      for await entry in entries { try await view.show(entry) }
    }
    await reading.wait(atMost: time)
    // Earlier packets are shown, also if the recording ended badly.
    let stopped = await Task { try await client.stopCapture(capture) }.result
    let problem = await reading.problem
    continuation.finish()
    try await showing.value
    _ = try stopped.get()
    if let problem { throw Failure(problem) }
  }
}
