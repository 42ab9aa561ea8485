import ATT
import Bluetooth
import EventLoop
import GATT

/// One client of the server: the machine, the database it asks for, and the way out for packets.
///
/// 0x0001 service FFF0 · 0x0003 FFF1, 20 octets, read and write · 0x0005 FFF2, 512 octets, read and write ·
/// 0x0007 FFF3, notify · 0x0008 its configuration: once it is on, 20 octets are notified as fast as they can leave.
final class GATTPeer {
  private static let burst = 64
  private static let streamed: UInt16 = 7

  private var connection = GATTConnection(maximumMTU: 517)
  private var database = AttributeDatabase()
  private var actions: [GATTAction] = []
  private let loop: EventLoop
  private let value = [UInt8](repeating: 7, count: 20)
  private var isStreaming = false
  /// Sends one packet. It is set before anything else is called.
  var send: ([UInt8]) -> Void = { _ in }
  /// Whether the next packet would leave at once.
  var isWritable: () -> Bool = { true }

  init(loop: EventLoop) throws {
    self.loop = loop
    _ = try database.add(
      ServiceDefinition(
        uuid: 0xFFF0,
        characteristics: [
          CharacteristicDefinition(
            uuid: 0xFFF1, properties: [.read, .write, .writeWithoutResponse],
            value: .stored(Array(repeating: 1, count: 20))),
          CharacteristicDefinition(
            uuid: 0xFFF2, properties: [.read, .write], value: .stored(Array(repeating: 2, count: 512))),
          CharacteristicDefinition(uuid: 0xFFF3, properties: [.notify], value: .stored([])),
        ]))
  }

  func received(_ packet: [UInt8]) {
    let now = Instant(nanoseconds: EventLoop.now)
    connection.received(packet, now: now, database: &database, actions: &actions)
    execute()
  }

  /// Streams on, for as long as there is room and a turn lasts.
  func stream() {
    guard isStreaming else { return }
    for _ in 0..<Self.burst {
      guard isWritable() else { return }
      _ = connection.notify(value, of: Self.streamed, actions: &actions)
      execute()
    }
    loop.execute { self.stream() }
  }

  private func execute() {
    var starts = false
    for action in actions {
      switch action {
      case .send(_, let packet): send(packet)
      case .subscriptionChanged(_, let configuration):
        starts = !isStreaming && configuration.contains(.notification)
        isStreaming = configuration.contains(.notification)
      default: break
      }
    }
    actions.removeAll(keepingCapacity: true)
    if starts { loop.execute { self.stream() } }
  }
}
