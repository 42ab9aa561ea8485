@testable import BlueZ

/// The sockets of packets that programs have passed, played by a test.
final class ScriptedSockets: PacketSocketOpener {
  final class Socket: PacketSocket {
    fileprivate(set) var sent: [[UInt8]] = []
    /// Reports an event.
    let happen: (PacketSocketEvent) -> Void
    var hasRoom = true
    var isReading = true

    fileprivate init(_ happen: @escaping (PacketSocketEvent) -> Void) { self.happen = happen }

    func send(_ value: [UInt8]) -> PacketSocketResult {
      guard hasRoom else { return .full }
      sent.append(value)
      return .sent
    }
  }

  /// The sockets in the order in which they were opened; nil: it was released.
  private var opened: [() -> Socket?] = []

  var last: Socket? { opened.last?() }

  var count: Int { opened.count { $0() != nil } }

  func open(_ descriptor: BusDescriptor, _ happened: @escaping (PacketSocketEvent) -> Void) -> (any PacketSocket)? {
    let socket = Socket(happened)
    opened.append { [weak socket] in socket }
    return socket
  }
}
