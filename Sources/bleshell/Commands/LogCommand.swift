import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import Capture
import FoundationEssentials
import Synchronization

/// `bleshell log`
struct LogCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Shows packets between adapters and devices, and RPC calls by client.",
    discussion: """
      An arrow to the right is what this machine sent. Without --time it runs until Ctrl-C. The device of a link is known \
      if the link came up while this command ran. You need the permission "capture" in bled's configuration.
      """)

  @Argument(help: "Only this device (default: all).") var device: String?
  @Option(help: "Only this adapter.") var adapter: String?
  @Option(help: "Stop after this many seconds.") var time: Double?
  @Flag(help: "Leave out which session called what.") var noCalls = false
  @OptionGroup var global: GlobalOptions

  func validate() throws { try checkTime(time) }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let client = try await shell.connection()
    var view = TrafficView(output: output, showsNotes: !noCalls && device == nil)
    if let device {
      let known = try await shell.known(device)
      let listed = try await client.call(PeripheralList.self, Empty()).peripherals
      guard let found = listed.first(where: { $0.peripheral == known.identifier }) else { return }
      view.only = DeviceAddress(found.address, kind: found.addressType == "random" ? .random : .public)
    }
    let (capture, received) = try await client.startCapture(format: CaptureFormat.btsnoop.rawValue, adapter: adapter)
    guard let descriptor = received.take() else { return }
    // A slow reader loses packets in the daemon, which says so, and none here.
    let reader = Mutex((BTSnoopReader(), TrafficDecoder()))
    let (entries, continuation) = AsyncStream.makeStream(
      of: TrafficEntry.self, bufferingPolicy: .bufferingOldest(65_536))
    let reading = RecordingReader(descriptor) { octets in
      reader.withLock { reader in
        reader.0.append(octets)
        do throws(BTSnoopReader.Problem) {
          while let record = try reader.0.next() {
            if let entry = reader.1.decode(record) { continuation.yield(entry) }
          }
          return nil
        } catch {
          return "bled sent something that is not a recording"
        }
      }
    }
    let showing = Task { @MainActor [view] in
      var view = view
      for await entry in entries { try await view.show(entry, client) }
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

/// Prints what passes, a line each.
struct TrafficView {
  let output: Output
  let showsNotes: Bool
  /// The only device whose packets are shown; nil: all.
  var only: DeviceAddress?
  /// The names of devices, as far as the daemon knows them; nil for those that it was asked for.
  private var names: [DeviceAddress: String?] = [:]
  /// How many names are remembered.
  private static let mostNames = 1024

  init(output: Output, showsNotes: Bool) {
    self.output = output
    self.showsNotes = showsNotes
  }

  mutating func show(_ entry: TrafficEntry, _ client: BledClient) async throws {
    guard only == nil || entry.peer == only, showsNotes || !entry.isNote else { return }
    let name = try await name(of: entry.peer, client)
    if output.json { return try output.object(Line(entry, name: name)) }
    let time = output.styled(clockText(Date(timeIntervalSince1970: Double(entry.time) / 1_000_000)), .dim)
    if entry.isNote { return output.line("\(time)  \(output.styled(Output.clean(entry.text), .dim))") }
    let arrow =
      switch entry.direction {
      case .sent: "→ "
      case .received: "← "
      case .none: ""
      }
    let peer = output.styled(Output.clean(name ?? entry.peer.map { "\($0)" } ?? "adapter \(entry.adapter)"), .name)
    let parts = [entry.text, entry.handle.map { $0.handleText }, entry.value.map { Hex.encode($0) }]
    output.line("\(time)  \(peer)  \(arrow)\(parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "  "))")
  }

  private mutating func name(of peer: DeviceAddress?, _ client: BledClient) async throws -> String? {
    guard let peer else { return nil }
    if let known = names[peer] { return known }
    let listed = try await client.call(PeripheralList.self, Empty()).peripherals
    if names.count >= Self.mostNames { names = [:] }
    let name = listed.first { $0.address == "\(peer)" && $0.addressType == "\(peer.kind)" }?.name
    names[peer] = .some(name)
    return name
  }

  /// The same as an object.
  private struct Line: Encodable {
    let time: Double
    let adapter: Int?
    let address: String?
    let name: String?
    let direction: String?
    let text: String
    let handle: UInt16?
    let value: String?
    let note: Bool?

    init(_ entry: TrafficEntry, name: String?) {
      time = Double(entry.time) / 1_000_000
      adapter = entry.isNote ? nil : Int(entry.adapter)
      address = entry.peer.map { "\($0)" }
      self.name = name
      direction = entry.direction == .none ? nil : entry.direction == .sent ? "sent" : "received"
      text = entry.text
      handle = entry.handle
      value = entry.value.map { Hex.encode($0) }
      note = entry.isNote ? true : nil
    }
  }
}
