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
    usage: "bleshell log [<recording>] [<device>]",
    discussion: """
      An arrow to the right is what this machine sent. Live, RPC calls are shown by client, the device of a link is known \
      if the link came up while this command ran, and without --time it runs until Ctrl-C; you need the permission \
      "capture" in bled's configuration. A recording is a file of "bleshell capture" or btmon, an Android phone's \
      btsnoop_hci.log, pcapng or pcap of Wireshark, or Apple's PacketLogger: its name has a "/" or ends in .btsnoop, \
      .snoop, .log, .cfa, .pcapng, .pcap or .pklg.
      """)

  @Argument(help: "A recording; only this device (default: live; all).", completion: .file()) var words: [String] = []
  @Option(help: "Only this adapter.", completion: ShellCompletion.adapters) var adapter: String?
  @Option(help: "Stop after this many seconds.") var time: Double?
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
    guard recordings == 0 || (adapter == nil && time == nil) else {
      throw ValidationError("--adapter and --time are for packets that pass now, not for a recording")
    }
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
    var view = TrafficView(output: output, showsAnnotations: !noCalls && device == nil) {
      own.name(ofDevice: "\($0)") ?? names[$0] ?? nil
    }
    if let device {
      let found = devices.first {
        "\($0.address)".lowercased() == device.lowercased() || $0.name?.hasSameOctets(as: device) == true
      }
      guard let found else {
        let question = Suggestion.question(device, among: devices.compactMap(\.name))
        throw Failure("\(recording.path) has no device \(device)\(question)")
      }
      view.only = found.address
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
    let own = shell.names()
    var view = TrafficView(output: output, showsAnnotations: !noCalls && device == nil) { peer in
      if let name = own.name(ofDevice: "\(peer)") { return name }
      let listed = try await client.call(PeripheralList.self, Empty()).peripherals
      return listed.first { $0.address == "\(peer)" && $0.addressType.known == peer.kind }?.name
    }
    if let device {
      let known = try await shell.finder().known(device)
      let listed = try await client.call(PeripheralList.self, Empty()).peripherals
      guard let found = listed.first(where: { $0.peripheral == known.identifier }) else { return }
      view.only = DeviceAddress(found.address, kind: found.addressType.known ?? .public)
    }
    let (capture, received) = try await client.startCapture(format: .btsnoop, adapter: adapter)
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

/// Prints packets and calls, a line each.
struct TrafficView {
  let output: Output
  let showsAnnotations: Bool
  /// The only device to show packets of; nil: all.
  var only: DeviceAddress?
  /// The name of a device; nil without one.
  private let name: @Sendable (DeviceAddress) async throws -> String?
  /// The names looked up so far.
  private var names: [DeviceAddress: String?] = [:]
  /// Maximum remembered names.
  private static let maximumNames = 1024

  init(output: Output, showsAnnotations: Bool, name: @escaping @Sendable (DeviceAddress) async throws -> String?) {
    self.output = output
    self.showsAnnotations = showsAnnotations
    self.name = name
  }

  mutating func show(_ entry: TrafficEntry) async throws {
    guard only == nil || entry.peer == only, showsAnnotations || !entry.isAnnotation else { return }
    let name = try await name(of: entry.peer)
    if output.json {
      let kind = entry.isAnnotation ? "call" : "packet"
      return try output.object(kind, Line(entry, name: name), at: Double(entry.time) / 1_000_000)
    }
    let time = output.styled(clockText(Date(timeIntervalSince1970: Double(entry.time) / 1_000_000)), .dim)
    if entry.isAnnotation { return output.line("\(time)  \(output.styled(Output.clean(entry.text), .dim))") }
    let arrow =
      switch entry.direction {
      case .sent: Output.hasUTF8 ? "→ " : "> "
      case .received: Output.hasUTF8 ? "← " : "< "
      case .none: ""
      }
    let peer = output.styled(Output.clean(name ?? entry.peer.map { "\($0)" } ?? "adapter \(entry.adapter)"), .name)
    let parts = [entry.text, entry.handle.map { $0.handleText }, entry.value.map { Hex.encode($0) }]
    output.line("\(time)  \(peer)  \(arrow)\(parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "  "))")
  }

  private mutating func name(of peer: DeviceAddress?) async throws -> String? {
    guard let peer else { return nil }
    if let known = names[peer] { return known }
    if names.count >= Self.maximumNames { names = [:] }
    let name = try await name(peer)
    names[peer] = .some(name)
    return name
  }

  /// The line as an object.
  private struct Line: Encodable {
    let adapter: Int?
    let address: String?
    let name: String?
    let direction: String?
    let text: String
    let opcode: UInt8?
    let command: UInt16?
    let event: UInt8?
    let handle: UInt16?
    let value: String?
    let note: Bool?

    init(_ entry: TrafficEntry, name: String?) {
      adapter = entry.isAnnotation ? nil : Int(entry.adapter)
      address = entry.peer.map { "\($0)" }
      self.name = name
      direction = entry.direction == .none ? nil : entry.direction == .sent ? "sent" : "received"
      text = entry.text
      opcode = entry.opcode
      (command, event) = (entry.command, entry.event)
      handle = entry.handle
      value = entry.value.map { Hex.encode($0) }
      note = entry.isAnnotation ? true : nil
    }
  }
}
