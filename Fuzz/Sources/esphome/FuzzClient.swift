import ESPHome
import Fuzzing
import Noise

/// A client that speaks properly where it is told to.
final class FuzzClient: ClientStream {
  private static let prologue = Array("NoiseAPIInit".utf8) + [0, 0]

  /// Nil before `accept`, and if it was refused.
  var client: ProxyClient?
  private(set) var isClosed = false
  let origin: [UInt8] = [127, 0, 0, 1]
  var unsent = 0
  private let plain = APITransport(identity: .init(name: "", address: ""), key: nil)
  private var handshake: Handshake?
  private var transport: Handshake.Transport?
  /// The answers of the proxy to the handshake.
  private var answers: [[UInt8]] = []

  /// - Parameter key: nil without encryption.
  init(key: [UInt8]?) {
    handshake = key.flatMap { Handshake(.nnpsk0, as: .initiator, prologue: Self.prologue, preSharedKey: $0) }
  }

  func send(_ octets: [UInt8]) {
    invariant(!isClosed, "octets behind the end")
    guard transport == nil, handshake != nil else { return }
    answers.append(octets)
  }

  func close() { isClosed = true }

  func receive(_ octets: [UInt8]) { if !isClosed { client?.receive(octets) } }

  /// The hello of the encryption, and the handshake.
  func greet() {
    guard var handshake, transport == nil, let message = try? handshake.write() else { return }
    answers = []
    receive([1, 0, 0] + Self.frame([0] + message))
    guard answers.count == 2, (try? handshake.read(answers[1].dropFirst(4))) != nil else { return }
    transport = handshake.transport
    invariant(transport != nil, "the handshake is complete on one side")
  }

  /// A message in a frame as it should be.
  func send(type: UInt16, _ payload: [UInt8]) {
    if handshake == nil {
      var plain = plain
      if let octets = plain.octets(APIFrame(type: UInt32(type), payload: payload)) { receive(octets) }
    } else if var transport {
      let length = UInt16(truncatingIfNeeded: payload.count)
      let head = [type, length].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
      guard let body = try? transport.sending.encrypt(head + payload) else { return }
      self.transport = transport
      receive(Self.frame(body))
    }
  }

  private static func frame(_ body: [UInt8]) -> [UInt8] {
    [1, UInt8(truncatingIfNeeded: body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + body
  }
}
