import BledClient
import Noise

/// Opens the channels of sessions begun by this side.
struct ChannelOpener: Sendable {
  /// A link to a device, and a control channel on it.
  typealias Dialed = (link: Peripheral, control: BlockingSocket, opened: ControlOpening.Opened)

  /// The time for a connection, including all attempts and the handshake, and for the opening of each channel.
  static let limit = Duration.seconds(30)
  /// Attempts for a link that is lost before its session is open.
  private static let attempts = 3

  let links: SharedLinks
  let settings: NearbySettings

  /// Connects to a device, reads its description, and opens a control channel.
  func dial(
    _ peripheral: String, _ identifier: UInt64, _ hello: Hello
  ) async throws(BluetoothError) -> Dialed {
    var attempt = 1
    while true {
      let link = try await links.acquire(peripheral)
      do throws(BluetoothError) {
        let (control, opened) = try await openControl(link, identifier, hello)
        return (link, control, opened)
      } catch {
        let isLost = (try? await link.parameters()) == nil
        await links.release(peripheral)
        // The other side may have released the link, which it had requested to read this side's description.
        guard isLost, attempt < Self.attempts, !Task.isCancelled else { throw error }
        attempt += 1
      }
    }
  }

  private func openControl(
    _ link: Peripheral, _ identifier: UInt64, _ hello: Hello
  ) async throws(BluetoothError) -> (control: BlockingSocket, opened: ControlOpening.Opened) {
    let description = try await links.description(of: link, identifier)
    guard
      let opening = ControlOpening(.initiator, type: settings.type, key: settings.key, hello: hello)
    else { throw GAPError.connectionFailed.error("this program's key cannot be used") }
    let socket = try await openChannel(description.psm, on: link)
    do throws(Violation) {
      let opened = try await socket.bounded(within: Self.limit, on: settings.clock) { () async throws(Violation) in
        try await socket.open(opening) { _, _ throws(Violation) in throw Violation("a greeting by the acceptor") }
      }
      guard opened.hello.identifier == identifier else { throw Violation("the identifier of another peer") }
      return (socket, opened)
    } catch {
      socket.close()
      throw GAPError.connectionFailed.error("no session could be opened with \(description.name): \(error.text)")
    }
  }

  /// Opens the bulk channel beside a control channel.
  /// - Returns: nil if the peer's key cannot be used.
  func openBulk(
    _ link: Peripheral, _ hello: Hello
  ) async throws -> (socket: BlockingSocket, stream: SecureStream)? {
    guard let opening = BulkOpening(.initiator, type: settings.type, ticket: hello.ticket, key: hello.key) else {
      return nil
    }
    let psm = try await links.description(of: link, hello.identifier).psm
    let socket = try await openChannel(psm, on: link)
    let stream = try await socket.bounded(within: Self.limit, on: settings.clock) { () async throws(Violation) in
      try await socket.open(opening)
    }
    return (socket, stream)
  }

  private func openChannel(_ psm: UInt16, on link: Peripheral) async throws(BluetoothError) -> BlockingSocket {
    let channel = try await link.openL2CAPChannel(psm: psm)
    guard let descriptor = channel.takeDescriptor() else {
      throw GAPError.notConnected.error("the peer is not connected: invite it again")
    }
    return BlockingSocket(descriptor)
  }
}
