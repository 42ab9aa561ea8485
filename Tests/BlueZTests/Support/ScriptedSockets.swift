@testable import BlueZ

/// The sockets of packets that programs have passed, played by a test.
final class ScriptedSockets: PacketSocketOpener {
  final class Socket: PacketSocket {
    fileprivate(set) var sent: [[UInt8]] = []
    /// Gives a packet of the program; nil: its end.
    let receive: ([UInt8]?) -> Void
    var hasRoom = true

    fileprivate init(_ receive: @escaping ([UInt8]?) -> Void) { self.receive = receive }

    func send(_ value: [UInt8]) -> Bool {
      if hasRoom { sent.append(value) }
      return hasRoom
    }
  }

  /// The sockets in the order in which they were opened; nil: it was released.
  private var opened: [() -> Socket?] = []

  var last: Socket? { opened.last?() }

  var count: Int { opened.count { $0() != nil } }

  func open(_ descriptor: BusDescriptor, _ received: @escaping ([UInt8]?) -> Void) -> (any PacketSocket)? {
    let socket = Socket(received)
    opened.append { [weak socket] in socket }
    return socket
  }
}
